/* The systems of a study: network and noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/collection.h>
#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "core/base/nearest.h"
#include "core/noise/node_speed.h"
#include "core/noise/source.h"
#include "features/study/files/study_yaml.h"
#include "kit/files/net/net_yaml.h"

/* A system that is being read. */
struct subject {
    iw_study_system system;
    struct iwi_study_entry entry;
    bool needs_files; /* which are not to be opened */
    iw_noise *noise;
    iw_node_speeds *speeds; /* or NULL */
};

/* ---- network ---- */

static iw_status unknown_net(const struct iwi_yaml_value *value, const char *text)
{
    char known[192] = "", hint[IWI_HINT_SIZE];
    struct iwi_nearest nearest;

    iwi_nearest_begin(&nearest, text);
    for (size_t i = 0; iw_net_builtin_name(i) != NULL; i++) {
        const size_t used = strlen(known);

        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", iw_net_builtin_name(i));
        iwi_nearest_offer(&nearest, iw_net_builtin_name(i));
    }
    return iwi_yaml_fail(
        value->yaml, value->line, IW_ERR_FORMAT,
        "network '%.200s' is neither one of %s nor a file in the folder of the study, nor a name of a "
        "collection%s",
        text, known, iwi_nearest_hint(&nearest, hint));
}

static iw_status load_net_file(const struct iwi_yaml_value *value, const char *path, const char *text,
                               struct subject *s)
{
    const struct iwi_study_reader *reader = value->yaml->reader;

    if (!reader->wants_files) {
        s->needs_files = true;
        iwi_name_of_path(path, s->system.net.name, sizeof s->system.net.name);
        return IW_OK;
    }
    return text[0] == '\0' || access(path, F_OK) != 0
               ? unknown_net(value, text)
               : iwi_net_load(reader->yaml.log, path, NULL, &s->system.net);
}

static iw_status read_net(const struct iwi_yaml_value *value, void *at)
{
    struct subject *s = at;
    const iw_net *known;
    const char *text;
    char *path;
    iw_status status;

    if (value->node->type == YAML_MAPPING_NODE) {
        return iwi_net_read_node(value->yaml, value->node, s->system.name != NULL ? s->system.name : "net",
                                 &s->system.net);
    }
    IW_TRY(iwi_yaml_string(value, &text));
    known = iw_net_builtin(text);
    if (known != NULL) {
        s->system.net = *known;
        return IW_OK;
    }
    IW_TRY(iwi_study_collected_path(value->yaml->reader, IW_COLLECTED_NET, text, &path));
    status = load_net_file(value, path, text, s);
    free(path);
    return status;
}

/* In place of what the network's file says. */
static iw_status read_memory(const struct iwi_yaml_value *value, void *at)
{
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    return iw_memory_parse(iwi_yaml_value_log(value), text, at);
}

/* ---- noise ---- */

static iw_status unknown_noise(const struct iwi_yaml_value *item, const char *text)
{
    char word[32], hint[IWI_HINT_SIZE];
    struct iwi_nearest nearest;

    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":"), text);
    iwi_nearest_begin(&nearest, word);
    for (size_t i = 0; iwi_source_kinds[i]->name != NULL; i++) {
        iwi_nearest_offer(&nearest, iwi_source_kinds[i]->name);
    }
    return iwi_yaml_fail(item->yaml, item->line, IW_ERR_FORMAT,
                         "noise '%.200s' is neither 'none', nor a SPEC such as 'periodic:10Hz,100us', nor a "
                         "file in the folder of the study, nor a name of a collection%s",
                         text, iwi_nearest_hint(&nearest, hint));
}

/* "[periodic:10Hz,100us]" has two items: a comma ends them there. */
static bool is_cut_spec(const yaml_node_t *list, const char *text)
{
    return list->type == YAML_SEQUENCE_NODE && list->data.sequence.style == YAML_FLOW_SEQUENCE_STYLE &&
           iwi_noise_is_spec(text) && strchr(text, ',') == NULL;
}

static iw_status add_source(const struct iwi_yaml_value *item, const yaml_node_t *list,
                            const char *spec_or_path, iw_noise *noise)
{
    struct iwi_log_keeper keeper;
    iw_status status;

    iwi_log_keeper_init(&keeper, item->yaml->log);
    status = iw_noise_open(&keeper.log, noise, spec_or_path);
    return status == IW_OK
               ? IW_OK
               : iwi_yaml_fail(
                     item->yaml, item->line, status, "noise: %s%s", keeper.text,
                     is_cut_spec(list, spec_or_path) ? "; a comma within [] ends a value: use quotes" : "");
}

/* Fills the place of one source; the study owns its text from then on. */
static iw_status read_source(const struct iwi_yaml_value *item, const yaml_node_t *list, struct subject *s)
{
    const struct iwi_study_reader *reader = item->yaml->reader;
    char **place = &s->system.noise[s->system.noise_count];
    const char *text;

    IW_TRY(iwi_yaml_string(item, &text));
    if (strcmp(text, "none") == 0) {
        return IW_OK;
    }
    s->system.noise_count++; /* from here on the text is released with the study */
    if (iwi_noise_is_spec(text)) {
        IW_TRY(iwi_copy_text(reader->yaml.log, text, place));
        return add_source(item, list, *place, s->noise);
    }
    IW_TRY(iwi_study_collected_path(reader, IW_COLLECTED_NOISE, text, place));
    if (!reader->wants_files) {
        s->needs_files = true;
        return IW_OK;
    }
    return text[0] == '\0' || (!iwi_noise_is_spec(*place) && access(*place, F_OK) != 0)
               ? unknown_noise(item, text)
               : add_source(item, list, *place, s->noise);
}

/* The CPUs and the alignment of recordings are known before. */
static iw_status read_noise(const struct iwi_yaml_value *value, void *at)
{
    const size_t count = iwi_yaml_items(value);
    struct subject *s = at;

    if (count > IW_NOISE_MAX_SOURCES) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_RANGE,
                             "%zu noise sources: at most %d are possible", count, IW_NOISE_MAX_SOURCES);
    }
    s->system.noise = iwi_new_array(value->yaml->log, count, sizeof *s->system.noise);
    if (s->system.noise == NULL) {
        return IW_ERR_NOMEM;
    }
    iw_noise_only_cpus(s->noise, &s->system.noise_cpus);
    iw_noise_align_nodes(s->noise, s->system.align);
    for (size_t i = 0; i < count; i++) {
        const struct iwi_yaml_value item = iwi_yaml_nth(value, i);

        IW_TRY(read_source(&item, value->node, s));
    }
    return IW_OK;
}

static iw_status read_cpus(const struct iwi_yaml_value *value, void *at)
{
    char fault[IW_CPU_FAULT_SIZE];
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    return iw_cpu_set_parse(text, at, fault)
               ? IW_OK
               : iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT, "noise-cpus: %s", fault);
}

/* ---- nodes ---- */

/* Paths are relative to the study. The digest has what a file says, not its name. */
static iw_status read_node_speed(const struct iwi_yaml_value *value, void *at)
{
    const struct iwi_study_reader *reader = value->yaml->reader;
    struct subject *s = at;
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    if (iwi_node_speed_is_spec(text)) {
        IW_TRY(iwi_copy_text(reader->yaml.log, text, &s->system.node_speed));
    } else {
        IW_TRY(iwi_study_path(reader, text, &s->system.node_speed));
        s->needs_files = s->needs_files || !reader->wants_files;
        if (!reader->wants_files) {
            return IW_OK;
        }
    }
    return iw_node_speeds_new(iwi_yaml_value_log(value), s->system.node_speed, 1, &s->speeds);
}

/* ---- what does not fit together ---- */

static iw_status check_recorded(const struct iwi_yaml_map *map, const struct subject *s)
{
    const struct iwi_yaml_value *align = iwi_yaml_get(map, "align"),
                                *extrapolate = iwi_yaml_get(map, "extrapolate");

    if (s->needs_files) {
        return IW_OK;
    }
    if (s->system.align != IW_ALIGN_NONE && iwi_noise_nodes_together(s->noise) <= 1) {
        return iwi_yaml_fail(map->yaml, align->line, IW_ERR_FORMAT,
                             "'align: wall' needs a folder of recordings, one per node, as noise: give one, "
                             "or remove 'align'");
    }
    if (s->system.is_extrapolated && iw_noise_recorded_cpus(s->noise) == 0) {
        return iwi_yaml_fail(map->yaml, extrapolate->line, IW_ERR_FORMAT,
                             "nothing to extrapolate: the noise is not recorded; remove 'extrapolate'");
    }
    return IW_OK;
}

static iw_status check_spare_cores(const struct iwi_yaml_map *map, const struct subject *s)
{
    const struct iwi_yaml_value *spare = iwi_yaml_get(map, "spare-cores");
    const uint32_t cores = iw_noise_ranks_per_node(s->noise) * iw_noise_cores_per_rank(s->noise);

    if (spare == NULL) {
        return IW_OK;
    }
    if (s->system.is_extrapolated) {
        return iwi_yaml_fail(map->yaml, spare->line, IW_ERR_FORMAT,
                             "'spare-cores' needs recorded sources, but 'extrapolate' replaces them by laws; "
                             "remove one of the two");
    }
    return s->needs_files || s->system.spare_cores < cores
               ? IW_OK
               : iwi_yaml_refuse(spare, IW_ERR_RANGE,
                                 "a node has %" PRIu32 " core%s (ranks times cores per rank), and at least "
                                 "one must compute; add 'ranks-per-node'",
                                 cores, cores == 1 ? "" : "s");
}

static iw_status check_name(const struct iwi_study_reader *reader, const struct subject *s)
{
    for (size_t i = 0; i < reader->study.system_count; i++) {
        if (strcmp(reader->study.systems[i].name, s->system.name) == 0) {
            return iwi_yaml_fail(&reader->yaml, s->entry.line, IW_ERR_FORMAT,
                                 "system '%s' is already in line %zu; give it another name", s->system.name,
                                 reader->systems[i].line);
        }
    }
    return IW_OK;
}

/* ---- the whole ---- */

static const char *const aligns[] = {"none", "wall", NULL};     /* in the order of iw_align */
static const char *const loops[] = {"static", "dynamic", NULL}; /* and of iw_loop_schedule */

/* A network may be called by the system's name; noise is opened for CPUs and an alignment. */
static const struct iwi_yaml_row rows[] = {
    IWI_STUDY_GRID_ROWS(offsetof(struct subject, entry.grid)),
    IWI_STUDY_NAME_ROW(struct subject, system.name),
    {.key = "net", .read = read_net},
    IWI_YAML_ROW(struct subject, "noise-cpus", system.noise_cpus, read_cpus),
    IWI_YAML_ROW(struct subject, "align", system.align, iwi_yaml_choice, .names = aligns),
    {.key = "noise", .read = read_noise},
    IWI_YAML_ROW(struct subject, "extrapolate", system.is_extrapolated, iwi_yaml_switch),
    IWI_YAML_ROW(struct subject, "ranks-per-node", system.ranks_per_node, iwi_yaml_count, .least = 1,
                 .most = UINT64_C(1) << 30),
    IWI_YAML_ROW(struct subject, "cores-per-rank", system.cores_per_rank, iwi_yaml_count, .least = 1,
                 .most = IW_CORES_PER_RANK_MOST),
    IWI_YAML_ROW(struct subject, "loop", system.loop, iwi_yaml_choice, .names = loops),
    IWI_YAML_ROW(struct subject, "skew", system.skew_ps, iwi_yaml_time),
    IWI_YAML_ROW(struct subject, "memory", system.net.memory, read_memory),
    IWI_YAML_ROW(struct subject, "spare-cores", system.spare_cores, iwi_yaml_count, .least = 1),
    {.key = "node-speed", .read = read_node_speed},
};

static iw_status read_system(struct iwi_study_reader *reader, const yaml_node_t *node, struct subject *s)
{
    struct iwi_yaml_map map;

    IW_TRY(iwi_yaml_find(&reader->yaml, node, IWI_YAML_ROWS(rows), &map));
    s->entry.has_no_net = iwi_yaml_get(&map, "net") == NULL;
    IW_TRY(iwi_yaml_read(&map, s));
    if (s->system.name == NULL) {
        IW_TRY(iwi_copy_text(reader->yaml.log, s->system.net.name, &s->system.name));
    }
    IW_TRY(check_name(reader, s));
    IW_TRY(check_recorded(&map, s));
    iw_noise_align(s->noise, IW_SYNC_NONE, 0, s->system.ranks_per_node);
    iw_noise_share_phases(s->noise, s->system.cores_per_rank, s->system.loop);
    IW_TRY(check_spare_cores(&map, s));
    s->entry.has_digest = !s->needs_files;
    s->entry.digest = iwi_digest_of_system(&s->system, s->noise, s->speeds);
    return IW_OK;
}

iw_status iwi_study_read_system(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    struct subject s = {.system.net = {.name = "none", .S_bytes = UINT64_MAX},
                        .entry.line = iwi_yaml_line(node)};
    iw_study *study = &reader->study;
    iw_status status;

    if (node->type != YAML_MAPPING_NODE) {
        return iwi_yaml_fail(&reader->yaml, s.entry.line, IW_ERR_FORMAT,
                             "a system is a mapping such as '{name: chic, net: chic, noise: none}'");
    }
    IW_TRY(iw_noise_new(reader->yaml.log, &s.noise));
    status = read_system(reader, node, &s);
    iw_node_speeds_free(s.speeds);
    iw_noise_free(s.noise);
    reader->systems[study->system_count] = s.entry; /* released with the study whatever came of it */
    study->systems[study->system_count++] = s.system;
    return status;
}
