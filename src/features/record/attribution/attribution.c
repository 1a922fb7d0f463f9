/* Which methods there are, and the laying of their shares upon detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/attribution/attribution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"

/* The best first. */
static const struct iwi_method_ops *const methods[] = {
#ifdef IW_HAVE_TRACEFS
    &iwi_method_osnoise,
    &iwi_method_tracefs,
    &iwi_method_perf,
#endif
    &iwi_method_switches,
};
enum { METHODS = sizeof methods / sizeof methods[0] };

static iw_status try_method(struct iwi_attributor *attribution, const struct iwi_method_ops *ops)
{
    struct iwi_method *method = &attribution->method;
    iw_status status;

    method->reason[0] = '\0';
    method->ops = ops;
    status = ops->open(method);
    if (status != IW_OK) {
        method->ops = NULL;
    }
    return status;
}

static iw_status open_wanted(struct iwi_attributor *attribution, iw_attribution_level wanted)
{
    struct iwi_method *method = &attribution->method;

    for (size_t i = 0; i < METHODS; i++) {
        if (methods[i]->attribution == wanted) {
            const iw_status status = try_method(attribution, methods[i]);

            return status == IW_OK || status == IW_ERR_NOMEM
                       ? status
                       : iwi_fail(method->log, status, "attribution by %s does not work here: %s",
                                  iw_attribution_level_name(wanted), method->reason);
        }
    }
    return iwi_fail(method->log, IW_ERR_IO,
                    "attribution by %s is not in this build: libtraceevent was missing",
                    iw_attribution_level_name(wanted));
}

/* Which methods did not work and why, the same reason once: "osnoise, tracefs (needs root); perf (...)". */
static void list_reasons(char reasons[][IWI_REASON_SIZE], size_t count, char *note, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < count && length < size; i++) {
        const bool is_same = i + 1 < count && strcmp(reasons[i], reasons[i + 1]) == 0;
        const char *name = iw_attribution_level_name(methods[i]->attribution),
                   *next = i + 1 < count ? "; " : "";

        length +=
            (size_t)(is_same ? snprintf(note + length, size - length, "%s, ", name)
                             : snprintf(note + length, size - length, "%s (%s)%s", name, reasons[i], next));
    }
}

static iw_status open_best(struct iwi_attributor *attribution)
{
    struct iwi_method *method = &attribution->method;
    char reasons[METHODS][IWI_REASON_SIZE];
    size_t tried = 0;

    for (; tried < METHODS && method->ops == NULL; tried++) {
        if (try_method(attribution, methods[tried]) == IW_ERR_NOMEM) {
            return IW_ERR_NOMEM;
        }
        memcpy(reasons[tried], method->reason, sizeof reasons[tried]);
    }
    list_reasons(reasons, method->ops != NULL ? tried - 1 : tried, attribution->note,
                 sizeof attribution->note);
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
    struct iwi_method *method = &attribution->method;

    *attribution = (struct iwi_attributor){.watched = watched,
                                           .method = {.log = log,
                                                      .root = root,
                                                      .clock = clock,
                                                      .watched = watched,
                                                      .count = count,
                                                      .recorder = gettid(),
                                                      .recording = recording}};
    attribution->part_capacity = iwi_new_array(log, count, sizeof *attribution->part_capacity);
    attribution->blind_until_ns = iwi_new_array(log, count, sizeof *attribution->blind_until_ns);
    method->shares = iwi_new_array(log, count, sizeof *method->shares);
    if (attribution->part_capacity == NULL || attribution->blind_until_ns == NULL || method->shares == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(open_chosen(attribution, opts));
    recording->attribution = method->ops != NULL ? method->ops->attribution : IW_ATTRIBUTION_LEVEL_NONE;
    return method->ops != NULL && method->ops->sees_all
               ? iw_recording_source(log, recording, IW_CLASS_HARDWARE, IW_SOURCE_UNSEEN,
                                     &attribution->unseen)
               : IW_OK;
}

void iwi_attribution_forget(struct iwi_attributor *attribution, size_t place)
{
    attribution->method.shares[place].count = 0;
}

iw_status iwi_attribution_begin(struct iwi_attributor *attribution)
{
    IW_TRY(iwi_attribution_drain(attribution));
    for (size_t i = 0; i < attribution->method.count; i++) {
        iwi_attribution_forget(attribution, i);
        attribution->blind_until_ns[i] = -1.0;
    }
    attribution->lost_before = attribution->method.lost;
    return IW_OK;
}

iw_status iwi_attribution_drain(struct iwi_attributor *attribution)
{
    struct iwi_method *method = &attribution->method;

    return method->ops != NULL ? method->ops->drain(method) : IW_OK;
}

void iwi_attribution_close(struct iwi_attributor *attribution)
{
    struct iwi_method *method = &attribution->method;

    if (method->ops != NULL) {
        method->ops->close(method);
    }
    for (size_t i = 0; method->shares != NULL && i < method->count; i++) {
        free(method->shares[i].array);
    }
    free(method->shares);
    free(attribution->watched);
    free(attribution->part_capacity);
    free(attribution->blind_until_ns);
    free(attribution->takers);
}
