/* Clusters of large losses: phases that overlap see the same detours and count once.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/model/tail.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

/* More than this share of the time is no tail. */
static const double LARGEST_SHARE = 0.1;

/* How much larger a share is looked at if clusters were too few; at first as much more than they would take
 * if each lasted as long as the work. */
static const double STEP = 1.6;

struct cluster {
    double peak_ns;
    uint32_t block;
};

struct gatherer {
    const iw_log *log;
    const struct iwi_blocks *blocks;
    int64_t work_ns;
    double floor_ns;
    int64_t end_ns; /* of the last large piece of this CPU; -1: none yet */
    struct cluster *clusters;
    size_t cluster_count, cluster_capacity;
    struct iwi_large_piece *pieces;
    size_t piece_count, piece_capacity;
    iw_status status;
};

static void note_piece(struct gatherer *g, const struct iwi_window_piece *piece)
{
    const double high_ns = (double)piece->loss_ns;

    g->status =
        iwi_grow(g->log, (void **)&g->pieces, &g->piece_capacity, g->piece_count + 1, sizeof *g->pieces);
    if (g->status == IW_OK) {
        g->pieces[g->piece_count++] = (struct iwi_large_piece){
            high_ns, piece->is_ramp ? high_ns - (double)piece->length_ns : high_ns, (double)piece->length_ns};
    }
}

static void gather(void *arg, const struct iwi_window_piece *piece)
{
    struct gatherer *g = arg;
    const double peak_ns = (double)piece->loss_ns;

    if (peak_ns <= g->floor_ns || g->status != IW_OK) {
        return;
    }
    note_piece(g, piece);
    if (g->status == IW_OK && (g->end_ns < 0 || piece->start_ns >= g->end_ns + g->work_ns)) {
        g->status = iwi_grow(g->log, (void **)&g->clusters, &g->cluster_capacity, g->cluster_count + 1,
                             sizeof *g->clusters);
        if (g->status == IW_OK) {
            g->clusters[g->cluster_count++] =
                (struct cluster){peak_ns, (uint32_t)iwi_block_of(g->blocks, piece->start_ns)};
        }
    } else if (g->status == IW_OK && peak_ns > g->clusters[g->cluster_count - 1].peak_ns) {
        g->clusters[g->cluster_count - 1].peak_ns = peak_ns;
    }
    g->end_ns = piece->start_ns + piece->length_ns;
}

static int by_peak(const void *a, const void *b)
{
    const double x = ((const struct cluster *)a)->peak_ns, y = ((const struct cluster *)b)->peak_ns;

    return x > y ? -1 : x < y;
}

static iw_status take_peaks(struct gatherer *g, struct iwi_peaks *peaks_p)
{
    struct iwi_peaks peaks = {
        g->cluster_count, iwi_new_array(g->log, g->cluster_count, sizeof *peaks.loss_ns),
        iwi_new_array(g->log, g->cluster_count, sizeof *peaks.block), g->piece_count, g->pieces};

    if (peaks.loss_ns == NULL || peaks.block == NULL) {
        free(peaks.loss_ns);
        free(peaks.block);
        return IW_ERR_NOMEM;
    }
    if (g->cluster_count > 0) {
        qsort(g->clusters, g->cluster_count, sizeof *g->clusters, by_peak);
    }
    for (size_t i = 0; i < g->cluster_count; i++) {
        peaks.loss_ns[i] = g->clusters[i].peak_ns;
        peaks.block[i] = g->clusters[i].block;
    }
    g->pieces = NULL;
    *peaks_p = peaks;
    return IW_OK;
}

static void gather_all(struct gatherer *g, const struct iwi_window_cpus *cpus)
{
    g->cluster_count = g->piece_count = 0;
    for (size_t i = 0; i < cpus->count; i++) {
        g->end_ns = -1;
        iwi_window_walk(&cpus->cpus[i], g->work_ns, gather, g);
    }
}

iw_status iwi_peaks_new(const iw_log *log, const struct iwi_window_cpus *cpus, int64_t work_ns,
                        const struct iwi_window_law *law, const struct iwi_blocks *blocks, size_t wanted,
                        struct iwi_peaks *peaks_p)
{
    struct gatherer g = {.log = log, .blocks = blocks, .work_ns = work_ns};
    double share = (double)wanted * (double)work_ns / cpus->watched_ns;
    iw_status status;

    do {
        share = fmin(share * STEP, LARGEST_SHARE);
        g.floor_ns = iwi_window_law_quantile_ns(law, share);
        gather_all(&g, cpus);
    } while (g.status == IW_OK && g.cluster_count < wanted && share < LARGEST_SHARE && g.floor_ns > 0.0);
    status = g.status == IW_OK ? take_peaks(&g, peaks_p) : g.status;
    free(g.clusters);
    free(g.pieces);
    return status;
}

void iwi_peaks_release(struct iwi_peaks *peaks)
{
    free(peaks->loss_ns);
    free(peaks->block);
    free(peaks->pieces);
    *peaks = (struct iwi_peaks){0};
}

double iwi_peaks_time_above_ns(const struct iwi_peaks *peaks, double loss_ns)
{
    double sum = 0.0;

    for (size_t i = 0; i < peaks->piece_count; i++) {
        const struct iwi_large_piece *piece = &peaks->pieces[i];

        if (piece->low_ns >= loss_ns && piece->high_ns > loss_ns) {
            sum += piece->length_ns;
        } else if (piece->high_ns > loss_ns) {
            sum += piece->high_ns - loss_ns;
        }
    }
    return sum;
}
