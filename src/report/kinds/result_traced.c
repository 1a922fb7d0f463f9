/* The traced run beside what is predicted of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/result_report.h"
#include "schema/json_util.h"

/* Of the time between calls: with less CPU time than this, CPU and wall clock are different predictions. */
#define LEAST_CPU_SHARE 0.8

json_t *iwi_traced_object(const iw_traced *traced)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:b}", "ranks", iwi_json_count(traced->ranks),
                     "replicas", iwi_json_count(traced->replicas), "run_ns",
                     iwi_json_ns((double)traced->run_ps), "mpi_share", iwi_json_number(traced->mpi_share),
                     "cpu_share", iwi_json_number(traced->cpu_share), "clock",
                     traced->is_by_cpu ? "cpu" : "wall", "replica_compute",
                     iw_replica_compute_name(traced->replica_compute), "has_p2p", traced->has_p2p);
}

static bool is_text(const json_t *object, const char *key, const char *text)
{
    return strcmp(iwi_result_text(object, key), text) == 0;
}

/* "1.234 s on 8 ranks: 40.0 % in MPI, 60.0 % between calls, of which 97.0 % CPU time" */
static void write_run(const json_t *traced, iwi_row_writer write_row, FILE *out)
{
    const double cpu_share = iwi_result_number(traced, "cpu_share"),
                 mpi_share = iwi_result_number(traced, "mpi_share");
    const uint64_t ranks = iwi_result_count(traced, "ranks");
    char line[IWI_PARAGRAPH_SIZE] = "", run[IWI_NUMBER_SIZE], mpi[IWI_NUMBER_SIZE], rest[IWI_NUMBER_SIZE];

    iwi_append(line, "%s on %" PRIu64 " rank%s: %s in MPI, %s between calls",
               iwi_ns_time_text(iwi_result_number(traced, "run_ns"), run), ranks, ranks == 1 ? "" : "s",
               iwi_percent_text(mpi_share, mpi), iwi_percent_text(1.0 - mpi_share, rest));
    if (!isnan(cpu_share)) {
        iwi_append(line, ", of which %s CPU time", iwi_percent_text(cpu_share, run));
    }
    write_row(out, "traced", line);
}

static void write_warning(const json_t *traced, iwi_row_writer write_row, FILE *out)
{
    const double cpu_share = iwi_result_number(traced, "cpu_share");
    char line[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    if (!(cpu_share < LEAST_CPU_SHARE)) {
        return;
    }
    iwi_append(line,
               "only %s of the time between calls was CPU time: the ranks slept, or others had their CPUs. ",
               iwi_percent_text(cpu_share, number));
    iwi_append(line, is_text(traced, "clock", "cpu")
                         ? "The rest is not in the prediction; --compute-clock wall keeps it"
                         : "All of it is predicted as computation; --compute-clock cpu leaves the rest out");
    write_row(out, "warning", line);
}

static void write_replicas(const json_t *traced, iwi_row_writer write_row, FILE *out)
{
    const uint64_t replicas = iwi_result_count(traced, "replicas"), ranks = iwi_result_count(traced, "ranks");
    char line[IWI_PARAGRAPH_SIZE] = "";

    if (replicas < 2) {
        return;
    }
    iwi_append(line, "%" PRIu64 " of %" PRIu64 " ranks; ", replicas, ranks);
    iwi_append(line, is_text(traced, "replica_compute", "resample")
                         ? "each draws its computation from what was traced"
                         : "each computes as traced, so imbalance does not grow with ranks");
    write_row(out, "replicas", line);
    if (json_is_true(json_object_get(traced, "has_p2p"))) {
        line[0] = '\0';
        iwi_append(line,
                   "point-to-point messages stay inside a replica: a delay that they carry reaches %" PRIu64
                   " ranks at most, so real programs of this size may lose more",
                   ranks);
        write_row(out, "note", line);
    }
}

void iwi_write_traced(const json_t *result, iwi_row_writer write_row, FILE *out)
{
    const json_t *traced = json_object_get(result, "traced");

    if (json_is_object(traced)) {
        write_run(traced, write_row, out);
        write_warning(traced, write_row, out);
        write_replicas(traced, write_row, out);
    }
}
