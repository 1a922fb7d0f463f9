/* The sources of all inputs of a noise set, told apart by class and name, and the share of time each takes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/simulate/noise_set.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/noise/recording_head.h"
#include "core/noise/recording_pieces.h"
#include "core/noise/source_filter.h"

enum { LIST_SIZE = 400 };

static iw_status add_entry(const iw_log *log, iw_noise_set *set, size_t *entry_p)
{
    IW_TRY(
        iwi_grow(log, (void **)&set->entries, &set->entry_room, set->entry_count + 1, sizeof *set->entries));
    set->entries[set->entry_count] = (struct iwi_set_entry){.part = IWI_NO_PART};
    *entry_p = set->entry_count++;
    return IW_OK;
}

iw_status iwi_set_find(const iw_log *log, iw_noise_set *set, const iw_source *source, size_t *entry_p)
{
    for (size_t i = 0; i < set->entry_count; i++) {
        const size_t at = (set->next_entry + i) % set->entry_count;
        const struct iwi_set_entry *entry = &set->entries[at];

        if (entry->spec == NULL && entry->source.kind == source->kind &&
            strcmp(entry->source.name, source->name) == 0) {
            *entry_p = at;
            set->next_entry = at + 1;
            return IW_OK;
        }
    }
    IW_TRY(add_entry(log, set, entry_p));
    set->entries[*entry_p].source = *source;
    set->next_entry = *entry_p + 1;
    return IW_OK;
}

iw_status iwi_set_add_spec(const iw_log *log, iw_noise_set *set, const char *spec, size_t *entry_p)
{
    IW_TRY(add_entry(log, set, entry_p));
    set->entries[*entry_p].spec = strdup(spec);
    if (set->entries[*entry_p].spec == NULL) {
        set->entry_count--;
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a noise source");
    }
    return IW_OK;
}

iw_status iwi_set_room(const iw_log *log, iw_noise_set *set)
{
    return iwi_grow(log, (void **)&set->parts, &set->part_room, set->entry_count, sizeof *set->parts);
}

/* ---- shares ---- */

struct counter {
    iw_noise_set *set;
    const size_t *entry;  /* by source of the recording under way */
    double share_of_a_ns; /* on the CPU under way */
};

static void count_piece(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    const struct counter *counter = arg;
    struct iwi_set_entry *entry = &counter->set->entries[counter->entry[source]];

    entry->share += counter->share_of_a_ns * (double)(end_ns - start_ns);
    entry->longest_ns = iwi_max(entry->longest_ns, end_ns - start_ns);
}

/* As iw_noise_source_share() has it: over the CPUs that cores of a node's ranks are, each as often as it is
 * one; over all nodes of a folder alike. CPUs that no rank uses count for nothing. */
static void count_recorded(iw_noise_set *set, const struct iwi_set_input *input)
{
    const uint32_t cores = set->cores_per_node;

    for (size_t node = 0; node < input->node_count; node++) {
        const iw_recording *recording = input->recordings[node];
        const uint32_t cpu_count = (uint32_t)recording->cpu_count;

        for (uint32_t cpu = 0; cpu < cpu_count && cpu < cores; cpu++) {
            const uint32_t users = cores / cpu_count + (cpu < cores % cpu_count);
            struct counter counter = {
                set, input->entries[node],
                (double)users / ((double)cores * (double)input->length_ns * (double)input->node_count)};

            iwi_cut_detours(&recording->cpus[cpu],
                            &(struct iwi_piece_sink){count_piece, &counter, input->length_ns});
        }
    }
}

/* A spec was accepted before, so it is again; what cannot be told is not a number. "none" takes nothing. */
static double share_of_spec(const char *spec)
{
    iw_noise *noise = NULL;
    double share = NAN;

    if (iw_noise_new(NULL, &noise) == IW_OK && iw_noise_add(NULL, noise, spec) == IW_OK) {
        share = iw_noise_source_share(noise, 0);
    }
    iw_noise_free(noise);
    return share;
}

/* ---- parts ---- */

static iw_noise_part part_of(const struct iwi_set_entry *entry)
{
    const bool is_recorded = entry->spec == NULL;
    const iw_class kind = is_recorded ? entry->source.kind : IW_CLASS_UNKNOWN;
    iw_noise_part part = {.kind = kind,
                          .name = is_recorded ? entry->source.name : entry->spec,
                          .is_recorded = is_recorded,
                          .share = entry->share,
                          .longest_ns = entry->longest_ns,
                          .remedy = iw_remedy_of(kind, is_recorded ? entry->source.name : "")};

    if (is_recorded) {
        (void)iwi_source_text(&entry->source, part.text);
    } else {
        snprintf(part.text, sizeof part.text, "%s", entry->spec);
    }
    for (char *c = part.text; *c != '\0'; c++) {
        *c = (char)(iscntrl((unsigned char)*c) ? '?' : *c); /* threads choose their names, terminals obey */
    }
    return part;
}

/* The largest share first, unknown ones last. */
static int compare_parts(const void *left, const void *right)
{
    const iw_noise_part *a = left, *b = right;
    const double share_a = isnan(a->share) ? -1.0 : a->share, share_b = isnan(b->share) ? -1.0 : b->share;

    if (share_a != share_b) {
        return share_a > share_b ? -1 : 1;
    }
    return strcmp(a->text, b->text);
}

static void number_parts(iw_noise_set *set)
{
    for (size_t i = 0; i < set->entry_count; i++) {
        struct iwi_set_entry *entry = &set->entries[i];
        const char *name = entry->spec != NULL ? entry->spec : entry->source.name;

        entry->part = IWI_NO_PART;
        for (size_t part = 0; part < set->part_count; part++) {
            entry->part = set->parts[part].name == name ? part : entry->part; /* the same text in memory */
        }
    }
}

void iwi_set_count(iw_noise_set *set)
{
    for (size_t i = 0; i < set->entry_count; i++) {
        struct iwi_set_entry *entry = &set->entries[i];

        entry->share = entry->spec != NULL ? share_of_spec(entry->spec) : 0.0;
        entry->longest_ns = 0;
    }
    for (size_t i = 0; i < set->input_count; i++) {
        if (set->inputs[i].node_count > 0) {
            count_recorded(set, &set->inputs[i]);
        }
    }
    set->part_count = 0;
    for (size_t i = 0; i < set->entry_count; i++) {
        if (!(set->entries[i].share <= 0.0)) {
            set->parts[set->part_count++] = part_of(&set->entries[i]);
        }
    }
    iwi_sort(set->parts, set->part_count, compare_parts);
    number_parts(set);
}

/* ---- by name ---- */

size_t iw_noise_set_part_count(const iw_noise_set *set)
{
    return set->part_count;
}

const iw_noise_part *iw_noise_set_part(const iw_noise_set *set, size_t part)
{
    return part < set->part_count ? &set->parts[part] : NULL;
}

static bool fits(const struct iwi_set_entry *entry, const char *pattern)
{
    if (entry->spec == NULL) {
        return iwi_source_fits(pattern, &entry->source);
    }
    return strcmp(pattern, entry->spec) == 0 || fnmatch(pattern, entry->spec, 0) == 0;
}

/* "irq/eno1, thread/cron" in `buf`; "..." ends what does not fit. */
static const char *list_parts(const iw_noise_set *set, char buf[LIST_SIZE])
{
    size_t used = 0;

    snprintf(buf, LIST_SIZE, "nothing");
    for (size_t i = 0; i < set->part_count; i++) {
        if (used + strlen(set->parts[i].text) + sizeof ", , ..." > LIST_SIZE) {
            snprintf(buf + used, LIST_SIZE - used, ", ...");
            break;
        }
        used += (size_t)snprintf(buf + used, LIST_SIZE - used, "%s%s", i > 0 ? ", " : "", set->parts[i].text);
    }
    return buf;
}

iw_status iw_noise_set_mark(const iw_log *log, const iw_noise_set *set, const char *pattern, bool *is_marked)
{
    char list[LIST_SIZE];
    bool is_found = false;

    for (size_t i = 0; i < set->entry_count; i++) {
        if (set->entries[i].part != IWI_NO_PART && fits(&set->entries[i], pattern)) {
            is_marked[set->entries[i].part] = true;
            is_found = true;
        }
    }
    if (!is_found) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "no source '%s' takes time of the CPUs that ranks use: what does is %s", pattern,
                        list_parts(set, list));
    }
    return IW_OK;
}
