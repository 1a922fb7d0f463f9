/* Proof by symbolic execution that a collective does what its name says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "dataflow_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rounds_support.h"

struct run {
    const struct iwi_operation *op;
    const struct iwt_model *model;
    uint32_t items;
    uint64_t round;
    uint8_t *now, *before; /* [rank][item][contributor] */
    size_t *changed;       /* cells that differ between the two */
    size_t changed_count;
};

/* ---- the machine ---- */

static uint8_t *cell(const struct run *run, uint8_t *base, uint32_t rank, uint32_t item)
{
    return base + ((size_t)rank * run->items + item) * run->op->ranks;
}

static void start_round(struct run *run, uint64_t round)
{
    const size_t ranks = run->op->ranks;

    for (size_t i = 0; i < run->changed_count; i++) {
        memcpy(run->before + run->changed[i] * ranks, run->now + run->changed[i] * ranks, ranks);
    }
    run->changed_count = 0;
    run->round = round;
}

static void add_to_cell(const struct run *run, uint8_t *target, const uint8_t *source, bool is_reduced)
{
    for (uint32_t c = 0; c < run->op->ranks; c++) {
        if (run->model->is_union) {
            target[c] |= source[c];
        } else {
            target[c] = (uint8_t)(source[c] + (is_reduced ? target[c] : 0));
        }
    }
}

static void deliver(void *arg, uint64_t round, uint32_t from, uint32_t to, uint64_t bytes, bool is_reduced)
{
    struct run *run = arg;
    const struct iwt_model *model = run->model;
    const struct iwi_operation *op = run->op;
    uint64_t carried_bytes = 0;

    if (round != run->round) {
        start_round(run, round);
    }
    is_reduced = model->is_reduced != NULL ? model->is_reduced(op, round) : is_reduced;
    for (uint32_t item = 0; item < run->items; item++) {
        if (model->carries == NULL || model->carries(op, round, from, to, item, bytes)) {
            carried_bytes += model->item_bytes == NULL ? op->bytes : model->item_bytes(op, item);
            add_to_cell(run, cell(run, run->now, to, item), cell(run, run->before, from, item), is_reduced);
            run->changed[run->changed_count++] = (size_t)to * run->items + item;
        }
    }
    if (carried_bytes != bytes && op->algorithm->kind != IWI_BARRIER) {
        fail_msg("%s P=%u root=%u round %" PRIu64 " %u->%u: %" PRIu64 " bytes, but it carries %" PRIu64,
                 model->name, op->ranks, op->root, round, from, to, bytes, carried_bytes);
    }
}

enum start { OWN_CONTRIBUTION, OWN_ITEM, ROOT_HAS_ALL, OWN_ROW };

static void begin(struct run *run, enum start start)
{
    const uint32_t ranks = run->op->ranks;
    const size_t size = (size_t)ranks * run->items * ranks;

    run->changed_count = 0;
    run->round = UINT64_MAX;
    run->now = calloc(size, 1);
    run->before = calloc(size, 1);
    run->changed = calloc(4 * (size_t)ranks * run->items, sizeof *run->changed); /* fan 4 */
    for (uint32_t rank = 0; rank < ranks; rank++) {
        for (uint32_t item = 0; item < run->items; item++) {
            const bool is_there = start == OWN_CONTRIBUTION || (start == OWN_ITEM && item == rank) ||
                                  (start == ROOT_HAS_ALL && rank == run->op->root) ||
                                  (start == OWN_ROW && item / ranks == rank);

            cell(run, run->now, rank, item)[rank] = is_there;
        }
    }
    memcpy(run->before, run->now, size);
}

/* Contributor c must be there `times`, or at least so often. */
static void expect(const struct run *run, uint32_t rank, uint32_t item, uint32_t c, unsigned times,
                   bool is_at_least)
{
    const unsigned found = cell(run, run->now, rank, item)[c];

    if (is_at_least ? found < times : found != times) {
        fail_msg("%s P=%u root=%u bytes=%" PRIu64 ": rank %u has item %u of rank %u %u times, not %u",
                 run->model->name, run->op->ranks, run->op->root, run->op->bytes, rank, item, c, found,
                 times);
    }
}

/* ---- what must hold in the end ---- */

static bool is_result_at(const struct iwi_operation *op, uint32_t rank)
{
    return (op->algorithm->kind != IWI_REDUCE && op->algorithm->kind != IWI_GATHER) || rank == op->root;
}

/* -1: of no interest */
static int expected_times(const struct run *run, uint32_t rank, uint32_t item, uint32_t c)
{
    const uint32_t ranks = run->op->ranks;

    switch (run->op->algorithm->kind) {
    case IWI_BARRIER:
    case IWI_ALLREDUCE:
    case IWI_REDUCE: return 1;
    case IWI_BCAST: return c == run->op->root;
    case IWI_ALLGATHER:
    case IWI_GATHER: return c == item;
    case IWI_SCATTER: return item == rank ? c == run->op->root : -1;
    case IWI_ALLTOALL: return item % ranks == rank ? c == item / ranks : -1;
    case IWI_REDUCE_SCATTER: return item == rank ? 1 : -1;
    default: return -1;
    }
}

static enum start start_of(enum iwi_op_kind kind, const struct iwt_model *model)
{
    switch (kind) {
    case IWI_SCATTER: return ROOT_HAS_ALL;
    case IWI_BCAST: return model->item_bytes != NULL ? ROOT_HAS_ALL : OWN_CONTRIBUTION;
    case IWI_ALLGATHER:
    case IWI_GATHER: return OWN_ITEM;
    case IWI_ALLTOALL: return OWN_ROW;
    default: return OWN_CONTRIBUTION;
    }
}

static void check_result(const struct run *run)
{
    const uint32_t ranks = run->op->ranks;
    /* as the papers model it, dissemination combines some contributions twice unless P is a power of two */
    const bool is_at_least =
        strcmp(run->model->name, "allreduce:dissemination") == 0 && (ranks & (ranks - 1)) != 0;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        for (uint32_t item = 0; is_result_at(run->op, rank) && item < run->items; item++) {
            if (run->model->item_bytes != NULL && run->model->item_bytes(run->op, item) == 0) {
                continue;
            }
            for (uint32_t c = 0; c < ranks; c++) {
                const int times = expected_times(run, rank, item, c);

                if (times >= 0) {
                    expect(run, rank, item, c, (unsigned)times, is_at_least);
                }
            }
        }
    }
}

void iwt_prove(const struct iwt_model *model, const iw_pattern *pattern)
{
    struct run run = {.model = model};
    iw_program *program = iwt_make(model->name, pattern, &run.op);

    run.items = model->items(run.op);
    begin(&run, start_of(run.op->algorithm->kind, model));
    iwt_for_messages(run.op, deliver, &run);
    check_result(&run);
    free(run.now);
    free(run.before);
    free(run.changed);
    iw_program_free(program);
}
