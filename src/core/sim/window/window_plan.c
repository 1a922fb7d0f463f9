/* What the window engine knows of a schedule before it runs; begin and end of a run, and what was not done.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/net/cost.h"
#include "core/noise/stream.h"
#include "core/sim/engine.h"
#include "core/sim/possible_matches.h"
#include "core/sim/unreceived.h"
#include "core/sim/window/window_plan.h"
#include "core/sim/window/window_state.h"

/* ---- begin ---- */

static iw_status allocate(struct window_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    const iw_noise *noise = run->job->noise;
    const size_t ranks = run->rank_count;
    const size_t nodes = (size_t)(schedule->first_node[run->first_rank + run->rank_count] - run->first_node);
    const size_t cpus = ranks * schedule->cpu_count, gaps = ranks * schedule->nic_count;
    const size_t members = run->job->member == NULL ? 1 : run->job->member->count;

    run->words = noise == NULL ? 0 : iwi_noise_words(noise);
    run->cores = noise == NULL ? 1 : iw_noise_cores_per_rank(noise);
    run->nodes = iwi_rank_array_new(run->log, nodes + 1, sizeof *run->nodes);
    run->ranks = iwi_rank_array_new(run->log, ranks, sizeof *run->ranks);
    run->cpus = iwi_rank_array_new(run->log, cpus, sizeof *run->cpus);
    run->gaps = iwi_new_array(run->log, gaps, sizeof *run->gaps);
    run->bucket_room = iwi_rank_array_new(run->log, ranks * IWI_WINDOW_BUCKETS, sizeof *run->bucket_room);
    run->next_detour = iwi_new_array(run->log, cpus, sizeof *run->next_detour);
    run->noise_words = iwi_new_array(run->log, cpus * run->words, sizeof *run->noise_words);
    run->other_next = iwi_new_array(run->log, cpus * (run->cores - 1), sizeof *run->other_next);
    run->other_words =
        iwi_new_array(run->log, cpus * (run->cores - 1) * run->words, sizeof *run->other_words);
    run->outboxes = iwi_new_array(run->log, members, sizeof *run->outboxes);
    if (noise != NULL && run->plan->has_rendezvous && iwi_post_touch(run->job->net) > 0) {
        run->posted = iwi_rank_array_new(run->log, nodes, sizeof *run->posted);
        run->postings = iwi_new_array(run->log, cpus, sizeof *run->postings);
        run->post_words = iwi_new_array(run->log, cpus * run->words, sizeof *run->post_words);
        run->posts_by_phases = iwi_noise_restarts(noise);
        if (run->posted == NULL || run->postings == NULL || run->post_words == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    return run->nodes != NULL && run->ranks != NULL && run->cpus != NULL && run->gaps != NULL &&
                   run->bucket_room != NULL && run->noise_words != NULL && run->next_detour != NULL &&
                   run->other_next != NULL && run->other_words != NULL && run->outboxes != NULL
               ? iwi_calendar_init(run->log, &run->calendar, run->rank_count,
                                   iwi_max(run->plan->lookahead, 1))
               : IW_ERR_NOMEM;
}

static void begin_cpus(struct window_run *run, uint32_t local)
{
    for (size_t c = 0; c < run->schedule->cpu_count; c++) {
        const size_t index = (size_t)local * run->schedule->cpu_count + c;

        run->cpus[index] = (struct window_cpu){
            .first = IWI_WINDOW_NONE, .last = IWI_WINDOW_NONE, .before_last = IWI_WINDOW_NONE};
        run->next_detour[index] = IWI_NEVER;
        if (run->job->noise != NULL) {
            const struct iwi_cores cores = iwi_window_cores(run, local, index);

            iwi_cores_begin(&cores);
        }
        iwi_window_restart_posting(run, index, 0);
    }
}

static void begin_rank(struct window_run *run, uint32_t local)
{
    const uint64_t first = run->schedule->first_node[run->first_rank + local];
    const uint64_t first_dep = run->schedule->first_dep[first];
    struct window_bucket *buckets = run->bucket_room + (size_t)local * IWI_WINDOW_BUCKETS;

    run->ranks[local] = (struct window_rank){.nodes = run->nodes + (first - run->first_node),
                                             .successors = run->plan->successors + first_dep,
                                             .first_successor = (uint32_t)first_dep,
                                             .buckets = buckets,
                                             .bucket_count = IWI_WINDOW_BUCKETS,
                                             .looks = run->plan->looks[run->first_rank + local]};
    for (uint32_t i = 0; i < IWI_WINDOW_BUCKETS; i++) {
        buckets[i] = (struct window_bucket){.recv_first = IWI_WINDOW_NONE, .entry_first = IWI_WINDOW_NONE};
    }
    begin_cpus(run, local);
}

static bool is_phase(const struct iwi_node *node)
{
    return node->kind == IWI_CALC && (node->flags & IWI_NODE_PHASE) != 0;
}

static enum iwi_window_kind kind_of(const struct iwi_node *node)
{
    static const uint8_t kinds[] = {
        [IWI_SEND] = IWI_WINDOW_SEND, [IWI_RECV] = IWI_WINDOW_RECV, [IWI_CALC] = IWI_WINDOW_CALC};

    return (enum iwi_window_kind)(kinds[node->kind] + is_phase(node)); /* calc + 1 is a phase */
}

/* `phases`: of its rank before it. */
static void begin_node(const struct window_run *run, const struct window_place *place, uint32_t node,
                       uint32_t phases)
{
    const uint64_t number = run->schedule->first_node[place->rank] + node;
    const struct iwi_node *from = &run->schedule->nodes[number];
    const uint64_t *first_dep = run->schedule->first_dep + number;
    const uint32_t partner = run->plan->partners[number];

    place->nodes[node] =
        (struct window_node){.amount = from->amount,
                             .open = (uint32_t)(first_dep[1] - first_dep[0]),
                             .peer = from->peer,
                             .tag = from->kind == IWI_CALC ? phases : from->tag,
                             .first_successor = run->plan->first_successor[number],
                             .kind = (uint8_t)kind_of(from),
                             .cpu = from->cpu,
                             .nic = from->nic,
                             .flags = (from->flags & IWI_NODE_SYNCHRONOUS) != 0 ? WINDOW_SYNCHRONOUS : 0};
    if (partner != IWI_WINDOW_NO_PARTNER) {
        place->nodes[node].tag = partner;
        place->nodes[node].flags |= WINDOW_FIXED;
    }
}

/* Receives whose posting lets others go. */
static void find_posts(const struct window_run *run, const struct window_place *place, uint32_t count)
{
    const uint64_t *first_dep = run->schedule->first_dep + run->schedule->first_node[place->rank];

    for (uint64_t d = first_dep[0]; d < first_dep[count]; d++) {
        const struct iwi_dep *dep = &run->schedule->deps[d];
        struct window_node *required = &place->nodes[dep->node];
        const bool is_post = dep->is_start & (required->kind == IWI_WINDOW_RECV);

        required->flags |= (uint8_t)(is_post * WINDOW_POSTS);
    }
}

/* The order in which it is posted plays a role, or when others learn of it. */
static bool is_posted_in_turn(const struct window_node *node)
{
    return node->kind == IWI_WINDOW_RECV && (node->flags & (WINDOW_FIXED | WINDOW_POSTS)) != WINDOW_FIXED;
}

/* Sends whose end lets such receives be posted. */
static void find_tellers(const struct window_run *run, const struct window_place *place, uint32_t node)
{
    const uint64_t number = run->schedule->first_node[place->rank] + node;
    const uint64_t *first_dep = run->schedule->first_dep + number;

    for (uint64_t d = first_dep[0]; is_posted_in_turn(&place->nodes[node]) && d < first_dep[1]; d++) {
        const struct iwi_dep *dep = &run->schedule->deps[d];

        if (!dep->is_start && place->nodes[dep->node].kind == IWI_WINDOW_SEND) {
            place->nodes[dep->node].kind = IWI_WINDOW_SEND_TELLS;
        }
    }
}

/* What requires nothing is ready at time 0. */
static iw_status begin_nodes(struct window_run *run, uint32_t local)
{
    const struct window_place place = iwi_window_place(run, local);
    const uint64_t *first_node = run->schedule->first_node + place.rank;
    const uint32_t count = (uint32_t)(first_node[1] - first_node[0]);
    uint32_t phases = 0;

    for (uint32_t node = 0; node < count; node++) {
        begin_node(run, &place, node, phases);
        phases += is_phase(&run->schedule->nodes[*first_node + node]);
    }
    find_posts(run, &place, count);
    for (uint32_t node = 0; node < count; node++) {
        find_tellers(run, &place, node);
        if (place.nodes[node].open == 0) {
            IW_TRY(iwi_window_become_ready(run, &place, node));
        }
    }
    /* what follows the last node of a rank: where its successors end */
    place.nodes[count].first_successor = run->plan->first_successor[first_node[1]];
    if (place.state->queue.end > 0) {
        iwi_calendar_note(&run->calendar, local, 0);
    }
    return IW_OK;
}

iw_status iwi_window_setup(struct window_run *run)
{
    iw_status status = allocate(run);

    run->unused = IWI_WINDOW_NONE;
    for (uint32_t local = 0; status == IW_OK && local < run->rank_count; local++) {
        begin_rank(run, local);
    }
    run->has_begun = status == IW_OK;
    for (uint32_t local = 0; status == IW_OK && local < run->rank_count; local++) {
        status = begin_nodes(run, local);
    }
    return status;
}

/* ---- end ---- */

static void release_ranks(struct window_run *run)
{
    for (uint32_t local = 0; run->has_begun && local < run->rank_count; local++) {
        const struct window_rank *rank = &run->ranks[local];

        free(rank->queue.far);
        if (rank->buckets != run->bucket_room + (size_t)local * IWI_WINDOW_BUCKETS) {
            free(rank->buckets);
        }
        free(rank->inbox.messages);
        free(rank->flights);
    }
}

void iwi_window_release(struct window_run *run)
{
    const uint32_t members = run->job->member == NULL ? 1 : run->job->member->count;

    release_ranks(run);
    for (uint32_t m = 0; run->outboxes != NULL && m < members; m++) {
        free(run->outboxes[m].messages);
    }
    free(run->delivered.messages);
    iwi_calendar_release(&run->calendar);
    free(run->nodes);
    free(run->ranks);
    free(run->cpus);
    free(run->gaps);
    free(run->bucket_room);
    free(run->unexpected);
    free(run->outboxes);
    free(run->noise_words);
    free(run->next_detour);
    free(run->posted);
    free(run->postings);
    free(run->post_words);
    free(run->other_next);
    free(run->other_words);
}

/* Each value becomes the largest of all members. */
static iw_status join(const struct window_run *run, int64_t *values, size_t count)
{
    return run->job->member == NULL ? IW_OK : iwi_member_max(run->job->member, values, count);
}

static bool tells(const struct window_run *run)
{
    return run->job->member == NULL || run->job->member->number == 0;
}

/* Who fails ends all others: so nobody does before it has been told why. */
static iw_status fail_together(const struct window_run *run, iw_status status)
{
    int64_t nothing = 0;

    IW_TRY(join(run, &nothing, 1));
    return status;
}

/* ---- what cannot go on ---- */

/* Posted receives have no open dependences: their numbers are not needed any more. */
static void clear_posted(const struct window_place *place)
{
    const struct window_rank *rank = place->state;

    for (uint32_t i = 0; i < rank->bucket_count; i++) {
        for (uint32_t recv = rank->buckets[i].recv_first; recv != IWI_WINDOW_NONE;
             recv = place->nodes[recv].link) {
            place->nodes[recv].open = 0;
        }
    }
}

/* Where a rank is stuck: its first operation that nothing in its own rank holds back; if there is none, its
 * operations wait for each other in a circle, and the first of all stands for them. -1: it is not. */
static int64_t stuck_node(const struct window_run *run, uint32_t local)
{
    const struct window_place place = iwi_window_place(run, local);
    const uint64_t first = run->schedule->first_node[place.rank];
    const uint64_t count = run->schedule->first_node[place.rank + 1] - first;
    int64_t stuck = -1;

    clear_posted(&place);
    for (uint64_t node = 0; node < count; node++) {
        if (place.nodes[node].open == 0) {
            return (int64_t)(first + node);
        }
        stuck = stuck < 0 && place.nodes[node].open != IWI_WINDOW_DONE ? (int64_t)(first + node) : stuck;
    }
    return stuck;
}

static iw_status report_stuck(const struct window_run *run)
{
    enum { AT_ONCE = 1 << 16 };
    const uint32_t ranks = run->schedule->ranks;
    int64_t *stuck = iwi_new_array(run->log, ranks, sizeof *stuck);
    iw_status status = stuck == NULL ? IW_ERR_NOMEM : IW_OK;
    size_t count = 0;

    for (uint32_t rank = 0; status == IW_OK && rank < ranks; rank++) {
        stuck[rank] = rank - run->first_rank < run->rank_count ? stuck_node(run, rank - run->first_rank) : -1;
    }
    for (uint32_t at = 0; status == IW_OK && at < ranks; at += AT_ONCE) {
        status = join(run, stuck + at, ranks - at < AT_ONCE ? ranks - at : AT_ONCE);
    }
    for (uint32_t rank = 0; status == IW_OK && rank < ranks; rank++) {
        stuck[count] = stuck[rank];
        count += stuck[rank] >= 0;
    }
    if (status == IW_OK) {
        status = tells(run) ? iwi_report_stuck(run->log, run->schedule, (const uint64_t *)stuck, count)
                            : IW_ERR_DEADLOCK;
    }
    free(stuck);
    return status;
}

/* ---- what nobody has received ---- */

static void count_unreceived(const struct window_run *run, struct iwi_unreceived *unreceived)
{
    for (uint32_t local = 0; local < run->rank_count; local++) {
        const struct window_rank *rank = &run->ranks[local];

        for (uint32_t b = 0; b < rank->bucket_count; b++) {
            for (uint32_t i = rank->buckets[b].entry_first; i != IWI_WINDOW_NONE;
                 i = run->unexpected[i / IWI_LOOKS].entry[i % IWI_LOOKS].newer) {
                const struct iwi_window_message *message = &run->unexpected[i / IWI_LOOKS].message;

                if (i % IWI_LOOKS == IWI_LOOK_EXACT) {
                    iwi_unreceived_add(unreceived, run->schedule->first_node[message->from] + message->send);
                }
            }
        }
    }
}

static iw_status warn_unreceived(const struct window_run *run)
{
    const uint32_t members = run->job->member == NULL ? 1 : run->job->member->count;
    const uint32_t number = run->job->member == NULL ? 0 : run->job->member->number;
    struct iwi_unreceived own = {.count = 0}, all = {.count = 0};
    int64_t *values;
    iw_status status;

    if (!run->job->want_warnings) {
        return IW_OK;
    }
    enum { EACH = 1 + IWI_UNRECEIVED_NAMED };
    values = iwi_new_array(run->log, (size_t)members * EACH, sizeof *values);
    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    count_unreceived(run, &own);
    values[(size_t)number * EACH] = (int64_t)own.count;
    for (uint32_t i = 0; i < own.named; i++) {
        values[(size_t)number * EACH + 1 + i] = (int64_t)own.first[i];
    }
    status = join(run, values, (size_t)members * EACH);
    for (uint32_t m = 0; status == IW_OK && m < members; m++) {
        const int64_t count = values[(size_t)m * EACH];

        for (int64_t i = 0; i < count && i < IWI_UNRECEIVED_NAMED; i++) {
            iwi_unreceived_add(&all, (uint64_t)values[(size_t)m * EACH + 1 + (size_t)i]);
        }
        all.count += (uint64_t)(count > IWI_UNRECEIVED_NAMED ? count - IWI_UNRECEIVED_NAMED : 0);
    }
    if (status == IW_OK && tells(run)) {
        iwi_warn_unreceived(run->log, run->schedule, &all);
    }
    free(values);
    return status;
}

iw_status iwi_window_check_end(struct window_run *run)
{
    const uint64_t nodes = run->schedule->first_node[run->first_rank + run->rank_count] - run->first_node;
    int64_t values[] = {run->is_too_late, run->done < nodes};

    IW_TRY(join(run, values, 2));
    if (values[0] != 0) {
        return fail_together(run, tells(run) ? iwi_fail_too_late(run->log) : IW_ERR_RANGE);
    }
    return values[1] != 0 ? fail_together(run, report_stuck(run)) : warn_unreceived(run);
}

/* ---- how far ranks can look ahead ---- */

/* From the start of a send until others can learn of it; and, by rendezvous, from the posting of its receive
 * until the sender can. At any level of the network: which one is not asked. */
static iw_time reach_of(const iw_net *net, iw_rendezvous rendezvous, const struct iwi_node *send)
{
    iw_time least = IWI_LATEST;

    for (uint32_t level = 0; level <= net->inner_count; level++) {
        const struct iwi_cost cost = iwi_cost_of_send(net, level, send);
        const iw_time seen = cost.is_rendezvous
                                 ? iwi_min(cost.send_cpu + iwi_cost_notice(cost.costs, rendezvous),
                                           iwi_cost_handshake(cost.costs, rendezvous))
                                 : cost.send_cpu + cost.wire;

        least = iwi_min(least, seen);
    }
    return least;
}

/* What all sends of a schedule have in common. */
struct survey {
    iw_time lookahead;  /* of all messages the least; IWI_LATEST where there are none */
    uint64_t immediate; /* the first that others may learn of at once, UINT64_MAX: none */
};

static bool is_rendezvous(const iw_net *net, const struct iwi_node *send)
{
    return send->amount > net->S_bytes || (send->flags & IWI_NODE_SYNCHRONOUS) != 0;
}

/* A large message takes longer than a small one, but where the network has segments. */
static bool has_segments(const iw_net *net)
{
    bool has = net->costs.segment_count > 0;

    for (uint32_t i = 0; i < net->inner_count; i++) {
        has |= net->inner[i].costs.segment_count > 0;
    }
    return has;
}

static struct survey survey_of(const struct iwi_schedule *schedule, const iw_net *net,
                               iw_rendezvous rendezvous)
{
    struct survey survey = {IWI_LATEST, UINT64_MAX};
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX}; /* bytes: eager, and by rendezvous */
    const bool all_count = has_segments(net);

    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        const struct iwi_node *op = &schedule->nodes[node];
        uint64_t *most = &least[is_rendezvous(net, op)];
        iw_time reach;

        if (op->kind == IWI_SEND && (op->amount < *most || all_count)) {
            *most = op->amount;
            reach = reach_of(net, rendezvous, op);
            survey.lookahead = iwi_min(survey.lookahead, reach);
            survey.immediate = reach < 1 && survey.immediate == UINT64_MAX ? node : survey.immediate;
        }
    }
    return survey;
}

/* UINT64_MAX: no send has any tag. */
static uint64_t first_open_tag(const struct iwi_schedule *schedule)
{
    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        if (schedule->nodes[node].kind == IWI_SEND && schedule->nodes[node].tag == IWI_ANY) {
            return node;
        }
    }
    return UINT64_MAX;
}

static bool has_large_rank(const struct iwi_schedule *schedule)
{
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        const uint64_t first = schedule->first_node[rank], end = schedule->first_node[rank + 1];

        if (end - first >= UINT32_MAX / 2 ||
            schedule->first_dep[end] - schedule->first_dep[first] >= UINT32_MAX) {
            return true;
        }
    }
    return false;
}

const char *iwi_window_refusal(const struct iwi_schedule *schedule, const iw_net *net, uint64_t *node_p)
{
    *node_p = UINT64_MAX;
    if (schedule->is_in_order) {
        return "the schedule is a program with waits";
    }
    if (iwi_net_has_queues(net)) {
        return "messages wait for NICs in time order";
    }
    if (has_large_rank(schedule)) {
        return "a rank has more than 2^31 operations";
    }
    *node_p = first_open_tag(schedule);
    return *node_p == UINT64_MAX ? NULL : "a send has any tag";
}

static const char *say_immediate(const iw_net *net, iw_rendezvous rendezvous, const struct iwi_node *send)
{
    return rendezvous == IW_RENDEZVOUS_IDEAL && is_rendezvous(net, send) &&
                   reach_of(net, IW_RENDEZVOUS_RTS_CTS, send) > 0
               ? "in time order: senders learn at once that a receive is posted (ideal rendezvous)"
               : "in time order: messages take no time";
}

/* ---- messages of which it is known which receive they meet ---- */

static void note(uint64_t *first_p, struct iwi_meeting *meeting, uint64_t node)
{
    meeting->has_several |= *first_p != IWI_NO_MEETING;
    *first_p = node;
}

/* The meeting of a receive that names its source and tag; NULL: it is none. */
static struct iwi_meeting *meeting_of_receive(struct iwi_meetings *m, const struct iwi_window_looks *looks,
                                              uint64_t node)
{
    const struct iwi_node *recv = &m->schedule->nodes[node];

    return recv->kind == IWI_RECV && recv->peer != IWI_ANY && recv->tag != IWI_ANY &&
                   !iwi_window_is_wild(iwi_window_looks_for(looks, recv->peer, recv->tag))
               ? iwi_meeting_of(m, recv->peer, recv->tag)
               : NULL;
}

/* Bytes that a receive has room to remember (struct window_node). */
static bool is_short(const struct iwi_node *send)
{
    return send->amount <= UINT32_MAX;
}

static iw_status find_in_rank(struct iwi_meetings *m, struct iwi_window_plan *plan, uint32_t rank)
{
    const uint64_t *first_node = m->schedule->first_node;

    IW_TRY(iwi_meetings_at(m, rank));
    for (uint64_t i = m->first_inbound[rank]; i < m->first_inbound[rank + 1]; i++) {
        const struct iwi_inbound *in = &m->inbound[i];
        struct iwi_meeting *meeting = iwi_meeting_of(m, in->source, in->tag);

        __builtin_prefetch(&plan->partners[in->send], 1);
        note(&meeting->send, meeting, in->send);
    }
    for (uint64_t node = first_node[rank]; node < first_node[rank + 1]; node++) {
        struct iwi_meeting *meeting = meeting_of_receive(m, &plan->looks[rank], node);

        if (meeting != NULL) {
            note(&meeting->recv, meeting, node);
        }
    }
    for (uint64_t node = first_node[rank]; node < first_node[rank + 1]; node++) {
        const struct iwi_meeting *meeting = meeting_of_receive(m, &plan->looks[rank], node);

        if (meeting != NULL && !meeting->has_several && meeting->send != IWI_NO_MEETING &&
            is_short(&m->schedule->nodes[meeting->send])) {
            plan->partners[node] = (uint32_t)(meeting->send - first_node[meeting->source]);
            plan->partners[meeting->send] = (uint32_t)(node - first_node[rank]);
        }
    }
    return IW_OK;
}

/* Sets plan->partners. A message that is alone on its (source, tag), as is the receive that names these,
 * meets it at whatever time, if no wildcard of the rank can accept it. */
static iw_status find_partners(const iw_log *log, struct iwi_window_plan *plan)
{
    const uint64_t nodes = plan->schedule->first_node[plan->schedule->ranks];
    struct iwi_meetings meetings;
    iw_status status = IW_OK;

    for (uint64_t node = 0; node < nodes; node++) {
        plan->partners[node] = IWI_WINDOW_NO_PARTNER;
    }
    IW_TRY(iwi_meetings_init(log, plan->schedule, &meetings));
    for (uint32_t rank = 0; status == IW_OK && rank < plan->schedule->ranks; rank++) {
        status = find_in_rank(&meetings, plan, rank);
    }
    iwi_meetings_release(&meetings);
    return status;
}

/* ---- what follows what ---- */

static void list_successors(struct iwi_window_plan *plan, uint32_t rank)
{
    const struct iwi_schedule *schedule = plan->schedule;
    const uint64_t first = schedule->first_node[rank], end = schedule->first_node[rank + 1];
    uint32_t *first_successor = plan->first_successor + first;
    uint32_t *successors = plan->successors + schedule->first_dep[first];
    const uint32_t base = (uint32_t)schedule->first_dep[first];
    uint32_t position = base;

    for (uint64_t d = schedule->first_dep[first]; d < schedule->first_dep[end]; d++) {
        first_successor[schedule->deps[d].node]++;
    }
    for (uint64_t node = 0; node < end - first; node++) { /* from counts to ends */
        position += first_successor[node];
        first_successor[node] = position;
    }
    for (uint64_t node = end; node-- > first;) { /* ends move down to beginnings */
        for (uint64_t d = schedule->first_dep[node]; d < schedule->first_dep[node + 1]; d++) {
            const struct iwi_dep dep = schedule->deps[d];

            successors[--first_successor[dep.node] - base] = 2 * (uint32_t)(node - first) + dep.is_start;
        }
    }
}

static void note_look(struct iwi_window_looks *looks, uint32_t peer, uint32_t tag)
{
    const enum iwi_window_look look = iwi_window_look_of(peer, tag);

    looks->all |= (uint8_t)(1 << look);
    looks->tags |= (uint64_t)(look == IWI_LOOK_ANY_SOURCE) << tag % 64;
    looks->sources |= (uint64_t)(look == IWI_LOOK_ANY_TAG) << peer % 64;
}

static void describe(struct iwi_window_plan *plan, const iw_net *net, uint32_t rank)
{
    const struct iwi_schedule *schedule = plan->schedule;

    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        const struct iwi_node *op = &schedule->nodes[node];

        plan->has_rendezvous |= op->kind == IWI_SEND && is_rendezvous(net, op);
        if (op->kind == IWI_RECV) {
            note_look(&plan->looks[rank], op->peer, op->tag);
        }
    }
}

iw_status iwi_window_plan_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                              iw_rendezvous rendezvous, struct iwi_window_plan **plan_p)
{
    const size_t nodes = (size_t)schedule->first_node[schedule->ranks];
    struct iwi_window_plan *plan = iwi_new_array(log, 1, sizeof *plan);
    struct survey survey;

    if (plan == NULL ||
        (plan->first_successor = iwi_new_array(log, nodes + 1, sizeof *plan->first_successor)) == NULL ||
        (plan->looks = iwi_new_array(log, schedule->ranks, sizeof *plan->looks)) == NULL ||
        (plan->partners = iwi_new_array(log, nodes, sizeof *plan->partners)) == NULL ||
        (plan->successors =
             iwi_new_array(log, (size_t)schedule->first_dep[nodes], sizeof *plan->successors)) == NULL) {
        iwi_window_plan_free(plan);
        return IW_ERR_NOMEM;
    }
    plan->schedule = schedule;
    survey = survey_of(schedule, net, rendezvous);
    plan->lookahead = survey.lookahead;
    plan->immediate_node = survey.immediate;
    plan->immediate = survey.immediate == UINT64_MAX
                          ? NULL
                          : say_immediate(net, rendezvous, &schedule->nodes[survey.immediate]);
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        describe(plan, net, rank);
        list_successors(plan, rank);
    }
    plan->first_successor[nodes] = (uint32_t)schedule->first_dep[nodes];
    if (find_partners(log, plan) != IW_OK) {
        iwi_window_plan_free(plan);
        return IW_ERR_NOMEM;
    }
    *plan_p = plan;
    return IW_OK;
}

void iwi_window_plan_free(struct iwi_window_plan *plan)
{
    if (plan != NULL) {
        free(plan->first_successor);
        free(plan->looks);
        free(plan->successors);
        free(plan->partners);
        free(plan);
    }
}
