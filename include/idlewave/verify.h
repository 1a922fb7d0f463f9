/* idlewave/verify.h - what a node is set up for against noise, and whether what was seen on it agrees.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_verify_opts opts = IW_VERIFY_OPTS_INIT;
 *     iw_verify *verify;
 *     opts.recording = recording;
 *     st = iw_verify_run(log, &opts, &verify);
 *     ...  verify->counts[IW_MITIGATION_CONTRADICTED] ...
 *     iw_verify_free(verify);
 *
 * Files of /proc, /sys, /etc and /run are read, nothing is ever written.
 */
#ifndef IW_VERIFY_H
#define IW_VERIFY_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/noise.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_mitigation_state {
    IW_MITIGATION_CONTRADICTED, /* configured, and what was seen says otherwise; or set up against itself */
    IW_MITIGATION_EFFECTIVE,    /* configured, and what was seen agrees */
    IW_MITIGATION_CONFIGURED,   /* there was nothing to check it against */
    IW_MITIGATION_UNKNOWN,      /* cannot tell; the evidence says what would */
    IW_MITIGATION_ABSENT,       /* not configured */
    IW_MITIGATION_STATES
} iw_mitigation_state;

#define IW_MITIGATION_TEXT_SIZE 920

typedef struct iw_mitigation {
    const char *name;    /* "nohz_full" */
    const char *removes; /* "the periodic tick" */
    iw_mitigation_state state;
    char setting[IW_MITIGATION_TEXT_SIZE];  /* as the node has it: "CPUs 2-7"; may be "" */
    char evidence[IW_MITIGATION_TEXT_SIZE]; /* what was seen; may be "" */
    char advice[IW_MITIGATION_TEXT_SIZE];   /* what to do, with commands; "" where nothing is to be done */
    bool is_felt;                           /* what it removes was seen, beyond what is allowed */
    bool is_to_do;  /* its advice is worth following: contradicted, or absent and felt */
    double seen_hz; /* what it removes, on the worst CPU that should be quiet; NaN: not known */
    double share;   /* of the time of these CPUs; NaN: not known */
    /* Sources of the recording that it removes, as patterns of iw_noise_set_mark(): "irq/local_timer". */
    size_t source_count;
    char **sources;
    bool has_worth; /* filled by the caller: what the job would gain without these sources */
    iw_estimate worth;
} iw_mitigation;

typedef struct iw_verify {
    size_t count;
    iw_mitigation *mitigations; /* by state, then the worst first */
    size_t counts[IW_MITIGATION_STATES];
    char host[256], kernel[256];
    int64_t boot_s;           /* when it was booted: seconds since 1970; 0: not known */
    iw_caveats caveats;       /* of the recording */
    char recorded_host[256];  /* the node that the recording is of, where that is another one; else "" */
    iw_cpu_set online, quiet; /* CPUs; those that are to be quiet */
    char quiet_origin[64];    /* what says that they are to be: "as given"; "" if none is */
    char watched[IW_MITIGATION_TEXT_SIZE]; /* what it was checked against: "a recording of CPUs 2-7, 60 s" */
    /* Filled by the caller where worths are: the job that they are for, and what noise costs it now. */
    char job[IW_MITIGATION_TEXT_SIZE]; /* "allreduce:ring on 8192 ranks"; "": none */
    iw_estimate slowdown;
    size_t remark_count;
    char (*remarks)[IW_MITIGATION_TEXT_SIZE]; /* about the node: virtual machine, container, ... */
} iw_verify;

typedef struct iw_verify_opts {
    size_t size;                   /* IW_VERIFY_OPTS_INIT */
    const char *root;              /* folder that holds the files; "": this machine */
    const iw_recording *recording; /* to check against; may be NULL */
    const iw_cpu_set *cpus;        /* of the application; NULL: what the node says */
    int64_t watch_ns;              /* without a recording: read counters twice, so far apart; 0: do not */
    const char *recording_name;    /* for people; NULL: "the recording" */
} iw_verify_opts;

#define IW_VERIFY_OPTS_INIT                             \
    {                                                   \
        sizeof(iw_verify_opts), "", NULL, NULL, 0, NULL \
    }

/** IW_ERR_IO: below the root are neither /proc/cmdline nor a list of CPUs: no node that runs. IW_ERR_RANGE:
 * it does not have these CPUs. IW_ERR_NOMEM. What cannot be read otherwise is no error but unknown. */
IW_API IW_NODISCARD iw_status iw_verify_run(const iw_log *log, const iw_verify_opts *opts,
                                            iw_verify **verify_p);
IW_API void iw_verify_free(iw_verify *verify);

/** "contradicted", "in effect", "configured", "cannot tell", "not configured". */
IW_API const char *iw_mitigation_state_name(iw_mitigation_state state);

/** After worths have been filled in: within a state the largest first; says anew what is to do. */
IW_API void iw_verify_sort(iw_verify *verify);

/** Schema "idlewave.verify/3"; CSV has a line for each mitigation. */
IW_API iw_doc iw_verify_doc(const iw_verify *verify);

/** One line for each contradiction, for logs; nothing if there is none. */
IW_API IW_NODISCARD iw_status iw_verify_write_brief(const iw_log *log, const iw_verify *verify, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
