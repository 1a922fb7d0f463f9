/* Checks, the list of preloaded libraries, and exec, for verbs that stand between a launcher and a program.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/exec_program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_launcher(const char *program)
{
    static const char *const beginnings[] = {"mpirun", "mpiexec", "orterun", "prterun",
                                             "srun",   "aprun",   "jsrun"};
    const char *name = ui_file_name(program);

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        const size_t length = strlen(beginnings[i]);

        if (strncmp(name, beginnings[i], length) == 0 && strchr(".", name[length]) != NULL) {
            return true;
        }
    }
    return false;
}

int exec_program_check(const struct ui *ui, const struct opt_args *args)
{
    if (args->count == 0) {
        return ui_usage(ui, "no program given; type: mpirun -n 4 idlewave %s -- ./app", ui->verb);
    }
    if (is_launcher(args->values[0])) {
        return ui_usage(ui, "the launcher comes first; type: %s ... idlewave %s -- PROGRAM", args->values[0],
                        ui->verb);
    }
    return UI_DONE;
}

int exec_program_check_library(struct node_log *node_log, const char *library)
{
    if (strpbrk(library, " :") == NULL) {
        return UI_DONE;
    }
    return node_log_fail(node_log,
                         "cannot preload '%s', because the loader ends names at blanks and colons: set "
                         "IDLEWAVE_PARTS to another folder with the parts",
                         library);
}

bool exec_program_preload(const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    char *value = NULL;
    bool is_set;

    if (before != NULL && strstr(before, library) != NULL) {
        return true;
    }
    if (before == NULL || before[0] == '\0') {
        return setenv("LD_PRELOAD", library, 1) == 0;
    }
    is_set = asprintf(&value, "%s:%s", library, before) >= 0 && setenv("LD_PRELOAD", value, 1) == 0;
    free(value);
    return is_set;
}

int exec_program(struct node_log *node_log, const struct opt_args *args)
{
    char **argv = ui_grow(NULL, args->count + 1, sizeof *argv);
    int error;

    for (size_t i = 0; i < args->count; i++) {
        argv[i] = (char *)(uintptr_t)args->values[i]; /* execvp() does not write to them */
    }
    argv[args->count] = NULL;
    (void)signal(SIGXFSZ, SIG_DFL); /* main() ignores it, programs need not */
    (void)execvp(args->values[0], argv);
    error = errno;
    free(argv);
    return node_log_fail(node_log, "cannot start '%s': %s", args->values[0], strerror(error));
}
