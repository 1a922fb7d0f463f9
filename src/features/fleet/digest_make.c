/* A recording as a digest.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/caveat.h>
#include <idlewave/digest.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/fleet/digest_counter.h"
#include "features/fleet/node_digest.h"
#include "kit/facts/recording_stats.h"

/* Attributes of recordings that describe the node; fleets are compared by them. */
static const char *const settings[] = {"kernel",   "cpu_model",   "hypervisor", "smt",
                                       "governor", "clocksource", "clock",      "tick_hz",
                                       "isolated", "nohz_full",   "version"};

/* The detours of one CPU on their way into cells. */
struct counting {
    const iw_log *log;
    iw_digest *digest;
    double length_ns;
    struct iwi_digest_counter *counters; /* all sources together, then each of the recording's */
};

static void count_one(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    const struct counting *c = arg;

    iwi_digest_count(&c->counters[source + 1], (double)start_ns / c->length_ns, (double)time_ns);
}

static iw_status add_cpu(struct counting *c, const iw_detours *cpu)
{
    c->length_ns = (double)cpu->length_ns;
    memset(c->counters, 0, c->digest->source_count * sizeof *c->counters);
    iwi_each_occurrence(cpu, count_one, c);
    for (size_t i = 0; i < cpu->count; i++) {
        iwi_digest_count(&c->counters[0], (double)cpu->start_ns[i] / c->length_ns,
                         (double)cpu->duration_ns[i]);
    }
    IW_TRY(iwi_digest_add_cpu(c->log, c->digest, cpu->cpu, cpu->length_ns));
    for (size_t s = 0; s < c->digest->source_count; s++) {
        IW_TRY(iwi_digest_put(c->log, c->digest, s, &c->counters[s]));
    }
    return IW_OK;
}

static iw_status add_cpus(const iw_log *log, iw_digest *digest, const iw_recording *recording)
{
    struct counting c = {.log = log, .digest = digest};
    iw_status status = IW_OK;

    for (size_t s = 0; s < recording->source_count; s++) {
        IW_TRY(iwi_digest_add_source(log, digest, &recording->sources[s]));
    }
    c.counters = iwi_new_array(log, digest->source_count, sizeof *c.counters);
    if (c.counters == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < recording->cpu_count && status == IW_OK; i++) {
        if (recording->cpus[i].length_ns > 0) {
            status = add_cpu(&c, &recording->cpus[i]);
        }
    }
    free(c.counters);
    return status;
}

/* That its noise is load rather. */
static iw_status add_busy(const iw_log *log, iw_digest *digest, const iw_recording *recording)
{
    iw_caveats caveats = {.count = 0};

    iw_caveats_of_recording(recording, digest->node, &caveats);
    return iw_caveats_have(&caveats, IW_CAVEAT_BUSY) ? iwi_digest_set(log, digest, IWI_DIGEST_BUSY_KEY, "yes")
                                                     : IW_OK;
}

static iw_status add_settings(const iw_log *log, iw_digest *digest, const iw_recording *recording)
{
    const char *start = iw_recording_get(recording, "start_wall_ns");

    digest->start_ns = start != NULL ? strtoll(start, NULL, 10) : 0;
    digest->probe = recording->probe;
    digest->rung = recording->rung;
    digest->threshold_ns = recording->cpu_count > 0 ? recording->cpus[0].threshold_ns : 0.0;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *value = iw_recording_get(recording, settings[i]);

        if (value != NULL) {
            IW_TRY(iwi_digest_set(log, digest, settings[i], value));
        }
    }
    return add_busy(log, digest, recording);
}

iw_status iw_digest_make(const iw_log *log, const char *node, const iw_recording *recording,
                         iw_digest **digest_p)
{
    iw_recording *losses = NULL;
    iw_digest *digest;
    iw_status status = IW_OK;

    IW_TRY(iwi_digest_new(log, node, &digest));
    if (iw_probe_has_quanta(recording->probe)) {
        status = iwi_losses_new(log, recording, &losses);
    }
    if (status == IW_OK) {
        status = add_cpus(log, digest, losses != NULL ? losses : recording);
    }
    iwi_losses_free(losses);
    if (status == IW_OK) {
        status = add_settings(log, digest, recording);
    }
    if (status != IW_OK) {
        iw_digest_free(digest);
        return status;
    }
    *digest_p = digest;
    return IW_OK;
}
