/* What an edit of recordings has written, as one JSON object, schema "idlewave.noise-edit/1".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include <math.h>

#include <jansson.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/edit.h"
#include "schema/json_util.h"

iw_edit iwi_edit_after(const iw_recording *recording)
{
    iw_edit after = {.recording_count = 1, .cpu_count = recording->cpu_count};

    for (size_t i = 0; i < recording->cpu_count; i++) {
        after.detour_count += recording->cpus[i].count;
        after.sample_count += recording->cpus[i].sample_count;
    }
    return after;
}

double iwi_edit_share(const iw_edit *edit, const iw_recording *recording)
{
    return recording->probe == IW_PROBE_SELFISH && edit->watched_ns > 0.0 ? edit->busy_ns / edit->watched_ns
                                                                          : (double)NAN;
}

static json_t *count_of(const iw_edit *edit, const iw_recording *recording)
{
    return iwi_json_count(recording->probe == IW_PROBE_SELFISH ? edit->detour_count : edit->sample_count);
}

static json_t *before(const iw_edit *edit, const iw_recording *recording)
{
    if (edit->kind == IW_EDIT_SYNTH) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "recordings", iwi_json_count(edit->recording_count), "cpus",
                     iwi_json_count(edit->cpu_count), "count", count_of(edit, recording), "share",
                     iwi_json_number(iwi_edit_share(edit, recording)));
}

static json_t *cpu_numbers(const iw_recording *recording)
{
    json_t *array = json_array();

    for (size_t i = 0; i < recording->cpu_count; i++) {
        (void)json_array_append_new(array, iwi_json_count(recording->cpus[i].cpu));
    }
    return array;
}

static json_t *sources(const iw_recording *recording, const iw_noise_facts *facts)
{
    json_t *array = json_array();

    for (size_t i = 0; i < recording->source_count; i++) {
        const iw_source *source = &recording->sources[i];

        if (facts->by_source[i].count > 0) {
            (void)json_array_append_new(array, json_pack("{s:s, s:o, s:o, s:o}", "class",
                                                         iw_class_name(source->kind), "name",
                                                         iwi_json_text(source->name), "count",
                                                         iwi_json_count(facts->by_source[i].count), "share",
                                                         iwi_json_number(facts->by_source[i].share)));
        }
    }
    return array;
}

static json_t *edit_object(const iw_edit *edit, const iw_recording *recording, const iw_noise_facts *facts,
                           const char *path)
{
    static const char *const kinds[] = {"synth", "cut", "merge", "append"};
    const iw_edit after = iwi_edit_after(recording);
    const char *merged = iw_recording_get(recording, "merged");

    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "schema",
                     "idlewave.noise-edit/1", "edit", kinds[edit->kind], "file", iwi_json_text(path), "probe",
                     iw_probe_name(recording->probe), "cpus", cpu_numbers(recording), "watched_ns",
                     iwi_json_number(facts->watched_ns), "count", count_of(&after, recording), "share",
                     iwi_json_number(facts->all.share), "max_ns", iwi_json_number(facts->all.max_ns),
                     "sources", sources(recording, facts), "before", before(edit, recording), "too_short",
                     iwi_json_count(edit->too_short), "renumbered", iwi_json_count(edit->renumbered),
                     "merged", merged != NULL ? iwi_json_text(merged) : json_null(), "version", iw_version());
}

iw_status iw_edit_write_json(const iw_log *log, const iw_edit *edit, const iw_recording *recording,
                             const char *path, FILE *out)
{
    iw_noise_facts *facts;
    json_t *object;

    IW_TRY(iw_noise_facts_new(log, recording, IWI_EDIT_LONG_NS, &facts));
    object = edit_object(edit, recording, facts, path);
    iw_noise_facts_free(facts);
    return iwi_json_write(log, object, out, "the JSON result");
}
