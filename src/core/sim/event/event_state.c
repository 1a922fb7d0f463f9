/* What all parts of the event engine use: its queue, dependences, and the time of a CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/event/event_state.h"
#include "core/base/base.h"
#include "core/base/heap.h"

static bool is_before(const struct iwi_event *a, const struct iwi_event *b)
{
    if (a->time != b->time) {
        return a->time < b->time;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank;
    }
    return a->sequence < b->sequence;
}

IWI_HEAP(heap, iwi_event, is_before)

iw_status iwi_event_push(struct event_run *run, struct iwi_event event)
{
    struct iwi_event_queue *queue = &run->queue;
    void *heap = queue->heap;

    IW_TRY(iwi_grow(run->log, &heap, &queue->capacity, queue->count + 1, sizeof event));
    queue->heap = heap;
    event.time = iwi_max(run->now, event.time);
    heap_put(queue->heap, queue->count++, event);
    return IW_OK;
}

bool iwi_event_pop(struct iwi_event_queue *queue, struct iwi_event *event_p)
{
    if (queue->count == 0) {
        return false;
    }
    *event_p = heap_take(queue->heap, queue->count--);
    return true;
}

iw_status iwi_event_at(struct event_run *run, iw_time time, enum iwi_event_kind kind, uint32_t rank,
                       uint64_t object)
{
    return iwi_event_push(run, (struct iwi_event){time, (uint32_t)kind, rank, object, object, 0});
}

iw_status iwi_event_push_release(struct event_run *run, iw_time time, uint64_t node, uint64_t cause)
{
    return iwi_event_push(run,
                          (struct iwi_event){time, IWI_EVENT_RELEASE, run->rank_of[node], node, node, cause});
}

/* ---- dependences ---- */

iw_status iwi_event_release_next(struct event_run *run, uint64_t node, iw_time time)
{
    const uint32_t rank = run->rank_of[node];

    if (node + 1 == run->schedule->first_node[rank + 1]) {
        return IW_OK;
    }
    return iwi_event_push_release(run, time, node + 1, iwi_cause(node, false));
}

static iw_status release_successors(struct event_run *run, uint64_t node, bool is_start, iw_time time)
{
    const uint64_t base = run->schedule->first_node[run->rank_of[node]];

    for (uint64_t i = run->first_successor[node]; i < run->first_successor[node + 1]; i++) {
        if (run->successors[i].is_start == is_start) {
            IW_TRY(
                iwi_event_push_release(run, time, base + run->successors[i].node, iwi_cause(node, is_start)));
        }
    }
    return IW_OK;
}

iw_status iwi_event_started(struct event_run *run, uint64_t node, iw_time time)
{
    return run->schedule->is_in_order ? IW_OK : release_successors(run, node, true, time);
}

iw_status iwi_event_ended(struct event_run *run, uint64_t node, iw_time time)
{
    struct event_rank *rank = &run->ranks[run->rank_of[node]];

    run->nodes[node].is_done = true;
    run->done++;
    if (time >= rank->end) {
        rank->end = time;
        rank->last = node;
    }
    return run->schedule->is_in_order ? iwi_event_release_next(run, node, time)
                                      : release_successors(run, node, false, time);
}

/* ---- the CPU ---- */

iw_time iwi_event_finish(struct event_run *run, size_t cpu, uint32_t rank, iw_time t, iw_time d,
                         iw_split *path)
{
    const struct iwi_stream_id id = {run->job->seed, run->job->first_trial, rank * run->cores};
    iw_time end = IWI_LATEST;

    if (t + d <= IWI_LATEST) {
        end =
            iwi_finish(run->job->noise, id, run->noise_words + cpu * run->words, &run->cpus[cpu].next_detour,
                       t, d, path == NULL ? NULL : &(struct iwi_lost)IWI_LOST_OF(path));
    }
    run->is_too_late |= end >= IWI_LATEST;
    if (run->watch.open != NULL) {
        iwi_step_lost(&run->watch, rank, end - t - d);
    }
    return end;
}

iw_time iwi_event_post_time(struct event_run *run, uint64_t recv, iw_split *path)
{
    const struct iwi_stream_id id = {run->job->seed, run->job->first_trial, run->rank_of[recv] * run->cores};
    const size_t cpu = iwi_event_cpu(run, recv);
    const bool is_graph = run->post_next != NULL;
    const iw_time touch = run->post_touch;

    return iwi_finish(run->job->noise, id, (is_graph ? run->post_words : run->noise_words) + cpu * run->words,
                      is_graph ? &run->post_next[cpu] : &run->cpus[cpu].next_detour, run->now, touch,
                      path == NULL ? NULL : &(struct iwi_lost)IWI_LOST_OF(path)) -
           touch;
}

void iwi_event_free_cpu(struct event_run *run, size_t cpu, iw_time time, const iw_split *path)
{
    run->cpus[cpu].free = time;
    if (path != NULL) {
        run->paths->cpu[cpu] = *path;
    }
}
