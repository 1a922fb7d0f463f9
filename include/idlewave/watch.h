/* idlewave/watch.h - what running jobs lose to noise, told by the kernel, without a probe.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 * A CPU is wanted while a thread of the job runs on it, or waits for it after being preempted. A detour is
 * wanted time that is not spent in the job's own threads. Sleep, waiting on waking or behind own threads,
 * quotas and the waking of an idle CPU are none.
 */
#ifndef IW_WATCH_H
#define IW_WATCH_H

#include <stdbool.h>

#include <idlewave/analysis.h>
#include <idlewave/doc.h>
#include <idlewave/measure.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { IW_WATCH_SLOTS = 40, IW_WATCH_MOST_PARTS = 17 };

/** A detour as it is seen, for those who want to know at once. */
typedef struct iw_watch_event {
    uint32_t cpu;
    int64_t start_ns, duration_ns; /* since the watching began, on CLOCK_MONOTONIC_RAW */
    bool is_waking;                /* only threads waited that had just been woken: told, but no noise */
    size_t part_count;
    struct {
        iw_source source;
        int64_t ns;
    } parts[IW_WATCH_MOST_PARTS];
    /* Where the thread that had the CPU was at the last tick: "chacha_block < urandom_read_iter < vfs_read",
     * the innermost function first, or "user space". "": no tick came meanwhile, or the kernel hides its
     * functions. */
    char stack[512];
    /* Who called it there: "burn < run < main < libc.so.6+0x2724a", as far as frame pointers lead, and in
     * brackets why no further. "": as above, or a kernel thread, which has no other stack. */
    char user_stack[512];
    bool is_kernel_thread;
    iw_source stack_source; /* whose stacks these are */
} iw_watch_event;

struct iw_watch_result;

/** How the kernel is asked. */
typedef enum iw_watch_attribution {
    IW_WATCH_AUTO,    /* by programs in the kernel, or else, where only a recording is wanted, by its trace
                         events */
    IW_WATCH_BPF,     /* programs in the kernel: all of this header */
    IW_WATCH_EVENTS,  /* trace events, from tracefs or perf: a recording of all detours, with a row for each
                        thread instead of each CPU; waiting after being woken is not seen */
    IW_WATCH_TRACEFS, /* these, of tracefs only */
    IW_WATCH_PERF     /* of perf only */
} iw_watch_attribution;

typedef struct iw_watch_opts {
    size_t size; /* IW_WATCH_OPTS_INIT */
    /* The job: processes and all that descend from them, or a control group and all below it. */
    const uint32_t *pids;
    size_t pid_count;
    const char *cgroup;   /* its folder */
    const uint32_t *cpus; /* NULL: all that the machine has online */
    size_t cpu_count;
    int64_t duration_ns;  /* 0: until the job ends */
    int64_t threshold_ns; /* shorter detours are counted, but not kept one by one */
    int64_t ring_bytes;   /* room between kernel and watcher; 0: chosen */
    const char *command;  /* for the recording's attributes; may be NULL */
    const iw_measure_sink *sink;
    iw_progress progress; /* counts nanoseconds; false ends the watching, which then is IW_OK */
    /* For each detour of at least notable_ns; NULL: nobody wants to know. */
    void (*on_event)(void *arg, const iw_watch_event *event);
    int64_t notable_ns;
    /* Each snapshot_ns, with all so far, but recording NULL. May be NULL. */
    void (*on_snapshot)(void *arg, const struct iw_watch_result *so_far);
    int64_t snapshot_ns;
    void *arg;
    /* For watching without end: no detour is kept one by one, the recording stays empty, and a control group
     * may be empty for a while. */
    bool wants_sums_only;
    iw_watch_attribution attribution;
} iw_watch_opts;

#define IW_WATCH_OPTS_INIT                                                                                  \
    {                                                                                                       \
        sizeof(iw_watch_opts), NULL, 0, NULL, NULL, 0, 0, 0, 0, NULL, NULL, {NULL, NULL}, NULL, 0, NULL, 0, \
            NULL, false, IW_WATCH_AUTO                                                                      \
    }

/** Slot k counts what took [2^k, 2^(k+1)) ns. */
typedef struct iw_watch_source {
    iw_source source;
    uint64_t count, time_ns;
    uint64_t slots[IW_WATCH_SLOTS];
} iw_watch_source;

/** Where the time went, summed over CPUs. */
typedef struct iw_watch_totals {
    uint64_t wanted_ns;         /* CPUs were wanted so long */
    uint64_t lost_ns;           /* of that, in detours; */
    uint64_t detours;           /* so many */
    uint64_t run_ns;            /* threads ran, interruptions included */
    uint64_t wait_ns;           /* threads were ready and did not run, whyever but for quotas; */
    uint64_t wait_own_ns;       /* of that, while another thread of the job ran */
    uint64_t wait_waking_ns;    /* of that, after being woken, for what was under way or came first */
    uint64_t throttled_ns;      /* threads were stopped by a quota */
    uint64_t steal_unplaced_ns; /* the hypervisor took it, but nobody knows from whom */
    uint64_t nmi_count, nmi_ns; /* while the job ran; not among the detours */
    uint64_t slices, migrations;
} iw_watch_totals;

/** What was not seen, or not in full. */
typedef struct iw_watch_losses {
    uint64_t detours, time_ns; /* the ring was full: counted in the sums, not in the recording */
    uint64_t parts;            /* sources of detours that had too many: counted as "other" */
    uint64_t names, threads;   /* no room in a table */
    uint64_t skipped;          /* events that were not seen: the next one on that CPU shows it */
} iw_watch_losses;

/** How a watched CPU was used. */
typedef struct iw_watch_cpu {
    uint32_t cpu;
    uint64_t wanted_ns, lost_ns, detours;
    bool is_kept; /* in the recording */
} iw_watch_cpu;

typedef struct iw_watch_result {
    char *job;          /* in words: "process 1234" */
    int64_t watched_ns; /* wall-clock time */
    int64_t load_ns;    /* until the programs ran */
    iw_watch_totals totals;
    iw_watch_losses losses;
    size_t source_count; /* the largest first */
    iw_watch_source *sources;
    iw_watch_source all; /* whole detours; its source is the unknown one */
    size_t cpu_count;
    iw_watch_cpu *cpus;
    iw_recording *recording;
} iw_watch_result;

/** Watches until the time is over, the job has ended or `progress` says so. A job that slept all the time has
 * totals.wanted_ns 0, and a recording that says nothing. Needs CAP_BPF and CAP_PERFMON, or
 * root; *result_p is to be freed by iw_watch_result_free(). Nothing is left in the kernel afterwards, also if
 * the process is killed. IW_ERR_UNSUPPORTED (this build or kernel cannot), IW_ERR_IO (not permitted, with
 * what is missing), IW_ERR_RANGE (no such job). */
IW_API IW_NODISCARD iw_status iw_watch(const iw_log *log, const iw_watch_opts *opts,
                                       iw_watch_result **result_p);
IW_API void iw_watch_result_free(iw_watch_result *result);

/** What a watching says. */
typedef struct iw_watch_report {
    const char *file; /* where its recording was saved */
    iw_noise_report noise;
    iw_watch_result watch;
} iw_watch_report;

/** `result` is needed as long as the report. To be released by iw_noise_report_release(&report->noise). */
IW_API IW_NODISCARD iw_status iw_watch_report_init(const iw_log *log, const iw_watch_result *result,
                                                   const char *file, iw_watch_report *report);
IW_API iw_doc iw_watch_doc(const iw_watch_report *report);

/* ======== Metrics ========
 * For Prometheus and what reads its formats. Counters only rise, whatever the kernel's sums do meanwhile, and
 * the number of series is bounded: 32 sources have series of their own, the others are one together.
 */

typedef struct iw_watch_metrics iw_watch_metrics;

typedef enum iw_metrics_format {
    IW_METRICS_PROMETHEUS, /* text format 0.0.4, which node_exporter's textfile collector reads */
    IW_METRICS_OPENMETRICS /* text format 1.0.0 */
} iw_metrics_format;

/** `log` is needed as long as the metrics. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_watch_metrics_new(const iw_log *log, iw_watch_metrics **metrics_p);
IW_API void iw_watch_metrics_free(iw_watch_metrics *metrics);

/** Takes a snapshot, at `now_ns` since 1970; each must be of the same watching, and later than the one
 * before. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_watch_metrics_update(iw_watch_metrics *metrics,
                                                      const iw_watch_result *so_far, int64_t now_ns);

/** All of it as text, to be freed. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_watch_metrics_text(const iw_watch_metrics *metrics, iw_metrics_format format,
                                                    char **text_p);

/** The folder of the control group of a Slurm job on this node; to be freed. IW_ERR_RANGE: there is none. */
IW_API IW_NODISCARD iw_status iw_watch_slurm_cgroup(const iw_log *log, uint64_t job, char **path_p);

/* ======== Traced jobs ======== */

typedef struct iw_job_watch_opts {
    size_t size;         /* IW_JOB_WATCH_OPTS_INIT */
    const char *job;     /* threads of processes with IDLEWAVE_TRACE_KERNEL=RANK:job in their environment are
                            watched;     NULL: only those of next_rank() */
    const char *command; /* for the recording's attributes; may be NULL */
    void (*on_ready)(void *arg); /* from here on nothing is missed; may be NULL */
    bool (*sleep)(void *arg);    /* for about a second; false: the job has ended */
    bool (*next_rank)(void *arg, int64_t *pid_p, uint32_t *rank_p); /* a rank that has been started meanwhile;
                                                                      false: no more. May be NULL */
    void *arg;
    bool wants_wanted_time; /* clocks of the recording stand still while their thread sleeps or waits for the
                               job's own ones */
    iw_attribution attribution; /* AUTO: tracefs, else perf; or one of these */
} iw_job_watch_opts;

#define IW_JOB_WATCH_OPTS_INIT                                                                    \
    {                                                                                             \
        sizeof(iw_job_watch_opts), NULL, NULL, NULL, NULL, NULL, NULL, false, IW_ATTRIBUTION_AUTO \
    }

/** Watches the ranks of a job on this node without a probe, by the kernel's own events (a private tracefs
 * instance, else perf): what they lose to interrupts, and to other threads while they could run. The
 * recording has one `cpu` for each rank seen, whose number is the rank; time 0 is the attribute start_mono_ns
 * on CLOCK_MONOTONIC, with an error of at most clock_error_ns. Everything is put back when it returns, and if
 * the process is killed. IW_ERR_IO: the rights for it are missing, and what to do is logged. */
IW_API IW_NODISCARD iw_status iw_watch_job(const iw_log *log, const iw_job_watch_opts *opts,
                                           iw_recording **recording_p);

#ifdef __cplusplus
}
#endif
#endif
