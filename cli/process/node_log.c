/* Messages of a verb that a launcher starts many times: one process of each node tells what all of them meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/node_log.h"

#include <idlewave/internal/mpi.h>

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* FNV-1a: different errors have different numbers. */
static uint32_t number_of(const char *text)
{
    uint32_t number = 2166136261u;

    for (; *text != '\0'; text++) {
        number = (number ^ (unsigned char)*text) * 16777619u;
    }
    return number;
}

/* True for the first of the launcher's processes on this node to say it. Who takes the name of a socket keeps
 * it until it ends. */
static bool is_first_to_say(const char *text)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX}; /* the path begins with '\0': a name without a file */
    const int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "idlewave-%ld-%" PRIx32,
                                (long)getppid(), number_of(text));
    const int taken = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    return taken < 0 || bind(taken, (const struct sockaddr *)&name,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0;
}

/* All processes of a node usually meet the same error at about the same time: one of them tells it. */
static void speak(void *arg, iw_log_level level, const char *text)
{
    static const struct timespec a_while = {.tv_nsec = 500000000}, longer = {.tv_nsec = 600000000};
    struct node_log *node_log = arg;

    if (!node_log->is_one_of_many) {
        node_log->below.write(node_log->below.arg, level, text);
    } else if (is_first_to_say(text)) {
        node_log->below.write(node_log->below.arg, level, text);
        (void)nanosleep(&a_while, NULL); /* keeps the name while the others come */
    } else {
        (void)nanosleep(&longer, NULL); /* launchers end all processes when the first one ends */
        return;
    }
    node_log->has_spoken = true;
}

void node_log_init(struct node_log *node_log, const struct ui *ui)
{
    iw_launcher launcher = {.name = NULL};

    *node_log = (struct node_log){.below = ui->log, .log = {speak, node_log}};
    if (iw_launcher_detect(NULL, &launcher) == IW_OK) {
        node_log->is_one_of_many = launcher.size > 1;
        node_log->rank = launcher.rank;
    }
}

void node_log_take_ui(struct node_log *node_log, struct ui *ui)
{
    if (node_log->is_one_of_many) {
        ui->log = node_log->log;
        ui->is_heard = &node_log->has_spoken;
    }
}

void node_log_leave_ui(struct node_log *node_log, struct ui *ui)
{
    ui->log = node_log->below;
    ui->is_heard = NULL;
}

int node_log_fail(struct node_log *node_log, const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    speak(node_log, IW_LOG_ERROR, text);
    return UI_ERROR;
}
