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

enum {
    KEY_NAME = IWI_GRID_KEYS,
    KEY_NET,
    KEY_NOISE,
    KEY_NOISE_CPUS,
    KEY_EXTRAPOLATE,
    KEY_RANKS_PER_NODE,
    KEY_CORES_PER_RANK,
    KEY_LOOP,
    KEY_ALIGN,
    KEY_SKEW,
    KEY_MEMORY,
    KEY_SPARE_CORES,
    KEY_NODE_SPEED,
    KEYS
};

static const struct iwi_yaml_key keys[KEYS] = {
    IWI_GRID_KEY_ROWS,
    [KEY_NAME] = {"name", NULL},
    [KEY_NET] = {"net", NULL},
    [KEY_NOISE] = {"noise", NULL},
    [KEY_NOISE_CPUS] = {"noise-cpus", NULL},
    [KEY_EXTRAPOLATE] = {"extrapolate", NULL},
    [KEY_RANKS_PER_NODE] = {"ranks-per-node", NULL},
    [KEY_CORES_PER_RANK] = {"cores-per-rank", NULL},
    [KEY_LOOP] = {"loop", NULL},
    [KEY_ALIGN] = {"align", NULL},
    [KEY_SKEW] = {"skew", NULL},
    [KEY_MEMORY] = {"memory", NULL},
    [KEY_SPARE_CORES] = {"spare-cores", NULL},
    [KEY_NODE_SPEED] = {"node-speed", NULL},
};

/* A system that is being read. */
struct subject {
    struct iwi_study_reader *reader;
    iw_study_system *system;
    struct iwi_study_entry *part;
    struct iwi_yaml_entry entries[KEYS];
    bool needs_files; /* which are not to be opened */
};

/* ---- network ---- */

static iw_status unknown_net(const struct subject *s, size_t line, const char *text)
{
    char known[192] = "", hint[IWI_HINT_SIZE];
    struct iwi_nearest nearest;

    iwi_nearest_begin(&nearest, text);
    for (size_t i = 0; iw_net_builtin_name(i) != NULL; i++) {
        const size_t used = strlen(known);

        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", iw_net_builtin_name(i));
        iwi_nearest_offer(&nearest, iw_net_builtin_name(i));
    }
    return iwi_yaml_fail(&s->reader->yaml, line, IW_ERR_FORMAT,
                         "network '%.200s' is neither one of %s nor a file beside the study, nor a name of a "
                         "collection%s",
                         text, known, iwi_nearest_hint(&nearest, hint));
}

static iw_status load_net_file(struct subject *s, const char *path, size_t line, const char *text)
{
    if (!s->reader->wants_files) {
        s->needs_files = true;
        iwi_name_of_path(path, s->system->net.name, sizeof s->system->net.name);
        return IW_OK;
    }
    if (text[0] == '\0' || access(path, F_OK) != 0) {
        return unknown_net(s, line, text);
    }
    return iwi_net_load(s->reader->yaml.log, path, NULL, &s->system->net);
}

static iw_status read_net(struct subject *s, const yaml_node_t *node)
{
    const iw_net *known;
    const char *text;
    char *path;
    iw_status status;

    if (node->type == YAML_MAPPING_NODE) {
        return iwi_net_read_node(&s->reader->yaml, node, s->system->name != NULL ? s->system->name : "net",
                                 &s->system->net);
    }
    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "net", &text));
    known = iw_net_builtin(text);
    if (known != NULL) {
        s->system->net = *known;
        return IW_OK;
    }
    IW_TRY(iwi_study_collected_path(s->reader, IW_COLLECTED_NET, text, &path));
    status = load_net_file(s, path, iwi_yaml_line(node), text);
    free(path);
    return status;
}

/* ---- noise ---- */

static iw_status read_cpus(struct subject *s, const yaml_node_t *node)
{
    char fault[IW_CPU_FAULT_SIZE];
    const char *text;

    if (node == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "noise-cpus", &text));
    if (!iw_cpu_set_parse(text, &s->system->noise_cpus, fault)) {
        return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), IW_ERR_FORMAT, "noise-cpus: %s", fault);
    }
    return IW_OK;
}

static iw_status read_align(struct subject *s, const yaml_node_t *node)
{
    static const char *const aligns[] = {"none", "wall", NULL}; /* in the order of iw_align */
    size_t index = IW_ALIGN_NONE;

    if (node != NULL) {
        IW_TRY(iwi_study_choice(s->reader, node, "align", aligns, &index));
    }
    s->system->align = (iw_align)index;
    return IW_OK;
}

static iw_status check_align(const struct subject *s, const yaml_node_t *node, const iw_noise *noise)
{
    if (s->system->align == IW_ALIGN_NONE || s->needs_files || iwi_noise_nodes_together(noise) > 1) {
        return IW_OK;
    }
    return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                         "'align: wall' keeps what hit several nodes together, but the noise is no folder of "
                         "recordings, one per node; leave 'align' out");
}

static iw_status read_extrapolate(struct subject *s, const yaml_node_t *node, const iw_noise *noise)
{
    if (node == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_study_switch(s->reader, node, "extrapolate", &s->system->is_extrapolated));
    if (s->system->is_extrapolated && !s->needs_files && iw_noise_recorded_cpus(noise) == 0) {
        return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                             "there is nothing to extrapolate: the noise is not recorded; leave "
                             "'extrapolate' out");
    }
    return IW_OK;
}

/* ---- the rest ---- */

static iw_status read_cores(struct subject *s)
{
    const char *const loops[] = {iw_loop_name(IW_LOOP_STATIC), iw_loop_name(IW_LOOP_DYNAMIC), NULL};
    const yaml_node_t *cores = s->entries[KEY_CORES_PER_RANK].value, *loop = s->entries[KEY_LOOP].value;
    size_t index = IW_LOOP_STATIC;

    if (cores != NULL) {
        IW_TRY(iwi_study_count32(s->reader, cores, "cores-per-rank", 1, IW_CORES_PER_RANK_MOST,
                                 &s->system->cores_per_rank));
    }
    if (loop != NULL) {
        IW_TRY(iwi_study_choice(s->reader, loop, "loop", loops, &index));
    }
    s->system->loop = (iw_loop)index;
    return IW_OK;
}

static iw_status read_numbers(struct subject *s)
{
    const yaml_node_t *ranks_per_node = s->entries[KEY_RANKS_PER_NODE].value;
    const yaml_node_t *skew = s->entries[KEY_SKEW].value;

    if (ranks_per_node != NULL) {
        IW_TRY(iwi_study_count32(s->reader, ranks_per_node, "ranks-per-node", 1, UINT32_C(1) << 30,
                                 &s->system->ranks_per_node));
    }
    return skew == NULL ? IW_OK : iwi_study_time(s->reader, skew, "skew", &s->system->skew_ps);
}

/* Says so at the line of a value, for whatever read it. */
static iw_status fail_at(const struct subject *s, const yaml_node_t *node, const char *key, iw_status status,
                         const struct iwi_log_keeper *keeper)
{
    return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), status, "key '%s': %s", key, keeper->text);
}

/* In place of what the network's file says. */
static iw_status read_memory(struct subject *s, const yaml_node_t *node)
{
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    if (node == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "memory", &text));
    iwi_log_keeper_init(&keeper, s->reader->yaml.log);
    status = iw_memory_parse(&keeper.log, text, &s->system->net.memory);
    return status == IW_OK ? IW_OK : fail_at(s, node, "memory", status, &keeper);
}

static iw_status read_spare_cores(struct subject *s, const yaml_node_t *node, const iw_noise *noise)
{
    const uint32_t cores = iw_noise_ranks_per_node(noise) * iw_noise_cores_per_rank(noise);

    if (node == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_study_count32(s->reader, node, "spare-cores", 1, UINT32_MAX, &s->system->spare_cores));
    if (s->system->is_extrapolated) {
        return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                             "'spare-cores' takes sources out of a recording, of which 'extrapolate' makes "
                             "laws; leave one of them out");
    }
    if (!s->needs_files && s->system->spare_cores >= cores) {
        return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), IW_ERR_RANGE,
                             "key 'spare-cores': a node has %" PRIu32 " cores here, ranks times cores per "
                             "rank, and at least one has to compute; add 'ranks-per-node'",
                             cores);
    }
    return IW_OK;
}

/* Paths are relative to the study. The digest has what a file says, not its name. */
static iw_status read_node_speed(struct subject *s, const yaml_node_t *node, iw_node_speeds **speeds_p)
{
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    if (node == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "node-speed", &text));
    if (iwi_node_speed_is_spec(text)) {
        IW_TRY(iwi_copy_text(s->reader->yaml.log, text, &s->system->node_speed));
    } else {
        IW_TRY(iwi_study_path(s->reader, text, &s->system->node_speed));
        s->needs_files = s->needs_files || !s->reader->wants_files;
        if (!s->reader->wants_files) {
            return IW_OK;
        }
    }
    iwi_log_keeper_init(&keeper, s->reader->yaml.log);
    status = iw_node_speeds_new(&keeper.log, s->system->node_speed, 1, speeds_p);
    return status == IW_OK ? IW_OK : fail_at(s, node, "node-speed", status, &keeper);
}

static iw_status read_name(struct subject *s)
{
    const yaml_node_t *node = s->entries[KEY_NAME].value;

    if (node != NULL) {
        return iwi_study_line(s->reader, node, "name", IWI_STUDY_NAME_BYTES, &s->system->name);
    }
    return iwi_copy_text(s->reader->yaml.log, s->system->net.name, &s->system->name);
}

static iw_status check_name(const struct subject *s)
{
    const iw_study *study = s->reader->study;

    for (size_t i = 0; i + 1 < study->system_count; i++) {
        if (strcmp(study->systems[i].name, s->system->name) == 0) {
            return iwi_yaml_fail(&s->reader->yaml, s->part->line, IW_ERR_FORMAT,
                                 "system '%s' is there already, in line %zu; give it another name",
                                 s->system->name, s->reader->systems[i].line);
        }
    }
    return IW_OK;
}

static iw_status read_parts(struct subject *s, iw_noise *noise, iw_node_speeds **speeds_p)
{
    if (s->entries[KEY_NAME].value != NULL) {
        IW_TRY(read_name(s));
    }
    if (s->entries[KEY_NET].value != NULL) {
        IW_TRY(read_net(s, s->entries[KEY_NET].value));
    } else {
        s->system->net = (iw_net){.name = "none", .S_bytes = UINT64_MAX};
        s->part->has_no_net = true;
    }
    if (s->entries[KEY_NAME].value == NULL) {
        IW_TRY(read_name(s));
    }
    IW_TRY(check_name(s));
    IW_TRY(read_cpus(s, s->entries[KEY_NOISE_CPUS].value));
    iw_noise_only_cpus(noise, &s->system->noise_cpus);
    IW_TRY(read_align(s, s->entries[KEY_ALIGN].value));
    iw_noise_align_nodes(noise, s->system->align);
    IW_TRY(iwi_study_read_noise(s->reader, s->entries[KEY_NOISE].value, s->system, noise, &s->needs_files));
    IW_TRY(check_align(s, s->entries[KEY_ALIGN].value, noise));
    IW_TRY(read_extrapolate(s, s->entries[KEY_EXTRAPOLATE].value, noise));
    IW_TRY(read_numbers(s));
    IW_TRY(read_cores(s));
    iw_noise_align(noise, IW_SYNC_NONE, 0, s->system->ranks_per_node);
    iw_noise_share_phases(noise, s->system->cores_per_rank, s->system->loop);
    IW_TRY(read_memory(s, s->entries[KEY_MEMORY].value));
    IW_TRY(read_spare_cores(s, s->entries[KEY_SPARE_CORES].value, noise));
    IW_TRY(read_node_speed(s, s->entries[KEY_NODE_SPEED].value, speeds_p));
    IW_TRY(iwi_study_grid_read(s->reader, s->entries, &s->part->grid));
    s->part->has_digest = !s->needs_files;
    s->part->digest = iwi_digest_of_system(s->system, noise, *speeds_p);
    return IW_OK;
}

iw_status iwi_study_read_system(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    const size_t index = reader->study->system_count;
    struct subject s = {
        .reader = reader, .system = &reader->study->systems[index], .part = &reader->systems[index]};
    iw_node_speeds *speeds = NULL;
    iw_noise *noise;
    iw_status status;

    s.part->line = iwi_yaml_line(node);
    if (node->type != YAML_MAPPING_NODE) {
        return iwi_yaml_fail(&reader->yaml, s.part->line, IW_ERR_FORMAT,
                             "a system is a mapping such as '{name: chic, net: chic, noise: none}'");
    }
    IW_TRY(iwi_yaml_mapping(&reader->yaml, node, keys, KEYS, s.entries));
    reader->study->system_count++; /* from here on it is released with the study */
    IW_TRY(iw_noise_new(reader->yaml.log, &noise));
    status = read_parts(&s, noise, &speeds);
    iw_node_speeds_free(speeds);
    iw_noise_free(noise);
    return status;
}
