/* idlewave/model_report.h - what models say, as text for people and as JSON, CSV for programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_MODEL_REPORT_H
#define IW_MODEL_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/model.h>
#include <idlewave/model_recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the simulator says of the same number of ranks. */
typedef struct iw_model_check {
    uint64_t trials;     /* 0: was not simulated */
    iw_estimate mean_ns; /* of the phase time */
} iw_model_check;

/** Everything that was asked and answered. Borrowed. */
typedef struct iw_model_report {
    const char *noise;   /* as given */
    const char *net;     /* name of the network, or NULL: messages cost nothing but latency */
    const char *command; /* the command line */
    bool is_cone;        /* answers of iw_model_cone() */
    iw_model_question question;
    const iw_model_row *rows;
    size_t count;                       /* at least 1 */
    const iw_model_check *checks;       /* of each row, or NULL */
    double half_ranks;                  /* iw_model_half_ranks(); NaN without a law */
    iw_half_rule half_rule;             /* of it */
    double first_doubled, last_doubled; /* iw_model_doubled(); NaN without a law */
    const iw_model_chain *chains;       /* iw_model_chains(), or NULL */
    /* noise of a recording, else NULL: */
    const iw_recording *recording; /* its CPUs are those that ranks meet */
    const iw_cpu_set *cpus;        /* the only ones that were to be used, or NULL */
    const iw_window_horizon *horizon;
    const size_t *dominant; /* source of each row */
} iw_model_report;

/** The verdict, a table, what was simulated, how sure and where it ends; 80 columns. */
IW_API IW_NODISCARD iw_status iw_model_write_text(const iw_log *log, const iw_model_report *report,
                                                  FILE *out);

/** One JSON object, schema "idlewave.model/1" (docs/reference/formats/model-json.md), and a newline. */
IW_API IW_NODISCARD iw_status iw_model_write_json(const iw_log *log, const iw_model_report *report,
                                                  FILE *out);

/** A header line and one line for each number of ranks. */
IW_API IW_NODISCARD iw_status iw_model_write_csv(const iw_log *log, const iw_model_report *report, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
