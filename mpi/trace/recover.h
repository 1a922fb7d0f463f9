/* Making an archive of what a run left that did not come to MPI_Finalize.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_RECOVER_H
#define IWI_TRACE_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iwi_recovered {
    uint32_t ranks, missing_ranks, threads;
    uint64_t calls;
    uint32_t skipped_files;
    char skipped_text[512]; /* the first of them, and why */
};

/* FOLDER/spool becomes FOLDER/traces.otf2 and is removed. On failure `text` says why, and the spool stays. */
bool iwi_recover(const char *folder, struct iwi_recovered *recovered_p, char *text, size_t size);

#endif
