/* The law of what phases lose that begin at any time of a recording, from a walk over its detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/model/window_law.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

/* Walks through the losses of phases of work.
 *
 * In undisturbed time u a detour i is a point f_i = start_i - (durations before it). A phase that begins at u
 * meets those with f in [u, u + work). Two indices go through the points: the next to enter and the next to
 * leave.
 */

static int64_t busy_ns(const struct iwi_window_cpu *cpu)
{
    int64_t sum = 0;

    for (size_t i = 0; i < cpu->count; i++) {
        sum += cpu->duration_ns[i];
    }
    return sum;
}

bool iwi_window_fits(const struct iwi_window_cpu *cpu, int64_t work_ns)
{
    return cpu->length_ns - busy_ns(cpu) >= work_ns;
}

/* The next detour in a sequence that repeats. */
struct next_detour {
    const struct iwi_window_cpu *cpu;
    size_t index;
    int64_t at_ns;   /* its point in undisturbed time; INT64_MAX: there are no detours */
    int64_t busy_ns; /* durations before it, in this repetition */
    int64_t base_ns, free_ns;
};

static void locate(struct next_detour *next)
{
    next->at_ns = next->base_ns + next->cpu->start_ns[next->index] - next->busy_ns;
}

static struct next_detour first_detour(const struct iwi_window_cpu *cpu, int64_t free_ns)
{
    struct next_detour next = {.cpu = cpu, .at_ns = INT64_MAX, .free_ns = free_ns};

    if (cpu->count > 0) {
        locate(&next);
    }
    return next;
}

static int64_t take_detour(struct next_detour *next)
{
    const int64_t duration_ns = next->cpu->duration_ns[next->index];

    next->busy_ns += duration_ns;
    if (++next->index == next->cpu->count) {
        next->index = 0;
        next->busy_ns = 0;
        next->base_ns += next->free_ns;
    }
    locate(next);
    return duration_ns;
}

static void emit(int64_t start_ns, int64_t length_ns, int64_t loss_ns, bool is_ramp,
                 iwi_window_piece_fn visit, void *arg)
{
    if (length_ns > 0) {
        visit(arg, &(struct iwi_window_piece){start_ns, length_ns, loss_ns, is_ramp});
    }
}

void iwi_window_walk(const struct iwi_window_cpu *cpu, int64_t work_ns, iwi_window_piece_fn visit, void *arg)
{
    const int64_t free_ns = cpu->length_ns - busy_ns(cpu);
    struct next_detour entering = first_detour(cpu, free_ns), leaving = entering;
    int64_t now_ns = 0, busy = 0, loss_ns = 0; /* now: undisturbed time */

    if (cpu->count == 0) {
        emit(0, free_ns, 0, false, visit, arg);
        return;
    }
    for (size_t left = 0; left < cpu->count || now_ns < free_ns;) {
        int64_t until_ns = entering.at_ns - work_ns;

        if (until_ns < leaving.at_ns && until_ns < free_ns) {
            emit(now_ns + busy, until_ns - now_ns, loss_ns, false, visit, arg);
            now_ns = iwi_max(now_ns, until_ns);
            loss_ns += take_detour(&entering);
            continue;
        }
        until_ns = iwi_min(leaving.at_ns, free_ns);
        emit(now_ns + busy, until_ns - now_ns, loss_ns, false, visit, arg);
        now_ns = until_ns;
        if (left < cpu->count) {
            const int64_t duration_ns = take_detour(&leaving);

            emit(now_ns + busy, duration_ns, loss_ns, true, visit, arg);
            busy += duration_ns;
            loss_ns -= duration_ns;
            left++;
        }
    }
}

/* Gathers the losses of phases into a histogram of fine logarithmic bins, then into a law.
 *
 * A bin keeps the mean of its values, so that what it stands for is exact where values repeat, and right to
 * second order of the bin's width elsewhere. Ramps spread evenly over all bins they pass; the passed bins are
 * kept as differences, which makes a ramp as cheap as a constant.
 */

enum {
    STEPS_LOG2 = 5, /* bins of an octave: 2^5 */
    STEPS = 1 << STEPS_LOG2,
    BINS = 1 + 64 * STEPS /* bin 0: no loss */
};

/* Neighbouring bins are joined until together they add this much to the time of the larger ones: finer would
 * not be seen in E[max]. */
static const double JOIN_SHARE = 0.05;

struct histogram {
    struct iwi_blocks blocks;
    double *time_ns; /* [bin][block] */
    double *passed; /* [bin][block]: ramps that pass this bin from end to end, less those of the bin before */
    double *sum;    /* [bin]: value x time */
    size_t used;    /* bins; larger ones are empty */
};

static size_t bin_of(int64_t loss_ns)
{
    int octave;

    if (loss_ns <= 0) {
        return 0;
    }
    octave = 63 - __builtin_clzll((unsigned long long)loss_ns);
    if (octave >= STEPS_LOG2) {
        return 1 + (size_t)octave * STEPS +
               (size_t)((loss_ns >> (octave - STEPS_LOG2)) & (int64_t)(STEPS - 1));
    }
    return 1 + (size_t)octave * STEPS + (size_t)((loss_ns << (STEPS_LOG2 - octave)) & (int64_t)(STEPS - 1));
}

static double edge_ns(size_t bin)
{
    const size_t octave = (bin - 1) / STEPS, step = (bin - 1) % STEPS;

    return bin == 0 ? 0.0 : ldexp(1.0 + (double)step / STEPS, (int)octave);
}

static void add_time(struct histogram *h, size_t bin, size_t block, double time_ns, double mean_ns)
{
    h->time_ns[bin * h->blocks.count + block] += time_ns;
    h->sum[bin] += time_ns * mean_ns;
    h->used = bin < h->used ? h->used : bin + 1;
}

static void add_constant(struct histogram *h, const struct iwi_window_piece *piece)
{
    const size_t bin = bin_of(piece->loss_ns);
    const int64_t end_ns = piece->start_ns + piece->length_ns;
    int64_t now_ns = piece->start_ns;

    while (now_ns < end_ns) {
        const size_t block = iwi_block_of(&h->blocks, now_ns);
        const bool is_last = block + 1 == h->blocks.count;
        const int64_t until_ns =
            is_last ? end_ns : iwi_min(end_ns, (int64_t)(block + 1) * h->blocks.block_ns);

        add_time(h, bin, block, (double)(until_ns - now_ns), (double)piece->loss_ns);
        now_ns = until_ns;
    }
}

static void add_ramp(struct histogram *h, const struct iwi_window_piece *piece)
{
    const double high_ns = (double)piece->loss_ns, low_ns = (double)(piece->loss_ns - piece->length_ns);
    const size_t high = bin_of(piece->loss_ns), low = bin_of(piece->loss_ns - piece->length_ns);
    const size_t block = iwi_block_of(&h->blocks, piece->start_ns);

    if (high == low) {
        add_time(h, high, block, high_ns - low_ns, 0.5 * (high_ns + low_ns));
        return;
    }
    add_time(h, high, block, high_ns - edge_ns(high), 0.5 * (high_ns + edge_ns(high)));
    add_time(h, low, block, edge_ns(low + 1) - low_ns, 0.5 * (edge_ns(low + 1) + low_ns));
    h->passed[(low + 1) * h->blocks.count + block] += 1.0;
    h->passed[high * h->blocks.count + block] -= 1.0;
}

static void add_piece(void *arg, const struct iwi_window_piece *piece)
{
    if (piece->is_ramp) {
        add_ramp(arg, piece);
    } else {
        add_constant(arg, piece);
    }
}

/* Adds what passing ramps spent in each bin. */
static void spread_ramps(struct histogram *h)
{
    for (size_t bin = 1; bin < h->used; bin++) {
        const double width_ns = edge_ns(bin + 1) - edge_ns(bin);
        const double middle_ns = 0.5 * (edge_ns(bin + 1) + edge_ns(bin));
        double *passed = &h->passed[bin * h->blocks.count];

        for (size_t block = 0; block < h->blocks.count; block++) {
            passed[block] += bin > 1 ? passed[(ptrdiff_t)block - (ptrdiff_t)h->blocks.count] : 0.0;
            if (passed[block] != 0.0) {
                add_time(h, bin, block, passed[block] * width_ns, middle_ns);
            }
        }
    }
}

static double bin_time_ns(const struct histogram *h, size_t bin)
{
    double time_ns = 0.0;

    for (size_t block = 0; block < h->blocks.count; block++) {
        time_ns += h->time_ns[bin * h->blocks.count + block];
    }
    return time_ns;
}

/* Puts the bins (first, last] together into the next value of the law. */
static void join_bins(const struct histogram *h, size_t first, size_t last, double watched_ns,
                      struct iwi_window_law *law)
{
    double *by_block = &law->block_share[law->count];
    double time_ns = 0.0, sum = 0.0;

    for (size_t bin = last; bin > first; bin--) {
        for (size_t block = 0; block < h->blocks.count; block++) {
            by_block[block * law->capacity] += h->time_ns[bin * h->blocks.count + block] / watched_ns;
        }
        time_ns += bin_time_ns(h, bin);
        sum += h->sum[bin];
    }
    if (time_ns > 0.0) {
        law->loss_ns[law->count] = sum / time_ns;
        law->share[law->count] = time_ns / watched_ns;
        law->count++;
    }
}

/* One entry after the other from the largest loss down; what loses nothing is the last, and always there. */
static void join_all(const struct histogram *h, double watched_ns, struct iwi_window_law *law)
{
    double above_ns = 0.0, open_ns = 0.0;
    size_t last = h->used - 1;

    for (size_t bin = h->used - 1; bin > 0; bin--) {
        open_ns += bin_time_ns(h, bin);
        if (open_ns > JOIN_SHARE * above_ns) {
            join_bins(h, bin - 1, last, watched_ns, law);
            above_ns += open_ns;
            open_ns = 0.0;
            last = bin - 1;
        }
    }
    if (last > 0) {
        join_bins(h, 0, last, watched_ns, law);
    }
    for (size_t block = 0; block < h->blocks.count; block++) {
        law->block_share[block * law->capacity + law->count] = h->time_ns[block] / watched_ns;
    }
    law->share[law->count++] = bin_time_ns(h, 0) / watched_ns;
}

static iw_status make_law(const iw_log *log, struct histogram *h, double watched_ns,
                          struct iwi_window_law *law_p)
{
    struct iwi_window_law law = {.block_count = h->blocks.count, .capacity = h->used};

    spread_ramps(h);
    law.loss_ns = iwi_new_array(log, h->used, sizeof *law.loss_ns);
    law.share = iwi_new_array(log, h->used, sizeof *law.share);
    law.block_share = iwi_new_array(log, h->used * h->blocks.count, sizeof *law.block_share);
    if (law.loss_ns == NULL || law.share == NULL || law.block_share == NULL) {
        iwi_window_law_release(&law);
        return IW_ERR_NOMEM;
    }
    join_all(h, watched_ns, &law);
    *law_p = law;
    return IW_OK;
}

iw_status iwi_window_law_new(const iw_log *log, const struct iwi_window_cpus *cpus, int64_t work_ns,
                             const struct iwi_blocks *blocks, struct iwi_window_law *law_p)
{
    const size_t cells = (size_t)BINS * blocks->count;
    struct histogram h = {*blocks, iwi_new_array(log, cells, sizeof(double)),
                          iwi_new_array(log, cells, sizeof(double)), iwi_new_array(log, BINS, sizeof(double)),
                          1};
    iw_status status = IW_ERR_NOMEM;

    if (h.time_ns != NULL && h.passed != NULL && h.sum != NULL) {
        for (size_t i = 0; i < cpus->count; i++) {
            iwi_window_walk(&cpus->cpus[i], work_ns, add_piece, &h);
        }
        status = make_law(log, &h, cpus->watched_ns, law_p);
    }
    free(h.time_ns);
    free(h.passed);
    free(h.sum);
    return status;
}

void iwi_window_law_release(struct iwi_window_law *law)
{
    free(law->loss_ns);
    free(law->share);
    free(law->block_share);
    *law = (struct iwi_window_law){0};
}
