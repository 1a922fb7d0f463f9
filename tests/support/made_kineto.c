/* Makes runs of training by max-plus: hosts that launch, streams in order, collectives that wait for all.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_kineto.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "support/made_kineto_parts.h"

enum { HALVES = 4, AHEAD = 4 }; /* sends and receives of both neighbours; messages that one may be ahead by */

enum { QUEUE = 1000, LOAD_NS = 300000, SYNC_NS = 4000, START_NS = 2000000, NS_PER_BYTE_INVERSE = 100 };

enum { DRAW_KERNEL, DRAW_LAUNCH, DRAW_CLOCK, DRAW_DRIFT };

/* What the host of a rank does next. */
struct op {
    enum iwt_kineto_kind kind;
    enum iwt_kineto_stream stream;
    enum iwt_kineto_group group;
    uint32_t name, peer, waits; /* waits: bits of streams that it waits for */
    uint64_t elements;
    bool is_pair; /* sends to `peer`, receives from `source` */
    uint32_t source;
};

/* A rank on its way. */
struct walker {
    uint32_t rank, stage;
    struct op *ops; /* of the step, the same in all of them */
    size_t op_count, op_capacity, at;
    size_t middle; /* op before which pauses of the step take place */
    uint32_t step;
    int64_t host_ns, step_begin_ns, stream_ns[IWT_STREAMS];
    int64_t queue_ns[QUEUE]; /* ends of the last launches */
    uint64_t launches;
    uint64_t *sequence;             /* of groups; of messages to each peer and from it */
    bool is_waiting;                /* has arrived at ops[at] */
    uint64_t halves[HALVES];        /* so many messages it has come to */
    int64_t half_ns[HALVES][AHEAD]; /* when */
    struct iwt_kineto_event arrived;
};

struct run {
    const struct iwt_kineto *made;
    struct iwt_kineto_run *out;
    struct walker *walkers;
    uint32_t ranks;
    uint32_t *members;
};

struct iwt_kineto iwt_kineto_default(void)
{
    return (struct iwt_kineto){.seed = 1,
                               .tp = 2,
                               .dp = 2,
                               .pp = 2,
                               .steps = 4,
                               .layers = 3,
                               .microbatches = 2,
                               .kernel_ns = 200000,
                               .launch_ns = 6000,
                               .jitter = 0.02};
}

uint32_t iwt_kineto_members(const struct iwt_kineto *made, enum iwt_kineto_group group, uint32_t rank,
                            uint32_t *members)
{
    const uint32_t tp = rank % made->tp, dp = rank / made->tp % made->dp, pp = rank / made->tp / made->dp;
    uint32_t count = 0;

    for (uint32_t r = 0; r < made->tp * made->dp * made->pp; r++) {
        const bool is_tp = r % made->tp == tp, is_dp = r / made->tp % made->dp == dp,
                   is_pp = r / made->tp / made->dp == pp;

        if (group == IWT_WORLD || (group == IWT_TP_GROUP && is_dp && is_pp) ||
            (group == IWT_DP_GROUP && is_tp && is_pp) || (group == IWT_PP_GROUP && is_tp && is_dp)) {
            members[count++] = r;
        }
    }
    return count;
}

double iwt_kineto_draw(const struct iwt_kineto *made, unsigned what, uint32_t rank, uint64_t index)
{
    const struct iwi_draw_id id = {
        .seed = made->seed, .purpose = IWI_DRAW_TEST, .source = what, .rank = rank};

    return 2 * iwi_draw_unit(id, index) - 1;
}

static int64_t jittered(const struct iwt_kineto *made, int64_t mean_ns, unsigned what, uint32_t rank,
                        uint64_t index)
{
    return (int64_t)((double)mean_ns * (1 + made->jitter * iwt_kineto_draw(made, what, rank, index)));
}

/* ---- what a rank does in a step ---- */

static void push(struct walker *w, struct op op)
{
    if (w->op_count == w->op_capacity) {
        w->op_capacity = w->op_capacity > 0 ? 2 * w->op_capacity : 256;
        w->ops = realloc(w->ops, w->op_capacity * sizeof w->ops[0]);
    }
    w->ops[w->op_count++] = op;
}

static void push_collective(const struct run *run, struct walker *w, enum iwt_kineto_group group,
                            enum iwt_kineto_stream stream, uint64_t elements)
{
    if (iwt_kineto_members(run->made, group, w->rank, run->members) > 1) {
        push(w, (struct op){.kind = IWT_ALLREDUCE,
                            .stream = stream,
                            .group = group,
                            .elements = elements,
                            .waits = 1U << IWT_COMPUTE});
    }
}

/* Two kernels and a tensor-parallel all-reduce, for which the next kernel waits. */
static void push_layer(const struct run *run, struct walker *w, uint32_t name)
{
    const uint32_t waits = 1U << IWT_TP | 1U << IWT_PP;

    push(w, (struct op){.kind = IWT_KERNEL, .name = name, .waits = waits});
    push(w, (struct op){.kind = IWT_KERNEL, .name = name + 1, .waits = waits});
    push_collective(run, w, IWT_TP_GROUP, IWT_TP, 1 << 20);
}

static void push_message(const struct run *run, struct walker *w, enum iwt_kineto_kind kind, bool is_next)
{
    const uint32_t stride = run->made->tp * run->made->dp;

    if (is_next ? w->stage + 1 < run->made->pp : w->stage > 0) {
        push(w, (struct op){.kind = kind,
                            .stream = IWT_PP,
                            .group = IWT_PP_GROUP,
                            .peer = is_next ? w->rank + stride : w->rank - stride,
                            .elements = 1 << 19,
                            .waits = 1U << IWT_COMPUTE | 1U << IWT_TP});
    }
}

/* Sends what was computed, and receives what comes next unless it is the last; by one kernel if both. */
static void push_hop(const struct run *run, struct walker *w, bool is_forward, bool is_last)
{
    const size_t before = w->op_count;

    push_message(run, w, IWT_SEND, is_forward);
    if (!is_last) {
        push_message(run, w, IWT_RECV, !is_forward);
    }
    if (run->made->is_batched && w->op_count == before + 2) {
        w->ops[before].is_pair = true;
        w->ops[before].source = w->ops[before + 1].peer;
        w->op_count--;
    }
}

static void push_step(const struct run *run, struct walker *w)
{
    const struct iwt_kineto *made = run->made;

    push(w, (struct op){.kind = IWT_LOAD});
    push_message(run, w, IWT_RECV, false);
    for (uint32_t m = 0; m < made->microbatches; m++) {
        for (uint32_t l = 0; l < made->layers; l++) {
            if (m == made->microbatches / 2 && l == made->layers / 2) {
                w->middle = w->op_count;
            }
            push_layer(run, w, 0);
        }
        push_hop(run, w, true, m + 1 == made->microbatches);
    }
    push_message(run, w, IWT_RECV, true);
    for (uint32_t m = 0; m < made->microbatches; m++) {
        for (uint32_t l = 0; l < made->layers; l++) {
            push_layer(run, w, 2);
            if (m + 1 == made->microbatches) {
                push_collective(run, w, IWT_DP_GROUP, IWT_DP, 1 << 22);
            }
        }
        push_hop(run, w, false, m + 1 == made->microbatches);
    }
    push(w, (struct op){.kind = IWT_KERNEL, .name = 4, .waits = 1U << IWT_TP | 1U << IWT_DP | 1U << IWT_PP});
    push_collective(run, w, IWT_WORLD, IWT_DP, 1);
    push(w, (struct op){.kind = IWT_SYNC});
    push(w, (struct op){.kind = IWT_KERNEL, .name = 5});
}

/* ---- how it goes ---- */

static void keep(struct run *run, const struct walker *w, struct iwt_kineto_event event)
{
    struct iwt_kineto_rank *rank = &run->out->of[w->rank];

    if (rank->count == rank->capacity) {
        rank->capacity = rank->capacity > 0 ? 2 * rank->capacity : 1024;
        rank->events = realloc(rank->events, rank->capacity * sizeof rank->events[0]);
    }
    event.step = w->step;
    rank->events[rank->count++] = event;
}

static void host_event(struct run *run, struct walker *w, enum iwt_kineto_kind kind, int64_t length_ns)
{
    keep(run, w,
         (struct iwt_kineto_event){.kind = kind, .begin_ns = w->host_ns, .end_ns = w->host_ns + length_ns});
    w->host_ns += length_ns;
}

/* The sum of this rank's pauses of a cause in this step. */
static int64_t pause_ns(const struct run *run, const struct walker *w, enum iwt_kineto_cause cause)
{
    int64_t sum = 0;

    for (size_t i = 0; i < run->made->pause_count; i++) {
        const struct iwt_kineto_pause *pause = &run->made->pauses[i];

        sum +=
            pause->rank == w->rank && pause->step == w->step && pause->cause == cause ? pause->length_ns : 0;
    }
    return sum;
}

static void pause_host(struct run *run, struct walker *w)
{
    const int64_t gc_ns = pause_ns(run, w, IWT_KINETO_GC), malloc_ns = pause_ns(run, w, IWT_KINETO_MALLOC);

    if (gc_ns > 0) {
        host_event(run, w, IWT_COLLECT, gc_ns);
    }
    if (malloc_ns > 0) {
        host_event(run, w, IWT_ALLOCATE, malloc_ns);
    }
    w->host_ns += pause_ns(run, w, IWT_KINETO_LAUNCH);
}

/* The host launches ops[at]; its kernel begins. */
static struct iwt_kineto_event launch(const struct run *run, struct walker *w)
{
    const struct op *op = &w->ops[w->at];
    int64_t *slot = &w->queue_ns[w->launches % QUEUE];
    struct iwt_kineto_event event = {.kind = op->kind,
                                     .stream = op->stream,
                                     .group = op->group,
                                     .name = op->name,
                                     .peer = op->peer,
                                     .is_pair = op->is_pair,
                                     .source = op->source,
                                     .elements = op->elements};

    event.launch_ns = iwi_max(w->host_ns, *slot);
    w->host_ns =
        event.launch_ns + jittered(run->made, run->made->launch_ns, DRAW_LAUNCH, w->rank, w->launches);
    event.launch_end_ns = w->host_ns - run->made->launch_ns / 4;
    event.begin_ns = iwi_max(w->host_ns, w->stream_ns[op->stream]);
    for (unsigned s = 0; s < IWT_STREAMS; s++) {
        if ((op->waits >> s & 1) != 0) {
            event.begin_ns = iwi_max(event.begin_ns, w->stream_ns[s]);
        }
    }
    return event;
}

static void end_kernel(struct run *run, struct walker *w, struct iwt_kineto_event event, int64_t end_ns)
{
    event.end_ns = end_ns;
    w->stream_ns[event.stream] = end_ns;
    w->queue_ns[w->launches++ % QUEUE] = end_ns;
    keep(run, w, event);
    w->at++;
}

static int64_t transfer_ns(const struct iwt_kineto_event *event)
{
    return 12000 + (int64_t)(event->elements * 4 / NS_PER_BYTE_INVERSE);
}

/* Whether another rank stands at the same collective. */
static bool is_met(const struct walker *w, const struct walker *other)
{
    const struct iwt_kineto_event *mine = &w->arrived, *its = &other->arrived;

    return other->is_waiting && its->kind == IWT_ALLREDUCE && its->group == mine->group &&
           its->sequence == mine->sequence;
}

/* Messages that a rank sends to a peer, or receives from it: one of HALVES. */
static unsigned half_of(uint32_t rank, uint32_t peer, bool is_send)
{
    return (is_send ? 2U : 0U) + (peer > rank);
}

static void come_to_half(struct walker *w, uint32_t peer, bool is_send)
{
    const unsigned half = half_of(w->rank, peer, is_send);

    w->half_ns[half][w->halves[half]++ % AHEAD] = w->arrived.begin_ns;
}

static void come_to_messages(struct walker *w)
{
    come_to_half(w, w->arrived.peer, w->arrived.kind == IWT_SEND);
    if (w->arrived.is_pair) {
        come_to_half(w, w->arrived.source, false);
    }
}

/* Whether the peer has come to the message that `w` came to last; *start_p: not before. */
static bool is_half_met(const struct run *run, const struct walker *w, uint32_t peer, bool is_send,
                        int64_t *start_p)
{
    const uint64_t number = w->halves[half_of(w->rank, peer, is_send)] - 1;
    const unsigned its = half_of(peer, w->rank, !is_send);

    if (run->walkers[peer].halves[its] <= number) {
        return false;
    }
    *start_p = iwi_max(*start_p, run->walkers[peer].half_ns[its][number % AHEAD]);
    return true;
}

static bool meet_messages(struct run *run, struct walker *w)
{
    int64_t start_ns = w->arrived.begin_ns;

    if (!is_half_met(run, w, w->arrived.peer, w->arrived.kind == IWT_SEND, &start_ns) ||
        (w->arrived.is_pair && !is_half_met(run, w, w->arrived.source, false, &start_ns))) {
        return false;
    }
    w->is_waiting = false;
    end_kernel(run, w, w->arrived, start_ns + transfer_ns(&w->arrived));
    return true;
}

/* Ends what `w` waits for if all who take part have come. */
static bool meet(struct run *run, struct walker *w)
{
    const uint32_t count = iwt_kineto_members(run->made, w->arrived.group, w->rank, run->members);
    int64_t start_ns = w->arrived.begin_ns;

    for (uint32_t i = 0; i < count; i++) {
        const struct walker *other = &run->walkers[run->members[i]];

        if (other != w && !is_met(w, other)) {
            return false;
        }
        start_ns = iwi_max(start_ns, other->arrived.begin_ns);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct walker *other = &run->walkers[run->members[i]];

        other->is_waiting = false;
        end_kernel(run, other, other->arrived, start_ns + transfer_ns(&other->arrived));
    }
    return true;
}

static void end_step(struct run *run, struct walker *w)
{
    keep(run, w,
         (struct iwt_kineto_event){.kind = IWT_STEP, .begin_ns = w->step_begin_ns, .end_ns = w->host_ns});
    run->out->step_end_ns[w->step] = iwi_max(run->out->step_end_ns[w->step], w->stream_ns[IWT_COMPUTE]);
    w->step_begin_ns = w->host_ns;
    w->step++;
    w->at = 0;
}

/* One op of a rank; false: it cannot go on before others do. */
static bool advance(struct run *run, struct walker *w)
{
    const struct op *op = &w->ops[w->at];
    const uint64_t index = (uint64_t)w->step * w->op_count + w->at;

    if (w->at == w->middle && !w->is_waiting) {
        pause_host(run, w);
    }
    switch (op->kind) {
    case IWT_LOAD:
        host_event(run, w, IWT_LOAD, LOAD_NS + pause_ns(run, w, IWT_KINETO_LOADER));
        w->at++;
        break;
    case IWT_SYNC:
        host_event(run, w, IWT_SYNC,
                   iwi_max(0, iwi_max(w->stream_ns[IWT_COMPUTE], w->stream_ns[IWT_DP]) - w->host_ns) +
                       SYNC_NS);
        w->at++;
        break;
    case IWT_KERNEL: {
        const struct iwt_kineto_event event = launch(run, w);
        const int64_t slow_ns = w->at == w->middle ? pause_ns(run, w, IWT_KINETO_SLOW) : 0;

        end_kernel(run, w, event,
                   event.begin_ns + jittered(run->made, run->made->kernel_ns, DRAW_KERNEL, w->rank, index) +
                       slow_ns);
        break;
    }
    default:
        if (!w->is_waiting) {
            w->arrived = launch(run, w);
            w->arrived.sequence = w->sequence[op->group]++;
            w->is_waiting = true;
            if (op->kind != IWT_ALLREDUCE) {
                come_to_messages(w);
            }
        }
        return op->kind == IWT_ALLREDUCE ? meet(run, w) : meet_messages(run, w);
    }
    if (w->at == w->op_count) {
        end_step(run, w);
    }
    return true;
}

static void go(struct run *run)
{
    for (bool has_moved = true; has_moved;) {
        has_moved = false;
        for (uint32_t r = 0; r < run->ranks; r++) {
            struct walker *w = &run->walkers[r];

            while (w->step < run->made->steps && advance(run, w)) {
                has_moved = true;
            }
        }
    }
}

static void begin(struct run *run, uint32_t r)
{
    struct walker *w = &run->walkers[r];

    *w = (struct walker){.rank = r, .stage = r / run->made->tp / run->made->dp, .host_ns = START_NS};
    w->step_begin_ns = START_NS;
    w->sequence = calloc(IWT_GROUPS, sizeof w->sequence[0]);
    push_step(run, w);
    run->out->clock_ns[r] =
        (int64_t)(1000 * run->made->clock_us * iwt_kineto_draw(run->made, DRAW_CLOCK, r, 0));
    run->out->drift[r] = 1e-6 * run->made->drift_ppm * iwt_kineto_draw(run->made, DRAW_DRIFT, r, 0);
}

void iwt_kineto_run(const struct iwt_kineto *made, struct iwt_kineto_run *out)
{
    const uint32_t ranks = made->tp * made->dp * made->pp;
    struct run run = {.made = made, .out = out, .ranks = ranks};

    *out = (struct iwt_kineto_run){.made = *made, .ranks = ranks};
    out->of = calloc(ranks, sizeof out->of[0]);
    out->clock_ns = calloc(ranks, sizeof out->clock_ns[0]);
    out->drift = calloc(ranks, sizeof out->drift[0]);
    out->step_end_ns = calloc(made->steps, sizeof out->step_end_ns[0]);
    run.walkers = calloc(ranks, sizeof run.walkers[0]);
    run.members = calloc(ranks + 2, sizeof run.members[0]);
    for (uint32_t r = 0; r < ranks; r++) {
        begin(&run, r);
    }
    go(&run);
    for (uint32_t r = 0; r < ranks; r++) {
        free(run.walkers[r].ops);
        free(run.walkers[r].sequence);
    }
    free(run.walkers);
    free(run.members);
}

void iwt_kineto_release(struct iwt_kineto_run *run)
{
    for (uint32_t r = 0; r < run->ranks; r++) {
        free(run->of[r].events);
    }
    free(run->of);
    free(run->clock_ns);
    free(run->drift);
    free(run->step_end_ns);
    *run = (struct iwt_kineto_run){0};
}
