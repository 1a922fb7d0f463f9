/* The option tables of `replay`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/verb/replay_opts.h"

#include <idlewave/internal/mpi.h>

/* In the order of the enums in replay_opts.h. */
static const char *const threads[] = {"main", "all", NULL};
static const char *const mpi_choices[] = {"auto", "none", "openmpi", "mpich", NULL};
const char *const replay_mpis[] = {"auto", IW_PLUGIN_PLAIN, "openmpi", "mpich"};

#define ROW(...) OPT_ROW(struct replay_opts, __VA_ARGS__)
static const struct opt most_rows[] = {
    ROW("most", OPT_STRING, most, "SHARE|all",
        "use this share of the recording, then inject nothing; all: repeat it (default 1/3 of a file, all of "
        "SPECs)"),
};
static const struct opt make_rows[] = {
    ROW("threads", OPT_CHOICE, threads, "",
        "which threads of the program get noise; with fifo the whole CPU does (default main)",
        .choices = threads),
    ROW("calibrate", OPT_TIME, calibrate_ps, "TIME",
        "how long to measure what a detour costs here (default 300ms)", .is_setting = true),
    ROW("mpi", OPT_CHOICE, mpi, "",
        "the MPI of the program, not checked (default auto: by its libraries, else the launcher's, else "
        "none)",
        .choices = mpi_choices, .is_setting = true),
};
static const struct opt check_rows[] = {
    ROW("self-check", OPT_FLAG, is_check, "",
        "run no program: inject into a thread that reads the clock, and compare what it observes with the "
        "requested noise; exits with 2 if they differ"),
    ROW("duration", OPT_TIME, check_ps, "TIME",
        "how long to observe, plus half as long for the host's own noise (default 10s)"),
    ROW("naive", OPT_FLAG, want_naive, "",
        "also inject the noise unchanged (not scaled, subtracted or merged), for comparison"),
};
static const struct opt output_rows[] = {
    ROW("dry-run", OPT_FLAG, is_dry, "", "report what would be injected here, and run nothing"),
    ROW("quiet", OPT_FLAG, is_quiet, "", "print nothing before and after the program", .letter = 'q'),
};
#undef ROW

const struct opt_group replay_groups[REPLAY_GROUP_COUNT] = {
    {"Noise", injection_rows, INJECTION_ROW_COUNT, offsetof(struct replay_opts, injection), false},
    OPT_GROUP("Noise", most_rows, 0),
    OPT_GROUP("How it is made", make_rows, 0),
    OPT_GROUP("Checking it", check_rows, 0),
    SHOWN_GROUP("Checking it", offsetof(struct replay_opts, shown)),
    OPT_GROUP("Output", output_rows, 0),
};

const struct replay_opts replay_defaults = {
    .check_ps = 10 * IW_PS_PER_S,
    .calibrate_ps = IW_INJECT_CALIBRATE_NS * IW_PS_PER_NS,
    .injection = INJECTION_OPTS_INIT,
};
