/* `idlewave replay`: between a launcher and a program, has each process of it meet recorded noise.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every process that the launcher starts runs this: it measures what a detour costs here, plans the detours
 * of its CPU, and becomes the program (exec). What happens in it is the preloaded library's work
 * (mpi/replay); with fifo a process beside it makes the detours (replay_fifo.c).
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "features/replay/verb/replay_check.h"
#include "features/replay/verb/replay_start.h"
#include "options/verbs.h"
#include "process/exec_program.h"

static const char *const synopsis[] = {"--noise FILE|SPEC [options] [--] PROGRAM [ARGUMENT...]",
                                       "--noise FILE|SPEC [options] --self-check", NULL};

static const char description[] =
    "Runs a program under recorded or synthetic noise: at each detour the CPU is taken away for as long as "
    "the detour lasted. Put it between the launcher and the program: mpirun -n 8 idlewave replay --noise "
    "node.h5 -- ./app. Programs run as they are, in C, C++ and Fortran, with Open MPI, MPICH or without "
    "MPI.\nRanks of a node get the detours of different CPUs of the recording, starting at the same place in "
    "it. Noise begins when MPI_Init returns and ends with MPI_Finalize; without MPI it lasts for the whole "
    "run. Processes that the program starts get none.\nBefore the program starts, the shortest detour that "
    "can be injected and the accuracy are measured. Shorter detours are merged, so that noise takes the same "
    "share of time. The program keeps its exit code, output and signals; if injection fails, it continues "
    "without noise.";

static const struct example examples[] = {
    {"8 ranks under the noise of a recorded node", "mpirun -n 8 idlewave replay --noise node.h5 -- ./app"},
    {"what of it can be made on this machine", "idlewave replay --noise node.h5 --dry-run\n  idlewave replay "
                                               "--noise node.h5 --back-end fifo --dry-run"},
    {"a daemon of 500us ten times a second, at the same time on all nodes",
     "srun --mpi=pmix idlewave replay --noise periodic:10Hz,500us --sync start -- ./app"},
    {NULL, NULL},
};

/* The library to preload. Programs without MPI that no launcher has started need none of an MPI's. */
static int find_library(struct node_log *node_log, const struct replay_opts *opts, const char *program,
                        char *path, size_t size)
{
    const char *part = replay_mpis[opts->mpi];
    iw_launcher launcher = {.name = NULL};
    iw_status status = IW_OK;

    if (opts->mpi == REPLAY_MPI_AUTO) {
        status = iw_mpi_of_program(&node_log->log, program, &part);
        if (status == IW_OK) {
            status = iw_launcher_detect(&node_log->log, &launcher);
        }
        if (status == IW_OK && (part != NULL || launcher.name != NULL)) {
            status = iw_mpi_choose(&node_log->log, program, IW_REPLAY_LIBRARY, &part);
        }
        part = part != NULL ? part : IW_PLUGIN_PLAIN;
    }
    if (status == IW_OK) {
        status = iw_mpi_plugin_path(&node_log->log, part, IW_REPLAY_LIBRARY, path, size);
    }
    return status == IW_OK ? exec_program_check_library(node_log, path) : ui_exit_of(status);
}

static void say_before(const struct ui *ui, const struct node_log *node_log, const struct replay *replay,
                       bool is_pinned)
{
    char text[512];

    if (replay->opts->is_quiet || node_log->rank != 0) {
        return;
    }
    replay_summary(replay, text, sizeof text);
    (void)fprintf(stderr, "idlewave: %s: %s\n", ui->verb, text);
    if (is_pinned) {
        (void)fprintf(stderr, "idlewave: %s: each rank stays on one CPU, as fifo takes CPUs away\n",
                      ui->verb);
    }
}

static int check_itself(struct ui *ui, const struct node_log *node_log, const struct replay *replay)
{
    const struct replay_check_opts opts = {.duration_ns = replay->opts->check_ps / IW_PS_PER_NS,
                                           .want_naive = replay->opts->want_naive,
                                           .shown = &replay->opts->shown};

    return replay_self_check(ui, replay, &node_log->log, &opts);
}

static int replay_program(struct ui *ui, struct node_log *node_log, const struct replay_opts *opts,
                          const struct opt_args *args)
{
    char library[PATH_MAX];
    struct replay replay = {.opts = opts};
    bool is_pinned = false;
    int code = UI_DONE;

    if (!opts->is_dry && !opts->is_check) {
        code = find_library(node_log, opts, args->values[0], library, sizeof library);
    }
    if (code == UI_DONE && opts->injection.back_end == IW_BACK_END_FIFO) {
        code = replay_pin(node_log, &is_pinned);
    }
    if (code == UI_DONE) {
        code = replay_prepare(ui, node_log, opts, &replay);
    }
    if (code == UI_DONE && opts->is_check) {
        code = check_itself(ui, node_log, &replay);
    } else if (code == UI_DONE && opts->is_dry) {
        if (node_log->rank == 0) {
            replay_describe(&replay);
        }
    } else if (code == UI_DONE) {
        code = replay_hand_over(node_log, &replay, library);
        if (code == UI_DONE) {
            say_before(ui, node_log, &replay, is_pinned);
            code = exec_program(node_log, args);
        }
    }
    replay_release(&replay);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct replay_opts *opts = values;
    struct node_log node_log;
    int code;

    node_log_init(&node_log, ui);
    node_log_take_ui(&node_log, ui);
    code = replay_check(ui, opts);
    if (code == UI_DONE && (opts->is_dry || opts->is_check)) {
        code = args->count == 0 ? UI_DONE
                                : ui_usage(ui, "%s runs no program: leave '%s' out",
                                           opts->is_check ? "--self-check" : "--dry-run", args->values[0]);
    } else if (code == UI_DONE) {
        code = exec_program_check(ui, args);
    }
    node_log_leave_ui(&node_log, ui);
    return code == UI_DONE ? replay_program(ui, &node_log, opts, args) : code;
}

const struct verb verb_replay = {
    .name = "replay",
    .group = VERB_RUN,
    .summary = "run a program under recorded noise",
    .synopsis = synopsis,
    .description = description,
    .groups = replay_groups,
    .group_count = REPLAY_GROUP_COUNT,
    .most_used = "noise sync most self-check dry-run quiet",
    .examples = examples,
    .defaults = &replay_defaults,
    .values_size = sizeof(struct replay_opts),
    .most_arguments = (size_t)-1,
    .meets_others = true,
    .takes_command = true,
    .run = run,
};
