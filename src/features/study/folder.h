/* The folder of a study: made, locked, and filled line by line; src/features/study/files/study_line.h has the
 * layout.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FOLDER_H
#define IWI_FOLDER_H

#include <sys/types.h>

#include <idlewave/study.h>

/* A results file that this process alone writes. */
struct iwi_results_file {
    char *path;
    int fd;
    off_t size;    /* whole lines */
    bool is_extra; /* not the first of its shard */
};

/* Opens or makes it, locks it, and cuts a last line off that has no end. IW_ERR_IO, also if another process
 * has the lock. */
IW_NODISCARD iw_status iwi_results_file_open(const iw_log *log, const char *dir, const char *name,
                                             struct iwi_results_file *file);
/* The same for a shard (from 0) of so many with the first file that no other process writes: that of `writer`
 * (from 0), or one of those after it. `has_locks` false: the writer's own, unlocked. */
IW_NODISCARD iw_status iwi_results_file_take(const iw_log *log, const char *dir, uint32_t shard,
                                             uint32_t shards, uint32_t writer, bool has_locks,
                                             struct iwi_results_file *file);
void iwi_results_file_close(struct iwi_results_file *file);

/* Closes it, and removes it if it is extra and holds nothing. */
void iwi_results_file_leave(struct iwi_results_file *file);

/* The end of the last whole line of a file; -1: errno. */
off_t iwi_end_of_lines(int fd);

/* Appends one line by one write() and waits until it is on the disk. If that fails, the file is as before. */
IW_NODISCARD iw_status iwi_results_file_append(const iw_log *log, struct iwi_results_file *file,
                                               const char *line);

/* Refuses a folder with a study.yaml that is not this study's and belongs to no results: nobody's own file is
 * to be overwritten because it happens to lie there. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_folder_check_owner(const iw_log *log, const char *dir, const iw_study *study);

/* Writes study.yaml and origin.json where they are missing or (study.yaml) different. *is_other_p: the folder
 * held another study. */
IW_NODISCARD iw_status iwi_folder_describe(const iw_log *log, const char *dir, const iw_study *study,
                                           const char *command, bool *is_other_p);

/* Copies what describes a study from one folder to another one that lacks it. */
IW_NODISCARD iw_status iwi_folder_copy_description(const iw_log *log, const char *from, const char *to);

/* Calls `visit` for each results file of a folder, in the order of their names; a folder that does not exist
 * has none. */
typedef iw_status (*iwi_visit_results)(const iw_log *log, const char *dir, const char *name, void *arg);
IW_NODISCARD iw_status iwi_folder_each_results(const iw_log *log, const char *dir, iwi_visit_results visit,
                                               void *arg);

/* The whole of a file with a NUL behind it, to be freed; *text_p is NULL if there is none. */
IW_NODISCARD iw_status iwi_read_text(const iw_log *log, const char *path, char **text_p, size_t *size_p);

#endif
