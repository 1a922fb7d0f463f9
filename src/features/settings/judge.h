/* Mitigations: one table of them, each with a function that judges facts against what was seen.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Judging reads no files and asks no clock: the same facts give the same answer.
 */
#ifndef IWI_JUDGE_H
#define IWI_JUDGE_H

#include <idlewave/verify.h>

#include "features/settings/node.h"
#include "features/settings/observed.h"

/* What there is to judge. */
struct iwi_case {
    const struct iwi_node_facts *node;
    const struct iwi_observed *seen;
    bool is_told;         /* the application's CPUs are known: given, or those of the batch job */
    iw_cpu_set quiet;     /* CPUs that are to be quiet: the application's, or else those that are set apart */
    iw_cpu_set rest;      /* all others */
    iw_cpu_set looked_at; /* quiet ones, or all that were watched where none is to be quiet */
};

void iwi_case_init(struct iwi_case *c, const struct iwi_node_facts *node, const struct iwi_observed *seen,
                   const iw_cpu_set *cpus);

/* The same as if these were all that are to be quiet. */
struct iwi_case iwi_case_of(const struct iwi_case *c, const iw_cpu_set *cpus);

/* Sources by patterns of "class/name"; both lists end with NULL, `except` may be NULL. */
struct iwi_source_patterns {
    const char *const *patterns, *const *except;
};

bool iwi_source_patterns_have(const struct iwi_source_patterns *sources, const iw_source *source);

struct iwi_mitigation_ops {
    const char *name, *removes;
    struct iwi_source_patterns sources; /* that it removes */
    /* What to do, where something is to be done and the judge does not say: {quiet}, {rest} and {rest_mask}
     * become CPUs. */
    const char *advice;
    /* Fills state, setting, evidence; may fill the rest. False: means nothing on this node. */
    bool (*judge)(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m);
};

extern const struct iwi_mitigation_ops iwi_nohz_full, iwi_fair_server, iwi_rcu_nocbs, iwi_timer_migration,
    iwi_skew_tick, iwi_isolation, iwi_core_spec, iwi_workqueue_mask, iwi_smt, iwi_irq_affinity, iwi_thp,
    iwi_ksm, iwi_numa_balancing, iwi_compaction, iwi_stat_interval, iwi_governor, iwi_idle_states,
    iwi_clocksource, iwi_nmi_watchdog, iwi_soft_watchdog, iwi_tuned, iwi_bare_metal, iwi_turbo, iwi_epp,
    iwi_uncore, iwi_machine_checks, iwi_no_quota, iwi_preemption, iwi_no_sched_ext, iwi_ext_server,
    iwi_services, iwi_threads_pinned, iwi_no_smi, iwi_rps, iwi_send_queues, iwi_block_queues,
    iwi_near_devices;

/* All of them; NULL after the last. */
extern const struct iwi_mitigation_ops *const iwi_mitigations[];

/* One of them judged. False: it means nothing on this node. */
bool iwi_judge(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m);

/* ---- what judges use ---- */

/* Appends to a text of a mitigation. */
void iwi_judge_say(char text[IW_MITIGATION_TEXT_SIZE], const char *format, ...) IW_PRINTF(2, 3);

enum { IWI_RATE_SIZE = 40, IWI_CPUS_SIZE = 96, IWI_LIST_SIZE = 200 };
const char *iwi_hz_text(double hz, char buf[IWI_RATE_SIZE]);               /* "250/s", "1.5/min" */
const char *iwi_cpus_text(const iw_cpu_set *set, char buf[IWI_CPUS_SIZE]); /* "CPU 3", "CPUs 2-7" */

/* A list for a command: all of it, or a word that stands for it where it is too long. */
const char *iwi_list_text(const iw_cpu_set *set, const char *word, char buf[IWI_LIST_SIZE]);

/* Of CPUs that a setting is for those that count: the application's, where these are known. */
iw_cpu_set iwi_cpus_concerned(const struct iwi_case *c, const iw_cpu_set *cpus);

/* Tells of the application's CPUs that a setting is not for. */
void iwi_say_outside(const struct iwi_case *c, const iw_cpu_set *cpus, iw_mitigation *m);

/* What was seen of some sources on some CPUs. */
struct iwi_tally {
    size_t cpu_count; /* watched, of those asked for */
    bool is_told;     /* the classes were named */
    uint64_t count;
    double seconds, share; /* sums over CPUs; share of the time */
    uint32_t worst_cpu;    /* with the highest rate */
    uint64_t worst_count;
    double worst_seconds;
    uint64_t most_bursts; /* on one CPU, at least, and how long that was watched */
    double most_bursts_seconds;
    uint64_t tellable_bursts;       /* no more could have been told apart */
    bool is_cut;                    /* counters that rose little were not kept: zero may mean some */
    bool is_idle, is_worst_idle;    /* the CPUs, the worst of them, had mostly nothing to do */
    char names[IWI_NODE_TEXT_SIZE]; /* the most frequent: "eno1-rx-3 120/s, nvme0q4 2/s" on the worst CPU */
};

void iwi_tally(const struct iwi_case *c, const iw_cpu_set *cpus, const struct iwi_source_patterns *sources,
               struct iwi_tally *tally);

enum iwi_finding {
    IWI_NOT_WATCHED, /* nothing was watched at all */
    IWI_ELSEWHERE,   /* other CPUs were */
    IWI_NOT_NAMED,   /* such sources are not named */
    IWI_ONE_BURST,   /* many, which may be one thing that happened: their times are not known well enough */
    IWI_TOO_SHORT,   /* nothing beyond what is allowed, but it might have been missed */
    IWI_QUIET,
    IWI_LOUD /* more than allowed, beyond chance */
};

/* A count n in the time t is called loud where a Poisson process of the allowed rate a gives as many with
 * less than this probability: P(N >= n | a t); of several CPUs the worst counts, and the probability is
 * divided by their number. Where less than one a second is allowed n counts bursts: events of a burst do not
 * come by themselves. */
#define IWI_CHANCE 0.001

/* How a setting is judged by what was seen. */
struct iwi_rate_check {
    bool is_configured;
    const iw_cpu_set *cpus;                    /* it is for these */
    const struct iwi_source_patterns *sources; /* must not come there more often than allowed */
    double allowed_hz, loud_hz;
    bool is_sure; /* the setting speaks for itself: where nothing is seen, it is 'configured' */
};

/* Sets the state, adds to the evidence, fills is_felt, seen_hz, share. */
void iwi_conclude(const struct iwi_case *c, const struct iwi_rate_check *check, iw_mitigation *m);

/* A setting that nothing seen can confirm: configured, absent, or unknown. */
void iwi_conclude_setting(iw_mitigation *m, bool is_known, bool is_configured);

#endif
