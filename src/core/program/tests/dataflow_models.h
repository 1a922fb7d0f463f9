/* Which data each message of a collective carries, written independently of the library.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_DATAFLOW_MODELS_H
#define IWT_DATAFLOW_MODELS_H

#include "core/program/program.h"

/* What iwt_model.carries is. */
typedef bool iwt_carries(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                         uint32_t item, uint64_t bytes);

/* The data of an operation is cut into items. */
struct iwt_model {
    const char *name;
    /* how many items; which a message carries; their sizes (NULL: op->bytes each) */
    uint32_t (*items)(const struct iwi_operation *op);
    iwt_carries *carries;
    uint64_t (*item_bytes)(const struct iwi_operation *op, uint32_t item);
    bool is_apart; /* needs sizes of its own, or few ranks: nodes_test.c */
    bool is_union; /* receivers only learn; nothing is counted twice */
    bool (*is_reduced)(const struct iwi_operation *op, uint64_t round); /* NULL: as the part says */
};

extern const struct iwt_model iwt_models[]; /* ends with a NULL name */

iwt_carries iwt_rabenseifner_allreduce, iwt_rabenseifner_reduce, iwt_scatter_allgather;

/* One item for each pair of ranks (alltoall), for each rank. */
uint32_t iwt_item_per_pair(const struct iwi_operation *op);
uint32_t iwt_item_per_rank(const struct iwi_operation *op);

#endif
