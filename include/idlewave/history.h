/* idlewave/history.h - the noise of a fleet over weeks: what changed, and on which nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_history *history;
 *     iw_digest *digest;
 *     st = iw_history_new(log, "noise", &history);
 *     st = iw_digest_make(log, "n0713", recording, &digest);
 *     st = iw_history_add(log, history, digest);
 *     st = iw_history_judge(log, history, NULL);
 *     iw_history_free(history);
 */
#ifndef IW_HISTORY_H
#define IW_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/caveat.h>
#include <idlewave/digest.h>
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/fleet.h>
#include <idlewave/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The fleet in one period. */
typedef struct iw_history_period {
    int64_t start_ns; /* since 1970, UTC */
    size_t node_count;
    iw_spread share;   /* of time lost, over nodes */
    double rate_hz;    /* of detours on a CPU, of the median node */
    double longest_ns; /* detour of the median node */
} iw_history_period;

/** A source that takes more or less of the fleet's time since the change, beyond chance. */
typedef struct iw_history_change {
    bool is_all; /* all sources together */
    iw_source source;
    size_t node_count;    /* that have recordings before and after */
    double before, after; /* share of time, of the median node */
    iw_estimate factor;   /* after over before, on average over nodes; 95 % */
} iw_history_change;

/** A node that changed more than the fleet did. */
typedef struct iw_history_node {
    const char *name;
    bool is_all; /* all sources together */
    iw_source source;
    double before, after; /* share of time */
    double factor;        /* after over before, over that of the median node */
    double limit;         /* factors from here on stand out */
} iw_history_node;

typedef struct iw_history_opts {
    size_t size;       /* IW_HISTORY_OPTS_INIT */
    int64_t period_ns; /* length of a period */
    int64_t
        change_ns; /* when something was changed, since 1970; 0: what came last is compared with all before */
    double false_alarms; /* of so many histories without a change at most one gets any alarm */
    double matters;      /* share of CPU time that is worth an alarm */
} iw_history_opts;

#define IW_HISTORY_OPTS_INIT                                                      \
    {                                                                             \
        sizeof(iw_history_opts), INT64_C(7) * 86400 * 1000000000, 0, 0.01, 0.0002 \
    }

struct iwi_history_data;

typedef struct iw_history {
    char *name;
    size_t digest_count;
    size_t undated_count; /* digests that do not say when: left out */
    size_t unreadable_count;
    /* since iw_history_judge(): */
    iw_history_opts opts;
    size_t node_count;   /* with a date */
    size_t paired_count; /* with recordings before and after the change */
    size_t period_count;
    iw_history_period *periods;       /* ascending; those without recordings are left out */
    int64_t change_ns;                /* periods from here on are after */
    size_t before_count, after_count; /* periods */
    uint64_t tests;
    double least_factor; /* of a change of the fleet that can be told from chance */
    size_t change_count;
    iw_history_change *changes; /* the largest first */
    size_t changed_node_count;
    iw_history_node *changed_nodes; /* the largest first */
    iw_caveats caveats;             /* of recordings of nodes that were at work */
    struct iwi_history_data *data;
} iw_history;

/** `name`: of the folder, for people. To be freed by iw_history_free(). IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_history_new(const iw_log *log, const char *name, iw_history **history_p);
IW_API void iw_history_free(iw_history *history);

/** Adds what a node lost at one time; nothing of the digest is kept. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_history_add(const iw_log *log, iw_history *history, const iw_digest *digest);

/** Finds what changed; once, when all is added. IW_ERR_RANGE: options out of range, or nothing has a date. */
IW_API IW_NODISCARD iw_status iw_history_judge(const iw_log *log, iw_history *history,
                                               const iw_history_opts *opts);

/** A judged history. CSV has a line for each period. */
IW_API iw_doc iw_history_doc(const iw_history *history);

#ifdef __cplusplus
}
#endif
#endif
