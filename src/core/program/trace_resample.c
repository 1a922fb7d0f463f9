/* Draws the computation of replicas from that of the traced ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace_resample.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"

/* A place is a pair of neighbouring calls, each one of less than 64 kinds. */
enum {
    CODE_BITS = 6,
    CODE_EDGE = 0, /* before the first call, after the last */
    CODE_OPAQUE = IWI_CALL_WAIT + 1,
    CODE_COLLECTIVES, /* and above: operation, whether blocking, whether over all ranks */
    PLACES = 1 << 2 * CODE_BITS,
    CLASSES = 64 /* powers of two of a mean */
};
_Static_assert(CODE_COLLECTIVES + 4 * IWI_TRACE_OPS <= 1 << CODE_BITS, "kinds of calls fit");

/* The phases in one place, over the base ranks: the i-th time that each rank comes there. */
struct group {
    unsigned __int128 sum_ps;
    uint32_t count;
};

/* Of drawn phases, which every trial needs: drawing takes several times as long as reading. */
static const uint64_t KEPT_BYTES = UINT64_C(128) << 20;

struct work {
    const struct iwi_trace_build *build;
    struct iwi_trace_resample *made;
    uint64_t first_group[PLACES + 1];
    uint64_t visits[PLACES]; /* of the rank that is walked */
    struct group *groups;
    iw_time *own_ps; /* of all phases */
    uint64_t *keys;  /* phases of one rank, sorted by what makes them alike */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- places ---- */

static uint32_t code_of(const struct iwi_trace_program *program, const struct iwi_call *call)
{
    const bool is_blocking = call->kind == IWI_CALL_COLLECTIVE;

    if (call->kind <= IWI_CALL_WAIT) {
        return call->kind;
    }
    if (call->kind == IWI_CALL_OPAQUE) {
        return CODE_OPAQUE;
    }
    return CODE_COLLECTIVES + 4 * (uint32_t)call->op + 2 * is_blocking +
           iwi_trace_is_wide(program, call->comm);
}

/* The place before call `at`; behind the last one, if there are so many. */
static uint32_t place_of(const struct work *w, uint32_t rank, uint64_t at)
{
    const struct iwi_trace_rank *calls = &w->build->trace->ranks[rank];
    const struct iwi_trace_program *program = w->build->program;
    const uint32_t before = at > 0 ? code_of(program, &calls->calls[at - 1]) : CODE_EDGE;
    const uint32_t after = at < calls->call_count ? code_of(program, &calls->calls[at]) : CODE_EDGE;

    return before << CODE_BITS | after;
}

/* How often each rank comes to a place, at most, is how many groups that place needs. */
static iw_status make_groups(struct work *w)
{
    uint64_t most[PLACES] = {0};

    for (uint32_t rank = 0; rank < w->build->program->base; rank++) {
        memset(w->visits, 0, sizeof w->visits);
        for (uint64_t at = 0; at <= w->build->trace->ranks[rank].call_count; at++) {
            const uint32_t place = place_of(w, rank, at);

            most[place] = larger(most[place], ++w->visits[place]);
        }
    }
    for (uint32_t place = 0; place < PLACES; place++) {
        w->first_group[place + 1] = w->first_group[place] + most[place];
    }
    w->groups = iwi_new_array(w->build->log, (size_t)w->first_group[PLACES], sizeof *w->groups);
    return w->groups == NULL ? IW_ERR_NOMEM : IW_OK;
}

/* ---- phases ---- */

static bool is_phase(const struct iwi_node *node)
{
    return node->kind == IWI_CALC && (node->flags & IWI_NODE_PHASE) != 0;
}

/* The call that computation `node` comes before. The last computation of a rank has the number of the last
 * call, as that call's own operations have. */
static uint64_t call_after(const struct iwi_schedule *schedule, uint64_t first, uint64_t node)
{
    const uint32_t call = schedule->call_of[node];

    return node > first && schedule->call_of[node - 1] == call ? (uint64_t)call + 1 : call;
}

/* Calls `visit` for each phase of a rank with its group. */
static void walk_rank(struct work *w, uint32_t rank, void (*visit)(struct work *, uint64_t, uint64_t))
{
    const struct iwi_schedule *schedule = w->build->program->schedule;
    const uint64_t first = schedule->first_node[rank];
    uint64_t phase = w->made->first_phase[rank], at = 0;
    uint32_t place = 0;

    memset(w->visits, 0, sizeof w->visits);
    for (uint64_t n = first; n < schedule->first_node[rank + 1]; n++) {
        if (is_phase(&schedule->nodes[n])) {
            for (const uint64_t after = call_after(schedule, first, n); at <= after; at++) {
                place = place_of(w, rank, at);
                w->visits[place]++;
            }
            w->own_ps[phase] = (iw_time)schedule->nodes[n].amount;
            visit(w, phase++, w->first_group[place] + w->visits[place] - 1);
        }
    }
}

static void add_to_group(struct work *w, uint64_t phase, uint64_t group)
{
    w->groups[group].sum_ps += (uint64_t)w->own_ps[phase];
    w->groups[group].count++;
}

static uint64_t place_of_group(const struct work *w, uint64_t group)
{
    size_t at;

    IWI_FIRST_NOT(at, 1, PLACES, w->first_group[at] <= group);
    return at - 1;
}

/* Sets the mean, and leaves what the phase is alike by in place of `first` and `count`. */
static void take_mean(struct work *w, uint64_t phase, uint64_t group)
{
    const struct group *g = &w->groups[group];
    const uint64_t mean_ps = (uint64_t)((g->sum_ps + g->count / 2) / g->count);
    struct iwi_trace_phase *p = &w->made->phases[phase];

    p->mean_ps = (iw_time)larger(mean_ps, 1);
    p->first = (uint32_t)place_of_group(w, group) * CLASSES +
               (uint32_t)(CLASSES - 1 - __builtin_clzll((uint64_t)p->mean_ps));
}

/* ---- which are alike ---- */

static void group_alike(struct work *w, uint32_t rank)
{
    const uint64_t first = w->made->first_phase[rank];
    const uint32_t count = (uint32_t)(w->made->first_phase[rank + 1] - first);
    struct iwi_trace_phase *phases = &w->made->phases[first];
    struct iwi_trace_length *alike = &w->made->alike[first];

    for (uint32_t i = 0; i < count; i++) {
        w->keys[i] = (uint64_t)phases[i].first << 32 | i;
    }
    iwi_sort(w->keys, count, iwi_compare_u64);
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && w->keys[end] >> 32 == w->keys[begin] >> 32; end++) {
            const uint32_t phase = (uint32_t)w->keys[end];

            alike[end] = (struct iwi_trace_length){w->own_ps[first + phase], phases[phase].mean_ps};
        }
        for (uint32_t i = begin; i < end; i++) {
            phases[(uint32_t)w->keys[i]].first = begin;
            phases[(uint32_t)w->keys[i]].count = end - begin;
        }
    }
}

/* ---- making and drawing ---- */

const char *iw_replica_compute_name(iw_replica_compute compute)
{
    return compute == IW_REPLICA_COPY ? "copy" : "resample";
}

static iw_status count_phases(struct work *w)
{
    const struct iwi_schedule *schedule = w->build->program->schedule;
    const uint32_t base = w->build->program->base;
    const iw_log *log = w->build->log;
    uint64_t most = 0, *first;

    first = w->made->first_phase = iwi_new_array(log, (size_t)base + 1, sizeof *first);
    if (first == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < base; rank++) {
        first[rank + 1] = first[rank];
        for (uint64_t n = schedule->first_node[rank]; n < schedule->first_node[rank + 1]; n++) {
            first[rank + 1] += is_phase(&schedule->nodes[n]);
        }
        most = larger(most, first[rank + 1] - first[rank]);
    }
    w->made->phases = iwi_new_array(log, (size_t)first[base], sizeof *w->made->phases);
    w->made->alike = iwi_new_array(log, (size_t)first[base], sizeof *w->made->alike);
    w->own_ps = iwi_new_array(log, (size_t)first[base], sizeof *w->own_ps);
    w->keys = iwi_new_array(log, (size_t)most, sizeof *w->keys);
    return w->made->phases == NULL || w->made->alike == NULL || w->own_ps == NULL || w->keys == NULL
               ? IW_ERR_NOMEM
               : IW_OK;
}

static iw_status make(struct work *w)
{
    const uint32_t base = w->build->program->base;

    IW_TRY(make_groups(w));
    IW_TRY(count_phases(w));
    for (uint32_t rank = 0; rank < base; rank++) {
        walk_rank(w, rank, add_to_group);
    }
    for (uint32_t rank = 0; rank < base; rank++) {
        walk_rank(w, rank, take_mean);
        group_alike(w, rank);
    }
    return IW_OK;
}

static iw_status keep_drawn(struct iwi_trace_program *program, const iw_log *log,
                            struct iwi_trace_resample *made)
{
    const uint64_t phases = made->first_phase[program->base];
    const uint64_t fitting = phases == 0 ? 0 : KEPT_BYTES / sizeof *made->drawn_ps / phases;
    const uint64_t kept = fitting < program->replicas - 1 ? fitting : program->replicas - 1;
    iw_time *drawn_ps = made->drawn_ps = iwi_new_array(log, (size_t)(kept * phases), sizeof *drawn_ps);

    if (drawn_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t own = 0; own < program->base; own++) {
        for (uint64_t n = 0; n < made->first_phase[own + 1] - made->first_phase[own]; n++) {
            for (uint64_t replica = 1; replica <= kept; replica++) {
                *drawn_ps++ =
                    iwi_trace_drawn(program, (uint32_t)(replica * program->base + own), (uint32_t)n);
            }
        }
    }
    made->kept = kept;
    return IW_OK;
}

iw_status iwi_trace_resample_new(const struct iwi_trace_build *build, struct iwi_trace_resample **resample_p)
{
    struct work *w = iwi_new_array(build->log, 1, sizeof *w);
    iw_status status = IW_ERR_NOMEM;

    if (w != NULL && (w->made = iwi_new_array(build->log, 1, sizeof *w->made)) != NULL) {
        w->build = build;
        w->made->seed = build->opts->replica_seed;
        status = make(w);
        free(w->groups);
        free(w->own_ps);
        free(w->keys);
        *resample_p = w->made; /* freed with the program, also when half made */
        if (status == IW_OK) {
            status = keep_drawn(build->program, build->log, w->made);
        }
    }
    free(w);
    return status;
}

void iwi_trace_resample_free(struct iwi_trace_resample *resample)
{
    if (resample != NULL) {
        free(resample->first_phase);
        free(resample->phases);
        free(resample->alike);
        free(resample->drawn_ps);
        free(resample);
    }
}

iw_time iwi_trace_drawn(const struct iwi_trace_program *program, uint32_t rank, uint32_t number)
{
    const struct iwi_trace_resample *r = program->resample;
    const uint64_t first = r->first_phase[rank % program->base];
    const struct iwi_trace_phase *here = &r->phases[first + number];
    const struct iwi_draw_id id = {.seed = r->seed, .purpose = IWI_DRAW_REPLICA, .rank = rank};
    const uint64_t k = iwi_draw_below(id, number, here->count);
    const struct iwi_trace_length *there = &r->alike[first + here->first + k];
    const uint64_t mean_ps = (uint64_t)there->mean_ps;
    const unsigned __int128 sum =
        (unsigned __int128)(uint64_t)there->own_ps * (uint64_t)here->mean_ps + mean_ps / 2;
    /* dividing 128 bits is slow, and hardly ever needed */
    const uint64_t drawn_ps = (uint64_t)sum == sum ? (uint64_t)sum / mean_ps : (uint64_t)(sum / mean_ps);

    return drawn_ps < IW_TIME_INPUT_MAX ? (iw_time)drawn_ps : IW_TIME_INPUT_MAX;
}
