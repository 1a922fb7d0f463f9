/* What the files that read a study share; docs/reference/formats/study.md says what it may hold.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STUDY_YAML_H
#define IWI_STUDY_YAML_H

#include <idlewave/collection.h>
#include <idlewave/sim.h>
#include <idlewave/study.h>

#include "kit/files/io/yaml_doc.h"

/* In the order in which cells are nested, the outermost first. */
enum iwi_study_axis { IWI_AXIS_BYTES, IWI_AXIS_SYNC, IWI_AXIS_SCALE, IWI_AXIS_RANKS, IWI_AXES };

/* Values of one axis. All kinds are exact as doubles: at most 2^40 bytes, 2^30 ranks. */
struct iwi_axis_values {
    size_t line; /* 0: not given */
    size_t count, capacity;
    double *values;
};

/* The lists of the study, of a system or of a work. */
struct iwi_study_grid {
    struct iwi_axis_values axes[IWI_AXES];
    uint64_t trials; /* 0: not given */
};

/* A system or a work besides what users see of it. */
struct iwi_study_entry {
    size_t line;
    struct iwi_study_grid grid;
    bool has_digest;
    uint64_t digest;
    uint32_t ranks;  /* of a schedule or traced; 0: the file was not read */
    uint32_t *gpus;  /* of each combination of settings of a training program; NULL: the file was not read */
    bool has_no_net; /* of a system: good for training programs only */
};

/* A work that is being read: rows of works are rows of these. */
struct iwi_study_item {
    iw_study_work work;
    struct iwi_study_entry entry;
};

struct iwi_study_reader {
    struct iwi_yaml yaml; /* its `reader` is this */
    char *folder;         /* of the study: "" or with a slash behind it */
    /* Files that the study names are opened, and each cell has its id. Otherwise cells that depend on files
     * have "" instead, and those of schedules 0 ranks. */
    bool wants_files;
    uint64_t seed;
    iw_study study;
    struct iwi_study_grid grid;
    struct iwi_study_entry *systems, *works; /* as many as the study has */
};

/* iw_study_load() of a text; `path` is its name in messages, and its folder that of other files; `has_name`:
 * whether the study says its name. */
IW_NODISCARD iw_status iwi_study_read_memory(const iw_log *log, const char *path, const char *data,
                                             size_t size, bool wants_files, bool *has_name_p,
                                             iw_study **study_p);

/* ---- rows ---- */

enum { IWI_STUDY_NAME_BYTES = 63, IWI_STUDY_TITLE_BYTES = 200 };

/* What the study, systems and works of any kind may have. */
#define IWI_STUDY_NAME_ROW(T, m) IWI_YAML_ROW(T, "name", m, iwi_yaml_line_copy, .most = IWI_STUDY_NAME_BYTES)
#define IWI_STUDY_GRID_ROW(base, k, m, how, ...)                                          \
    {                                                                                     \
        .key = (k), .read = (how), .offset = (base) + offsetof(struct iwi_study_grid, m), \
        .size = sizeof(((struct iwi_study_grid *)0)->m), ##__VA_ARGS__                    \
    }
/* base: the offset of their struct iwi_study_grid. */
#define IWI_STUDY_GRID_ROWS(base)                                                                         \
    IWI_STUDY_GRID_ROW(base, "bytes", axes[IWI_AXIS_BYTES], iwi_study_counts, .most = UINT64_C(1) << 40), \
        IWI_STUDY_GRID_ROW(base, "sync", axes[IWI_AXIS_SYNC], iwi_study_syncs),                           \
        IWI_STUDY_GRID_ROW(base, "net-scale", axes[IWI_AXIS_SCALE], iwi_study_scales),                    \
        IWI_STUDY_GRID_ROW(base, "ranks", axes[IWI_AXIS_RANKS], iwi_study_counts, .least = 1,             \
                           .most = UINT64_C(1) << 30),                                                    \
        IWI_STUDY_GRID_ROW(base, "trials", trials, iwi_yaml_count, .least = 1, .most = UINT64_C(1) << 40)

/* Readers of lists: "2^1..2^20", "16..256 step x2", [1, 1MiB], [none, start]. */
IW_NODISCARD iw_status iwi_study_counts(const struct iwi_yaml_value *value, void *at);
IW_NODISCARD iw_status iwi_study_syncs(const struct iwi_yaml_value *value, void *at);
IW_NODISCARD iw_status iwi_study_scales(const struct iwi_yaml_value *value, void *at);

void iwi_study_grid_release(struct iwi_study_grid *grid);
IW_NODISCARD iw_status iwi_axis_values_append(const iw_log *log, struct iwi_axis_values *values,
                                              double value);

/* "none", "start", "phase"; NULL past the last. */
const char *iwi_study_sync_name(size_t sync);

/* ---- texts and paths ---- */

IW_NODISCARD iw_status iwi_copy_text(const iw_log *log, const char *text, char **copy_p);

/* The path of a file that the study names, to be freed. */
IW_NODISCARD iw_status iwi_study_path(const struct iwi_study_reader *reader, const char *path, char **path_p);

/* The same, beside the study, else the one that such a name stands for in a collection. */
IW_NODISCARD iw_status iwi_study_collected_path(const struct iwi_study_reader *reader, iw_collected_kind kind,
                                                const char *text, char **path_p);

/* ---- parts ---- */

/* One item of `systems`, of `patterns`, of `schedules`; appends to the study. Two may not have one name. */
IW_NODISCARD iw_status iwi_study_read_system(struct iwi_study_reader *reader, const yaml_node_t *node);
IW_NODISCARD iw_status iwi_study_read_pattern(struct iwi_study_reader *reader, const yaml_node_t *node);
IW_NODISCARD iw_status iwi_study_read_schedule(struct iwi_study_reader *reader, const yaml_node_t *node);

/* An item of `patterns` with the key `training`, into `item`, which is the study's whatever comes of it. */
IW_NODISCARD iw_status iwi_study_read_training(struct iwi_study_reader *reader, const yaml_node_t *node,
                                               struct iwi_study_item *item);

/* A list that such a work cannot have: "a trace has sizes". */
IW_NODISCARD iw_status iwi_study_refuse_list(const struct iwi_yaml_map *map, const char *key,
                                             const char *why);
/* Names a work that has no name yet; no other may have it. */
IW_NODISCARD iw_status iwi_study_name_work(struct iwi_study_reader *reader, const char *otherwise,
                                           struct iwi_study_item *item);

/* Makes and checks all cells, at most so many. */
enum { IWI_MOST_CELLS = 1000000 };
IW_NODISCARD iw_status iwi_study_make_cells(struct iwi_study_reader *reader);

/* For patterns, which ranks share a node: what the network says, else the system. */
iw_nodes iwi_study_nodes(const iw_study_system *system);

/* ---- settings of training programs (study_training.c) ---- */

/* The program of a work with a combination of its settings, on so many GPUs: shares the lists of the
 * work's. */
IW_NODISCARD iw_status iwi_study_training_on(const iw_log *log, const iw_study_work *work, size_t settings,
                                             uint32_t gpus, iw_training *spec);

void iwi_study_settings_release(iw_study_work *work);

/* How many combinations there are, 1 without any; SIZE_MAX: too many to be counted. */
size_t iwi_study_combinations(const iw_study_work *work);

/* Whether a study varies that setting. */
bool iwi_study_varies(const iw_study_work *work, const char *key);

/* The work's digest with that of the combination. */
uint64_t iwi_study_settings_digest(const iw_study_work *work, size_t index, uint64_t work_digest);

/* "microbatches=8; schedule=gpipe"; "" without any. */
enum { IWI_SETTING_BYTES = 120, IWI_SETTINGS_TEXT_SIZE = IW_STUDY_SETTINGS_MAX * (IWI_SETTING_BYTES + 32) };
const char *iwi_study_settings_text(const iw_study_work *work, size_t index,
                                    char buf[IWI_SETTINGS_TEXT_SIZE]);

/* ---- identifiers (study_digest.c) ---- */

uint64_t iwi_digest_of_system(const iw_study_system *system, const iw_noise *noise,
                              const iw_node_speeds *speeds); /* speeds: NULL if all nodes are alike */
uint64_t iwi_digest_of_pattern(const iw_study_work *work);
uint64_t iwi_digest_of_schedule(const iw_study_work *work, const char *data, size_t size);
/* Of what a training program is made of, part by part; 0 to begin with. */
uint64_t iwi_digest_of_training(uint64_t so_far, uint64_t number, const char *data, size_t size);
struct iw_trace;
uint64_t iwi_digest_of_calls(const struct iw_trace *trace);
/* `rules`: the bytes of a file of rules, or NULL. */
uint64_t iwi_digest_of_traced(const iw_study_work *work, uint64_t calls_digest, const char *rules,
                              size_t rules_size);

/* Sets cell->id. */
void iwi_cell_identify(iw_cell *cell, uint64_t system_digest, uint64_t work_digest, iw_time skew_ps);

#endif
