/* The ladder of rungs, and the laying of their shares upon detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/attribution/attribution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"

/* The best first. */
static const struct iwi_rung_ops *const ladder[] = {
#ifdef IW_HAVE_TRACEFS
    &iwi_rung_osnoise,
    &iwi_rung_tracefs,
    &iwi_rung_perf,
#endif
    &iwi_rung_switches,
};
enum { RUNGS = sizeof ladder / sizeof ladder[0] };

static iw_status try_rung(struct iwi_attributor *attribution, const struct iwi_rung_ops *ops)
{
    struct iwi_rung_state *rung = &attribution->rung;
    iw_status status;

    rung->reason[0] = '\0';
    rung->ops = ops;
    status = ops->open(rung);
    if (status != IW_OK) {
        rung->ops = NULL;
    }
    return status;
}

static iw_status open_wanted(struct iwi_attributor *attribution, iw_attribution_level wanted)
{
    struct iwi_rung_state *rung = &attribution->rung;

    for (size_t i = 0; i < RUNGS; i++) {
        if (ladder[i]->rung == wanted) {
            const iw_status status = try_rung(attribution, ladder[i]);

            return status == IW_OK || status == IW_ERR_NOMEM
                       ? status
                       : iwi_fail(rung->log, status, "attribution by %s does not work here: %s",
                                  iw_attribution_level_name(wanted), rung->reason);
        }
    }
    return iwi_fail(rung->log, IW_ERR_IO, "attribution by %s is not in this build: libtraceevent was missing",
                    iw_attribution_level_name(wanted));
}

/* Which rungs did not work and why, the same reason once: "osnoise, tracefs (needs root); perf (...)". */
static void list_reasons(char reasons[][IWI_REASON_SIZE], size_t count, char *note, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < count && length < size; i++) {
        const bool is_same = i + 1 < count && strcmp(reasons[i], reasons[i + 1]) == 0;
        const char *name = iw_attribution_level_name(ladder[i]->rung), *next = i + 1 < count ? "; " : "";

        length +=
            (size_t)(is_same ? snprintf(note + length, size - length, "%s, ", name)
                             : snprintf(note + length, size - length, "%s (%s)%s", name, reasons[i], next));
    }
}

static iw_status open_best(struct iwi_attributor *attribution)
{
    struct iwi_rung_state *rung = &attribution->rung;
    char reasons[RUNGS][IWI_REASON_SIZE];
    size_t tried = 0;

    for (; tried < RUNGS && rung->ops == NULL; tried++) {
        if (try_rung(attribution, ladder[tried]) == IW_ERR_NOMEM) {
            return IW_ERR_NOMEM;
        }
        memcpy(reasons[tried], rung->reason, sizeof reasons[tried]);
    }
    list_reasons(reasons, rung->ops != NULL ? tried - 1 : tried, attribution->note, sizeof attribution->note);
    return IW_OK;
}

static iw_status open_chosen(struct iwi_attributor *attribution, const iw_measure_opts *opts)
{
    static const iw_attribution_level wanted[] = {
        [IW_ATTRIBUTION_SWITCHES] = IW_ATTRIBUTION_LEVEL_SWITCHES,
        [IW_ATTRIBUTION_PERF] = IW_ATTRIBUTION_LEVEL_PERF,
        [IW_ATTRIBUTION_TRACEFS] = IW_ATTRIBUTION_LEVEL_TRACEFS,
        [IW_ATTRIBUTION_OSNOISE] = IW_ATTRIBUTION_LEVEL_OSNOISE,
    };

    switch (opts->attribution) {
    case IW_ATTRIBUTION_NONE: return IW_OK;
    case IW_ATTRIBUTION_AUTO: return open_best(attribution);
    default: return open_wanted(attribution, wanted[opts->attribution]);
    }
}

iw_status iwi_attribution_open(const iw_log *log, const char *root, const iw_measure_opts *opts,
                               const struct iwi_clock *clock, struct iwi_watched *watched, size_t count,
                               iw_recording *recording, struct iwi_attributor *attribution)
{
    struct iwi_rung_state *rung = &attribution->rung;

    *attribution = (struct iwi_attributor){.watched = watched,
                                           .rung = {.log = log,
                                                    .root = root,
                                                    .clock = clock,
                                                    .watched = watched,
                                                    .count = count,
                                                    .recorder = gettid(),
                                                    .recording = recording}};
    attribution->part_capacity = iwi_new_array(log, count, sizeof *attribution->part_capacity);
    attribution->blind_until_ns = iwi_new_array(log, count, sizeof *attribution->blind_until_ns);
    rung->shares = iwi_new_array(log, count, sizeof *rung->shares);
    if (attribution->part_capacity == NULL || attribution->blind_until_ns == NULL || rung->shares == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(open_chosen(attribution, opts));
    recording->rung = rung->ops != NULL ? rung->ops->rung : IW_ATTRIBUTION_LEVEL_NONE;
    return rung->ops != NULL && rung->ops->sees_all
               ? iw_recording_source(log, recording, IW_CLASS_HARDWARE, IW_SOURCE_UNSEEN,
                                     &attribution->unseen)
               : IW_OK;
}

void iwi_attribution_forget(struct iwi_attributor *attribution, size_t place)
{
    attribution->rung.shares[place].count = 0;
}

iw_status iwi_attribution_begin(struct iwi_attributor *attribution)
{
    IW_TRY(iwi_attribution_drain(attribution));
    for (size_t i = 0; i < attribution->rung.count; i++) {
        iwi_attribution_forget(attribution, i);
        attribution->blind_until_ns[i] = -1.0;
    }
    attribution->lost_before = attribution->rung.lost;
    return IW_OK;
}

iw_status iwi_attribution_drain(struct iwi_attributor *attribution)
{
    struct iwi_rung_state *rung = &attribution->rung;

    return rung->ops != NULL ? rung->ops->drain(rung) : IW_OK;
}

void iwi_attribution_close(struct iwi_attributor *attribution)
{
    struct iwi_rung_state *rung = &attribution->rung;

    if (rung->ops != NULL) {
        rung->ops->close(rung);
    }
    for (size_t i = 0; rung->shares != NULL && i < rung->count; i++) {
        free(rung->shares[i].array);
    }
    free(rung->shares);
    free(attribution->watched);
    free(attribution->part_capacity);
    free(attribution->blind_until_ns);
    free(attribution->takers);
}
