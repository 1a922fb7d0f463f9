/* The event engine's memory side: compute phases that move bytes share the bandwidth of their domain (rule
 * 14).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All active cores of a domain get the same rate, so one counter a domain says how much each of them has got
 * since the beginning, had it been active all along. A core that becomes active has a goal: what the counter
 * shows when its bytes have been moved. Only the counter moves on with time; cores are looked at when the
 * set of active ones changes. The counter is exact; the instant at which a goal is reached is rounded up to a
 * picosecond.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/net/memory.h"
#include "core/sim/event/event_state.h"

/* A rank in a phase that moves bytes. */
struct memory_core {
    uint64_t node;      /* the phase */
    uint64_t turn;      /* of the phase: events of earlier ones are stale */
    iw_time begin;      /* of the phase, behind delay and per-phase noise */
    iw_time lost;       /* to detours since then */
    iw_time since;      /* active: from when on */
    iw_time until;      /* where the next detour begins */
    iw_time cpu_left;   /* CPU work left, at `since` if active */
    iwi_picobytes left; /* to be moved; active: the goal */
    uint32_t place;     /* active: in the list of its domain */
    bool is_active;
};

struct memory_domain {
    iwi_picobytes served; /* to each core, had it been active all along, at the time `at` */
    iw_time at;
    uint32_t *active; /* ranks */
    uint32_t count;
    uint64_t turn; /* of the set of active cores: events of earlier ones are stale */
};

struct event_memory {
    struct memory_core *cores; /* of each rank */
    uint32_t *domain_of;       /* rank: a number of its domain, from 0 on */
    struct memory_domain *domains;
    uint32_t *active; /* of all domains, one after the other */
};

/* Places may have gaps, wide ones where a list says them: only domains with ranks are counted. */
static iw_status number_domains(struct event_run *run, size_t *count_p)
{
    const uint32_t ranks = run->schedule->ranks;
    uint32_t *domain_of = run->memory->domain_of = iwi_new_array(run->log, ranks, sizeof *domain_of);
    uint32_t *known = iwi_new_array(run->log, ranks, sizeof *known);
    size_t count = 0;

    for (uint32_t rank = 0; domain_of != NULL && known != NULL && rank < ranks; rank++) {
        known[rank] = iwi_level_place(&run->job->levels, rank) / run->job->net->memory.ranks;
        domain_of[rank] = known[rank];
    }
    if (domain_of != NULL && known != NULL) {
        iwi_sort(known, ranks, iwi_compare_u32);
        for (uint32_t i = 0; i < ranks; i++) {
            if (count == 0 || known[count - 1] != known[i]) {
                known[count++] = known[i];
            }
        }
        for (uint32_t rank = 0; rank < ranks; rank++) {
            const uint32_t *found = iwi_find(&domain_of[rank], known, count, iwi_compare_u32);

            domain_of[rank] = (uint32_t)(found - known);
        }
    }
    free(known);
    *count_p = count;
    return count > 0 ? IW_OK : IW_ERR_NOMEM;
}

iw_status iwi_event_memory_init(struct event_run *run)
{
    const uint32_t ranks = run->schedule->ranks, most = iwi_memory_most(&run->job->net->memory, ranks);
    struct event_memory *memory = run->memory = iwi_new_array(run->log, 1, sizeof *memory);
    size_t domains;

    if (memory == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(number_domains(run, &domains));
    if ((memory->cores = iwi_new_array(run->log, ranks, sizeof *memory->cores)) == NULL ||
        (memory->domains = iwi_new_array(run->log, domains, sizeof *memory->domains)) == NULL ||
        (memory->active = iwi_new_array(run->log, domains * most, sizeof *memory->active)) == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < domains; i++) {
        memory->domains[i].active = memory->active + i * most;
    }
    return IW_OK;
}

void iwi_event_memory_release(struct event_run *run)
{
    if (run->memory != NULL) {
        free(run->memory->cores);
        free(run->memory->domain_of);
        free(run->memory->domains);
        free(run->memory->active);
        free(run->memory);
    }
}

static uint32_t domain_of(const struct event_run *run, uint32_t rank)
{
    return run->memory->domain_of[rank];
}

static iw_status push(struct event_run *run, iw_time time, enum iwi_event_kind kind, uint32_t object,
                      uint64_t turn)
{
    return iwi_event_push(run, (struct iwi_event){time, (uint32_t)kind, object, turn, object, 0});
}

/* ---- the phase of a core ---- */

/* The path to the end of the core's phase; NULL unless explaining. */
static iw_split *path_of(const struct event_run *run, const struct memory_core *core)
{
    return run->paths == NULL ? NULL : &run->paths->end[core->node];
}

/* The core works again as soon as no detour holds it. */
static iw_status wait_for_quiet(struct event_run *run, uint32_t rank, iw_time t)
{
    struct memory_core *core = &run->memory->cores[rank];
    const struct iwi_stream_id id = {run->job->seed, run->job->first_trial, rank};
    const size_t cpu = iwi_event_cpu(run, core->node);
    iw_split *path = path_of(run, core);
    const iw_time begin =
        iwi_noise_quiet(run->job->noise, id, run->noise_words + cpu * run->words, &run->cpus[cpu].next_detour,
                        t, path == NULL ? NULL : &(struct iwi_lost)IWI_LOST_OF(path), &core->until);

    run->is_too_late |= begin >= IWI_LATEST;
    core->lost += begin - t;
    if (run->watch.open != NULL) {
        iwi_step_lost(&run->watch, rank, begin - t);
    }
    return push(run, begin, IWI_EVENT_CORE, rank, core->turn);
}

iw_status iwi_event_memory_phase(struct event_run *run, uint64_t node, size_t cpu, iw_time t)
{
    const uint32_t rank = run->rank_of[node];
    struct memory_core *core = &run->memory->cores[rank];

    *core = (struct memory_core){.node = node,
                                 .turn = core->turn + 1,
                                 .begin = t,
                                 .cpu_left = iwi_event_work(run, node),
                                 .left = run->job->program->compute_bytes * IWI_PICOBYTES_PER_BYTE};
    run->cpus[cpu].waiting = node;
    return wait_for_quiet(run, rank, t);
}

/* All bytes have been moved: what is left of the CPU work ends the phase. */
static iw_status end_phase(struct event_run *run, uint32_t rank)
{
    struct memory_core *core = &run->memory->cores[rank];
    const size_t cpu = iwi_event_cpu(run, core->node);
    const iw_time work = iwi_event_work(run, core->node);
    const iw_time cpu_left = iwi_max(core->cpu_left - (run->now - core->since), 0);
    const iw_time waited = run->now - core->begin - core->lost - (work - cpu_left);
    iw_split *path = path_of(run, core);
    const iw_time end = iwi_event_finish(run, cpu, rank, run->now, cpu_left, path);

    if (path != NULL) {
        path->part_ps[IW_PART_COMPUTE] += work;
        path->part_ps[IW_PART_MEMORY] += waited;
    }
    if (run->watch.open != NULL) {
        iwi_step_memory(&run->watch, rank, waited);
    }
    core->turn++;
    run->cpus[cpu].waiting = IWI_NO_NODE;
    iwi_event_free_cpu(run, cpu, end, path);
    return iwi_event_ended(run, core->node, end);
}

/* ---- the domain ---- */

static void enter(struct event_run *run, struct memory_domain *domain, uint32_t rank)
{
    struct memory_core *core = &run->memory->cores[rank];

    core->since = run->now;
    core->left += domain->served;
    core->place = domain->count;
    core->is_active = true;
    domain->active[domain->count++] = rank;
}

static void leave(struct event_run *run, struct memory_domain *domain, uint32_t rank)
{
    struct memory_core *cores = run->memory->cores, *core = &cores[rank];
    const uint32_t last = domain->active[--domain->count];

    domain->active[core->place] = last;
    cores[last].place = core->place;
    core->is_active = false;
}

/* Up to now; phases whose bytes have been moved end. */
static iw_status move_on(struct event_run *run, struct memory_domain *domain)
{
    if (domain->count > 0) {
        domain->served +=
            (iwi_picobytes)(run->now - domain->at) * iwi_memory_rate(&run->job->net->memory, domain->count);
    }
    domain->at = run->now;
    for (uint32_t i = domain->count; i-- > 0;) { /* backwards: the last one takes the place of who leaves */
        const uint32_t rank = domain->active[i];

        if (run->memory->cores[rank].left <= domain->served) {
            leave(run, domain, rank);
            IW_TRY(end_phase(run, rank));
        }
    }
    return IW_OK;
}

iw_status iwi_event_on_core(struct event_run *run, uint32_t rank, uint64_t turn)
{
    const uint32_t index = domain_of(run, rank);
    struct memory_domain *domain = &run->memory->domains[index];
    struct memory_core *core = &run->memory->cores[rank];

    if (core->turn != turn) {
        return IW_OK; /* its phase has ended */
    }
    IW_TRY(move_on(run, domain));
    if (core->turn == turn && core->is_active) {
        leave(run, domain, rank);
        core->left -= domain->served;
        core->cpu_left = iwi_max(core->cpu_left - (run->now - core->since), 0);
        IW_TRY(wait_for_quiet(run, rank, run->now));
    } else if (core->turn == turn) {
        enter(run, domain, rank);
        if (core->until < IWI_LATEST) {
            IW_TRY(push(run, core->until, IWI_EVENT_CORE, rank, turn));
        }
    }
    return push(run, run->now, IWI_EVENT_MEMORY, index, ++domain->turn);
}

iw_status iwi_event_on_memory(struct event_run *run, uint32_t index, uint64_t turn)
{
    struct memory_domain *domain = &run->memory->domains[index];
    iwi_picobytes goal;

    if (domain->turn != turn) {
        return IW_OK; /* the set of active cores has changed since */
    }
    IW_TRY(move_on(run, domain));
    if (domain->count == 0) {
        return IW_OK;
    }
    goal = run->memory->cores[domain->active[0]].left;
    for (uint32_t i = 1; i < domain->count; i++) {
        const iwi_picobytes other = run->memory->cores[domain->active[i]].left;

        goal = other < goal ? other : goal;
    }
    return push(run,
                run->now + iwi_memory_time(goal - domain->served,
                                           iwi_memory_rate(&run->job->net->memory, domain->count)),
                IWI_EVENT_MEMORY, index, ++domain->turn);
}
