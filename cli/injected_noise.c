/* Noise that is to be injected, read or made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "injected_noise.h"

#include <string.h>
#include <unistd.h>

const char *const injected_syncs[] = {"none", "start", "phase", NULL};
const char *const injected_back_ends[] = {"timer", "fifo", NULL};

const char *injected_known(size_t index)
{
    static const char *const beginnings[] = {"periodic:", "poisson:", NULL};

    return beginnings[index];
}

bool injected_has_file(const struct opt_list *noise)
{
    for (size_t i = 0; i < noise->count; i++) {
        if (access(noise->items[i], F_OK) == 0 || strchr(noise->items[i], ':') == NULL) {
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
    synth.sync = opts->sync == IW_SYNC_NONE ? IW_SYNC_NONE : IW_SYNC_START;
    return ui_exit_of_value(ui, iw_recording_synth(log, &synth, recording_p, &edit));
}
