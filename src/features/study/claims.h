/* Claims: which cells some process is running now, as locks of single bytes of the file DIR/claims.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A claim belongs to an open file description: whoever dies, however, gives its claims back, and no two
 * processes, on whatever nodes, have the same one. The file itself stays empty.
 */
#ifndef IWI_CLAIMS_H
#define IWI_CLAIMS_H

#include <idlewave/study.h>

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

#endif
