/* Noise whose sources can be taken away: specs, files and folders, and the parts that users see.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/noise/recording_cut.h"
#include "core/noise/recording_head.h"
#include "core/noise/recording_noise.h"
#include "core/noise/recording_pieces.h"
#include "core/noise/source.h"
#include "core/noise/source_filter.h"
#include "features/simulate/noise_set.h"

/* ======== parts ======== */

enum { LIST_SIZE = 400 };

static iw_status add_entry(const iw_log *log, iw_noise_set *set, size_t *entry_p)
{
    IW_TRY(
        iwi_grow(log, (void **)&set->entries, &set->entry_room, set->entry_count + 1, sizeof *set->entries));
    set->entries[set->entry_count] = (struct iwi_set_entry){.part = IWI_NO_PART};
    *entry_p = set->entry_count++;
    return IW_OK;
}

/* Number of that source among the entries, added if new. */
static iw_status set_find(const iw_log *log, iw_noise_set *set, const iw_source *source, size_t *entry_p)
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

static iw_status set_add_spec(const iw_log *log, iw_noise_set *set, const char *spec, size_t *entry_p)
{
    IW_TRY(add_entry(log, set, entry_p));
    set->entries[*entry_p].spec = strdup(spec);
    if (set->entries[*entry_p].spec == NULL) {
        set->entry_count--;
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a noise source");
    }
    return IW_OK;
}

/* Room for as many parts as there are entries, so that counting them anew cannot fail. */
static iw_status set_room(const iw_log *log, iw_noise_set *set)
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
                            &(struct iwi_piece_sink){count_piece, &counter, input->length_ns, NULL});
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

static iw_noise_set_source part_of(const struct iwi_set_entry *entry)
{
    const bool is_recorded = entry->spec == NULL;
    const iw_class kind = is_recorded ? entry->source.kind : IW_CLASS_UNKNOWN;
    iw_noise_set_source part = {.kind = kind,
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
    const iw_noise_set_source *a = left, *b = right;
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

/* Shares by the alignment; the parts are those with a share, the largest first. */
static void set_count(iw_noise_set *set)
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

size_t iw_noise_set_source_count(const iw_noise_set *set)
{
    return set->part_count;
}

const iw_noise_set_source *iw_noise_set_source_at(const iw_noise_set *set, size_t part)
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
        return iwi_fail(log, IW_ERR_RANGE, "no source '%s' on the CPUs that ranks use: use %s", pattern,
                        list_parts(set, list));
    }
    return IW_OK;
}

/* ======== inputs ======== */

iw_status iw_noise_set_new(const iw_log *log, iw_noise_set **set_p)
{
    iw_noise_set *set = iwi_new_array(log, 1, sizeof *set);

    if (set == NULL) {
        return IW_ERR_NOMEM;
    }
    set->ranks_per_node = set->cores_per_rank = set->cores_per_node = 1;
    *set_p = set;
    return IW_OK;
}

static void release_input(struct iwi_set_input *input)
{
    for (size_t i = 0; input->entries != NULL && i < input->node_count; i++) {
        free(input->entries[i]);
    }
    free(input->entries);
    iw_recordings_free(input->recordings, input->is_lent ? 0 : input->node_count);
    iw_folder_free(input->folder);
    iw_noise_fit_free(input->fit);
    free(input->text);
}

void iw_noise_set_free(iw_noise_set *set)
{
    if (set == NULL) {
        return;
    }
    for (size_t i = 0; i < set->input_count; i++) {
        release_input(&set->inputs[i]);
    }
    for (size_t i = 0; i < set->entry_count; i++) {
        free(set->entries[i].spec);
    }
    free(set->inputs);
    free(set->entries);
    free(set->parts);
    free(set->laws);
    free(set);
}

/* ---- adding ---- */

/* The samples of FWQ say nothing that its detours do not; without them the recording can be cut and drawn
 * anew as one of selfish. FTQ has no detours, and was refused before. */
static void forget_samples(iw_recording *recording)
{
    recording->probe = IW_PROBE_SELFISH;
    recording->quantum_ns = 0;
    for (size_t i = 0; i < recording->cpu_count; i++) {
        iw_detours *cpu = &recording->cpus[i];

        free(cpu->sample_start_ns);
        free(cpu->sample);
        cpu->sample_start_ns = NULL;
        cpu->sample = NULL;
        cpu->sample_count = 0;
    }
}

static iw_status load_file(const iw_log *log, const char *path, struct iwi_set_input *input)
{
    input->recordings = iwi_new_array(log, 1, sizeof(iw_recording *));
    if (input->recordings == NULL) {
        return IW_ERR_NOMEM;
    }
    input->node_count = 1;
    return iw_recording_load(log, path, &input->recordings[0]);
}

static iw_status load_folder(const iw_log *log, const char *path, struct iwi_set_input *input)
{
    IW_TRY(iw_folder_list(log, path, &input->folder));
    IW_TRY(iw_folder_load(log, input->folder, &input->recordings));
    input->node_count = input->folder->count;
    return IW_OK;
}

static iw_status load(const iw_log *log, const iw_noise_set *set, const char *path,
                      struct iwi_set_input *input)
{
    const char *const *names = (const char *const *)&path;

    IW_TRY(iw_is_folder(path) ? load_folder(log, path, input) : load_file(log, path, input));
    if (input->folder != NULL) {
        names = (const char *const *)input->folder->paths;
    }
    for (size_t i = 0; i < input->node_count; i++) {
        IW_TRY(iw_recording_keep_cpus(log, names[i], iw_noise_set_cpus(set), &input->recordings[i]));
    }
    input->is_aligned = set->align == IW_ALIGN_WALL && input->node_count > 1;
    return input->is_aligned
               ? iw_recordings_cut_to_wall(log, names, input->recordings, input->node_count, &input->window)
               : IW_OK;
}

/* Refuses here and now what the noise would refuse later. */
static iw_status try_noise(const iw_log *log, struct iwi_set_input *input)
{
    const char *const *names =
        (const char *const *)(input->folder != NULL ? input->folder->paths : (char **)&input->text);
    iw_noise *noise;
    iw_status status;

    IW_TRY(iw_noise_new(log, &noise));
    status = input->node_count == 0
                 ? iw_noise_add(log, noise, input->text)
                 : iwi_noise_add_input(log, noise,
                                       &(struct iwi_recorded_input){
                                           input->text, names, (const iw_recording *const *)input->recordings,
                                           input->node_count, input->length_ns});
    input->is_node_wide = status == IW_OK && noise->count > 0 &&
                          iwi_source_is_recording(&noise->sources[0]) &&
                          !noise->sources[0].u.recorded.recorded->has_own;
    iw_noise_free(noise);
    return status;
}

static iw_status find_entries(const iw_log *log, iw_noise_set *set, struct iwi_set_input *input)
{
    input->entries = iwi_new_array(log, input->node_count, sizeof(size_t *));
    if (input->entries == NULL) {
        return IW_ERR_NOMEM;
    }
    input->length_ns = INT64_MAX;
    for (size_t node = 0; node < input->node_count; node++) {
        const iw_recording *recording = input->recordings[node];

        input->entries[node] = iwi_new_array(log, recording->source_count, sizeof(size_t));
        if (input->entries[node] == NULL) {
            return IW_ERR_NOMEM;
        }
        for (size_t i = 0; i < recording->source_count; i++) {
            IW_TRY(set_find(log, set, &recording->sources[i], &input->entries[node][i]));
        }
        for (size_t i = 0; i < recording->cpu_count; i++) {
            input->length_ns = iwi_min(input->length_ns, recording->cpus[i].length_ns);
        }
        input->length_ns = recording->cpu_count > 0 ? input->length_ns : 0;
    }
    return IW_OK;
}

static iw_status fill_input(const iw_log *log, iw_noise_set *set, const char *text,
                            struct iwi_set_input *input)
{
    const iw_noise_form form = iw_noise_form_of(text);

    input->text = strdup(text);
    if (input->text == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a noise source");
    }
    if (input->node_count == 0 && (form == IW_NOISE_FOLDER || form == IW_NOISE_RECORDING)) {
        IW_TRY(load(log, set, text, input));
    }
    IW_TRY(try_noise(log, input));
    if (input->node_count == 0) {
        return set_add_spec(log, set, text, &input->entry);
    }
    return find_entries(log, set, input);
}

/* Takes the entries behind the first `count` back. */
static void forget_entries(iw_noise_set *set, size_t count)
{
    while (set->entry_count > count) {
        free(set->entries[--set->entry_count].spec);
    }
}

static void settle_nodes(iw_noise_set *set)
{
    set->ranks_per_node = iwi_ranks_of_node(set->wanted_per_node, set->recorded_cpus, set->cores_per_rank);
    set->cores_per_node = set->ranks_per_node * set->cores_per_rank;
}

/* Takes over what the input holds, also on failure. */
static iw_status add_input(const iw_log *log, iw_noise_set *set, const char *text,
                           struct iwi_set_input *input)
{
    const size_t entries_before = set->entry_count;
    iw_status status =
        iwi_grow(log, (void **)&set->inputs, &set->input_room, set->input_count + 1, sizeof *set->inputs);

    if (status == IW_OK) {
        status = fill_input(log, set, text, input);
    }
    if (status == IW_OK) {
        status = set_room(log, set);
    }
    if (status == IW_OK) {
        for (size_t i = 0; i < input->node_count; i++) {
            set->recorded_cpus =
                (uint32_t)iwi_max((int64_t)set->recorded_cpus, (int64_t)input->recordings[i]->cpu_count);
            forget_samples(input->recordings[i]);
        }
        set->inputs[set->input_count++] = *input;
    } else {
        release_input(input);
        forget_entries(set, entries_before);
    }
    settle_nodes(set);
    set_count(set); /* entries may have moved in memory */
    return status;
}

iw_status iw_noise_set_add(const iw_log *log, iw_noise_set *set, const char *spec_or_path)
{
    struct iwi_set_input input = {.text = NULL};

    return add_input(log, set, spec_or_path, &input);
}

iw_status iw_noise_set_add_recording(const iw_log *log, iw_noise_set *set, const char *name,
                                     iw_recording *recording)
{
    struct iwi_set_input input = {.node_count = 1, .is_lent = true};

    input.recordings = iwi_new_array(log, 1, sizeof(iw_recording *));
    if (input.recordings == NULL) {
        return IW_ERR_NOMEM;
    }
    input.recordings[0] = recording;
    IW_TRY(add_input(log, set, name, &input));
    set->inputs[set->input_count - 1].is_lent = false;
    return IW_OK;
}

void iw_noise_set_align(iw_noise_set *set, iw_sync sync, iw_time skew_ps, uint32_t ranks_per_node)
{
    set->sync = sync;
    set->skew_ps = skew_ps;
    set->wanted_per_node = ranks_per_node;
    settle_nodes(set);
    set_count(set);
}

void iw_noise_set_align_nodes(iw_noise_set *set, iw_align align)
{
    set->align = align;
}

const iw_wall_window *iw_noise_set_window(const iw_noise_set *set)
{
    const iw_wall_window *worst = NULL;

    for (size_t i = 0; i < set->input_count; i++) {
        const struct iwi_set_input *input = &set->inputs[i];

        if (input->is_aligned && (worst == NULL || input->window.error_ns > worst->error_ns)) {
            worst = &input->window;
        }
    }
    return worst;
}

uint32_t iwi_set_aligned_nodes(const iw_noise_set *set)
{
    size_t most = 0;

    for (size_t i = 0; i < set->input_count; i++) {
        most =
            set->inputs[i].is_aligned && set->inputs[i].node_count > most ? set->inputs[i].node_count : most;
    }
    return (uint32_t)most;
}

void iw_noise_set_share_phases(iw_noise_set *set, uint32_t cores_per_rank, iw_loop_schedule loop)
{
    set->cores_per_rank = (uint32_t)iwi_min(iwi_max(cores_per_rank, 1), IW_CORES_PER_RANK_MOST);
    set->loop = loop;
    settle_nodes(set);
    set_count(set);
}

/* ---- cores that are left to the operating system ---- */

double iw_spare_work(uint32_t cores_per_node, uint32_t spare_cores)
{
    return spare_cores < cores_per_node ? (double)cores_per_node / (double)(cores_per_node - spare_cores)
                                        : 1.0;
}

void iw_noise_set_mark_moved(const iw_noise_set *set, bool *is_marked)
{
    for (size_t i = 0; i < set->part_count; i++) {
        is_marked[i] |= set->parts[i].is_recorded && set->parts[i].remedy->is_moved;
    }
}

static iw_status drop_moved(const iw_log *log, iw_recording **recording)
{
    const size_t count = (*recording)->source_count;
    bool *is_dropped = iwi_new_array(log, count, sizeof *is_dropped);
    iw_recording *rest = NULL;
    iw_status status = is_dropped != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; i < count && status == IW_OK; i++) {
        is_dropped[i] = iw_remedy_of((*recording)->sources[i].kind, (*recording)->sources[i].name)->is_moved;
    }
    if (status == IW_OK) {
        status = iwi_recording_drop(log, *recording, is_dropped, &rest);
    }
    if (status == IW_OK) {
        iw_recording_free(*recording);
        *recording = rest;
    }
    free(is_dropped);
    return status;
}

/* The sources of a recording have other numbers then. */
static iw_status spare_input(const iw_log *log, iw_noise_set *set, struct iwi_set_input *input)
{
    for (size_t node = 0; node < input->node_count; node++) {
        free(input->entries[node]);
        input->entries[node] = NULL;
        IW_TRY(drop_moved(log, &input->recordings[node]));
    }
    free(input->entries);
    input->entries = NULL;
    return find_entries(log, set, input);
}

iw_status iw_noise_set_spare(const iw_log *log, iw_noise_set *set)
{
    for (size_t i = 0; i < set->input_count; i++) {
        if (set->inputs[i].node_count > 0) {
            IW_TRY(spare_input(log, set, &set->inputs[i]));
        }
    }
    IW_TRY(set_room(log, set));
    set_count(set);
    return IW_OK;
}

void iw_noise_set_only_cpus(iw_noise_set *set, const iw_cpu_set *cpus)
{
    set->only_cpus = cpus != NULL ? *cpus : (iw_cpu_set){.words = {0}};
}

uint32_t iw_noise_set_ranks_per_node(const iw_noise_set *set)
{
    return set->ranks_per_node;
}

uint32_t iw_noise_set_cores_per_node(const iw_noise_set *set)
{
    return set->cores_per_node;
}

uint32_t iw_noise_set_recorded_cpus(const iw_noise_set *set)
{
    return set->recorded_cpus;
}

/* Of a folder those of the first node that has any, and how many others have some. */
void iw_noise_set_caveats(const iw_noise_set *set, iw_caveats *caveats)
{
    for (size_t i = 0; i < set->input_count; i++) {
        const struct iwi_set_input *input = &set->inputs[i];
        iw_caveats first = {.count = 0};
        size_t count = 0;

        for (size_t node = 0; node < input->node_count; node++) {
            iw_caveats found = {.count = 0};

            iw_caveats_of_recording(input->recordings[node],
                                    input->folder != NULL ? input->folder->paths[node] : input->text, &found);
            count += iw_caveats_have(&found, IW_CAVEAT_KINDS);
            if (first.count == 0 || (count == 1 && iw_caveats_have(&found, IW_CAVEAT_KINDS))) {
                first = found;
            }
        }
        if (count > 1) {
            const size_t used = strlen(first.caveats[0].text);

            (void)snprintf(first.caveats[0].text + used, sizeof first.caveats[0].text - used,
                           "; %zu more of %zu recordings have such limits", count - 1, input->node_count);
        }
        iw_caveats_join(caveats, &first);
    }
}
