/* Runs an MPI's launcher several times, each time around `idlewave net`, and combines what they measured.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/network/verb/net_launches.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <idlewave/idlewave.h>

#include "process/progress.h"

enum {
    CHUNK_BYTES = 1 << 16,
    GRACE_MS = 5000, /* MPIs may hang in their end; what was measured is there by then */
    NOT_FOUND = 127,
    MOST_SIZES = 56, /* that a launch measures */
    SIZES_TEXT = MOST_SIZES * 24
};

/* What a launch has written so far, with a NUL behind it. */
struct output {
    char *text;
    size_t size;
};

struct run {
    struct ui *ui;
    const char **line; /* NULL-ended, with room for "--sizes" */
    size_t line_length;
    bool has_sizes; /* in the line */
    size_t number, count;
};

/* ---- one launch ---- */

static void exec_child(const char *const *line, int out)
{
    const int null = open("/dev/null", O_RDONLY);

    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
    }
    (void)signal(SIGXFSZ, SIG_DFL); /* main() ignores it, programs need not */
    (void)dup2(out, STDOUT_FILENO);
    (void)execvp(line[0], (char *const *)(uintptr_t)line); /* which does not write to them */
    _exit(NOT_FOUND);
}

static bool is_complete(const struct output *output)
{
    static const char end[] = "\n}\n"; /* of the JSON */

    return output->size >= strlen(end) && strcmp(output->text + output->size - strlen(end), end) == 0;
}

/* Reads to the end, or for some time after the result has come: then it is false. */
static bool read_all(int pipe, struct output *output)
{
    struct pollfd ready = {.fd = pipe, .events = POLLIN};

    for (;;) {
        const int outcome = poll(&ready, 1, is_complete(output) ? GRACE_MS : -1);
        ssize_t got;

        if (outcome == 0) {
            return false;
        }
        output->text = ui_grow(output->text, output->size + CHUNK_BYTES + 1, 1);
        got = outcome < 0 ? -1 : read(pipe, output->text + output->size, CHUNK_BYTES);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return true;
        }
        output->size += got > 0 ? (size_t)got : 0;
        output->text[output->size] = '\0';
    }
}

/* Its exit code, as shells give it. */
static int end_of(pid_t pid, bool is_over)
{
    int status = 0;

    if (!is_over) {
        (void)kill(pid, SIGTERM);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Ends with UI_DONE once the result is there, whatever comes after it. */
static int run_launcher(const struct run *run, struct output *output)
{
    int ends[2], code;
    bool is_over;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
        ui_error(run->ui, "'%s' cannot be started: %s", run->line[0], strerror(errno));
        return UI_ERROR;
    }
    if (pid == 0) {
        exec_child(run->line, ends[1]);
    }
    (void)close(ends[1]);
    is_over = read_all(ends[0], output);
    (void)close(ends[0]);
    code = end_of(pid, is_over);
    if (is_complete(output)) {
        return UI_DONE;
    }
    if (code == NOT_FOUND) {
        ui_error(run->ui, "'%s' cannot be started: is it the launcher of an MPI?", run->line[0]);
    } else {
        ui_error(run->ui, "launch %zu of %zu by '%s' ended with exit code %d and no result", run->number + 1,
                 run->count, run->line[0], code);
    }
    return UI_ERROR;
}

/* The result begins with the first line that begins with a brace: MPIs may have something to say before. */
static int measure(const struct run *run, iw_doc_file **launch_p)
{
    struct output output = {.text = ui_grow(NULL, 1, 1)};
    int code;

    output.text[0] = '\0';
    code = run_launcher(run, &output);
    if (code == UI_DONE) {
        const char *begin = output.text;
        char name[40];

        while (begin[0] != '{' && (begin = strchr(begin, '\n')) != NULL) {
            begin++;
        }
        begin = begin != NULL ? begin : "";
        snprintf(name, sizeof name, "launch %zu", run->number + 1);
        code = ui_exit_of(iw_doc_read(&run->ui->log, name, begin, strlen(begin), launch_p));
        if (code == UI_DONE && iw_net_of_doc(iw_doc_of(*launch_p)) == NULL) {
            ui_error(run->ui, "%s printed another kind of result", name);
            code = UI_ERROR;
        }
    }
    free(output.text);
    return code;
}

/* ---- all of them ---- */

static bool has_size(const uint64_t *sizes, size_t count, uint64_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] == bytes) {
            return true;
        }
    }
    return false;
}

/* "1,2,4": of all levels, the outermost first, which matters most if there are too many. */
static void list_sizes(const iw_net_measured *launch, char text[SIZES_TEXT])
{
    uint64_t sizes[MOST_SIZES];
    size_t count = 0, used = 0;

    for (size_t i = launch->level_count; i-- > 0;) {
        const iw_net_level *level = &launch->levels[i];

        for (size_t k = 0; k < level->point_count && count < MOST_SIZES; k++) {
            if (!has_size(sizes, count, level->points[k].bytes)) {
                sizes[count++] = level->points[k].bytes;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, SIZES_TEXT - used, "%s%llu", i > 0 ? "," : "",
                                 (unsigned long long)sizes[i]);
    }
}

/* launcher... idlewave net options... */
static void make_line(struct run *run, const struct opt_args *launcher, const char *self,
                      const char *const *options)
{
    size_t option_count = 0, at = 0;
    const char **line;

    while (options[option_count] != NULL) {
        run->has_sizes |= strcmp(options[option_count++], "--sizes") == 0;
    }
    line = ui_grow(NULL, launcher->count + option_count + 5, sizeof *line);
    for (size_t i = 0; i < launcher->count; i++) {
        line[at++] = launcher->values[i];
    }
    line[at++] = self;
    line[at++] = "net";
    for (size_t i = 0; i < option_count; i++) {
        line[at++] = options[i];
    }
    line[at] = NULL;
    run->line = line;
    run->line_length = at;
}

static int run_all(struct run *run, iw_doc_file **launches)
{
    char sizes[SIZES_TEXT] = "";
    struct progress progress;
    int code = UI_DONE;

    progress_begin(&progress, 0.0, NULL);
    run->ui->progress = &progress;
    for (run->number = 0; run->number < run->count && code == UI_DONE; run->number++) {
        progress_update(&progress, (double)run->number / (double)run->count);
        code = measure(run, &launches[run->number]);
        if (code == UI_DONE && run->number == 0 && !run->has_sizes) {
            list_sizes(iw_net_of_doc(iw_doc_of(launches[0])), sizes);
            run->line[run->line_length] = "--sizes";
            run->line[run->line_length + 1] = sizes;
            run->line[run->line_length + 2] = NULL;
        }
    }
    run->ui->progress = NULL;
    progress_wipe(&progress);
    return code;
}

int net_run_launches(struct ui *ui, const struct opt_args *launcher, const char *const *options, size_t count,
                     iw_net_measured **all_p)
{
    iw_doc_file *launches[NET_MOST_LAUNCHES] = {NULL};
    const iw_net_measured *measured[NET_MOST_LAUNCHES] = {NULL};
    struct run run = {.ui = ui, .count = count};
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int code;

    if (length < 0) {
        ui_error(ui, "this program's own path is not known: %s", strerror(errno));
        return UI_ERROR;
    }
    self[length] = '\0';
    make_line(&run, launcher, self, options);
    code = run_all(&run, launches);
    for (size_t i = 0; code == UI_DONE && i < count; i++) {
        measured[i] = iw_net_of_doc(iw_doc_of(launches[i]));
    }
    if (code == UI_DONE) {
        code = ui_exit_of(iw_net_combine(&ui->log, measured, count, all_p));
    }
    for (size_t i = 0; i < count; i++) {
        iw_doc_close(launches[i]);
    }
    free(run.line);
    return code;
}
