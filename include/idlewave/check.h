/* idlewave/check.h - one answer about a node: is it quiet, and is it set up as it should be?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_check check = {.verify = verify};
 *     iw_check_opts opts = IW_CHECK_OPTS_INIT;
 *     iw_noise_report_opts report_opts = IW_NOISE_REPORT_OPTS_INIT;
 *     st = iw_noise_report_init(log, recording, &report_opts, &check.noise);
 *     st = iw_check_judge(log, &opts, &check);
 *     ...  iw_check_exit_code(check.outcome) ...
 *     iw_check_release(&check);
 *
 * Nothing is measured here: a check joins what idlewave/measure.h, verify.h, whatif.h and analysis.h found.
 */
#ifndef IW_CHECK_H
#define IW_CHECK_H

#include <stdbool.h>

#include <idlewave/analysis.h>
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/verify.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is required ---- */

typedef struct iw_profile_setting {
    char name[64];                         /* of a mitigation: "nohz_full" */
    char setting[IW_MITIGATION_TEXT_SIZE]; /* as it has to be: "CPUs 2-7"; "": configured, however */
} iw_profile_setting;

typedef struct iw_profile_job {
    char name[32]; /* "barrier" */
    uint32_t ranks;
    double most_slowdown;
} iw_profile_job;

/** Settings and limits that nodes have to keep. */
typedef struct iw_profile {
    char host[256], kernel[256]; /* of the node that it was learned from */
    double most_lost;            /* share of CPU time; NaN: no limit */
    size_t setting_count;
    iw_profile_setting *settings;
    size_t job_count;
    iw_profile_job *jobs;
} iw_profile;

struct iw_check;

/** Limits above what a good node was found to have. */
#define IW_PROFILE_MARGIN 2.0

/** What a node has that was found good: its settings that are configured, and as limits `margin` times what
 * it loses. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_profile_learn(const iw_log *log, const struct iw_check *check, double margin,
                                               iw_profile **profile_p);
IW_API void iw_profile_free(iw_profile *profile);

/** Schema "idlewave.profile/1". */
IW_API iw_doc iw_profile_doc(const iw_profile *profile);

/** Of a file with that; the profile lives as long as the file is open. IW_ERR_IO, IW_ERR_FORMAT. */
IW_API IW_NODISCARD iw_status iw_profile_open(const iw_log *log, const char *path, iw_doc_file **file_p,
                                              const iw_profile **profile_p);

typedef enum iw_requirement_state {
    IW_REQUIREMENT_MET,
    IW_REQUIREMENT_MISSED,
    IW_REQUIREMENT_UNKNOWN, /* cannot tell */
    IW_REQUIREMENT_STATES
} iw_requirement_state;

typedef struct iw_requirement {
    char name[64];   /* "nohz_full", "CPU time lost", "barrier" */
    bool is_setting; /* false: a limit of noise */
    iw_requirement_state state;
    char wanted[IW_MITIGATION_TEXT_SIZE], found[IW_MITIGATION_TEXT_SIZE];
    uint32_t ranks; /* of a job; else 0. This and the limit are known of what was just judged */
    double limit;   /* of the slowdown of a job, or of the share of time lost */
} iw_requirement;

/* ---- the check ---- */

typedef enum iw_check_outcome {
    IW_CHECK_GOOD,
    IW_CHECK_CONTRADICTED, /* a setting is not in effect, or not as required */
    IW_CHECK_UNKNOWN,      /* there is too little to tell */
    IW_CHECK_NOISY,        /* more noise than allowed */
    IW_CHECK_BUSY,         /* programs of users run: nothing can be said about noise */
    IW_CHECK_OUTCOMES
} iw_check_outcome;

/** "good", "contradicted", "unknown", "noisy", "busy". */
IW_API const char *iw_check_outcome_name(iw_check_outcome outcome);

/** For health checks: 0, 2, 3, 4, 5 in the order of iw_check_outcome. */
IW_API int iw_check_exit_code(iw_check_outcome outcome);

/** What noise costs one of the site's jobs. */
typedef struct iw_check_job {
    char name[32]; /* "barrier" */
    char what[160];
    char net[64]; /* the network that was simulated */
    uint32_t ranks;
    bool is_done;         /* false: there was no time left */
    uint64_t trials;      /* of each change; fewer than asked for where time was short */
    iw_estimate slowdown; /* T / T0 - 1 */
    double most_slowdown; /* its upper end, also where it is a lower bound: with longer detours of the kinds
                             that were recorded; 0: not known */
    char worst[96];       /* the source without which it would gain most; "": none */
    iw_estimate saving;   /* what that would gain */
    const char *remedy;   /* against it; may be NULL */
    iw_sensitivity sensitivity;
} iw_check_job;

/** The node among others: with fewer than so many, itself among them, nothing can be told. */
enum { IW_CHECK_FEW_NODES = 3 };

typedef struct iw_check_fleet {
    const char *path;     /* their folder, or file of digests */
    size_t node_count;    /* others, measured in the same way */
    size_t finding_count; /* with which this one stands out */
    char largest[256];    /* "irq/eno1 on CPU 3: 0.42 % of the time (fleet 0.01 %)"; "" */
} iw_check_fleet;

/** A shorter recording, for each CPU, says nothing about a node. */
#define IW_CHECK_SHORTEST_NS IW_SHORTEST_NS

#define IW_CHECK_LINE_SIZE 768

typedef struct iw_check {
    /* filled by the caller */
    const char *command; /* may be NULL */
    const char *profile; /* the file that it was; NULL: none */
    double took_s;
    iw_noise_report noise;
    const iw_verify *verify;
    size_t job_count;
    iw_check_job *jobs;
    bool has_baseline;
    const char *baseline; /* its file */
    iw_compare_verdict compared;
    iw_compare_value baseline_share; /* CPU time lost: a of the baseline, b now */
    bool has_fleet;
    iw_check_fleet fleet;
    iw_caveats caveats; /* of the network; iw_check_judge() adds those of the recording */
    bool is_watched;    /* programs of users ran: they were watched, and no job was simulated beside them */
    /* filled by iw_check_judge() */
    iw_check_outcome outcome;
    char line[IW_CHECK_LINE_SIZE]; /* for logs: "NOISY node07: CPU time lost 3.4 % (limit 1 %)" */
    size_t requirement_count;
    iw_requirement *requirements;
} iw_check;

typedef struct iw_check_opts {
    size_t size;               /* IW_CHECK_OPTS_INIT */
    const iw_profile *profile; /* NULL: only the two limits below */
    double most_lost;          /* share of CPU time */
    double most_slowdown;      /* of each job */
} iw_check_opts;

#define IW_CHECK_OPTS_INIT                      \
    {                                           \
        sizeof(iw_check_opts), NULL, 0.01, 0.10 \
    }

/** Compares what was found with what is required. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_check_judge(const iw_log *log, const iw_check_opts *opts, iw_check *check);
/** Frees what iw_check_judge() made. */
IW_API void iw_check_release(iw_check *check);

/** Schema "idlewave.check/3"; CSV has a line for each requirement. */
IW_API iw_doc iw_check_doc(const iw_check *check);

#ifdef __cplusplus
}
#endif
#endif
