/* The folder of a study and the processes that fill it: made, locked, and filled line by line;
 * src/features/study/files/study_line.h has the layout.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FOLDER_H
#define IWI_FOLDER_H

#include <sys/types.h>

#include <idlewave/study.h>

#include "features/study/folder.h"

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

/* ======== claims ======== */

/* A claim belongs to an open file description: whoever dies, however, gives its claims back, and no two
 * processes, on whatever nodes, have the same one. The file itself stays empty. */

struct iwi_claims {
    char *path;
    int fd;
    int fault; /* errno: why the file system has no locks; 0: it has, and claims count */
};

/* A file system without locks is no failure: then every claim is granted. IW_ERR_IO, IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_claims_open(const iw_log *log, const char *dir, struct iwi_claims *claims);
/* Gives back all that are held. */
void iwi_claims_close(struct iwi_claims *claims);

/* The byte of a cell: by its id, so that versions of a study agree on it. */
uint64_t iwi_claim_of_cell(const iw_cell *cell);
/* The byte of this node, for cells that take more than a process's share of its memory. */
uint64_t iwi_claim_of_node(void);

/* Does not wait. *is_taken_p: false if another process has it. IW_ERR_IO. Threads of one process see to it
 * themselves that no two want the same. */
IW_NODISCARD iw_status iwi_claims_take(const iw_log *log, const struct iwi_claims *claims, uint64_t byte,
                                       bool *is_taken_p);
void iwi_claims_give_back(const struct iwi_claims *claims, uint64_t byte);

/* ======== results of others ======== */

enum { IWI_RESULTS_NAME_SIZE = 64 };

struct iwi_peer_results {
    const char *dir, *own_path; /* own_path: of the file that this process writes, which is left out */
    char *chunk;
    struct iwi_peer_results_file {
        char name[IWI_RESULTS_NAME_SIZE];
        ino_t inode;
        off_t end; /* of the whole lines read so far */
    } * files;
    size_t count, capacity, next; /* next: where the next name is looked for first */
};

/* Skips what is there: iwi_tasks_find() reads that, afterwards. `dir` and `own_path` are kept. */
IW_NODISCARD iw_status iwi_peer_results_init(const iw_log *log, const char *dir, const char *own_path,
                                             struct iwi_peer_results *others);
void iwi_peer_results_release(struct iwi_peer_results *others);

/* Calls `visit` with the id of each cell whose line has come since. A file that cannot be read now is read
 * the next time. IW_ERR_NOMEM, IW_ERR_IO. */
typedef void (*iwi_visit_id)(void *arg, const char *id);
IW_NODISCARD iw_status iwi_peer_results_read(const iw_log *log, struct iwi_peer_results *others,
                                             iwi_visit_id visit, void *arg);

#endif
