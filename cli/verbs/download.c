/* Runs curl and waits for it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "verbs/download.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/interrupt.h"

/* Exit codes: of curl, and of exec. */
enum { CANNOT_WRITE = 23, TOO_LARGE = 63, NOT_FOUND = 127 };

/* Older curl heeds --max-filesize only if the server says how much will come. */
static void limit_files(uint64_t most_bytes)
{
    const struct rlimit limit = {.rlim_cur = most_bytes, .rlim_max = most_bytes};

    (void)signal(SIGXFSZ, SIG_IGN); /* it fails to write instead */
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        _exit(CANNOT_WRITE);
    }
}

static void exec_curl(const char *url, const char *path, uint64_t most_bytes)
{
    char most[24];
    const char *const arguments[] = {"curl",
                                     "--fail",
                                     "--silent",
                                     "--show-error",
                                     "--location",
                                     "--globoff",
                                     "--proto",
                                     "=http,https",
                                     "--proto-redir",
                                     "=http,https",
                                     "--max-redirs",
                                     "5",
                                     "--connect-timeout",
                                     "20",
                                     "--speed-time",
                                     "60",
                                     "--speed-limit",
                                     "1",
                                     "--max-filesize",
                                     most,
                                     "--create-dirs",
                                     "--output",
                                     path,
                                     "--",
                                     url,
                                     NULL};

    (void)snprintf(most, sizeof most, "%" PRIu64, most_bytes);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    limit_files(most_bytes);
    (void)execvp(arguments[0], (char *const *)arguments);
    _exit(NOT_FOUND);
}

/* Its exit code; -1 if a signal came, to us or to it. */
static int wait_for(pid_t pid)
{
    static const struct timespec pause = {.tv_nsec = 20000000};
    int status = 0;
    pid_t ended;

    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (interrupt_has_come()) {
            (void)kill(pid, SIGTERM);
        }
        (void)nanosleep(&pause, NULL);
    }
    return !interrupt_has_come() && ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int download(const struct ui *ui, const char *url, const char *path, uint64_t most_bytes)
{
    const pid_t pid = fork();
    int code;

    if (pid == 0) {
        exec_curl(url, path, most_bytes);
    }
    if (pid < 0) {
        ui_error(ui, "curl cannot be started: %s", strerror(errno));
        return UI_ERROR;
    }
    code = wait_for(pid);
    if (code == NOT_FOUND) {
        ui_error(ui, "'%s' is fetched by the command curl, which is not there", url);
        ui_hint(ui, "install curl, or fetch the folder by other means and name it: --from FOLDER");
    } else if (code == CANNOT_WRITE || code == TOO_LARGE) {
        ui_error(ui, "'%s' could not be fetched: it has more than %" PRIu64 " bytes, or the disk is full",
                 url, most_bytes);
    } else if (code > 0) {
        ui_error(ui, "'%s' could not be fetched: curl ended with exit code %d", url, code);
    } else if (code < 0) {
        ui_error(ui, "'%s' was not fetched: interrupted", url);
    }
    return code == 0 ? UI_DONE : UI_ERROR;
}
