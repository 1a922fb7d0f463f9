/* The spool files that a run left.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_SPOOL_FILES_H
#define IWI_TRACE_SPOOL_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/trace/record.h"
#include "mpi/trace/recover.h"

struct iwi_spool_file {
    char path[PATH_MAX];
    struct iwi_spool_head head;
};

struct iwi_spool_files {
    struct iwi_spool_file *files; /* by rank and thread */
    size_t count, capacity;
    struct iwi_spool_file *empty; /* to be removed with the others */
    size_t empty_count, empty_capacity;
    uint32_t rank_count; /* of the run */
};

/* Lists what is in FOLDER/spool; both arrays are to be freed. On failure `text` says why. */
bool iwi_spool_files_list(struct iwi_spool_files *spool, const char *folder, struct iwi_recovered *skipped,
                          char *text, size_t size);

/* Makes room for `need` elements of that size; false: no memory. */
bool iwi_spool_grow(void **array_p, size_t *capacity_p, size_t need, size_t element);

#endif
