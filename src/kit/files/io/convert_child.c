/* Decoding in a child process.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records come back through a file in memory, which needs no reader while it is written; the message of an
 * error comes through a pipe, and the status as exit code.
 */
#include "kit/files/io/convert_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/available.h"
#include "core/base/sysfile.h"

/* Exit codes from here on are a status of ours; libraries and sanitizers end with smaller ones. */
enum { EXIT_BASE = 64, STATUS_COUNT = 9, MESSAGE_SIZE = 1024, SECONDS_USUAL = 120 };

struct child {
    pid_t pid;
    int records, message; /* to read from */
};

/* ---- in the child ---- */

static void send_error(void *arg, iw_log_level level, const char *text)
{
    const int *message = arg;

    if (level == IW_LOG_ERROR) {
        (void)!write(*message, text, strlen(text));
    }
}

/* Whatever a damaged file makes a library ask for, it gets no more memory than there is: others need theirs.
 */
static void limit_memory(void)
{
    const uint64_t available = iwi_available_bytes("");
    struct rlimit limit;
    char pages[64]; /* first of all, those that it has now */
    uint64_t bytes;

    if (available == UINT64_MAX || !iwi_sysfile_line("", "/proc/self/statm", pages, sizeof pages) ||
        getrlimit(RLIMIT_AS, &limit) != 0) {
        return;
    }
    bytes = strtoull(pages, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) + available;
    if (bytes < limit.rlim_cur) {
        limit.rlim_cur = bytes;
        (void)setrlimit(RLIMIT_AS, &limit);
    }
}

/* Nothing to type at, nothing to see, no core dump, and an end. */
static void seclude(unsigned seconds_max)
{
    const struct rlimit no_core = {0, 0}, time = {seconds_max, seconds_max};
    const int null = open("/dev/null", O_RDWR);

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        (void)dup2(null, fd);
    }
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)setrlimit(RLIMIT_CPU, &time);
    limit_memory();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
}

static _Noreturn void run_child(const struct iwi_import *in, iwi_child_work work, unsigned seconds_max,
                                int records, int message)
{
    const iw_log log = {send_error, &message};
    struct iwi_import own = *in;
    FILE *out = fdopen(records, "wb");
    iw_status status = IW_ERR_NOMEM;

    seclude(seconds_max);
    own.log = &log;
    if (out != NULL) {
        status = work(&own, out);
        if (fclose(out) != 0 && status == IW_OK) {
            status = iwi_fail(&log, IW_ERR_NOMEM, "out of memory for what '%s' holds", in->path);
        }
    }
    _exit(EXIT_BASE - (int)status);
}

/* ---- in the parent ---- */

/* Sees to it that the child's descriptors are none of the three that it gives away. */
static int above_standard(int fd)
{
    const int moved = fd >= 0 && fd <= STDERR_FILENO ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : fd;

    if (moved != fd) {
        (void)close(fd);
    }
    return moved;
}

static iw_status start(const struct iwi_import *in, iwi_child_work work, unsigned seconds_max,
                       struct child *child)
{
    int ends[2] = {-1, -1};

    child->records = above_standard(memfd_create("idlewave", MFD_CLOEXEC));
    if (child->records < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        return iwi_fail(in->log, IW_ERR_IO, "cannot read '%s': %s", in->path, strerror(errno));
    }
    child->message = ends[0];
    ends[1] = above_standard(ends[1]);
    child->pid = fork();
    if (child->pid == 0) {
        run_child(in, work, seconds_max, child->records, ends[1]);
    }
    (void)close(ends[1]);
    return child->pid > 0 ? IW_OK
                          : iwi_fail(in->log, IW_ERR_IO, "cannot start a process to read '%s': %s", in->path,
                                     strerror(errno));
}

/* Up to the end of the child, which holds the other end. */
static void read_message(int fd, char text[MESSAGE_SIZE])
{
    size_t used = 0;

    while (used < MESSAGE_SIZE - 1) {
        const ssize_t got = read(fd, text + used, MESSAGE_SIZE - 1 - used);

        if (got > 0) {
            used += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            break;
        }
    }
    text[used] = '\0';
}

static iw_status wait_for(const struct iwi_import *in, const char *library, const struct child *child)
{
    char message[MESSAGE_SIZE];
    int state = 0, code;

    read_message(child->message, message);
    while (waitpid(child->pid, &state, 0) < 0) {
        if (errno != EINTR) {
            return iwi_fail(in->log, IW_ERR_IO, "cannot wait for the process that reads '%s': %s", in->path,
                            strerror(errno));
        }
    }
    code = WIFEXITED(state) ? WEXITSTATUS(state) - EXIT_BASE : -1;
    if (code == 0) {
        return IW_OK;
    }
    if (code > 0 && code < STATUS_COUNT) {
        return iwi_fail(in->log, (iw_status)-code, "%s",
                        message[0] != '\0' ? message : iw_status_text((iw_status)-code));
    }
    return iwi_fail(in->log, IW_ERR_FORMAT,
                    "'%s' is damaged: its decoder %s %s (in a separate process, with no other effect)",
                    in->path, library,
                    WIFSIGNALED(state) && WTERMSIG(state) == SIGXCPU ? "found no end" : "crashed");
}

static iw_status map_records(const struct iwi_import *in, int fd, struct iwi_child_result *result_p)
{
    struct iwi_child_result result = {NULL, 0};
    struct stat info;

    if (fstat(fd, &info) != 0) {
        return iwi_fail(in->log, IW_ERR_IO, "cannot read '%s': %s", in->path, strerror(errno));
    }
    result.size = (size_t)info.st_size;
    if (result.size > 0) {
        result.bytes = mmap(NULL, result.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (result.bytes == MAP_FAILED) {
            return iwi_fail(in->log, IW_ERR_NOMEM, "out of memory for what '%s' holds", in->path);
        }
    }
    *result_p = result;
    return IW_OK;
}

iw_status iwi_child_run(const struct iwi_import *in, const char *library, iwi_child_work work,
                        struct iwi_child_result *result_p)
{
    return iwi_child_run_for(in, library, work, SECONDS_USUAL, result_p);
}

iw_status iwi_child_run_for(const struct iwi_import *in, const char *library, iwi_child_work work,
                            unsigned seconds_max, struct iwi_child_result *result_p)
{
    struct child child = {.pid = -1, .records = -1, .message = -1};
    iw_status status = start(in, work, seconds_max, &child);

    if (status == IW_OK) {
        status = wait_for(in, library, &child);
    }
    if (status == IW_OK) {
        status = map_records(in, child.records, result_p);
    }
    if (child.records >= 0) {
        (void)close(child.records);
    }
    if (child.message >= 0) {
        (void)close(child.message);
    }
    return status;
}

void iwi_child_release(struct iwi_child_result *result)
{
    if (result->bytes != NULL) {
        (void)munmap(result->bytes, result->size);
    }
    *result = (struct iwi_child_result){NULL, 0};
}
