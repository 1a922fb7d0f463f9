/* Runs a shell command in a process group of its own.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "under.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLLS = 100 }; /* from the request to end until it is enforced */
static const long POLL_NS = 10000000;

static void become(const char *command)
{
    const int null = open("/dev/null", O_RDONLY);

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* should idlewave be killed */
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
    }
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127); /* as shells do */
}

bool under_start(const struct ui *ui, const char *command, struct under *under)
{
    *under = (struct under){.command = command};
    if (command == NULL) {
        return true;
    }
    under->pid = fork();
    if (under->pid == 0) {
        become(command);
    }
    if (under->pid < 0) {
        under->pid = 0;
        ui_error(ui, "'%s' cannot be started: %s", command, strerror(errno));
        return false;
    }
    (void)setpgid(under->pid, under->pid); /* whoever is first */
    return true;
}

static void warn_if_failed(const struct ui *ui, const struct under *under, int status)
{
    if (WIFSIGNALED(status)) {
        ui_error(ui, "warning: '%s' was ended by signal %d while measuring", under->command,
                 WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        ui_error(ui, "warning: '%s' ended with exit code %d while measuring", under->command,
                 WEXITSTATUS(status));
    }
}

void under_stop(const struct ui *ui, struct under *under)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    int status;

    if (under->pid == 0) {
        return;
    }
    if (waitpid(under->pid, &status, WNOHANG) == under->pid) {
        warn_if_failed(ui, under, status);
        (void)kill(-under->pid, SIGTERM); /* what it left in the background */
        return;
    }
    (void)kill(-under->pid, SIGTERM);
    for (int i = 0; i < POLLS; i++) {
        if (waitpid(under->pid, &status, WNOHANG) == under->pid) {
            return;
        }
        (void)nanosleep(&pause, NULL);
    }
    (void)kill(-under->pid, SIGKILL);
    (void)waitpid(under->pid, &status, 0);
}
