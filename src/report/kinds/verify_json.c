/* What a node is set up for, as one JSON object, schema "idlewave.verify/1".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/verify.h>

#include <jansson.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/verify_report.h"
#include "schema/json_util.h"

enum { LIST_SIZE = 4096 };

static json_t *cpus(const iw_cpu_set *set)
{
    char list[LIST_SIZE];

    return iw_cpu_set_is_empty(set) ? json_string("") : json_string(iw_cpu_set_text(set, list, sizeof list));
}

static json_t *sources(const iw_mitigation *m)
{
    json_t *array = json_array();

    for (size_t i = 0; i < m->source_count; i++) {
        (void)json_array_append_new(array, iwi_json_text(m->sources[i]));
    }
    return array;
}

static json_t *worth(const iw_mitigation *m)
{
    return m->has_worth ? json_pack("{s:o, s:o, s:o}", "value", iwi_json_number(m->worth.value), "low",
                                    iwi_json_number(m->worth.low), "high", iwi_json_number(m->worth.high))
                        : json_null();
}

static json_t *mitigation(const iw_mitigation *m)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o}", "name", m->name,
                     "removes", m->removes, "state", iw_mitigation_state_name(m->state), "setting",
                     iwi_json_text(m->setting), "evidence", iwi_json_text(m->evidence), "advice",
                     iwi_json_text(m->advice), "is_felt", (int)m->is_felt, "is_to_do",
                     (int)iwi_verify_is_to_do(m), "seen_hz", iwi_json_number(m->seen_hz), "share",
                     iwi_json_number(m->share), "sources", sources(m), "worth", worth(m));
}

static json_t *job(const iw_verify *verify)
{
    return verify->job[0] != '\0' ? json_pack("{s:o, s:o, s:o, s:o}", "name", iwi_json_text(verify->job),
                                              "slowdown", iwi_json_number(verify->slowdown.value), "low",
                                              iwi_json_number(verify->slowdown.low), "high",
                                              iwi_json_number(verify->slowdown.high))
                                  : json_null();
}

static json_t *mitigations(const iw_verify *verify)
{
    json_t *array = json_array();

    for (size_t i = 0; i < verify->count; i++) {
        (void)json_array_append_new(array, mitigation(&verify->mitigations[i]));
    }
    return array;
}

static json_t *counts(const iw_verify *verify)
{
    json_t *object = json_object();

    for (iw_mitigation_state state = 0; state < IW_MITIGATION_STATES; state++) {
        (void)json_object_set_new(object, iw_mitigation_state_name(state),
                                  iwi_json_count(verify->counts[state]));
    }
    return object;
}

static json_t *notes(const iw_verify *verify)
{
    json_t *array = json_array();

    for (size_t i = 0; i < verify->note_count; i++) {
        (void)json_array_append_new(array, iwi_json_text(verify->notes[i]));
    }
    return array;
}

static json_t *recorded_host(const iw_verify *verify)
{
    return verify->recorded_host[0] != '\0' ? iwi_json_text(verify->recorded_host) : json_null();
}

iw_status iw_verify_write_json(const iw_log *log, const iw_verify *verify, FILE *out)
{
    char verdict[IWI_PARAGRAPH_SIZE];
    json_t *object;

    iwi_verify_verdict(verify, verdict);
    object = json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
                       "schema", "idlewave.verify/1", "verdict", iwi_json_text(verdict), "is_contradicted",
                       (int)(verify->counts[IW_MITIGATION_CONTRADICTED] > 0), "host",
                       iwi_json_text(verify->host), "recorded_host", recorded_host(verify), "kernel",
                       iwi_json_text(verify->kernel), "cpus", cpus(&verify->online), "quiet_cpus",
                       cpus(&verify->quiet), "quiet_origin", iwi_json_text(verify->quiet_origin), "watched",
                       iwi_json_text(verify->watched), "job", job(verify), "counts", counts(verify),
                       "mitigations", mitigations(verify), "notes", notes(verify), "version", iw_version());
    return iwi_json_write(log, object, out, "the JSON result");
}
