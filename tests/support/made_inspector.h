/* Runs of training whose truth is known (made_kineto.h), as lines of NCCL's Inspector.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_INSPECTOR_H
#define IWT_MADE_INSPECTOR_H

#include "support/made_kineto.h"

struct iwt_inspector {
    bool is_verbose;       /* has times of kernels */
    bool has_small;        /* also what is below 8 KiB: the norm of the communicator of all ranks */
    uint32_t process_gpus; /* of one process: ranks that follow each other */
    bool is_v43;           /* who writes is only in a line before, as NCCL writes from format v4.3 on */
    uint32_t loses;        /* every n-th line is missing; 0: none */
};

enum { IWT_INSPECTOR_NODE_GPUS = 8, IWT_INSPECTOR_LEAST_BYTES = 8192 };

/* The lines of one rank; times are rounded down to microseconds of its clock. */
void iwt_inspector_print(const struct iwt_kineto_run *run, const struct iwt_inspector *made, uint32_t rank,
                         FILE *out);

/* The same in memory, to be freed. */
char *iwt_inspector_text(const struct iwt_kineto_run *run, const struct iwt_inspector *made, uint32_t rank,
                         size_t *size_p);

#endif
