/* Brings the times of all ranks to rank 0: of each phase the largest, of each rank its means.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/bench/bench_keep.h"
#include "mpi/net.h"

enum { CHUNK = 1 << 14 }; /* phases that are sent at once */

/* ---- phases ---- */

/* A piece of one series; NULL but on rank 0. */
static double *piece_of(double *array, size_t at)
{
    return array != NULL ? array + at : NULL;
}

/* `sums_ns` has room for all phases. */
static void reduce_phases(struct iwi_bench_session *s, double *sums_ns, iw_bench_samples *samples)
{
    const struct iwi_bench_keep *keep = &s->keep;

    for (size_t at = 0; at < keep->count; at += CHUNK) {
        const int count = (int)iwi_min(CHUNK, (int64_t)(keep->count - at));
        double *qt = piece_of(samples != NULL ? samples->qt_ns : NULL, at);
        double *bt = piece_of(samples != NULL ? samples->bt_ns : NULL, at);
        double *qtbt = piece_of(samples != NULL ? samples->qtbt_ns : NULL, at);
        double *op = piece_of(samples != NULL ? samples->op_ns : NULL, at);

        for (int i = 0; i < count; i++) {
            sums_ns[i] = keep->qt_ns[at + (size_t)i] + keep->bt_ns[at + (size_t)i];
        }
        PMPI_Reduce(keep->qt_ns + at, qt, count, MPI_DOUBLE, MPI_MAX, 0, s->comm);
        PMPI_Reduce(keep->bt_ns + at, bt, count, MPI_DOUBLE, MPI_MAX, 0, s->comm);
        PMPI_Reduce(sums_ns, qtbt, count, MPI_DOUBLE, MPI_MAX, 0, s->comm);
        PMPI_Reduce(keep->bt_ns + at, op, count, MPI_DOUBLE, MPI_MIN, 0, s->comm);
    }
}

/* The last rank of a block tells how long it took. `times_ns` has room for all blocks. */
static void reduce_blocks(struct iwi_bench_session *s, double *times_ns, iw_bench_samples *samples)
{
    const struct iwi_bench_keep *keep = &s->keep;

    for (size_t i = 0; i < keep->block_count; i++) {
        times_ns[i] = keep->blocks[i].qt_ns + keep->blocks[i].bt_ns;
    }
    for (size_t at = 0; at < keep->block_count; at += CHUNK) {
        const int count = (int)iwi_min(CHUNK, (int64_t)(keep->block_count - at));

        PMPI_Reduce(s->rank == 0 ? MPI_IN_PLACE : times_ns + at, s->rank == 0 ? times_ns + at : NULL, count,
                    MPI_DOUBLE, MPI_MAX, 0, s->comm);
    }
    for (size_t i = 0; samples != NULL && i < keep->block_count; i++) {
        samples->blocks[i] = (iw_bench_block){.is_noisy = keep->blocks[i].is_noisy,
                                              .phases = keep->blocks[i].phases,
                                              .elapsed_ns = times_ns[i]};
    }
}

/* ---- ranks ---- */

/* Of all phases, kept or not. */
static void fill_means(const struct iwi_bench_keep *keep, iw_bench_rank *rank)
{
    uint64_t phases[IW_BENCH_KINDS] = {0, 0};

    for (size_t i = 0; i < keep->block_count; i++) {
        const int kind = keep->blocks[i].is_noisy ? IW_BENCH_NOISY : IW_BENCH_QUIET;

        rank->qt_ns[kind] += keep->blocks[i].qt_ns;
        rank->bt_ns[kind] += keep->blocks[i].bt_ns;
        phases[kind] += keep->blocks[i].phases;
    }
    for (int kind = 0; kind < IW_BENCH_KINDS; kind++) {
        const double count = (double)iwi_max((int64_t)phases[kind], 1);

        rank->qt_ns[kind] /= count;
        rank->bt_ns[kind] /= count;
    }
}

/* The 5 % quantile of the quiet phases; sorts them in `scratch`. */
static double undisturbed_of(const struct iwi_bench_keep *keep, double *scratch)
{
    size_t count = 0;

    for (size_t i = 0; i < keep->count; i++) {
        if (!keep->is_noisy[i]) {
            scratch[count++] = keep->qt_ns[i];
        }
    }
    iwi_sort_doubles(scratch, count);
    return count > 0 ? scratch[count / 20] : 0.0;
}

static void describe_rank(const struct iwi_bench_session *s, double *scratch, iw_bench_rank *rank)
{
    memset(rank, 0, sizeof *rank);
    snprintf(rank->host, sizeof rank->host, "%s", s->places[s->rank].host);
    rank->phases = s->keep.seen;
    rank->iterations = s->iterations;
    fill_means(&s->keep, rank);
    rank->undisturbed_ns = undisturbed_of(&s->keep, scratch);
    if (s->plan->noise != NULL) {
        s->plan->noise->tell(s->plan->noise->arg, &rank->injected);
    }
}

/* ---- the run ---- */

static iw_status new_samples(const struct iwi_bench_session *s, iw_bench_samples **samples_p)
{
    iw_bench_samples *samples = iwi_new_array(s->log, 1, sizeof *samples);
    const size_t count = s->keep.count;

    if (samples == NULL) {
        return IW_ERR_NOMEM;
    }
    samples->block = iwi_new_array(s->log, count, sizeof *samples->block);
    samples->is_noisy = iwi_new_array(s->log, count, sizeof *samples->is_noisy);
    samples->qt_ns = iwi_new_array(s->log, count, sizeof *samples->qt_ns);
    samples->bt_ns = iwi_new_array(s->log, count, sizeof *samples->bt_ns);
    samples->qtbt_ns = iwi_new_array(s->log, count, sizeof *samples->qtbt_ns);
    samples->op_ns = iwi_new_array(s->log, count, sizeof *samples->op_ns);
    samples->blocks = iwi_new_array(s->log, s->keep.block_count, sizeof *samples->blocks);
    samples->of_rank = iwi_new_array(s->log, (size_t)s->ranks, sizeof *samples->of_rank);
    if (samples->block == NULL || samples->is_noisy == NULL || samples->qt_ns == NULL ||
        samples->bt_ns == NULL || samples->qtbt_ns == NULL || samples->op_ns == NULL ||
        samples->blocks == NULL || samples->of_rank == NULL) {
        iwi_bench_samples_drop(samples);
        return IW_ERR_NOMEM;
    }
    *samples_p = samples;
    return IW_OK;
}

static void describe(const struct iwi_bench_session *s, iw_bench_samples *samples)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;

    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    for (char *c = version; *c != '\0'; c++) {
        *c = *c == '\t' ? ' ' : *c;
    }
    snprintf(samples->mpi, sizeof samples->mpi, "%s", IW_MPI_NAME);
    snprintf(samples->mpi_version, sizeof samples->mpi_version, "%.*s", (int)sizeof samples->mpi_version - 1,
             version);
    snprintf(samples->clock, sizeof samples->clock, "CLOCK_MONOTONIC, %.1f ns per reading",
             iwi_net_clock_cost_ns());
    if (s->plan->work == IW_BENCH_SPIN) { /* those that sleep may share a CPU */
        iwi_process_place_warn(s->places, (uint32_t)s->ranks, samples->warning, sizeof samples->warning);
    }
    samples->op = s->plan->op;
    samples->work = s->plan->work;
    samples->bytes = s->plan->bytes;
    samples->quantum_ns = s->plan->quantum_ns;
    samples->ranks = s->place.ranks;
    samples->hosts = s->place.hosts;
    samples->has_noise = s->plan->noise != NULL;
    samples->phases = s->keep.seen;
    samples->left_out = s->left_out;
    samples->stride = s->keep.stride;
    samples->block_phases = s->block_phases;
    samples->count = s->keep.count;
    samples->block_count = s->keep.block_count;
    memcpy(samples->block, s->keep.block, s->keep.count * sizeof *samples->block);
    memcpy(samples->is_noisy, s->keep.is_noisy, s->keep.count * sizeof *samples->is_noisy);
}

iw_status iwi_bench_collect(struct iwi_bench_session *s, iw_bench_samples **samples_p)
{
    const size_t room = (size_t)iwi_max((int64_t)s->keep.count, (int64_t)s->keep.block_count);
    double *scratch = iwi_new_array(s->log, room, sizeof *scratch);
    iw_bench_samples *samples = NULL;
    iw_bench_rank mine;
    int status = scratch != NULL ? IW_OK : IW_ERR_NOMEM, worst;

    if (status == IW_OK && s->rank == 0) {
        status = new_samples(s, &samples);
    }
    PMPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, s->comm);
    if (worst != IW_OK || scratch == NULL) {
        iwi_bench_samples_drop(samples);
        free(scratch);
        return (iw_status)worst;
    }
    if (samples != NULL) {
        describe(s, samples);
    }
    describe_rank(s, scratch, &mine);
    reduce_phases(s, scratch, samples);
    reduce_blocks(s, scratch, samples);
    free(scratch);
    PMPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, samples != NULL ? samples->of_rank : NULL,
                (int)sizeof mine, MPI_BYTE, 0, s->comm);
    *samples_p = samples;
    return IW_OK;
}
