/* How different another run may be: what the sources that remain take of a path, and what no detour explains.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The run is cut into BLOCKS equal times. What remains of noise on the path in a block, R_b, has a variance
 * between the blocks, and so has the share X_b by which computing was slower than the same computation at its
 * best. A sum over the run has BLOCKS times the variance of a block; this run and another differ by twice
 * that:
 *
 *     sd^2 = 2 BLOCKS (var(R) + var(X) T_b^2)
 *
 * where T_b is the length of a block.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/lookup.h"
#include "core/base/order.h"
#include "features/explain/blame/run.h"

enum { BLOCKS = 20, LEAST_ALIKE = 5 };

/* Of the gaps that lie between calls of the same classes on the same rank. */
struct gap {
    uint32_t class;
    uint32_t block;
    double work_ns;
};

struct spreading {
    const struct iwi_blamed_run *run;
    double *lost_ns; /* by source and block */
    struct iwi_index index;
    struct gap *gaps;
    size_t gap_count, gap_capacity;
};

static size_t block_of(const struct iwi_blamed_run *run, int64_t at_ns)
{
    const double part = (double)(at_ns - run->zero_ns) / (double)iwi_max(run->end_ns - run->zero_ns, 1);

    return (size_t)fmin(fmax(part * BLOCKS, 0.0), BLOCKS - 1);
}

static iw_status count_loss(void *arg, const struct iwi_run_stretch *stretch, const struct iwi_run_loss *loss,
                            int64_t ns)
{
    struct spreading *s = arg;

    (void)stretch;
    s->lost_ns[(size_t)loss->source * BLOCKS + block_of(s->run, loss->at_ns)] += (double)ns;
    return IW_OK;
}

static iw_status keep_gap(struct spreading *s, const struct iwi_run_stretch *stretch)
{
    const struct iwi_blamed_run *run = s->run;
    const uint64_t call = stretch->call;
    const uint32_t rank = run->rank_of[call],
                   before = call > run->first[rank] ? run->alike[call - 1] : UINT32_MAX;
    struct gap gap = {.block = (uint32_t)block_of(run, stretch->from_ns),
                      .work_ns = (double)(stretch->to_ns - stretch->from_ns)};

    for (uint64_t i = run->first_loss[call]; i < run->first_loss[call + 1]; i++) {
        gap.work_ns -= (double)run->losses[i].gap_ns;
    }
    IW_TRY(iwi_index_number(run->log, &s->index,
                            (struct iwi_index_key){(uint64_t)before << 32 | run->alike[call], rank},
                            &gap.class));
    IW_TRY(iwi_grow(run->log, (void **)&s->gaps, &s->gap_capacity, s->gap_count + 1, sizeof *s->gaps));
    s->gaps[s->gap_count++] = gap;
    return IW_OK;
}

static iw_status take_stretch(void *arg, const struct iwi_run_stretch *stretch)
{
    struct spreading *s = arg;

    IW_TRY(iwi_run_losses_on(s->run, stretch, count_loss, s));
    return stretch->is_rest || stretch->to_ns <= stretch->from_ns ? IW_OK : keep_gap(s, stretch);
}

/* ---- variances ---- */

static double variance(const double values[BLOCKS])
{
    double mean = 0.0, sum = 0.0;

    for (size_t i = 0; i < BLOCKS; i++) {
        mean += values[i] / BLOCKS;
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        sum += (values[i] - mean) * (values[i] - mean);
    }
    return sum / (BLOCKS - 1);
}

/* Without the source `removed`; source_count: without any, where nothing remains. */
static double remaining_sd(const struct spreading *s, size_t removed)
{
    double values[BLOCKS] = {0};

    for (size_t i = 0; i < s->run->source_count && removed < s->run->source_count; i++) {
        for (size_t b = 0; b < BLOCKS && i != removed; b++) {
            values[b] += s->lost_ns[i * BLOCKS + b];
        }
    }
    return sqrt(2.0 * BLOCKS * variance(values));
}

IWI_COMPARE(compare_gaps, struct gap, IWI_RISING(class), IWI_RISING(work_ns))

/* By how much the gaps were longer than their class at its best (its tenth percentile). */
static void find_unexplained(struct spreading *s, struct iwi_run_spread *spread)
{
    double work[BLOCKS] = {0}, excess[BLOCKS] = {0}, shares[BLOCKS], all_work = 0.0, all_excess = 0.0;

    iwi_sort(s->gaps, s->gap_count, compare_gaps);
    for (size_t from = 0, to; from < s->gap_count; from = to) {
        for (to = from; to < s->gap_count && s->gaps[to].class == s->gaps[from].class; to++) {
        }
        for (size_t i = from; to - from >= LEAST_ALIKE && i < to; i++) {
            work[s->gaps[i].block] += s->gaps[i].work_ns;
            excess[s->gaps[i].block] +=
                fmax(0.0, s->gaps[i].work_ns - s->gaps[from + (to - from) / 10].work_ns);
        }
    }
    for (size_t b = 0; b < BLOCKS; b++) {
        all_work += work[b];
        all_excess += excess[b];
    }
    spread->unexplained_share = all_work > 0.0 ? all_excess / all_work : NAN;
    for (size_t b = 0; b < BLOCKS; b++) { /* a block without repeated work is taken for a usual one */
        shares[b] = work[b] > 0.0 ? excess[b] / work[b] : spread->unexplained_share;
    }
    spread->unexplained_sd_ns =
        all_work > 0.0 ? sqrt(2.0 * variance(shares) / BLOCKS) * (double)(s->run->end_ns - s->run->zero_ns)
                       : NAN;
}

iw_status iwi_run_find_spread(const struct iwi_blamed_run *run, struct iwi_run_spread *spread)
{
    struct spreading s = {.run = run};
    iw_status status;

    *spread = (struct iwi_run_spread){.freedom = BLOCKS - 1};
    spread->remaining_sd_ns = iwi_new_array(run->log, run->source_count + 1, sizeof *spread->remaining_sd_ns);
    s.lost_ns = iwi_new_array(run->log, run->source_count * BLOCKS, sizeof *s.lost_ns);
    status = s.lost_ns != NULL && spread->remaining_sd_ns != NULL ? iwi_run_walk(run, take_stretch, &s)
                                                                  : IW_ERR_NOMEM;
    if (status == IW_OK) {
        find_unexplained(&s, spread);
        for (size_t i = 0; i <= run->source_count; i++) {
            spread->remaining_sd_ns[i] = remaining_sd(&s, i);
        }
    }
    free(s.lost_ns);
    free(s.gaps);
    iwi_index_release(&s.index);
    return status;
}
