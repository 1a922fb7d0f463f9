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

int injected_load(const struct ui *ui, const iw_log *log, const struct opt_list *noise, iw_sync sync,
                  uint64_t seed, size_t cpu_count, iw_recording **recording_p)
{
    iw_synth_opts synth = IW_SYNTH_OPTS_INIT;
    iw_edit edit;

    if (injected_has_file(noise)) {
        return ui_exit_of(iw_recording_load(log, noise->items[0], recording_p));
    }
    synth.specs = noise->items;
    synth.spec_count = noise->count;
    synth.cpu_count = cpu_count;
    synth.seed = seed;
    synth.sync = sync == IW_SYNC_NONE ? IW_SYNC_NONE : IW_SYNC_START;
    return ui_exit_of_value(ui, iw_recording_synth(log, &synth, recording_p, &edit));
}
