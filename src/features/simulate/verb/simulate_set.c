/* The noise of a simulation, from the options, as a set whose sources can be taken away.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/simulate/verb/simulate_set.h"

static iw_status add_to_set(const iw_log *log, void *set, const char *spec_or_path)
{
    return iw_noise_set_add(log, set, spec_or_path);
}

int simulate_make_set(struct ui *ui, const struct noise_opts *opts, iw_noise_set **set_p)
{
    const iw_cpu_set *chosen;
    iw_cpu_set cpus;
    int code = simulate_read_cpus(ui, opts->cpus, &cpus, &chosen);

    if (code == UI_DONE) {
        code = ui_exit_of(iw_noise_set_new(&ui->log, set_p));
    }
    if (code == UI_DONE) {
        iw_noise_set_only_cpus(*set_p, chosen);
        iw_noise_set_align_nodes(*set_p, (iw_align)opts->align);
        code = simulate_add_noise(ui, &opts->specs, add_to_set, *set_p);
    }
    if (code == UI_DONE) {
        code = simulate_check_cpus(ui, opts->cpus, iw_noise_set_recorded_cpus(*set_p));
    }
    if (code == UI_DONE && opts->align == IW_ALIGN_WALL && iw_noise_set_window(*set_p) == NULL) {
        code = ui_usage(ui, "--align wall needs recordings of several nodes: give --noise a folder of "
                            "recordings, one per node");
    }
    if (code == UI_DONE) {
        iw_noise_set_align(*set_p, (iw_sync)opts->sync, opts->skew_ps, (uint32_t)opts->ranks_per_node);
        iw_noise_set_share_phases(*set_p, (uint32_t)opts->cores_per_rank, (iw_loop_schedule)opts->loop);
    }
    if (code == UI_DONE && opts->is_extrapolated) {
        code = ui_exit_of(iw_noise_set_extrapolate(&ui->log, *set_p));
    }
    return code;
}
