/* What merging and appending recordings share: checks, sources and attributes of several as one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/recording_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/recording_check.h"
#include "core/noise/recording_head.h"
#include "core/noise/source_table.h"

/* Longer lists of values are of no use to anybody. */
enum { MOST_VALUE_BYTES = 4096 };

static const char LOST_EVENTS[] = "kernel_events_lost";

static iw_status check_inputs(const struct iwi_join *j)
{
    const iw_recording *first = j->count > 0 ? j->inputs[0].recording : NULL;

    if (first == NULL) {
        return iwi_fail(j->log, IW_ERR_USAGE, "there is no recording to join");
    }
    for (size_t i = 0; i < j->count; i++) {
        const iw_recording *other = j->inputs[i].recording;

        IW_TRY(iwi_recording_check(j->log, j->inputs[i].name, other, IW_ERR_RANGE));
        if (other->probe != first->probe) {
            return iwi_fail(j->log, IW_ERR_RANGE,
                            "'%s' was recorded with %s, but '%s' with %s: only recordings of the same probe "
                            "can be joined",
                            j->inputs[i].name, iw_probe_name(other->probe), j->inputs[0].name,
                            iw_probe_name(first->probe));
        }
        if (other->quantum_ns != first->quantum_ns) {
            return iwi_fail(j->log, IW_ERR_RANGE,
                            "'%s' has quanta of %" PRId64 " ns, but '%s' of %" PRId64
                            " ns: only recordings with the same quantum can be joined",
                            j->inputs[i].name, other->quantum_ns, j->inputs[0].name, first->quantum_ns);
        }
    }
    return IW_OK;
}

static iw_status join_sources_of(struct iwi_join *j, size_t input, struct iwi_sources *table)
{
    const iw_recording *from = j->inputs[input].recording;
    uint32_t *map = iwi_new_array(j->log, from->source_count, sizeof *map);

    if (map == NULL) {
        return IW_ERR_NOMEM;
    }
    j->maps[input] = map;
    for (size_t s = 0; s < from->source_count; s++) {
        const iw_source *source = &from->sources[s];

        IW_TRY(iwi_sources_find(j->log, table, source->kind, source->name, strlen(source->name), &map[s]));
    }
    return IW_OK;
}

static iw_status join_sources(struct iwi_join *j)
{
    struct iwi_sources table = {.recording = j->joined};
    iw_status status = IW_OK;

    j->maps = iwi_new_array(j->log, j->count, sizeof *j->maps);
    if (j->maps == NULL) {
        return IW_ERR_NOMEM;
    }
    j->map_count = j->count;
    for (size_t i = 0; i < j->count && status == IW_OK; i++) {
        status = join_sources_of(j, i, &table);
    }
    iwi_sources_release(&table);
    return status;
}

/* Whether an input before number `end` has this value of the attribute too. */
static bool is_said_before(const struct iwi_join *j, size_t end, const char *name, const char *value)
{
    for (size_t i = 0; i < end; i++) {
        const char *other = iw_recording_get(j->inputs[i].recording, name);

        if (other != NULL && strcmp(other, value) == 0) {
            return true;
        }
    }
    return false;
}

/* "a | b": each value once, in the order of the inputs. */
static void write_values(const struct iwi_join *j, const char *name, FILE *out)
{
    size_t used = 0;

    for (size_t i = 0; i < j->count; i++) {
        const char *value = iw_recording_get(j->inputs[i].recording, name);

        if (value == NULL || is_said_before(j, i, name, value)) {
            continue;
        }
        if (used > 0 && used + strlen(value) > MOST_VALUE_BYTES) {
            (void)fputs(" | ...", out);
            return;
        }
        used += (size_t)fprintf(out, "%s%s", used > 0 ? " | " : "", value);
    }
}

static iw_status join_attribute(struct iwi_join *j, const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iw_status status;

    if (out != NULL) {
        write_values(j, name, out);
    }
    if (out == NULL || fclose(out) != 0) {
        free(text);
        return iwi_fail(j->log, IW_ERR_NOMEM, "out of memory for attribute '%s'", name);
    }
    status = iw_recording_set(j->log, j->joined, name, text);
    free(text);
    return status;
}

/* The sum: how many events were lost in all that this was made from. */
static iw_status join_lost_events(struct iwi_join *j)
{
    char text[32];
    double sum = 0.0;

    for (size_t i = 0; i < j->count; i++) {
        const char *value = iw_recording_get(j->inputs[i].recording, LOST_EVENTS);

        sum += value != NULL ? strtod(value, NULL) : 0.0;
    }
    snprintf(text, sizeof text, "%.15g", sum);
    return iw_recording_set(j->log, j->joined, LOST_EVENTS, text);
}

static iw_status join_attributes(struct iwi_join *j)
{
    for (size_t i = 0; i < j->count; i++) {
        const iw_recording *from = j->inputs[i].recording;

        for (size_t a = 0; a < from->attribute_count; a++) {
            const char *name = from->attributes[a].name;

            if (iw_recording_get(j->joined, name) == NULL && (j->count == 1 || !iwi_is_of_the_whole(name))) {
                IW_TRY(strcmp(name, LOST_EVENTS) == 0 ? join_lost_events(j) : join_attribute(j, name));
            }
        }
    }
    return IW_OK;
}

iw_status iwi_join_begin(struct iwi_join *j, size_t cpu_count)
{
    IW_TRY(check_inputs(j));
    if (cpu_count > IWI_MOST_CPUS) {
        return iwi_fail(j->log, IW_ERR_RANGE, "%zu CPUs are too many: a noise file has at most %d", cpu_count,
                        IWI_MOST_CPUS);
    }
    IW_TRY(iw_recording_new(j->log, cpu_count, &j->joined));
    j->joined->probe = j->inputs[0].recording->probe;
    j->joined->quantum_ns = j->inputs[0].recording->quantum_ns;
    j->joined->rung = j->inputs[0].recording->rung;
    for (size_t i = 0; i < j->count; i++) {
        const iw_recording *from = j->inputs[i].recording;

        j->joined->rung = from->rung < j->joined->rung ? from->rung : j->joined->rung;
        iwi_edit_count(&j->edit, from);
    }
    IW_TRY(join_sources(j));
    return join_attributes(j);
}

iw_status iwi_join_end(struct iwi_join *j, iw_status status, iw_recording **recording_p, iw_edit *edit_p)
{
    for (size_t i = 0; i < j->map_count; i++) {
        free(j->maps[i]);
    }
    free(j->maps);
    if (status != IW_OK) {
        iw_recording_free(j->joined);
        return status;
    }
    *recording_p = j->joined;
    *edit_p = j->edit;
    return IW_OK;
}
