/* SPDX-License-Identifier: BSD-3-Clause */
#include "rounds_support.h"

#include <stdlib.h>

const uint32_t iwt_rank_counts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,  13,  14,  15, 16,
                                    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,  29,  30,  31, 32,
                                    33, 34, 35, 36, 37, 38, 39, 40, 63, 64, 65, 100, 128, 129, 0};

iw_program *iwt_make(const char *name, const iw_pattern *pattern, const struct iwi_operation **op_p)
{
    struct iwt_log l;
    iw_program *program = NULL;

    iw_pattern placed = *pattern;

    placed.nodes.ranks = pattern->nodes.ranks != 0 ? pattern->nodes.ranks : 3;
    iwt_log_init(&l);
    if (iw_program_from_pattern(&l.log, name, &placed, &program) != IW_OK) {
        fail_msg("%s with %u ranks: %s", name, pattern->ranks, l.text);
    }
    *op_p = &program->operations[0];
    return program;
}

struct iwt_round *iwt_round_new(const struct iwi_operation *op)
{
    struct iwt_round *r = calloc(1, sizeof *r);
    const uint64_t rounds = op->algorithm->round_count(op);

    r->capacity = 1;
    for (uint64_t i = 0; i < rounds; i++) {
        op->algorithm->round(op, i, &r->round);
        r->capacity = r->round.fan > r->capacity ? r->round.fan : r->capacity;
    }
    r->ranks = op->ranks;
    r->parts = calloc(r->ranks, sizeof *r->parts);
    r->times_active = calloc(r->ranks, sizeof *r->times_active);
    r->messages = calloc((size_t)r->ranks * r->capacity * 2, sizeof *r->messages);
    return r;
}

void iwt_round_fill(struct iwt_round *r, const struct iwi_operation *op, uint64_t index)
{
    op->algorithm->round(op, index, &r->round);
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        struct iwi_role *role = &r->parts[rank];

        *role = (struct iwi_role){
            .send_count = 77, .recv_count = 77, .reduce_bytes = 77, .work_ps = 77, .is_phase = true};
        role->sends = r->messages + (size_t)rank * 2 * r->capacity;
        role->recvs = role->sends + r->capacity;
        op->algorithm->role(op, index, rank, role);
        r->times_active[rank] = 0;
    }
    for (uint32_t a = 0; a < r->round.range_count; a++) {
        for (uint32_t i = 0; i < r->round.active[a].count; i++) {
            r->times_active[iwi_range_rank(&r->round.active[a], r->ranks, i)]++;
        }
    }
}

void iwt_round_free(struct iwt_round *r)
{
    free(r->parts);
    free(r->times_active);
    free(r->messages);
    free(r);
}

void iwt_for_messages(const struct iwi_operation *op, iwt_message_fn fn, void *arg)
{
    struct iwt_round *r = iwt_round_new(op);
    const uint64_t rounds = op->algorithm->round_count(op);

    for (uint64_t index = 0; index < rounds; index++) {
        iwt_round_fill(r, op, index);
        for (uint32_t rank = 0; rank < r->ranks; rank++) {
            for (uint32_t i = 0; i < r->parts[rank].recv_count; i++) {
                const struct iwi_msg *m = &r->parts[rank].recvs[i];

                fn(arg, index, m->peer, rank, m->bytes, r->parts[rank].reduce_bytes > 0);
            }
        }
    }
    iwt_round_free(r);
}
