/* Which ranks make the others wait by more than chance.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "features/explain/arrivals/peers.h"
#include "features/explain/waits/waited_run.h"

/* ---- blocks: how long each rank was busy in them ---- */

/* Whole iterations, so that no border cuts through a pipeline in which ranks are busy at different times.
 * What lasts for some encounters should lie in one block: ten visits of a rank in each, unless there are few.
 */

enum { MOST_BLOCKS = 40, FEW_BLOCKS = 20, LEAST_ITERATIONS = 10, VISITS_OF_BLOCK = 10 };

static uint32_t choose_blocks(const struct iwi_waited_run *run, size_t most)
{
    const size_t visits = run->visits->visit_count / run->rank_count / VISITS_OF_BLOCK;
    const size_t wanted = visits > MOST_BLOCKS ? MOST_BLOCKS : visits < FEW_BLOCKS ? FEW_BLOCKS : visits;

    return (uint32_t)(wanted < most ? wanted : most);
}

static iw_status block_by_encounters(struct iwi_waited_run *run)
{
    const struct iwi_visits *visits = run->visits;
    iw_time *starts = iwi_new_array(run->log, visits->encounter_count, sizeof *starts);
    size_t count = 0;

    run->block_end_ps = iwi_new_array(run->log, MOST_BLOCKS, sizeof *run->block_end_ps);
    if (starts == NULL || run->block_end_ps == NULL) {
        free(starts);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        if (visits->encounters[i].count > 1) {
            starts[count++] = iwi_encounter_start_ps(visits, &visits->encounters[i]);
        }
    }
    iwi_sort(starts, count, iwi_compare_i64);
    run->block_count = choose_blocks(run, count);
    for (uint32_t b = 0; b < run->block_count; b++) {
        run->block_end_ps[b] = starts[(b + 1) * count / run->block_count - 1];
    }
    free(starts);
    return IW_OK;
}

static iw_time end_of_block_ps(const struct iwi_waited_run *run, uint32_t rank, uint32_t block)
{
    if (block + 1 >= run->block_count) {
        return INT64_MAX;
    }
    return run->block_end_ps != NULL
               ? run->block_end_ps[block]
               : iwi_iteration_borders(run, rank)[(block + 1) * run->iterations.count / run->block_count];
}

/* What a rank does before its first iteration and after its last one is in no block. */
static void add_busy(struct iwi_waited_run *run, uint32_t rank)
{
    double *busy = &run->busy_in_block[(size_t)rank * run->block_count];
    const iw_time *borders = run->block_end_ps == NULL ? iwi_iteration_borders(run, rank) : NULL;
    const iw_time first_ps = borders != NULL ? borders[0] : INT64_MIN,
                  last_ps = borders != NULL ? borders[run->iterations.count] : INT64_MAX;
    uint32_t block = 0;

    for (size_t i = run->first_segment[rank]; i < run->first_segment[rank + 1]; i++) {
        const struct iwi_segment *segment = &run->segments[i];
        const bool is_busy = segment->doing == IWI_DOES_COMPUTE || segment->doing == IWI_DOES_OTHER;

        const iw_time end_ps = iwi_min(segment->end_ps, last_ps);

        for (iw_time from_ps = iwi_max(segment->begin_ps, first_ps), to_ps; from_ps < end_ps;
             from_ps = to_ps) {
            while (end_of_block_ps(run, rank, block) <= from_ps) {
                block++;
            }
            to_ps = iwi_min(end_ps, end_of_block_ps(run, rank, block));
            busy[block] += is_busy ? (double)(to_ps - from_ps) : 0.0;
        }
    }
}

iw_status iwi_waited_block(struct iwi_waited_run *run)
{
    if (run->iterations.count >= LEAST_ITERATIONS) {
        run->block_count = choose_blocks(run, run->iterations.count);
    } else {
        IW_TRY(block_by_encounters(run));
    }
    run->busy_in_block =
        iwi_new_array(run->log, (size_t)run->rank_count * run->block_count, sizeof *run->busy_in_block);
    if (run->busy_in_block == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < run->rank_count && run->block_count > 0; r++) {
        add_busy(run, r);
    }
    return IW_OK;
}

/* ---- what the trace of one rank can tell: bounds ---- */

/* A collective takes transfer and waiting together, and one rank does not see when the others came. Only what
 * computation does not hide delays the rank: that part e of the duration d is what the rank's time counts as
 * its collectives. Repetitions that are equal transfer equally long, so none transfers for longer than the
 * shortest took:
 *
 *     sum max(0, e - min d)  <=  waiting  <=  sum e
 *
 * Of unknown size none is known to be equal to another.
 */

struct repetition {
    uint32_t rank, group;
    uint64_t bytes;
    iw_time took_ps, exposed_ps;
    uint8_t op;
};

static int compare_kinds(const struct repetition *a, const struct repetition *b)
{
    int sign = iwi_order(a->rank, b->rank);

    sign = sign != 0 ? sign : iwi_order(a->group, b->group);
    sign = sign != 0 ? sign : iwi_order(a->op, b->op);
    return sign != 0 ? sign : iwi_order(a->bytes, b->bytes);
}

IWI_COMPARE(compare_repetitions, struct repetition, compare_kinds(left, right), IWI_RISING(took_ps))

static void take_visits(const struct iwi_waited_run *run, struct repetition *all)
{
    for (size_t i = 0; i < run->visits->visit_count; i++) {
        const struct iwi_visit *visit = &run->visits->visits[i];

        all[i] = (struct repetition){.rank = visit->rank,
                                     .group = visit->group,
                                     .bytes = visit->bytes,
                                     .took_ps = visit->leave_ps - visit->enter_ps,
                                     .op = visit->op};
    }
    for (size_t i = 0; i < run->segment_count; i++) {
        const struct iwi_segment *segment = &run->segments[i];

        if (segment->doing == IWI_DOES_WAIT || segment->doing == IWI_DOES_TRANSFER) {
            all[segment->visit].exposed_ps += segment->end_ps - segment->begin_ps;
        }
    }
}

static bool has_size(const struct repetition *one)
{
    return one->bytes > 0 || one->op == IWI_VISIT_BARRIER;
}

iw_status iwi_waited_bounds(const struct iwi_waited_run *run, iw_waits *waits)
{
    const size_t count = run->visits->visit_count;
    struct repetition *all = iwi_new_array(run->log, count, sizeof *all);
    iw_time least_ps = 0;

    if (all == NULL) {
        return IW_ERR_NOMEM;
    }
    take_visits(run, all);
    iwi_sort(all, count, compare_repetitions);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_kinds(&all[i], &all[i - 1]) != 0) {
            least_ps = all[i].took_ps;
        }
        waits->waiting_most_ns += (double)all[i].exposed_ps / IW_PS_PER_NS;
        if (has_size(&all[i]) && all[i].exposed_ps > least_ps) {
            waits->waiting_least_ns += (double)(all[i].exposed_ps - least_ps) / IW_PS_PER_NS;
        }
    }
    waits->has_bounds_only = true;
    free(all);
    return IW_OK;
}

/* ---- which ranks make the others wait by more than chance ---- */

/* Whom others wait for depends on where it stands: the last stage of a pipeline is waited for in every step.
 * So a rank is not judged by that, but by how long it was busy, compared with its peers: ranks that do the
 * same (visits/peers.h), or all ranks if nobody does what it does. Who waits is not busy.
 *
 * The run is cut into 20 to 40 blocks. If n peers are alike, whatever noise they have, each is
 * busy the longest with chance 1/n: it wins the block; and each is above their lower median with chance 1/2
 * at most. Three tests, each with a third of the error rate, all multiplied by the number of ranks
 * (Bonferroni):
 *
 *     most often:  blocks won               P(X >= won), X binomial of B blocks and 1/n
 *     nearly always: blocks above the median   the same with 1/2: several slow ones share the blocks
 *     a period:    L blocks in a row won    (B - L + 1) n^-L
 *
 * Of two peers, to be above the median is to win, and sizes can be compared as well: in place of the second
 * test, signed ranks of the differences. Twelve blocks are then enough where one of them is lost by little.
 *
 * What lasts longer than a block makes blocks alike: then who won one wins the next more often than by
 * chance. How much more is counted over all other ranks, as a correlation c; B blocks count as B (1 - c) / (1
 * + c), and each further block of a row has the chance c + (1 - c) / n.
 *
 * A rank is named if one of them is below its part of ERROR_RATE, if it was busy longer than the median peer
 * by the share of the run that matters, and if others waited because of it for at least as long.
 */

static const double ERROR_RATE = 0.01;
enum { TESTS = 3, LEAST_FOLLOWED = 10 };
static const double MOST_CORRELATED = 0.95;

/* Of a run without a period a rank wins in all parts; of a period most of its wins lie in it. */
static const double MOST_OF_RUN = 0.75, MOST_OF_WINS = 0.8;

/* Ranks that are compared. */
struct peers {
    const uint32_t *members;
    uint32_t count;
};

/* Blocks behind those that a rank won, or several ranks; how many of them it won, and would by chance. */
struct followed {
    double blocks, won, expected;
};

struct judge {
    const struct iwi_waited_run *run;
    struct followed *followed, all_followed; /* of each rank; of all */
    double *longer_ps; /* of each rank and block: how much longer than the median peer it was busy */
    bool *has_won;     /* of each rank and block */
    double *scratch, *differences_ps; /* of ranks; of blocks */
};

/* ---- comparing ---- */

static double *busy_of(const struct iwi_waited_run *run, uint32_t rank, uint32_t block)
{
    return &run->busy_in_block[(size_t)rank * run->block_count + block];
}

/* Of those who were busy equally long nobody wins. */
static void compare_block(const struct judge *j, const struct peers *peers, uint32_t block)
{
    double median_ps, longest_ps;

    for (uint32_t i = 0; i < peers->count; i++) {
        j->scratch[i] = *busy_of(j->run, peers->members[i], block);
    }
    iwi_sort_doubles(j->scratch, peers->count);
    median_ps = j->scratch[(peers->count - 1) / 2];
    longest_ps = j->scratch[peers->count - 1];
    for (uint32_t i = 0; i < peers->count; i++) {
        const size_t cell = (size_t)peers->members[i] * j->run->block_count + block;

        j->longer_ps[cell] = j->run->busy_in_block[cell] - median_ps;
        j->has_won[cell] = j->run->busy_in_block[cell] == longest_ps &&
                           (peers->count == 1 || j->scratch[peers->count - 2] < longest_ps);
    }
}

/* ---- what a rank won ---- */

struct record {
    uint32_t won, above, longest; /* blocks; won in a row */
    uint32_t from, to;            /* where most of them were won: blocks from ... to - 1 */
    uint32_t inside;              /* won there */
    double longer_ps, longer_inside_ps;
};

/* The period: where wins exceed what is not won the most. */
static void find_period(const bool *has_won, uint32_t blocks, struct record *record)
{
    uint32_t from = 0, inside = 0;
    int32_t sum = 0, best = 0;

    for (uint32_t b = 0; b < blocks; b++) {
        if (sum <= 0) {
            from = b;
            sum = 0;
            inside = 0;
        }
        sum += has_won[b] ? 1 : -1;
        inside += has_won[b];
        if (sum > best) {
            best = sum;
            record->from = from;
            record->to = b + 1;
            record->inside = inside;
        }
    }
}

static struct record record_of(const struct judge *j, uint32_t rank)
{
    const uint32_t blocks = j->run->block_count;
    const double *longer_ps = &j->longer_ps[(size_t)rank * blocks];
    const bool *has_won = &j->has_won[(size_t)rank * blocks];
    struct record record = {.won = 0};
    uint32_t row = 0;

    find_period(has_won, blocks, &record);
    for (uint32_t b = 0; b < blocks; b++) {
        row = has_won[b] ? row + 1 : 0;
        record.won += has_won[b];
        record.above += longer_ps[b] > 0.0;
        record.longest = row > record.longest ? row : record.longest;
        record.longer_ps += longer_ps[b];
        record.longer_inside_ps += b >= record.from && b < record.to ? longer_ps[b] : 0.0;
    }
    return record;
}

/* ---- how alike neighbouring blocks are ---- */

static void follow(struct judge *j, uint32_t rank, uint32_t peers)
{
    const bool *has_won = &j->has_won[(size_t)rank * j->run->block_count];
    struct followed *followed = &j->followed[rank];

    for (uint32_t b = 0; b + 1 < j->run->block_count; b++) {
        followed->blocks += has_won[b];
        followed->won += has_won[b] && has_won[b + 1];
    }
    followed->expected = followed->blocks / peers;
    j->all_followed.blocks += followed->blocks;
    j->all_followed.won += followed->won;
    j->all_followed.expected += followed->expected;
}

/* From what happened to the others: a rank that is slow all through the run proves nothing. */
static double correlation_without(const struct judge *j, uint32_t rank)
{
    const double blocks = j->all_followed.blocks - j->followed[rank].blocks,
                 expected = j->all_followed.expected - j->followed[rank].expected,
                 won = j->all_followed.won - j->followed[rank].won;

    return blocks < LEAST_FOLLOWED ? 0.0
                                   : fmin(MOST_CORRELATED, fmax(0.0, (won - expected) / (blocks - expected)));
}

/* ---- judging ---- */

/* Of at least so many of all blocks, `weight` of which are independent. */
static double chance_of(uint32_t count, double chance, uint32_t blocks, double weight)
{
    const uint64_t counted = (uint64_t)(count * weight), all = (uint64_t)(blocks * weight);

    return counted == 0 ? 1.0 : iwi_binomial_above(counted - 1, chance, all);
}

static double chance_of_row(uint32_t longest, uint32_t peers, uint32_t blocks, double correlation)
{
    const double first = 1.0 / peers, next = correlation + (1.0 - correlation) * first;

    return longest == 0 ? 1.0 : (blocks - longest + 1) * first * pow(next, longest - 1.0);
}

/* Of two, without anything that lasts: by how much each block was won too. */
static double chance_of_pair(const struct judge *j, const struct peers *peers, uint32_t rank)
{
    const uint32_t other = peers->members[0] == rank ? peers->members[1] : peers->members[0];
    const uint32_t blocks = j->run->block_count;

    for (uint32_t b = 0; b < blocks; b++) {
        j->differences_ps[b] = *busy_of(j->run, rank, b) - *busy_of(j->run, other, b);
    }
    return iwi_signed_ranks_above(j->differences_ps, blocks);
}

static double ns_since_begin(const struct iwi_waited_run *run, iw_time at_ps)
{
    return (double)(iwi_min(at_ps, run->end_ps) - run->begin_ps) / IW_PS_PER_NS;
}

static void find_pattern(const struct iwi_waited_run *run, const struct record *record, bool is_frequent,
                         double least_ns, uint32_t r, iw_waits_rank *rank)
{
    const double length = (double)(record->to - record->from) / run->block_count;
    const bool is_period =
        !is_frequent || (length < MOST_OF_RUN && record->inside >= MOST_OF_WINS * record->won);
    const double longer_ps = is_period ? record->longer_inside_ps : record->longer_ps;

    if (longer_ps / IW_PS_PER_NS < least_ns) {
        return;
    }
    rank->pattern = is_period ? IW_WAITS_PERIOD : IW_WAITS_PERSISTENT;
    if (is_period) {
        rank->from_ns =
            record->from > 0 ? ns_since_begin(run, end_of_block_ps(run, r, record->from - 1)) : 0.0;
        rank->to_ns = ns_since_begin(run, end_of_block_ps(run, r, record->to - 1));
    }
}

static void judge_rank(const struct judge *j, const struct peers *peers, const iw_waits *waits, uint32_t r,
                       iw_waits_rank *rank)
{
    const uint32_t blocks = j->run->block_count;
    const struct record record = record_of(j, r);
    const double correlation = correlation_without(j, r), weight = (1.0 - correlation) / (1.0 + correlation);
    const double by_won = chance_of(record.won, 1.0 / peers->count, blocks, weight),
                 by_above = peers->count == 2 && correlation == 0.0
                                ? chance_of_pair(j, peers, r)
                                : chance_of(record.above, 0.5, blocks, weight),
                 by_row = chance_of_row(record.longest, peers->count, blocks, correlation);
    const double least = ERROR_RATE / TESTS / j->run->rank_count;
    const double least_ns = waits->least_share * waits->run_ns;
    const bool is_always = by_above < least;

    rank->peers = peers->count - 1;
    rank->longer_ns = record.longer_ps / IW_PS_PER_NS;
    rank->blocks_won = record.won;
    rank->chance = fmin(1.0, TESTS * j->run->rank_count * fmin(by_above, fmin(by_won, by_row)));
    if ((is_always || by_won < least || by_row < least) && rank->caused_ns >= least_ns) {
        find_pattern(j->run, &record, is_always || by_won < least, least_ns, r, rank);
    }
}

/* ---- all ranks ---- */

struct keyed {
    uint64_t key;
    uint32_t rank;
};

IWI_COMPARE(compare_keyed, struct keyed, IWI_RISING(key), IWI_RISING(rank))

/* Ranks by what they do: `members` in this order, `keys` their keys. */
static iw_status order_ranks(const struct iwi_waited_run *run, uint32_t *members, uint64_t *keys)
{
    struct keyed *keyed = iwi_new_array(run->log, run->rank_count, sizeof *keyed);
    iw_status status = keyed != NULL ? iwi_visits_peers(run->visits, keys) : IW_ERR_NOMEM;

    for (uint32_t r = 0; status == IW_OK && r < run->rank_count; r++) {
        keyed[r] = (struct keyed){keys[r], r};
    }
    if (status == IW_OK) {
        iwi_sort(keyed, run->rank_count, compare_keyed);
        for (uint32_t i = 0; i < run->rank_count; i++) {
            members[i] = keyed[i].rank;
            keys[i] = keyed[i].key;
        }
    }
    free(keyed);
    return status;
}

static void compare_peers(const struct judge *j, const struct peers *peers)
{
    for (uint32_t b = 0; b < j->run->block_count; b++) {
        compare_block(j, peers, b);
    }
}

/* Those from `first` on that do the same; all ranks if only one does. */
static struct peers peers_from(const uint32_t *members, const uint64_t *keys, uint32_t count, uint32_t first,
                               uint32_t *end_p)
{
    uint32_t end = first + 1;

    while (end < count && keys[end] == keys[first]) {
        end++;
    }
    *end_p = end;
    return end - first > 1 ? (struct peers){&members[first], end - first} : (struct peers){members, count};
}

/* All ranks are compared first: what single ones keep, and others replace. */
static void judge_all(struct judge *j, const uint32_t *members, const uint64_t *keys, const iw_waits *waits,
                      iw_waits_rank *by_index)
{
    const uint32_t count = j->run->rank_count;

    compare_peers(j, &(struct peers){members, count});
    for (uint32_t first = 0, end; first < count; first = end) {
        const struct peers peers = peers_from(members, keys, count, first, &end);

        if (end - first > 1) {
            compare_peers(j, &peers);
        }
        for (uint32_t i = first; i < end; i++) {
            follow(j, members[i], peers.count);
        }
    }
    for (uint32_t first = 0, end; first < count; first = end) {
        const struct peers peers = peers_from(members, keys, count, first, &end);

        for (uint32_t i = first; i < end; i++) {
            judge_rank(j, &peers, waits, members[i], &by_index[members[i]]);
        }
    }
}

/* Where the file does not tell when ranks compute, one that computes beside a collective seems to wait in it.
 * Those who then come later, because they did wait for a slow one elsewhere, seem to be busy longer; by no
 * more than that one. */
static void keep_longest(const iw_waits *waits, iw_waits_rank *by_index, uint32_t count)
{
    const iw_waits_rank *longest = NULL;

    for (uint32_t r = 0; r < count; r++) {
        const bool is_named = by_index[r].pattern != IW_WAITS_ORDINARY;

        longest = is_named && (longest == NULL || by_index[r].longer_ns > longest->longer_ns) ? &by_index[r]
                                                                                              : longest;
    }
    for (uint32_t r = 0; r < count; r++) {
        if (&by_index[r] != longest) {
            by_index[r].pattern = IW_WAITS_ORDINARY;
            by_index[r].from_ns = 0.0;
            by_index[r].to_ns = waits->run_ns;
        }
    }
}

iw_status iwi_waited_judge(const struct iwi_waited_run *run, iw_waits *waits, iw_waits_rank *by_index)
{
    const size_t cells = (size_t)run->rank_count * run->block_count;
    struct judge j = {.run = run,
                      .followed = iwi_new_array(run->log, run->rank_count, sizeof *j.followed),
                      .longer_ps = iwi_new_array(run->log, cells, sizeof *j.longer_ps),
                      .has_won = iwi_new_array(run->log, cells, sizeof *j.has_won),
                      .scratch = iwi_new_array(run->log, run->rank_count, sizeof *j.scratch),
                      .differences_ps = iwi_new_array(run->log, run->block_count, sizeof *j.differences_ps)};
    uint32_t *members = iwi_new_array(run->log, run->rank_count, sizeof *members);
    uint64_t *keys = iwi_new_array(run->log, run->rank_count, sizeof *keys);
    iw_status status = j.followed != NULL && j.longer_ps != NULL && j.has_won != NULL && j.scratch != NULL &&
                               j.differences_ps != NULL && members != NULL && keys != NULL
                           ? order_ranks(run, members, keys)
                           : IW_ERR_NOMEM;

    waits->block_count = run->block_count;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        by_index[r].chance = NAN;
        by_index[r].to_ns = waits->run_ns;
    }
    if (status == IW_OK && run->block_count > 0 && run->rank_count > 1) {
        judge_all(&j, members, keys, waits, by_index);
        if (run->visits->stretch_count == 0) {
            keep_longest(waits, by_index, run->rank_count);
        }
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        waits->named += by_index[r].pattern != IW_WAITS_ORDINARY;
    }
    free(j.followed);
    free(j.longer_ps);
    free(j.has_won);
    free(j.scratch);
    free(j.differences_ps);
    free(members);
    free(keys);
    return status;
}
