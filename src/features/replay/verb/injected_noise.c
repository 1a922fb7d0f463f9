/* Noise that is to be injected, read or made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/verb/injected_noise.h"

#include "options/simulate_opts.h"

const char *const injected_syncs[] = {"none", "start", "phase", NULL};
static const char *const back_ends[] = {"timer", "fifo", NULL}; /* in the order of iw_back_end */

#define ROW(...) OPT_ROW(struct injection_opts, __VA_ARGS__)
const struct opt injection_rows[INJECTION_ROW_COUNT] = {
    ROW("noise", OPT_LIST, noise, "FILE|NAME|SPEC",
        "a noise file; a name that 'idlewave get' lists; or one of {}, with DIST one of {}; SPECs may be "
        "repeated and add up",
        .known = iw_noise_clocked_usage, .lists = {iw_noise_clocked_usage, iw_noise_duration_usage},
        .collected = OPT_COLLECTED_NOISE),
    ROW("noise-cpus", OPT_STRING, cpus, "LIST",
        "use only these CPUs of a file, 0,2-5 (default all, assigned to the ranks of a host in turn)"),
    ROW("sync", OPT_CHOICE, sync, "",
        "where nodes start in the recording: each at its own place, all at the same place, or all at the "
        "same place, drawn again for each phase; a phase begins with a collective of all ranks or an "
        "MPI_Pcontrol (default none)",
        .choices = injected_syncs),
    ROW("skew", OPT_TIME, skew_ps, "TIME", "shift synchronised nodes by up to TIME (default 0)"),
    ROW("time-scale", OPT_FACTOR, time_scale, "K",
        "stretch starts, durations and the length of the recording by K (at least 1), so that short detours "
        "become long enough to inject; for programs that scale with it, such as bench (default 1)"),
    ROW("back-end", OPT_CHOICE, back_end, "",
        "how to take the CPU: by a timer signal in the program, or by a real-time thread beside it, which "
        "needs the right to use SCHED_FIFO (default timer)",
        .choices = back_ends, .is_setting = true),
    ROW("seed", OPT_COUNT, seed, "N", "seed of all random choices (default 1)", .max = INT64_MAX),
};
#undef ROW

int injection_check(const struct ui *ui, const struct injection_opts *opts)
{
    if (opts->noise.count > 1 && injected_has_file(&opts->noise)) {
        return ui_usage(ui, "--noise takes one file, or one or more SPECs");
    }
    if (opts->time_scale < 1.0) {
        return ui_usage(ui, "--time-scale %g: use at least 1, as times can only be stretched",
                        opts->time_scale);
    }
    return simulate_check_skew(ui, opts->sync, opts->skew_ps);
}

bool injected_has_file(const struct opt_list *noise)
{
    for (size_t i = 0; i < noise->count; i++) {
        if (iw_noise_form_of(noise->items[i]) != IW_NOISE_SPEC) {
            return true;
        }
    }
    return false;
}

static int load_file(const iw_log *log, const struct injected_opts *opts, iw_recording **recording_p)
{
    const char *path = opts->noise->items[0];
    iw_status status = iw_recording_load(log, path, recording_p);

    if (status == IW_OK) {
        status = iw_recording_keep_cpus(log, path, opts->cpus, recording_p);
    }
    return ui_exit_of(status);
}

int injected_load(const struct ui *ui, const iw_log *log, const struct injected_opts *opts,
                  iw_recording **recording_p)
{
    iw_synth_opts synth = IW_SYNTH_OPTS_INIT;
    iw_edit edit;

    if (injected_has_file(opts->noise)) {
        return load_file(log, opts, recording_p);
    }
    synth.specs = opts->noise->items;
    synth.spec_count = opts->noise->count;
    synth.cpu_count = opts->cpu_count;
    synth.seed = opts->seed;
    synth.duration_ns = opts->duration_ns != 0 ? opts->duration_ns : synth.duration_ns;
    synth.sync = opts->sync == IW_SYNC_NONE ? IW_SYNC_NONE : IW_SYNC_START;
    return ui_exit_of_value(ui, iw_recording_synth(log, &synth, recording_p, &edit));
}
