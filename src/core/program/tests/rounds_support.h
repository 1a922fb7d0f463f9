/* What the tests of collective algorithms share: operations by name, all parts of a round.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_ROUNDS_SUPPORT_H
#define IWT_ROUNDS_SUPPORT_H

#include "support/support.h"

#include "core/program/program.h"

/* 1..40 and around some powers of two; ends with 0. */
extern const uint32_t iwt_rank_counts[];

/* A pattern of one operation, on nodes of 3 ranks unless it says otherwise; *op_p is borrowed from the
 * program that is returned. */
iw_program *iwt_make(const char *name, const iw_pattern *pattern, const struct iwi_operation **op_p);

/* All parts of one round, ranks outside the active ranges included. */
struct iwt_round {
    struct iwi_round round;
    struct iwi_role *parts; /* one per rank */
    struct iwi_msg *messages;
    uint32_t *times_active; /* how often each rank is in the active ranges */
    uint32_t ranks, capacity;
};

struct iwt_round *iwt_round_new(const struct iwi_operation *op);
void iwt_round_fill(struct iwt_round *r, const struct iwi_operation *op, uint64_t index);
void iwt_round_free(struct iwt_round *r);

/* Called for each message of a round, from the receiver's side. */
typedef void (*iwt_message_fn)(void *arg, uint64_t index, uint32_t from, uint32_t to, uint64_t bytes,
                               bool is_reduced);
void iwt_for_messages(const struct iwi_operation *op, iwt_message_fn fn, void *arg);

#endif
