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

struct iwi_study_reader {
    struct iwi_yaml yaml;
    char *folder; /* of the study: "" or with a slash behind it */
    /* Files that the study names are opened, and each cell has its id. Otherwise cells that depend on files
     * have "" instead, and those of schedules 0 ranks. */
    bool wants_files;
    bool has_name; /* the study says its name */
    uint64_t seed;
    iw_study *study;
    struct iwi_study_grid grid;
    struct iwi_study_entry *systems, *works; /* as many as the study has */
};

/* iw_study_load() of a text; `path` is its name in messages, and its folder that of other files. */
IW_NODISCARD iw_status iwi_study_read_memory(const iw_log *log, const char *path, const char *data,
                                             size_t size, bool wants_files, bool *has_name_p,
                                             iw_study **study_p);

/* ---- lists (study_yaml_values.c) ---- */

/* The first keys of the study, of systems and of works. */
enum { IWI_KEY_BYTES, IWI_KEY_SYNC, IWI_KEY_SCALE, IWI_KEY_RANKS, IWI_KEY_TRIALS, IWI_GRID_KEYS };
#define IWI_GRID_KEY_ROWS                                                  \
    {"bytes", NULL}, {"sync", NULL}, {"net-scale", NULL}, {"ranks", NULL}, \
    {                                                                      \
        "trials", NULL                                                     \
    }

IW_NODISCARD iw_status iwi_study_grid_read(struct iwi_study_reader *reader,
                                           const struct iwi_yaml_entry *entries, struct iwi_study_grid *grid);
void iwi_study_grid_release(struct iwi_study_grid *grid);
IW_NODISCARD iw_status iwi_axis_values_append(const iw_log *log, struct iwi_axis_values *values,
                                              double value);

/* "none", "start", "phase"; NULL past the last. */
const char *iwi_study_sync_name(size_t sync);

/* ---- single values (study_yaml_scalar.c) ---- */

/* Each complains with the line and the key. */
IW_NODISCARD iw_status iwi_study_count(const struct iwi_study_reader *reader, const yaml_node_t *node,
                                       const char *key, uint64_t min, uint64_t max, uint64_t *value_p);
IW_NODISCARD iw_status iwi_study_count32(const struct iwi_study_reader *reader, const yaml_node_t *node,
                                         const char *key, uint32_t min, uint32_t max, uint32_t *value_p);
IW_NODISCARD iw_status iwi_study_time(const struct iwi_study_reader *reader, const yaml_node_t *node,
                                      const char *key, iw_time *ps_p);
IW_NODISCARD iw_status iwi_study_per_byte(const struct iwi_study_reader *reader, const yaml_node_t *node,
                                          const char *key, iw_fs_per_byte *fs_p);
IW_NODISCARD iw_status iwi_study_share(const struct iwi_study_reader *reader, const yaml_node_t *node,
                                       const char *key, double *share_p);
/* One of the words up to NULL. */
IW_NODISCARD iw_status iwi_study_choice(const struct iwi_study_reader *reader, const yaml_node_t *node,
                                        const char *key, const char *const *words, size_t *index_p);
/* "true" or "false". */
IW_NODISCARD iw_status iwi_study_switch(const struct iwi_study_reader *reader, const yaml_node_t *node,
                                        const char *key, bool *is_on_p);
/* One line of 1 to `max_bytes` bytes, copied; replaces what *text_p holds. */
IW_NODISCARD iw_status iwi_study_line(const struct iwi_study_reader *reader, const yaml_node_t *node,
                                      const char *key, size_t max_bytes, char **text_p);

enum { IWI_STUDY_NAME_BYTES = 63, IWI_STUDY_TITLE_BYTES = 200 };

IW_NODISCARD iw_status iwi_copy_text(const iw_log *log, const char *text, char **copy_p);

/* The path of a file that the study names, to be freed. */
IW_NODISCARD iw_status iwi_study_path(const struct iwi_study_reader *reader, const char *path, char **path_p);

/* The same, beside the study, else the one that such a name stands for in a collection. */
IW_NODISCARD iw_status iwi_study_collected_path(const struct iwi_study_reader *reader, iw_collected_kind kind,
                                                const char *text, char **path_p);

/* ---- parts ---- */

/* One item of `systems`; appends to the study. Two may not have one name. */
IW_NODISCARD iw_status iwi_study_read_system(struct iwi_study_reader *reader, const yaml_node_t *node);
/* Its `noise`, NULL: none, into both; whether it has files that are not to be opened. */
IW_NODISCARD iw_status iwi_study_read_noise(struct iwi_study_reader *reader, const yaml_node_t *node,
                                            iw_study_system *system, iw_noise *noise, bool *needs_files_p);
/* One item of `patterns` or of `schedules`. */
IW_NODISCARD iw_status iwi_study_read_pattern(struct iwi_study_reader *reader, const yaml_node_t *node);
IW_NODISCARD iw_status iwi_study_read_schedule(struct iwi_study_reader *reader, const yaml_node_t *node);
/* Whether an item is a mapping with that key. */
bool iwi_study_has_key(struct iwi_study_reader *reader, const yaml_node_t *node, const char *name);
/* An item of `patterns` with the key `trace`, or `training`. */
IW_NODISCARD iw_status iwi_study_read_trace(struct iwi_study_reader *reader, const yaml_node_t *node);
IW_NODISCARD iw_status iwi_study_read_training(struct iwi_study_reader *reader, const yaml_node_t *node);
/* The program of a work with a combination of its settings, on so many GPUs: shares the lists of the
 * work's. */
IW_NODISCARD iw_status iwi_study_training_on(const iw_log *log, const iw_study_work *work, size_t settings,
                                             uint32_t gpus, iw_training *spec);

/* Makes room for the work that `node` tells of; returns its number. */
size_t iwi_study_begin_work(struct iwi_study_reader *reader, const yaml_node_t *node);
/* Names the last work: by `node`, or without it as `otherwise`. */
IW_NODISCARD iw_status iwi_study_name_work(struct iwi_study_reader *reader, const yaml_node_t *node,
                                           const char *otherwise);

/* Makes and checks all cells, at most so many. */
enum { IWI_MOST_CELLS = 1000000 };
IW_NODISCARD iw_status iwi_study_make_cells(struct iwi_study_reader *reader);

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
