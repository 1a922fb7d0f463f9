/* Teams of a step: which units of ranks are evaluated, and which only do what others did.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a unit does before the tail depends on nothing but its own times, GPUs and detours, and all of it
 * moves along when its times do. So it is remembered, relative to the norm of the step before, by the times
 * and GPUs that it began with, and done again wherever these return in any unit, step, trial or variant of
 * the same plan and no detour is in the way. Tensor-parallel ranks may change places, since all of them do
 * the same. Where data parallelism couples units, those that are alike now stay alike, and one is evaluated
 * for all.
 */
#include "features/training/step_run.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/hash.h"
#include "core/noise/node_speed.h"

enum { WAYS = 4, MOST_SETS = 256, PAST_BYTES = 16 << 20 };

/* Sets of WAYS entries each. An entry is what a unit began with (times, then factors of GPUs), what it left
 * (as many times), and the latest of these by stage; times relative to run->begun. */
struct iwi_train_past {
    struct {
        uint64_t hash;
        uint64_t used; /* the larger the later; 0: empty */
    } * slots;
    int64_t *entries;
    size_t entry_words, times, ranks; /* of an entry; times, and ranks, of a unit */
    uint64_t uses;
    uint64_t *hashes; /* scratch: of the columns of a unit */
    uint32_t sets;    /* a power of 2 */
};

static uint64_t hash_with(uint64_t hash, int64_t value)
{
    hash = (hash ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* ---- between the arrays of all ranks and a team ---- */

static iw_time *team_row(const struct iwi_train_run *run, uint32_t stage, uint32_t row)
{
    return run->team.times + ((size_t)stage * run->team.rows + row) * run->team.columns;
}

static size_t bucket_at(const struct iwi_train_run *run, uint32_t stage, uint32_t bucket)
{
    return ((size_t)stage * run->plan->most_buckets + bucket) * run->width;
}

static void take_row(const struct iwi_train_run *run, const iw_time *from, iw_time *row)
{
    for (uint32_t i = 0; i < run->team.columns; i++) {
        row[i] = from[run->team.ranks[i]];
    }
}

static void give_row(const struct iwi_train_run *run, const iw_time *row, iw_time *to)
{
    for (uint32_t i = 0; i < run->team.columns; i++) {
        to[run->team.ranks[i]] = row[i];
    }
}

static void load_team(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;

    for (uint32_t s = 0; s < plan->pp; s++) {
        const size_t base = (size_t)s * run->width;

        take_row(run, run->host + base, team_row(run, s, IWI_ROW_HOST));
        for (uint32_t lane = 0; lane < IWI_LANES; lane++) {
            take_row(run, run->lanes[lane] + base, team_row(run, s, IWI_ROW_LANES + lane));
        }
        for (uint32_t k = 0; k < plan->stages[s].bucket_count; k++) {
            take_row(run, run->gathered + bucket_at(run, s, k), team_row(run, s, IWI_ROW_BUCKETS + k));
        }
    }
}

static void store_team(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;

    for (uint32_t s = 0; s < plan->pp; s++) {
        const size_t base = (size_t)s * run->width;

        if (plan->has_launches) {
            give_row(run, team_row(run, s, IWI_ROW_HOST), run->host + base);
        }
        for (uint32_t lane = 0; lane < IWI_LANES; lane++) {
            give_row(run, team_row(run, s, IWI_ROW_LANES + lane), run->lanes[lane] + base);
        }
        for (uint32_t k = 0; k < plan->stages[s].bucket_count; k++) {
            give_row(run, team_row(run, s, IWI_ROW_BUCKETS + k), run->ready + bucket_at(run, s, k));
        }
    }
}

/* From here on rows of buckets say when gradients were ready. */
static void evaluate_team(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;

    run->team.is_hit = false;
    iwi_train_evaluate(run);
    for (uint32_t s = 0; s < plan->pp; s++) {
        for (uint32_t k = 0; k < plan->stages[s].bucket_count; k++) {
            memcpy(team_row(run, s, IWI_ROW_BUCKETS + k),
                   run->team.ends +
                       ((size_t)s * plan->most_ops + plan->stages[s].buckets[k].ready) * run->team.columns,
                   run->team.columns * sizeof *run->team.times);
        }
    }
}

/* ---- what was before ---- */

/* Each step is the same function of what a unit begins with. */
static bool can_repeat(const struct iwi_train_run *run)
{
    return run->past != NULL && run->at[IW_TRAINING_DEVICE].phased_count == 0 &&
           (run->lengths[0] == NULL || run->change.has_equal_lengths);
}

/* What no operation can tell from the norm of the step before becomes just that, or times that nobody moves
 * would keep steps from being alike. */
static void forget_idle_times(struct iwi_train_run *run)
{
    for (uint32_t s = 0; s < run->plan->pp; s++) {
        for (uint32_t row = 0; row < run->team.rows; row++) {
            const bool is_unused = (row == IWI_ROW_HOST && !run->plan->has_launches) ||
                                   row >= IWI_ROW_BUCKETS + run->plan->stages[s].bucket_count;
            iw_time *times = team_row(run, s, row);

            for (uint32_t i = 0; i < run->team.columns; i++) {
                times[i] = is_unused ? run->begun : iwi_max(times[i], run->begun);
            }
        }
    }
}

static size_t member(const struct iwi_train_run *run, uint32_t stage, uint32_t column)
{
    return (size_t)stage * run->width + run->team.ranks[column];
}

/* Of the columns with each tensor-parallel number. */
static void hash_columns(struct iwi_train_run *run, uint64_t *hashes)
{
    memset(hashes, 0, run->plan->tp * sizeof *hashes);
    for (uint32_t s = 0; s < run->plan->pp; s++) {
        for (uint32_t row = 0; row < run->team.rows; row++) {
            const iw_time *times = team_row(run, s, row);

            for (uint32_t i = 0; i < run->team.columns; i++) {
                hashes[i % run->plan->tp] = hash_with(hashes[i % run->plan->tp], times[i] - run->begun);
            }
        }
        for (uint32_t i = 0; run->factors != NULL && i < run->team.columns; i++) {
            hashes[i % run->plan->tp] =
                hash_with(hashes[i % run->plan->tp], iwi_train_factor(run, member(run, s, i)));
        }
    }
}

static void swap_columns(struct iwi_train_run *run, uint32_t a, uint32_t b)
{
    uint32_t *ranks = run->team.ranks;

    for (uint32_t first = 0; first < run->team.columns; first += run->plan->tp) {
        const uint32_t rank = ranks[first + a];

        ranks[first + a] = ranks[first + b];
        ranks[first + b] = rank;
    }
}

/* Sorts columns by their hashes; returns that of all. */
static uint64_t settle_columns(struct iwi_train_run *run)
{
    uint64_t *hashes = run->past->hashes, hash = 0;
    bool is_moved = false;

    hash_columns(run, hashes);
    for (uint32_t i = 1; i < run->plan->tp; i++) {
        for (uint32_t k = i; k > 0 && hashes[k - 1] > hashes[k]; k--) {
            const uint64_t other = hashes[k];

            hashes[k] = hashes[k - 1];
            hashes[k - 1] = other;
            swap_columns(run, k - 1, k);
            is_moved = true;
        }
    }
    if (is_moved) {
        load_team(run);
        forget_idle_times(run);
    }
    for (uint32_t i = 0; i < run->plan->tp; i++) {
        hash = hash_with(hash, (int64_t)hashes[i]);
    }
    return iwi_mix(hash);
}

static int64_t *entry_of(const struct iwi_train_past *past, size_t slot)
{
    return past->entries + slot * past->entry_words;
}

static bool began_so(const struct iwi_train_run *run, const int64_t *entry)
{
    const struct iwi_train_past *past = run->past;
    int64_t differs = 0;

    for (size_t i = 0; i < past->times; i++) {
        differs |= entry[i] ^ (run->team.times[i] - run->begun);
    }
    entry += past->times;
    for (uint32_t stage = 0; past->ranks > 0 && stage < run->plan->pp; stage++) {
        for (uint32_t column = 0; column < run->team.columns; column++) {
            differs |= *entry++ ^ iwi_train_factor(run, member(run, stage, column));
        }
    }
    return differs == 0;
}

/* No detour comes before the unit would have done what it did in the entry. */
static bool is_quiet(struct iwi_train_run *run, const int64_t *latest)
{
    for (uint32_t s = 0; s < run->plan->pp; s++) {
        const iw_time until = run->begun + latest[s];

        for (uint32_t i = 0; i < run->team.columns; i++) {
            const size_t index = member(run, s, i);

            if ((run->plan->has_launches &&
                 !iwi_train_is_quiet(run, IW_TRAINING_HOST, index, run->begun, until)) ||
                !iwi_train_is_quiet(run, IW_TRAINING_DEVICE, index, run->begun, until) ||
                !iwi_train_is_quiet(run, IW_TRAINING_NETWORK, index, run->begun, until)) {
                return false;
            }
        }
    }
    return true;
}

/* Puts what the unit leaves in the place of what it began with; false: it is not known. */
static bool recall(struct iwi_train_run *run, size_t slot)
{
    struct iwi_train_past *past = run->past;
    const int64_t *entry = entry_of(past, slot), *left = entry + past->times + past->ranks;

    if (!began_so(run, entry) || !is_quiet(run, left + past->times)) {
        return false;
    }
    for (size_t i = 0; i < past->times; i++) {
        run->team.times[i] = run->begun + left[i];
    }
    past->slots[slot].used = ++past->uses;
    return true;
}

static void keep_beginning(struct iwi_train_run *run, int64_t *entry)
{
    for (size_t i = 0; i < run->past->times; i++) {
        entry[i] = run->team.times[i] - run->begun;
    }
    entry += run->past->times;
    for (uint32_t stage = 0; run->past->ranks > 0 && stage < run->plan->pp; stage++) {
        for (uint32_t column = 0; column < run->team.columns; column++) {
            *entry++ = iwi_train_factor(run, member(run, stage, column));
        }
    }
}

static void keep_end(struct iwi_train_run *run, int64_t *entry)
{
    int64_t *left = entry + run->past->times + run->past->ranks, *latest = left + run->past->times;

    for (size_t i = 0; i < run->past->times; i++) {
        left[i] = run->team.times[i] - run->begun;
    }
    for (uint32_t s = 0; s < run->plan->pp; s++) {
        latest[s] = 0;
        for (uint32_t i = 0; i < IWI_ROW_BUCKETS * run->team.columns; i++) {
            latest[s] = iwi_max(latest[s], team_row(run, s, IWI_ROW_HOST)[i] - run->begun);
        }
    }
}

/* The slot that was used longest ago. */
static size_t oldest_of(const struct iwi_train_past *past, size_t set)
{
    size_t oldest = set;

    for (size_t i = set + 1; i < set + WAYS; i++) {
        oldest = past->slots[i].used < past->slots[oldest].used ? i : oldest;
    }
    return oldest;
}

static void recall_or_evaluate(struct iwi_train_run *run)
{
    struct iwi_train_past *past = run->past;
    uint64_t hash;
    size_t set, slot;

    forget_idle_times(run);
    hash = settle_columns(run);
    set = (size_t)(hash & (past->sets - 1)) * WAYS;
    for (size_t i = set; i < set + WAYS; i++) {
        if (past->slots[i].used > 0 && past->slots[i].hash == hash && recall(run, i)) {
            return;
        }
    }
    slot = oldest_of(past, set);
    past->slots[slot].used = 0;
    keep_beginning(run, entry_of(past, slot));
    evaluate_team(run);
    if (!run->team.is_hit) {
        keep_end(run, entry_of(past, slot));
        past->slots[slot].hash = hash;
        past->slots[slot].used = ++past->uses;
    }
}

/* ---- units that data parallelism couples ---- */

/* Detours and work are the same on all ranks that are at the same time. */
static bool can_share(const struct iwi_train_run *run)
{
    const int wheres[] = {IW_TRAINING_HOST, IW_TRAINING_DEVICE, IW_TRAINING_NETWORK};
    uint32_t sources = run->at[IW_TRAINING_DEVICE].phased_count;

    for (size_t i = 0; i < sizeof wheres / sizeof wheres[0]; i++) {
        sources += run->at[wheres[i]].count;
    }
    return sources == 0 && (run->lengths[0] == NULL || run->change.has_equal_lengths);
}

/* Calls `visit` with each array over the ranks of a stage that operations read (want_ready: that they write).
 */
static bool all_rows(struct iwi_train_run *run, bool want_ready,
                     bool (*visit)(const struct iwi_train_run *run, iw_time *row, void *arg), void *arg)
{
    for (uint32_t s = 0; s < run->plan->pp; s++) {
        iw_time *buckets = want_ready ? run->ready : run->gathered;
        bool goes_on = visit(run, run->host + (size_t)s * run->width, arg);

        for (uint32_t lane = 0; goes_on && lane < IWI_LANES; lane++) {
            goes_on = visit(run, run->lanes[lane] + (size_t)s * run->width, arg);
        }
        for (uint32_t k = 0; goes_on && k < run->plan->stages[s].bucket_count; k++) {
            goes_on = visit(run, buckets + bucket_at(run, s, k), arg);
        }
        if (!goes_on) {
            return false;
        }
    }
    return true;
}

/* Two units, by their first ranks. */
struct two_units {
    uint32_t from, to;
};

static bool is_same_row(const struct iwi_train_run *run, iw_time *row, void *arg)
{
    const struct two_units *units = arg;

    return memcmp(row + units->from, row + units->to, run->unit * sizeof *row) == 0;
}

static bool copy_row(const struct iwi_train_run *run, iw_time *row, void *arg)
{
    const struct two_units *units = arg;

    memcpy(row + units->to, row + units->from, run->unit * sizeof *row);
    return true;
}

static bool are_alike(struct iwi_train_run *run, uint32_t a, uint32_t b)
{
    for (size_t s = 0; run->factors != NULL && s < run->plan->pp; s++) {
        for (uint32_t i = 0; i < run->unit; i++) {
            if (iwi_train_factor(run, s * run->width + a + i) !=
                iwi_train_factor(run, s * run->width + b + i)) {
                return false;
            }
        }
    }
    return all_rows(run, false, is_same_row, &(struct two_units){a, b});
}

/* The first rank of the first unit in the team that is like this one; this one if there is none. */
static uint32_t find_alike(struct iwi_train_run *run, uint32_t first)
{
    for (uint32_t i = 0; i < run->team.columns; i += run->unit) {
        if (are_alike(run, run->team.ranks[i], first)) {
            return run->team.ranks[i];
        }
    }
    return first;
}

static void append_unit(struct iwi_train_run *run, uint32_t first)
{
    for (uint32_t i = 0; i < run->unit; i++) {
        run->team.ranks[run->team.columns++] = first + i;
    }
}

static void run_coupled(struct iwi_train_run *run)
{
    const bool is_shared = can_share(run);

    run->team.columns = 0;
    for (uint32_t first = 0; first < run->width; first += run->unit) {
        run->alike[first / run->unit] = is_shared ? find_alike(run, first) : first;
        if (run->alike[first / run->unit] == first) {
            append_unit(run, first);
        }
    }
    load_team(run);
    evaluate_team(run);
    store_team(run);
    for (uint32_t first = 0; first < run->width; first += run->unit) {
        const uint32_t like = run->alike[first / run->unit];

        if (like != first) {
            (void)all_rows(run, true, copy_row, &(struct two_units){like, first});
        }
    }
}

void iwi_train_teams_run(struct iwi_train_run *run)
{
    if (run->alike != NULL) {
        run_coupled(run);
        return;
    }
    for (uint32_t first = 0; first < run->width; first += run->unit) {
        run->team.columns = 0;
        append_unit(run, first);
        load_team(run);
        if (can_repeat(run)) {
            recall_or_evaluate(run);
        } else {
            evaluate_team(run);
        }
        store_team(run);
    }
}

/* ---- memory ---- */

static uint32_t common_multiple(uint32_t a, uint32_t b)
{
    uint32_t x = a, y = b;

    while (y != 0) {
        const uint32_t rest = x % y;

        x = y;
        y = rest;
    }
    return a / x * b;
}

/* No operation starts before the norm of the step before: those beside computation come after some of it. */
static bool is_bounded(const struct iwi_train_plan *plan)
{
    for (uint32_t s = 0; s < plan->pp; s++) {
        for (uint32_t i = 0; i < plan->stages[s].count; i++) {
            if (plan->stages[s].ops[i].lane != IWI_LANE_COMPUTE && plan->stages[s].ops[i].after == 0) {
                return false;
            }
        }
    }
    return true;
}

static iw_status new_past(const iw_log *log, struct iwi_train_run *run)
{
    const size_t ranks = (size_t)run->plan->pp * run->unit, times = ranks * run->team.rows;
    struct iwi_train_past *past = iwi_new_array(log, 1, sizeof *past);

    if (past == NULL) {
        return IW_ERR_NOMEM;
    }
    run->past = past;
    past->times = times;
    past->ranks = run->jitter->speeds != NULL ? ranks : 0;
    past->entry_words = 2 * times + past->ranks + run->plan->pp;
    past->sets = MOST_SETS;
    while (past->sets > 1 &&
           (size_t)past->sets * WAYS * past->entry_words * sizeof *past->entries > PAST_BYTES) {
        past->sets /= 2;
    }
    past->slots = iwi_new_array(log, (size_t)past->sets * WAYS, sizeof *past->slots);
    past->entries = iwi_new_array(log, (size_t)past->sets * WAYS * past->entry_words, sizeof *past->entries);
    past->hashes = iwi_new_array(log, run->plan->tp, sizeof *past->hashes);
    return past->slots != NULL && past->entries != NULL && past->hashes != NULL ? IW_OK : IW_ERR_NOMEM;
}

iw_status iwi_train_teams_new(const iw_log *log, struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;
    struct iwi_train_team *team = &run->team;
    uint32_t most;

    run->unit = run->jitter != NULL ? plan->tp * common_multiple(plan->cp, plan->ep) : 1;
    most = plan->couples_dp ? run->width : run->unit;
    team->rows = IWI_ROW_BUCKETS + plan->most_buckets;
    team->ranks = iwi_new_array(log, most, sizeof *team->ranks);
    team->times = iwi_new_array(log, (size_t)plan->pp * team->rows * most, sizeof *team->times);
    team->ends = iwi_new_array(log, (size_t)plan->pp * plan->most_ops * most, sizeof *team->ends);
    team->launched = iwi_new_array(log, most, sizeof *team->launched);
    if (team->ranks == NULL || team->times == NULL || team->ends == NULL || team->launched == NULL) {
        return IW_ERR_NOMEM;
    }
    if (plan->couples_dp) {
        run->alike = iwi_new_array(log, run->width, sizeof *run->alike);
        return run->alike != NULL ? IW_OK : IW_ERR_NOMEM;
    }
    return run->jitter != NULL && is_bounded(plan) ? new_past(log, run) : IW_OK;
}

void iwi_train_teams_free(struct iwi_train_run *run)
{
    free(run->team.ranks);
    free(run->team.times);
    free(run->team.ends);
    free(run->team.launched);
    free(run->alike);
    if (run->past != NULL) {
        free(run->past->slots);
        free(run->past->entries);
        free(run->past->hashes);
        free(run->past);
    }
}
