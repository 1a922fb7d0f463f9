/* Which ranks make the others wait by more than chance.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The run is cut into 10 to 40 blocks with equally many collectives, ten or more if there are enough. In
 * each, one rank causes the most waiting: it wins the block. If all P ranks are alike, whatever noise they
 * have, each wins with chance 1/P, and blocks are long enough to be independent. Two tests, each with half of
 * the error rate, both multiplied by the number of ranks (Bonferroni):
 *
 *     persistent: wins of one rank       P(X >= wins), X binomial of B blocks and 1/P
 *     a period:   L blocks in a row      (B - L + 1) P^-L
 *
 * A rank is named if one of them is below its part of ERROR_RATE, and what it caused is at least the share of
 * the ranks' time that matters.
 */
#include <math.h>
#include <stdlib.h>

#include "numeric/numeric.h"
#include "waits/waited_run.h"

static const double ERROR_RATE = 0.01;

/* Of a run without a period a rank wins in all parts; of a period most of its wins lie in it. */
static const double MOST_OF_RUN = 0.75, MOST_OF_WINS = 0.8;

static uint32_t winner_of(const struct iwi_waited_run *run, uint32_t block)
{
    uint32_t best = IWI_NOBODY;
    double most = 0.0;

    for (uint32_t r = 0; r < run->rank_count; r++) {
        const double caused = run->caused_in_block[(size_t)r * run->block_count + block];

        if (caused > most) {
            most = caused;
            best = r;
        }
    }
    return best;
}

/* Blocks of a rank. */
struct wins {
    uint32_t count, longest; /* in all, in a row */
    uint32_t from, to;       /* where most of them are: blocks from ... to - 1 */
    uint32_t inside;         /* wins there */
};

/* The period: where wins exceed what is not won the most. */
static struct wins wins_of(const struct iwi_waited_run *run, const uint32_t *winners, uint32_t rank)
{
    struct wins wins = {.count = 0};
    uint32_t row = 0, from = 0, inside = 0;
    int32_t sum = 0, best = 0;

    for (uint32_t b = 0; b < run->block_count; b++) {
        const bool is_won = winners[b] == rank;

        row = is_won ? row + 1 : 0;
        wins.count += is_won;
        wins.longest = row > wins.longest ? row : wins.longest;
        if (sum <= 0) {
            from = b;
            sum = 0;
            inside = 0;
        }
        sum += is_won ? 1 : -1;
        inside += is_won;
        if (sum > best) {
            best = sum;
            wins.from = from;
            wins.to = b + 1;
            wins.inside = inside;
        }
    }
    return wins;
}

static double chance_of_wins(const struct iwi_waited_run *run, const struct wins *wins)
{
    return wins->count == 0 ? 1.0
                            : run->rank_count * iwi_binomial_above(wins->count - 1, 1.0 / run->rank_count,
                                                                   run->block_count);
}

static double chance_of_row(const struct iwi_waited_run *run, const struct wins *wins)
{
    return wins->longest == 0 ? 1.0
                              : run->rank_count * (double)(run->block_count - wins->longest + 1) *
                                    pow(run->rank_count, -(double)wins->longest);
}

static double ns_since_begin(const struct iwi_waited_run *run, iw_time at_ps)
{
    return (double)(iwi_min(at_ps, run->end_ps) - run->begin_ps) / IW_PS_PER_NS;
}

static void judge(const struct iwi_waited_run *run, const iw_waits *waits, const struct wins *wins,
                  iw_waits_rank *rank)
{
    const double by_wins = chance_of_wins(run, wins), by_row = chance_of_row(run, wins);
    const double length = (double)(wins->to - wins->from) / run->block_count;
    const bool is_frequent = by_wins < ERROR_RATE / 2.0, has_row = by_row < ERROR_RATE / 2.0;

    rank->blocks_won = wins->count;
    rank->chance = fmin(1.0, 2.0 * fmin(by_wins, by_row));
    rank->from_ns = 0.0;
    rank->to_ns = waits->run_ns;
    if ((!is_frequent && !has_row) ||
        rank->caused_ns < waits->least_share * waits->run_ns * run->rank_count) {
        return;
    }
    rank->pattern = IW_WAITS_PERSISTENT;
    if (!is_frequent || (length < MOST_OF_RUN && wins->inside >= MOST_OF_WINS * wins->count)) {
        rank->pattern = IW_WAITS_PERIOD;
        rank->from_ns = wins->from > 0 ? ns_since_begin(run, run->block_end_ps[wins->from - 1]) : 0.0;
        rank->to_ns = ns_since_begin(run, run->block_end_ps[wins->to - 1]);
    }
}

iw_status iwi_waited_judge(const struct iwi_waited_run *run, iw_waits *waits, iw_waits_rank *by_index)
{
    uint32_t *winners = iwi_new_array(run->log, run->block_count, sizeof *winners);

    if (winners == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t b = 0; b < run->block_count; b++) {
        winners[b] = winner_of(run, b);
    }
    waits->block_count = run->block_count;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct wins wins = wins_of(run, winners, r);

        by_index[r].chance = NAN;
        if (run->block_count > 0 && run->rank_count > 1) {
            judge(run, waits, &wins, &by_index[r]);
            waits->named += by_index[r].pattern != IW_WAITS_ORDINARY;
        }
    }
    free(winners);
    return IW_OK;
}
