/* Noise of a set: without some parts, from recordings drawn anew, or from laws fitted to them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/noise/recording_noise.h"
#include "core/stats/block_bootstrap.h"
#include "features/recordings/recordings.h"
#include "features/simulate/noise_set.h"

/* ======== laws ======== */

/* A law that differs from the recorded lengths by more than chance (1 %) and by more than this, the largest
 * difference of shares of shorter detours, does not describe them. */
static const double FAR = 0.05, UNLIKELY = 0.0101;

/* Their p is at least 1/(this + 1). */
enum { FIT_REPLICATES = 99 };

static bool is_far(const iw_durations *durations)
{
    const iw_duration_fit *best = &durations->laws[durations->best];

    return durations->is_fitted && best->p < UNLIKELY && best->distance > FAR;
}

static iw_status check_fit(const iw_log *log, const char *name, const iw_noise_fit *fit)
{
    if (fit->spec_count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': extrapolation needs at least %d detours of a source", name,
                        IW_FIT_LEAST);
    }
    for (size_t i = 0; i < fit->spec_count; i++) {
        const iw_fit_spec *spec = &fit->specs[i];
        const iw_fit_group *group = &fit->groups[spec->group];
        const iw_durations *durations = !group->has_parts   ? &group->durations
                                        : spec->is_periodic ? &group->beats
                                                            : &group->others;

        if (!isfinite(spec->share)) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "'%s': cannot extrapolate: the best-fitting law, %s, has no mean: record longer",
                            name, spec->text);
        }
        if (is_far(durations)) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "'%s': cannot extrapolate: no law describes its detours (the best, %s, is "
                            "rejected, at a distance of %.0f %%)",
                            name, spec->text, 100.0 * durations->laws[durations->best].distance);
        }
    }
    return IW_OK;
}

static iw_status fit_input(const iw_log *log, struct iwi_set_input *input)
{
    const iw_fit_opts opts = {.size = sizeof opts, .seed = 1, .replicates = FIT_REPLICATES};
    iw_noise_fit *fit;
    iw_status status;

    if (input->node_count > 1) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': cannot extrapolate: its %zu nodes have no law in common: give the recording "
                        "of one of them, such as '%s', or record all of them longer",
                        input->text, input->node_count,
                        input->folder != NULL ? input->folder->paths[0] : input->text);
    }
    IW_TRY(iw_noise_fit_new(log, input->recordings[0], &opts, &fit));
    status = check_fit(log, input->text, fit);
    if (status != IW_OK) {
        iw_noise_fit_free(fit);
        return status;
    }
    iw_noise_fit_free(input->fit);
    input->fit = fit;
    return IW_OK;
}

/* The fits own the texts. */
static iw_status list_laws(const iw_log *log, iw_noise_set *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->input_count; i++) {
        count += set->inputs[i].fit != NULL ? set->inputs[i].fit->spec_count : 0;
    }
    free(set->laws);
    set->law_count = 0;
    set->laws = iwi_new_array(log, count, sizeof *set->laws);
    if (set->laws == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < set->input_count; i++) {
        const iw_noise_fit *fit = set->inputs[i].fit;

        for (size_t k = 0; fit != NULL && k < fit->spec_count; k++) {
            set->laws[set->law_count++] = fit->specs[k].text;
        }
    }
    return IW_OK;
}

iw_status iw_noise_set_extrapolate(const iw_log *log, iw_noise_set *set)
{
    if (set->recorded_cpus == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "nothing to extrapolate: the noise is not recorded");
    }
    for (size_t i = 0; i < set->input_count; i++) {
        if (set->inputs[i].node_count > 0) {
            IW_TRY(fit_input(log, &set->inputs[i]));
        }
    }
    return list_laws(log, set);
}

const char *iw_noise_set_law(const iw_noise_set *set, size_t number)
{
    return number < set->law_count ? set->laws[number] : NULL;
}

/* With a law that has no mean, nothing that is drawn from it has one either. */
static iw_status fit_anew(const iw_log *log, const char *name, const iw_recording *recording,
                          const iw_noise_fit *first, iw_noise_fit **fit_p)
{
    iw_noise_fit *fit;

    IW_TRY(iwi_fit_redrawn(log, recording, first, &fit));
    for (size_t i = 0; i < fit->spec_count; i++) {
        if (!isfinite(fit->specs[i].share)) {
            const iw_status status = iwi_fail(
                log, IW_ERR_RANGE,
                "'%s': cannot extrapolate: resampled, its law is %s, which has no mean: record longer", name,
                fit->specs[i].text);

            iw_noise_fit_free(fit);
            return status;
        }
    }
    *fit_p = fit;
    return IW_OK;
}

/* ---- in place of recordings ---- */

static bool is_source_gone(const iw_noise_set *set, const struct iwi_set_node *node, size_t source,
                           const bool *is_removed)
{
    const size_t part = set->entries[node->entry[source]].part;

    return part == IWI_NO_PART || is_removed[part];
}

static bool has_group(const iw_noise_fit *fit, size_t source)
{
    for (size_t i = 0; i < fit->group_count; i++) {
        if (fit->groups[i].kind == IW_FIT_SOURCE && fit->groups[i].source == source) {
            return true;
        }
    }
    return false;
}

/* A law of several sources goes with the last of them. */
static bool is_law_gone(const iw_noise_set *set, const struct iwi_set_node *node, const iw_noise_fit *fit,
                        const iw_fit_group *group, const bool *is_removed)
{
    if (is_removed == NULL) {
        return false;
    }
    if (group->kind == IW_FIT_SOURCE) {
        return is_source_gone(set, node, group->source, is_removed);
    }
    for (size_t i = 0; i < node->recording->source_count; i++) {
        const bool is_in_group = group->kind == IW_FIT_ALL || !has_group(fit, i);

        if (is_in_group && !is_source_gone(set, node, i, is_removed)) {
            return false;
        }
    }
    return true;
}

/* The laws in place of one input, "none" for each that is removed: so those of others stay where they were.
 */
static iw_status set_add_laws(const iw_log *log, const iw_noise_set *set, const struct iwi_set_node *node,
                              const iw_noise_fit *fit, const bool *is_removed, iw_noise *noise)
{
    for (size_t i = 0; i < fit->spec_count; i++) {
        const iw_fit_spec *spec = &fit->specs[i];
        const bool is_gone = is_law_gone(set, node, fit, &fit->groups[spec->group], is_removed);

        IW_TRY(iw_noise_add(log, noise, is_gone ? "none" : spec->text));
    }
    return IW_OK;
}

/* ======== recordings ======== */

/* ---- drawing anew ---- */

/* 0: it is not recorded, or for no time. */
static size_t blocks_of(const struct iwi_set_input *input)
{
    if (iwi_is_drawn_by_nodes(input)) {
        return input->node_count;
    }
    return input->node_count > 0 && input->length_ns > 0 ? iwi_choose_blocks(input->length_ns).count : 0;
}

size_t iwi_set_blocks(const iw_noise_set *set)
{
    size_t least = 0;

    for (size_t i = 0; i < set->input_count; i++) {
        const size_t blocks = blocks_of(&set->inputs[i]);

        if (blocks > 0 && (least == 0 || blocks < least)) {
            least = blocks;
        }
    }
    return least;
}

/* Inputs are drawn independently of each other. */
static uint64_t seed_of(uint64_t seed, size_t input)
{
    return seed + (uint64_t)input * UINT64_C(0x9e3779b97f4a7c15);
}

/* The nodes of a folder, with replacement. */
static void draw_nodes(const struct iwi_set_input *input, uint64_t seed, uint64_t replicate,
                       struct iwi_set_node *nodes)
{
    const struct iwi_draw_id draw = {.seed = seed, .trial = replicate, .purpose = IWI_DRAW_BOOTSTRAP};

    for (size_t i = 0; i < input->node_count; i++) {
        const size_t chosen = replicate > 0 ? (size_t)iwi_draw_below(draw, i, input->node_count) : i;

        nodes[i] = (struct iwi_set_node){input->folder != NULL ? input->folder->paths[chosen] : input->text,
                                         input->recordings[chosen], input->entries[chosen]};
    }
}

/* The same stretches of all nodes. */
static iw_status draw_stretches(const iw_log *log, const struct iwi_set_input *input, uint64_t seed,
                                uint64_t replicate, struct iwi_drawn *drawn, size_t index)
{
    iw_recording **made = iwi_new_array(log, input->node_count, sizeof(iw_recording *));

    if (made == NULL) {
        return IW_ERR_NOMEM;
    }
    drawn->made[index] = made;
    drawn->made_count[index] = input->node_count;
    for (size_t node = 0; node < input->node_count; node++) {
        IW_TRY(iw_recording_resample(log, input->text, input->recordings[node], blocks_of(input), seed,
                                     replicate, &made[node]));
        drawn->nodes[index][node].recording = made[node]; /* its sources have the same numbers */
    }
    return IW_OK;
}

static iw_status draw_input(const iw_log *log, const struct iwi_set_input *input, uint64_t seed,
                            uint64_t replicate, struct iwi_drawn *drawn, size_t index)
{
    struct iwi_set_node *nodes = iwi_new_array(log, input->node_count, sizeof *nodes);

    drawn->nodes[index] = nodes;
    if (nodes == NULL) {
        return IW_ERR_NOMEM;
    }
    draw_nodes(input, seed, iwi_is_drawn_by_nodes(input) ? replicate : 0, nodes);
    if (replicate == 0 || iwi_is_drawn_by_nodes(input) || blocks_of(input) < 2) {
        return IW_OK;
    }
    IW_TRY(draw_stretches(log, input, seed, replicate, drawn, index));
    return input->fit != NULL
               ? fit_anew(log, input->text, drawn->made[index][0], input->fit, &drawn->fits[index])
               : IW_OK;
}

iw_status iwi_drawn_init(const iw_log *log, const iw_noise_set *set, uint64_t seed, uint64_t replicate,
                         struct iwi_drawn *drawn_p)
{
    struct iwi_drawn drawn = {.nodes = iwi_new_array(log, set->input_count, sizeof(struct iwi_set_node *)),
                              .made = iwi_new_array(log, set->input_count, sizeof(iw_recording **)),
                              .made_count = iwi_new_array(log, set->input_count, sizeof(size_t)),
                              .fits = iwi_new_array(log, set->input_count, sizeof(iw_noise_fit *)),
                              .tallies =
                                  iwi_new_array(log, set->input_count, sizeof(struct iwi_source_tally *)),
                              .input_count = set->input_count};
    iw_status status = drawn.nodes != NULL && drawn.made != NULL && drawn.made_count != NULL &&
                               drawn.fits != NULL && drawn.tallies != NULL
                           ? IW_OK
                           : IW_ERR_NOMEM;

    for (size_t i = 0; i < set->input_count && status == IW_OK; i++) {
        if (set->inputs[i].node_count > 0) {
            status = draw_input(log, &set->inputs[i], seed_of(seed, i), replicate, &drawn, i);
        }
    }
    if (status != IW_OK) {
        iwi_drawn_release(&drawn);
        return status;
    }
    *drawn_p = drawn;
    return IW_OK;
}

void iwi_drawn_release(struct iwi_drawn *drawn)
{
    for (size_t i = 0; i < drawn->input_count; i++) {
        if (drawn->nodes != NULL) {
            free(drawn->nodes[i]);
        }
        if (drawn->made != NULL && drawn->made_count != NULL) {
            iw_recordings_free(drawn->made[i], drawn->made_count[i]);
        }
        if (drawn->fits != NULL) {
            iw_noise_fit_free(drawn->fits[i]);
        }
        if (drawn->tallies != NULL) {
            free(drawn->tallies[i]);
        }
    }
    free(drawn->nodes);
    free(drawn->made);
    free(drawn->made_count);
    free(drawn->fits);
    free(drawn->tallies);
}

/* ---- taking away ---- */

static bool is_gone(const iw_noise_set *set, size_t entry, const bool *is_removed)
{
    const size_t part = set->entries[entry].part;

    return is_removed != NULL && part != IWI_NO_PART && is_removed[part];
}

/* What is removed of each node, by its sources. */
static iw_status list_dropped(const iw_log *log, const iw_noise_set *set, const struct iwi_set_node *nodes,
                              size_t count, const bool *is_removed, bool **is_dropped)
{
    for (size_t node = 0; node < count; node++) {
        const size_t source_count = nodes[node].recording->source_count;

        is_dropped[node] = iwi_new_array(log, source_count, sizeof **is_dropped);
        if (is_dropped[node] == NULL) {
            return IW_ERR_NOMEM;
        }
        for (size_t i = 0; i < source_count; i++) {
            is_dropped[node][i] = is_gone(set, nodes[node].entry[i], is_removed);
        }
    }
    return IW_OK;
}

/* ---- into the noise ---- */

/* What is left of nothing holds its place, so that the random numbers of other inputs stay the same. */
static iw_status add_recorded(const iw_log *log, const iw_noise_set *set, size_t index,
                              const struct iwi_drawn *drawn, const bool *is_removed, iw_noise *noise)
{
    const struct iwi_set_node *nodes = drawn->nodes[index];
    const struct iwi_set_input *input = &set->inputs[index];
    const size_t count = input->node_count;
    const char **names = iwi_new_array(log, count, sizeof *names);
    const iw_recording **recordings = iwi_new_array(log, count, sizeof(iw_recording *));
    bool **is_dropped = iwi_new_array(log, count, sizeof(bool *));
    iw_status status = names != NULL && recordings != NULL && is_dropped != NULL
                           ? list_dropped(log, set, nodes, count, is_removed, is_dropped)
                           : IW_ERR_NOMEM;

    for (size_t i = 0; i < count && status == IW_OK; i++) {
        names[i] = nodes[i].name;
        recordings[i] = nodes[i].recording;
    }
    if (status == IW_OK) {
        status = iwi_noise_add_rest(
            log, noise, &(struct iwi_recorded_input){input->text, names, recordings, count, input->length_ns},
            (const bool *const *)is_dropped, &drawn->tallies[index]);
    }
    for (size_t i = 0; i < count && is_dropped != NULL; i++) {
        free(is_dropped[i]);
    }
    free(is_dropped);
    free(recordings);
    free(names);
    return status;
}

iw_status iwi_set_make(const iw_log *log, const iw_noise_set *set, const struct iwi_drawn *drawn,
                       const bool *is_removed, iw_noise **noise_p)
{
    iw_noise *noise;
    iw_status status;

    IW_TRY(iw_noise_new(log, &noise));
    iw_noise_only_cpus(noise, iw_noise_set_cpus(set)); /* which its recordings are cut to already */
    iw_noise_align_nodes(noise, set->align);           /* as above */
    status = IW_OK;
    for (size_t i = 0; i < set->input_count && status == IW_OK; i++) {
        const struct iwi_set_input *input = &set->inputs[i];

        if (input->fit != NULL) {
            status = set_add_laws(log, set, &drawn->nodes[i][0],
                                  drawn->fits[i] != NULL ? drawn->fits[i] : input->fit, is_removed, noise);
        } else if (input->node_count > 0) {
            status = add_recorded(log, set, i, drawn, is_removed, noise);
        } else {
            status = iw_noise_add(log, noise, is_gone(set, input->entry, is_removed) ? "none" : input->text);
        }
    }
    if (status != IW_OK) {
        iw_noise_free(noise);
        return status;
    }
    iw_noise_align(noise, set->sync, set->skew_ps, set->ranks_per_node);
    iw_noise_share_phases(noise, set->cores_per_rank, set->loop);
    *noise_p = noise;
    return IW_OK;
}

iw_status iw_noise_set_make(const iw_log *log, const iw_noise_set *set, const bool *is_removed, uint64_t seed,
                            uint64_t replicate, iw_noise **noise_p)
{
    struct iwi_drawn drawn;
    iw_status status;

    IW_TRY(iwi_drawn_init(log, set, seed, replicate, &drawn));
    status = iwi_set_make(log, set, &drawn, is_removed, noise_p);
    iwi_drawn_release(&drawn);
    return status;
}

const iw_cpu_set *iw_noise_set_cpus(const iw_noise_set *set)
{
    return iw_cpu_set_is_empty(&set->only_cpus) ? NULL : &set->only_cpus;
}
