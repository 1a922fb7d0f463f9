/* Laws fitted to recordings stand in for them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "features/recordings/recordings.h"
#include "features/simulate/noise_set.h"

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
        return iwi_fail(log, IW_ERR_RANGE, "'%s': %d detours of a source at least can be extrapolated", name,
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
                            "'%s': the law that fits best, %s, has no mean, so nothing can be extrapolated "
                            "from it: record longer",
                            name, spec->text);
        }
        if (is_far(durations)) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "'%s': no law describes its detours (%s fits best, and is refused by chance and "
                            "by %.0f %% of distance), so nothing can be extrapolated",
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
                        "'%s': its %zu nodes differ, and have no law in common to extrapolate with: give the "
                        "recording of one of them, such as '%s', or record all of them longer",
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
        return iwi_fail(log, IW_ERR_RANGE, "there is nothing to extrapolate: the noise is not recorded");
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
iw_status iwi_fit_anew(const iw_log *log, const char *name, const iw_recording *recording,
                       const iw_noise_fit *first, iw_noise_fit **fit_p)
{
    iw_noise_fit *fit;

    IW_TRY(iwi_fit_redrawn(log, recording, first, &fit));
    for (size_t i = 0; i < fit->spec_count; i++) {
        if (!isfinite(fit->specs[i].share)) {
            const iw_status status = iwi_fail(log, IW_ERR_RANGE,
                                              "'%s': drawn anew its law is %s, which has no mean, so nothing "
                                              "can be extrapolated: record longer",
                                              name, fit->specs[i].text);

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

iw_status iwi_set_add_laws(const iw_log *log, const iw_noise_set *set, const struct iwi_set_node *node,
                           const iw_noise_fit *fit, const bool *is_removed, iw_noise *noise)
{
    for (size_t i = 0; i < fit->spec_count; i++) {
        const iw_fit_spec *spec = &fit->specs[i];
        const bool is_gone = is_law_gone(set, node, fit, &fit->groups[spec->group], is_removed);

        IW_TRY(iw_noise_add(log, noise, is_gone ? "none" : spec->text));
    }
    return IW_OK;
}
