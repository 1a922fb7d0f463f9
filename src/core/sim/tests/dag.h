/* Small GOAL graphs for tests, written down rank by rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_DAG_H
#define IWT_DAG_H

#include "core/program/program.h"

enum { IWT_MOST_DAG = 320 };

struct iwt_dag {
    struct iwi_schedule schedule; /* valid after iwt_dag_end() */
    iw_program program;           /* of the schedule; not to be freed */
    struct iwi_node nodes[IWT_MOST_DAG];
    uint64_t first_node[IWT_MOST_DAG], first_dep[IWT_MOST_DAG];
    struct iwi_dep deps[IWT_MOST_DAG];
    uint64_t node_count, dep_count;
    uint32_t ranks;
};

/* Start with `struct iwt_dag d = {.ranks = 0};`, a rank, its operations, the next rank, ... */
void iwt_dag_rank(struct iwt_dag *d);
void iwt_dag_calc(struct iwt_dag *d, iw_time ps);
void iwt_dag_empty(struct iwt_dag *d); /* a calc 0, which is no phase: a wait, if it requires messages */
void iwt_dag_send(struct iwt_dag *d, uint32_t to, uint64_t bytes, uint32_t tag);
void iwt_dag_recv(struct iwt_dag *d, uint32_t from, uint64_t bytes, uint32_t tag);

/* Of the last operation. `other` counts within the rank. */
void iwt_dag_on_cpu(struct iwt_dag *d, uint8_t cpu);
void iwt_dag_requires(struct iwt_dag *d, uint32_t other);
void iwt_dag_irequires(struct iwt_dag *d, uint32_t other);

void iwt_dag_end(struct iwt_dag *d);

#endif
