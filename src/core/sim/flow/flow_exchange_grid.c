/* Halos on a partition: what ranks of other members need goes out in letters, one for each member.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of ranks are contiguous, and so are the ranks of a run whose neighbours another member has: a letter
 * is a list of few stretches. Each says which line it belongs to and for which ranks it is; these are in one
 * run of the ranks here that wait for something from elsewhere.
 */
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_grid.h"

/* Of a stretch in a letter; times follow, all lanes of a rank side by side. */
struct head {
    uint32_t line, to, count, unused;
};
_Static_assert(sizeof(struct head) % sizeof(iw_time) == 0, "times are read where they are");

/* So many times at once: letters must not become too long. */
enum { MOST_TIMES = 1 << 20 };

/* ---- out ---- */

static const iw_time *line_values(const struct iwi_halo_grid *grid, uint32_t line)
{
    return line < grid->fan ? grid->flow->slots + line * grid->flow->count : grid->flow->posted;
}

static iw_status write_stretch(struct iwi_flow *flow, uint32_t member, struct head head,
                               const iw_time *values)
{
    const size_t bytes = ((size_t)head.count << flow->lane_shift) * sizeof *values;
    void *room;

    IW_TRY(iwi_letter_room(flow, member, sizeof head + bytes, &room));
    memcpy(room, &head, sizeof head);
    memcpy((unsigned char *)room + sizeof head, values, bytes);
    return IW_OK;
}

/* Ranks rank ... rank + count - 1 have values for `peer` and those after it, who are elsewhere. */
static iw_status write_run(const struct iwi_halo_grid *grid, uint32_t line, uint32_t rank, uint32_t peer,
                           uint32_t count)
{
    struct iwi_flow *flow = grid->flow;
    const uint32_t most = MOST_TIMES >> flow->lane_shift;
    uint32_t part;

    for (uint32_t done = 0; done < count; done += part) {
        const uint32_t member = iwi_partition_owner(flow->partition, peer + done);

        part = (uint32_t)iwi_min(count - done, flow->partition->first[member + 1] - (peer + done));
        part = part < most ? part : most;
        IW_TRY(write_stretch(flow, member, (struct head){.line = line, .to = peer + done, .count = part},
                             line_values(grid, line) + iwi_flow_at(flow, rank + done)));
    }
    return IW_OK;
}

/* ---- in ---- */

/* Place of a rank's values of a line: runs are in the order of lines and ranks. */
static struct iwi_away_run *run_of(struct iwi_exchange *exchange, uint32_t line, uint32_t rank)
{
    const struct iwi_away_run *runs = exchange->away;
    size_t at; /* the first that begins later */

    IWI_FIRST_NOT(at, 1, exchange->away_count,
                  runs[at].line < line || (runs[at].line == line && runs[at].to <= rank));
    return &exchange->away[at - 1];
}

static iw_status read_letter(struct iwi_flow *flow, uint32_t from, struct iwi_inbox *inbox)
{
    struct iwi_exchange *exchange = flow->exchange;
    struct head head;

    while (inbox->at + sizeof head <= inbox->bytes.count) {
        const struct iwi_away_run *run;
        size_t bytes;

        memcpy(&head, inbox->bytes.data + inbox->at, sizeof head);
        inbox->at += sizeof head;
        bytes = ((size_t)head.count << flow->lane_shift) * sizeof(iw_time);
        run = run_of(exchange, head.line, head.to);
        if (run->line != head.line || head.to < run->to || head.to - run->to > run->count ||
            head.count > run->count - (head.to - run->to) || bytes > inbox->bytes.count - inbox->at) {
            return iwi_fail(flow->log, IW_ERR_FORMAT,
                            "member %" PRIu32 " has sent something for rank %" PRIu32
                            " that nobody waits for: do all run the same program?",
                            from, head.to);
        }
        memcpy(exchange->away_values + run->at + ((size_t)(head.to - run->to) << flow->lane_shift),
               inbox->bytes.data + inbox->at, bytes);
        inbox->at += bytes;
    }
    return IW_OK;
}

/* The letters of all who have something for that run. */
static iw_status take_run(struct iwi_flow *flow, const struct iwi_away_run *run)
{
    const struct iwi_partition *partition = flow->partition;
    uint32_t member;

    for (uint32_t peer = run->from; peer < run->from + run->count; peer = partition->first[member + 1]) {
        struct iwi_inbox *inbox;

        member = iwi_partition_owner(partition, peer);
        if (flow->exchange->inboxes[member].round != flow->exchange->round) {
            IW_TRY(iwi_letter_take(flow, member, true, &inbox));
            IW_TRY(read_letter(flow, member, inbox));
        }
    }
    return IW_OK;
}

/* Ranks rank ... rank + count - 1 need what `peer` and those after it have, who are elsewhere. */
static iw_status add_run(struct iwi_flow *flow, uint32_t line, uint32_t rank, uint32_t peer, uint32_t count)
{
    struct iwi_exchange *exchange = flow->exchange;

    IW_TRY(iwi_grow(flow->log, (void **)&exchange->away, &exchange->away_capacity, exchange->away_count + 1,
                    sizeof *exchange->away));
    exchange->away[exchange->away_count++] = (struct iwi_away_run){
        .line = line, .to = rank, .from = peer, .count = count, .at = exchange->away_value_count};
    exchange->away_value_count += (size_t)count << flow->lane_shift;
    return IW_OK;
}

/* ---- both ---- */

/* Runs of ranks here whose peers of that line are elsewhere: values for them go out, or are awaited. */
static iw_status each_run(const struct iwi_halo_grid *grid, uint32_t line, bool is_giving)
{
    struct iwi_flow *flow = grid->flow;
    struct iwi_bands bands = iwi_grid_line(grid, line, is_giving);
    const uint32_t end = flow->first_rank + flow->ranks;
    uint32_t count;

    for (uint32_t rank = flow->first_rank; rank < end; rank += count) {
        const struct iwi_band_run *run = &bands.runs[bands.at];
        const uint32_t peer = (uint32_t)(rank + run->offset);
        bool is_away = false;

        count = (uint32_t)iwi_min((int64_t)bands.left, end - rank);
        if (run->has_peer) {
            count = iwi_grid_here(flow, peer, count, &is_away);
        }
        if (is_away && is_giving) {
            IW_TRY(write_run(grid, line, rank, peer, count));
        } else if (is_away) {
            IW_TRY(add_run(flow, line, rank, peer, count));
        }
        iwi_bands_skip(&bands, count);
    }
    return IW_OK;
}

iw_status iwi_exchange_grid(struct iwi_halo_grid *grid)
{
    struct iwi_flow *flow = grid->flow;
    struct iwi_exchange *exchange = flow->exchange;
    size_t first[IWI_GRID_LINES];

    iwi_letters_begin(exchange);
    for (uint32_t line = 0; line < iwi_grid_lines(grid); line++) {
        IW_TRY(each_run(grid, line, true));
    }
    IW_TRY(iwi_letters_send(flow));
    exchange->away_count = exchange->away_value_count = 0;
    for (uint32_t line = 0; line < iwi_grid_lines(grid); line++) {
        first[line] = exchange->away_value_count;
        IW_TRY(each_run(grid, line, false));
    }
    IW_TRY(iwi_grow(flow->log, (void **)&exchange->away_values, &exchange->away_value_capacity,
                    exchange->away_value_count, sizeof *exchange->away_values));
    for (size_t k = 0; k < exchange->away_count; k++) {
        IW_TRY(take_run(flow, &exchange->away[k]));
    }
    for (uint32_t line = 0; line < iwi_grid_lines(grid); line++) {
        grid->away[line] = exchange->away_values + first[line];
    }
    return IW_OK;
}
