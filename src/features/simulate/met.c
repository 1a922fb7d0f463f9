/* The detours of one recorded input that a job can meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/simulate/met.h"

#include <math.h>

#include "core/noise/recording_pieces.h"

struct joiner {
    const iw_noise_set *set;
    const struct iwi_part_filter *filter;
    const size_t *entry; /* by source of the recording under way */
    size_t node;
    iwi_met_fn take;
    void *arg;
    int64_t start_ns, end_ns; /* of the detour under way; the same: there is none */
};

static void end_detour(struct joiner *joiner)
{
    if (joiner->end_ns > joiner->start_ns) {
        joiner->take(joiner->arg, joiner->node, joiner->start_ns, joiner->end_ns - joiner->start_ns);
    }
    joiner->start_ns = joiner->end_ns = 0;
}

static bool is_counted(const struct joiner *joiner, uint32_t source)
{
    const bool *is_removed = joiner->filter->is_removed;
    const size_t part = joiner->set->entries[joiner->entry[source]].part;

    return is_removed == NULL || (part != IWI_NO_PART && is_removed[part]) == joiner->filter->value;
}

static void take_piece(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    struct joiner *joiner = arg;

    if (!is_counted(joiner, source)) {
        end_detour(joiner);
        return;
    }
    if (joiner->end_ns != start_ns || joiner->end_ns == joiner->start_ns) {
        end_detour(joiner);
        joiner->start_ns = start_ns;
    }
    joiner->end_ns = end_ns;
}

void iwi_met_detours(const iw_noise_set *set, const struct iwi_set_input *input,
                     const struct iwi_part_filter *filter, iwi_met_fn take, void *arg)
{
    for (size_t node = 0; node < input->node_count; node++) {
        const iw_recording *recording = input->recordings[node];
        struct joiner joiner = {set, filter, input->entries[node], node, take, arg, 0, 0};

        for (size_t cpu = 0; cpu < recording->cpu_count && cpu < set->cores_per_node; cpu++) {
            iwi_cut_detours(&recording->cpus[cpu],
                            &(struct iwi_piece_sink){take_piece, &joiner, input->length_ns});
            end_detour(&joiner);
        }
    }
}

uint64_t iwi_met_cpus(const iw_noise_set *set, const struct iwi_set_input *input)
{
    uint64_t cpus = 0;

    for (size_t node = 0; node < input->node_count; node++) {
        const size_t count = input->recordings[node]->cpu_count;

        cpus += count < set->cores_per_node ? count : set->cores_per_node;
    }
    return cpus;
}

double iwi_met_events(const iw_noise_set *set, const struct iwi_set_input *input)
{
    return input->is_node_wide ? (double)input->node_count / (double)iwi_met_cpus(set, input) : 1.0;
}

/* Nodes of a folder are alike here: they have as many CPUs as the average. */
double iwi_met_rate_hz(const iw_noise_set *set, const struct iwi_set_input *input,
                       const struct iwi_exposure *exposure)
{
    const double cores = (double)exposure->ranks * (double)set->cores_per_rank;
    const double per_node = (double)set->cores_per_node;
    const bool is_together = exposure->is_together || set->sync != IW_SYNC_NONE;
    const double nodes = is_together ? 1.0 : ceil(cores / per_node);
    const double cpus = (double)iwi_met_cpus(set, input);
    const double watched_s = (double)input->length_ns * 1e-9 * cpus;
    const double recorded = fmin(cores, nodes * cpus / (double)input->node_count);
    const bool has_copies = !is_together && !exposure->is_joined && !input->is_node_wide;

    return watched_s > 0.0 ? (has_copies ? cores : recorded) / watched_s : 0.0;
}
