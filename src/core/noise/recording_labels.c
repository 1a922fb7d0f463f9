/* Which recorded sources become sources of noise of their own: the largest over all recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/recording_labels.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/recording_pieces.h"
#include "core/noise/source_table.h"

enum { LABEL_NAME_SIZE = IW_SOURCE_NAME_SIZE + 16, NO_LABEL = UINT8_MAX };

const char iwi_other_sources[] = "other";

/* ---- adding up ---- */

static iw_status number_sources(const iw_log *log, struct iwi_sources *table, const iw_recording *recording,
                                uint32_t **number_p)
{
    uint32_t *number = iwi_new_array(log, recording->source_count, sizeof *number);

    *number_p = number;
    if (number == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < recording->source_count; i++) {
        const iw_source *source = &recording->sources[i];

        IW_TRY(iwi_sources_find(log, table, source->kind, source->name, strlen(source->name), &number[i]));
    }
    return IW_OK;
}

static iw_status join_sources(const iw_log *log, struct iwi_labels *labels,
                              const iw_recording *const *recordings)
{
    struct iwi_sources table = {.recording = NULL};
    iw_status status = iw_recording_new(log, 0, &labels->all);

    table.recording = labels->all;
    for (size_t i = 0; i < labels->recording_count && status == IW_OK; i++) {
        status = number_sources(log, &table, recordings[i], &labels->number[i]);
    }
    iwi_sources_release(&table);
    return status;
}

struct totals {
    const uint32_t *number;
    double *total_ns;
};

static void add_to_total(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    const struct totals *totals = arg;

    totals->total_ns[totals->number[source]] += (double)(end_ns - start_ns);
}

iw_status iwi_labels_init(const iw_log *log, struct iwi_labels *labels, const iw_recording *const *recordings,
                          size_t recording_count, int64_t length_ns)
{
    labels->number = iwi_new_array(log, recording_count, sizeof *labels->number);
    if (labels->number == NULL) {
        return IW_ERR_NOMEM;
    }
    labels->recording_count = recording_count;
    IW_TRY(join_sources(log, labels, recordings));
    labels->total_ns = iwi_new_array(log, labels->all->source_count, sizeof *labels->total_ns);
    labels->label = iwi_new_array(log, labels->all->source_count, sizeof *labels->label);
    if (labels->total_ns == NULL || labels->label == NULL) {
        return IW_ERR_NOMEM;
    }
    memset(labels->label, NO_LABEL, labels->all->source_count);
    for (size_t i = 0; i < recording_count; i++) {
        struct totals totals = {labels->number[i], labels->total_ns};

        for (size_t cpu = 0; cpu < recordings[i]->cpu_count; cpu++) {
            iwi_cut_detours(&recordings[i]->cpus[cpu],
                            &(struct iwi_piece_sink){add_to_total, &totals, length_ns});
        }
    }
    return IW_OK;
}

/* ---- choosing ---- */

static iw_status name_label(const iw_log *log, struct iwi_labels *labels, size_t label,
                            const iw_source *source)
{
    char text[LABEL_NAME_SIZE];

    if (source == NULL) {
        snprintf(text, sizeof text, "%s", iwi_other_sources);
    } else {
        snprintf(text, sizeof text, "%s%s%s", iw_class_name(source->kind), source->name[0] != '\0' ? " " : "",
                 source->name);
    }
    for (char *c = text; *c != '\0'; c++) {
        *c = iscntrl((unsigned char)*c) ? '?' : *c; /* threads choose their names, terminals obey them */
    }
    labels->names[label] = strdup(text);
    if (labels->names[label] == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a noise source");
    }
    return IW_OK;
}

/* The largest source without a label; source_count if all that took time have one. */
static size_t largest_source(const struct iwi_labels *labels)
{
    const size_t source_count = labels->all->source_count;
    size_t largest = source_count;

    for (size_t i = 0; i < source_count; i++) {
        if (labels->label[i] == NO_LABEL && labels->total_ns[i] > 0 &&
            (largest == source_count || labels->total_ns[i] > labels->total_ns[largest])) {
            largest = i;
        }
    }
    return largest;
}

bool iwi_labels_have_time(const struct iwi_labels *labels)
{
    return largest_source(labels) < labels->all->source_count;
}

iw_status iwi_labels_choose(const iw_log *log, struct iwi_labels *labels, size_t room)
{
    const size_t source_count = labels->all->source_count;
    size_t with_time = 0, own;

    for (size_t i = 0; i < source_count; i++) {
        with_time += labels->total_ns[i] > 0;
    }
    own = with_time <= room ? with_time : room - 1;
    for (size_t label = 0; label < own; label++) {
        const size_t source = largest_source(labels);

        labels->label[source] = (uint8_t)label;
        IW_TRY(name_label(log, labels, label, &labels->all->sources[source]));
    }
    for (size_t i = 0; i < source_count; i++) {
        labels->label[i] = labels->label[i] == NO_LABEL ? (uint8_t)own : labels->label[i];
    }
    labels->count = own;
    if (own < with_time) {
        IW_TRY(name_label(log, labels, own, NULL));
        labels->count = own + 1;
    }
    return IW_OK;
}

void iwi_labels_release(struct iwi_labels *labels)
{
    for (size_t i = 0; i < labels->recording_count; i++) {
        free(labels->number[i]);
    }
    for (size_t label = 0; label < IW_NOISE_MAX_SOURCES; label++) {
        free(labels->names[label]);
    }
    free(labels->number);
    free(labels->total_ns);
    free(labels->label);
    iw_recording_free(labels->all);
    *labels = (struct iwi_labels){.count = 0};
}
