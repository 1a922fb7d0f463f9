/* Measures a network: looks at links, then measures a typical pair of each level.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "core/base/base.h"
#include "mpi/plugin.h"
#include "mpi/net.h"
#include "features/network/net_fit.h"

enum { LEVELS = 2 };
static const char *const level_names[LEVELS] = {"node", "network"}; /* from the inside out */

/* What all ranks know. */
struct session {
    const iw_log *log;
    const iw_net_plan *plan;
    MPI_Comm comm;
    int rank, ranks;
    struct iwi_process_place *places;
    iw_net_samples *samples; /* NULL but on rank 0 */
};

/* A pair for each level that there is; chosen by rank 0. */
struct choice {
    uint32_t has[LEVELS];
    uint32_t ranks[LEVELS][2];
};

/* ---- about the run ---- */

static void describe(struct session *s)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    iw_net_samples *samples = s->samples;
    int length;

    if (samples == NULL || s->places == NULL) { /* not so in rank 0 */
        return;
    }
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    for (char *c = version; *c != '\0'; c++) {
        *c = *c == '\t' ? ' ' : *c;
    }
    snprintf(samples->mpi, sizeof samples->mpi, "%s", IW_MPI_NAME);
    snprintf(samples->mpi_version, sizeof samples->mpi_version, "%.*s", (int)sizeof samples->mpi_version - 1,
             version);
    samples->ranks = (uint32_t)s->ranks;
    samples->pair_count = (uint64_t)s->ranks * (uint64_t)(s->ranks - 1) / 2;
    samples->hosts = iwi_process_place_hosts(s->places, (uint32_t)s->ranks);
    samples->calls = s->plan->calls;
    samples->small_bytes = IWI_SCAN_SMALL_BYTES;
    samples->large_bytes = IWI_SCAN_LARGE_BYTES;
    snprintf(samples->clock, sizeof samples->clock, "CLOCK_MONOTONIC, %.1f ns per reading",
             iwi_net_clock_cost_ns());
    iwi_process_place_warn(s->places, (uint32_t)s->ranks, samples->warning, sizeof samples->warning);
    for (int rank = 0; rank < s->ranks; rank++) {
        memcpy(samples->host_names[rank], s->places[rank].host, sizeof samples->host_names[rank]);
    }
}

/* ---- which pairs ---- */

/* Without links: rank 0 and the next rank that fits, or the first two that do. */
static bool first_pair(const struct session *s, bool is_inside, uint32_t pair[2])
{
    for (int a = 0; a < s->ranks; a++) {
        for (int b = a + 1; b < s->ranks; b++) {
            if (iwi_process_place_is_same_host(&s->places[a], &s->places[b]) == is_inside) {
                pair[0] = (uint32_t)a;
                pair[1] = (uint32_t)b;
                return true;
            }
        }
    }
    return false;
}

/* The link whose small messages are nearest to the median of its level. */
static bool typical_pair(const struct session *s, bool is_inside, double *scratch, uint32_t pair[2])
{
    const iw_net_samples *samples = s->samples;
    double small_ns, large_ns, least = INFINITY;

    iwi_net_link_medians(samples->links, samples->link_count, is_inside, scratch, &small_ns, &large_ns);
    for (size_t i = 0; i < samples->link_count; i++) {
        const iw_net_link *link = &samples->links[i];
        const double distance = fabs(link->small_ns - small_ns);

        if (link->is_inside == is_inside && distance < least) {
            least = distance;
            memcpy(pair, link->ranks, sizeof link->ranks);
        }
    }
    return isfinite(least);
}

static iw_status choose(const struct session *s, struct choice *choice)
{
    double *scratch;

    memset(choice, 0, sizeof *choice);
    if (s->rank != 0) {
        return IW_OK;
    }
    scratch = iwi_new_array(s->log, s->samples->link_count, sizeof *scratch);
    if (scratch == NULL) {
        return IW_ERR_NOMEM;
    }
    for (int level = 0; level < LEVELS; level++) {
        choice->has[level] = typical_pair(s, level == 0, scratch, choice->ranks[level]) ||
                             first_pair(s, level == 0, choice->ranks[level]);
    }
    free(scratch);
    return IW_OK;
}

/* ---- levels ---- */

/* What this rank needs for a level, and what it does there. */
struct part_of_level {
    struct iwi_pair pair;
    iw_net_level_samples *level; /* of the rank that asks, and of rank 0 */
    bool is_asking, is_answering;
};

static iw_status prepare(const struct session *s, const uint32_t ranks[2], iw_net_level_samples *own,
                         struct part_of_level *part)
{
    part->is_asking = s->rank == (int)ranks[0];
    part->is_answering = s->rank == (int)ranks[1];
    part->level = s->rank == 0 ? &s->samples->levels[s->samples->level_count] : own;
    if (part->is_asking || s->rank == 0) {
        if (s->rank == 0) {
            s->samples->level_count++;
        }
        IW_TRY(iwi_level_new(s->log, part->level));
    }
    if (part->is_asking || part->is_answering) {
        IW_TRY(iwi_pair_init(s->log, s->comm, (int)ranks[part->is_asking ? 1 : 0], s->plan->largest_bytes,
                             &part->pair));
        part->pair.is_nonblocking = s->plan->calls != IW_NET_CALLS_BLOCKING;
    }
    return IW_OK;
}

static void free_level(iw_net_level_samples *level)
{
    for (size_t i = 0; level->series != NULL && i < level->series_count; i++) {
        free(level->series[i].values_ns);
    }
    free(level->series);
}

/* All others sleep meanwhile. */
static iw_status measure_level(const struct session *s, int index, const uint32_t ranks[2], int done,
                               int count)
{
    iw_net_level_samples own = {.series = NULL};
    struct part_of_level part = {.level = NULL};
    iw_status status = iwi_net_agree(s->comm, prepare(s, ranks, &own, &part));

    if (status == IW_OK) {
        if (part.is_asking) {
            snprintf(part.level->name, sizeof part.level->name, "%s", level_names[index]);
            memcpy(part.level->ranks, ranks, sizeof part.level->ranks);
            iwi_level_measure(&part.pair, s->plan, s->plan->duration_seconds / count, s->rank == 0,
                              (double)done / count, 1.0 / count, part.level);
        } else if (part.is_answering) {
            iwi_pair_answer(&part.pair);
        }
        iwi_quiet_barrier(s->comm);
        if (part.is_asking && s->rank != 0) {
            iwi_level_send(s->comm, 0, part.level);
        } else if (s->rank == 0 && !part.is_asking) {
            iwi_level_recv(s->comm, (int)ranks[0], part.level);
        }
    }
    iwi_pair_release(&part.pair);
    free_level(&own);
    return status;
}

static iw_status measure_levels(const struct session *s, const struct choice *choice)
{
    const int count = (int)(choice->has[0] + choice->has[1]);
    int done = 0;

    for (int level = 0; level < LEVELS; level++) {
        if (choice->has[level]) {
            IW_TRY(measure_level(s, level, choice->ranks[level], done, count));
            done++;
        }
    }
    return IW_OK;
}

/* ---- all ---- */

static iw_status prepare_session(struct session *s)
{
    struct iwi_process_place here;

    s->places = iwi_new_array(s->log, (size_t)s->ranks, sizeof *s->places);
    if (s->rank == 0 && s->places != NULL) {
        s->samples = iwi_new_array(s->log, 1, sizeof *s->samples);
        if (s->samples != NULL) {
            s->samples->host_names = iwi_new_array(s->log, (size_t)s->ranks, sizeof *s->samples->host_names);
            s->samples->levels = iwi_new_array(s->log, LEVELS, sizeof *s->samples->levels);
        }
    }
    IW_TRY(iwi_net_agree(s->comm, s->places == NULL || (s->rank == 0 && (s->samples == NULL ||
                                                                         s->samples->host_names == NULL ||
                                                                         s->samples->levels == NULL))
                                      ? IW_ERR_NOMEM
                                      : IW_OK));
    iwi_process_place_here(&here);
    MPI_Allgather(&here, (int)sizeof here, MPI_BYTE, s->places, (int)sizeof here, MPI_BYTE, s->comm);
    if (s->rank == 0) {
        describe(s);
    }
    return IW_OK;
}

static iw_status measure(struct session *s)
{
    struct choice choice;

    IW_TRY(prepare_session(s));
    IW_TRY(iwi_net_scan(s->log, s->comm, s->plan, s->places, s->samples));
    IW_TRY(iwi_net_agree(s->comm, choose(s, &choice)));
    MPI_Bcast(&choice, (int)sizeof choice, MPI_BYTE, 0, s->comm);
    return measure_levels(s, &choice);
}

iw_status iwi_net_measure(const iw_log *log, const struct iw_net_plan *plan,
                          struct iw_net_samples **samples_p)
{
    struct session s = {.log = log, .plan = plan};
    const int64_t start_ns = iwi_net_now_ns();
    iw_status status;

    MPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
    MPI_Comm_rank(s.comm, &s.rank);
    MPI_Comm_size(s.comm, &s.ranks);
    if (s.ranks < 2) {
        status = s.rank == 0 ? iwi_fail(log, IW_ERR_USAGE,
                                        "a network needs at least 2 ranks, but there is 1; "
                                        "type: mpirun -n 2 idlewave net")
                             : IW_ERR_USAGE;
    } else {
        status = measure(&s);
    }
    MPI_Comm_free(&s.comm);
    free(s.places);
    if (status != IW_OK) {
        iwi_net_samples_drop(s.samples);
        return status;
    }
    if (s.samples != NULL) {
        s.samples->seconds = (double)(iwi_net_now_ns() - start_ns) / 1e9;
    }
    *samples_p = s.samples;
    return IW_OK;
}
