/* The option tables of `replay`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "replay_opts.h"

#include "injected_noise.h"

/* In the order of the enums in replay_opts.h. */
static const char *const threads[] = {"main", "all", NULL};
static const char *const check_formats[] = {"text", "json", NULL}; /* as in replay_check.h */
static const char *const mpi_choices[] = {"auto", "none", "openmpi", "mpich", NULL};
const char *const replay_mpis[] = {"auto", IW_PART_PLAIN, "openmpi", "mpich"};

#define ROW(...) OPT_ROW(struct replay_opts, __VA_ARGS__)
static const struct opt noise_rows[] = {
    ROW("noise", OPT_LIST, noise, "FILE|SPEC",
        "a noise file; or periodic:RATE,TIME, poisson:RATE,DIST with DIST of fixed:TIME, exp:MEAN, "
        "pareto:A,MIN, lognormal:MEDIAN,SIGMA, which may be repeated: they add up",
        .known = injected_known),
    ROW("noise-cpus", OPT_STRING, cpus, "LIST",
        "use only these CPUs of a file, 0,2-5 (default all: ranks of a host meet them in turns)"),
    ROW("sync", OPT_CHOICE, sync, "",
        "a place in the trace for each node, one for all, or one for all drawn anew at each collective of "
        "all "
        "ranks and each MPI_Pcontrol (default none)",
        .choices = injected_syncs),
    ROW("skew", OPT_TIME, skew_ps, "TIME", "shift synchronised nodes by up to TIME (default 0)"),
    ROW("time-scale", OPT_FACTOR, time_scale, "K",
        "starts, durations and the length of the trace times K, at least 1, to lift short detours over the "
        "floor; for benchmarks that scale with it (default 1)"),
    ROW("most", OPT_STRING, most, "SHARE|all",
        "use so much of the trace, then be silent; all: use it again and again (default 1/3 of a file, all "
        "of "
        "SPECs)"),
    ROW("seed", OPT_COUNT, seed, "N", "all random choices follow from it (default 1)", .max = INT64_MAX),
};
static const struct opt make_rows[] = {
    ROW("back-end", OPT_CHOICE, back_end, "",
        "who takes the CPU: a timer signal in the program, or a real-time thread beside it, which needs the "
        "right to use SCHED_FIFO (default timer)",
        .choices = injected_back_ends, .is_setting = true),
    ROW("threads", OPT_CHOICE, threads, "",
        "which threads of the program meet noise; with fifo it is the CPU that does (default main)",
        .choices = threads),
    ROW("calibrate", OPT_TIME, calibrate_ps, "TIME",
        "measure for so long what a detour costs here (default 300ms)", .is_setting = true),
    ROW("mpi", OPT_CHOICE, mpi, "",
        "the MPI of the program, unchecked (default auto: by its libraries, else the launcher's, else none)",
        .choices = mpi_choices, .is_setting = true),
};
static const struct opt check_rows[] = {
    ROW("self-check", OPT_FLAG, is_check, "",
        "run no program: inject into a thread that watches the clock, and compare what it saw with the noise "
        "asked for; exits 2 if it differs"),
    ROW("duration", OPT_TIME, check_ps, "TIME",
        "watch for so long, the host's own noise for half of it (default 10s)"),
    ROW("naive", OPT_FLAG, want_naive, "",
        "also as it stands, nothing scaled, subtracted or merged, for comparison"),
    ROW("format", OPT_CHOICE, check_format, "", "for people, or for programs (default text)",
        .choices = check_formats),
};
static const struct opt output_rows[] = {
    ROW("dry-run", OPT_FLAG, is_dry, "", "say what would be injected here, and run nothing"),
    ROW("quiet", OPT_FLAG, is_quiet, "", "no words before and after the program", .letter = 'q'),
};
#undef ROW

const struct opt_group replay_groups[REPLAY_GROUP_COUNT] = {
    OPT_GROUP("Noise", noise_rows, 0),
    OPT_GROUP("How it is made", make_rows, 0),
    OPT_GROUP("Checking it", check_rows, 0),
    OPT_GROUP("Output", output_rows, 0),
};

const struct replay_opts replay_defaults = {
    .check_ps = 10 * IW_PS_PER_S,
    .calibrate_ps = IW_INJECT_CALIBRATE_NS * IW_PS_PER_NS,
    .time_scale = 1.0,
    .seed = 1,
};
