/* What other processes have appended to the results of a folder since it was read last.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PEER_RESULTS_H
#define IWI_PEER_RESULTS_H

#include <sys/types.h>

#include "features/study/folder.h"

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
