/* idlewave/fleet.h - the noise of many nodes: folders of noise files, one a node, and which nodes stand out.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     srun idlewave record -o noise/$(hostname).h5
 *
 *     iw_folder *folder;
 *     st = iw_folder_list(log, "noise", &folder);
 *     ... iw_recording_load(log, folder->paths[0], &recording) ...
 *     iw_folder_free(folder);
 */
#ifndef IW_FLEET_H
#define IW_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/caveat.h>
#include <idlewave/digest.h>
#include <idlewave/doc.h>
#include <idlewave/log.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- which nodes stand out ---- */

typedef enum iw_fleet_metric {
    IW_FLEET_SHARE,   /* of the time of the average CPU, or of one */
    IW_FLEET_RATE,    /* detours a second, of the average CPU, or of one */
    IW_FLEET_LONGEST, /* detour in ns, of all CPUs, or of one */
    IW_FLEET_METRICS
} iw_fleet_metric;

/** Over nodes. */
typedef struct iw_spread {
    double min, q1, median, q3, p95, max;
} iw_spread;

typedef struct iw_fleet_node {
    char *name; /* the file's, without its folder and ".h5" */
    size_t cpu_count;
    int64_t start_ns;  /* of the recording, since 1970, UTC; 0: not known */
    double watched_ns; /* summed over CPUs */
    double value[IW_FLEET_METRICS];
    bool is_busy;         /* programs of users ran while it was recorded: load rather than noise */
    size_t finding_count; /* 0: nothing stands out */
    char largest[IW_SOURCE_NAME_SIZE + 16]; /* what stands out most: "irq/eno1"; "all" sources together; "" */
} iw_fleet_node;

/** A source over the fleet: names that differ only in numbers (kworker/0:1, kworker/3:2) are one. */
typedef struct iw_fleet_source {
    iw_source source;          /* numbers that differ are '*' */
    size_t node_count;         /* that have it */
    iw_spread share;           /* over all nodes */
    iw_detour_lengths lengths; /* each the median of the nodes that have it */
} iw_fleet_source;

/** One source on one node that is noisier than on the others, by more than chance and by enough to matter. */
typedef struct iw_fleet_finding {
    const char *node; /* the name of it */
    bool is_all;      /* all sources together: no single one stands out */
    iw_source source; /* as that node has it: the largest, where several names are one source */
    bool has_cpu;     /* one CPU has most of it; the numbers are about this one */
    uint32_t cpu;
    iw_fleet_metric metric; /* that stands out: share before rate before longest */
    double value, median;   /* of the fleet; 0: most nodes do not have it */
    double limit;           /* values from here on stand out; NaN where it was judged by its occurrences */
    double others_max;      /* the largest of the nodes that do not stand out with this source */
    size_t others_count;
    size_t having_count; /* nodes with this source there */
    double excess_share; /* of CPU time, above the median */
    /* Of the source, on all CPUs: */
    iw_detour_lengths lengths;        /* of this node */
    iw_detour_lengths others_lengths; /* each the median of nodes that do not stand out with it; all 0: none
                                         of them has it */
} iw_fleet_finding;

typedef enum iw_fleet_difference_kind {
    IW_FLEET_MISSING, /* a source that nearly all others have */
    IW_FLEET_QUIETER  /* all sources together take less than can be chance */
} iw_fleet_difference_kind;

/** Not noisier, but different. */
typedef struct iw_fleet_difference {
    iw_fleet_difference_kind kind;
    const char *node; /* the name of it */
    iw_source source; /* of IW_FLEET_MISSING */
    double value, median;
} iw_fleet_difference;

/** Nodes that agree on a fact that not all agree on. */
typedef struct iw_fleet_group {
    const char *fact; /* "kernel", "governor", "cpus", ... */
    char *value;      /* "" where it is not said */
    size_t node_count;
    size_t first_count;
    const char *first[4]; /* names of the first so many */
} iw_fleet_group;

/** A file that could not be used. */
typedef struct iw_fleet_unreadable {
    char *name, *reason;
} iw_fleet_unreadable;

typedef struct iw_fleet_opts {
    size_t size;         /* IW_FLEET_OPTS_INIT */
    double false_alarms; /* of so many fleets of equal nodes at most one gets any alarm: 0.01 is 1 in 100 */
    double matters;      /* share of CPU time above the median that is worth an alarm */
    uint32_t threads;    /* 0: as many as CPUs allowed; the answer is the same */
} iw_fleet_opts;

#define IW_FLEET_OPTS_INIT                     \
    {                                          \
        sizeof(iw_fleet_opts), 0.01, 0.0002, 0 \
    }

/** Fewer nodes have no distribution to stand out of: each is compared with the others. Fewer than the few
 * cannot be told apart from chance. */
enum { IW_FLEET_LEAST_NODES = 12, IW_FLEET_FEW_NODES = 3 };

struct iwi_fleet_cells; /* sums by node, CPU and source */

typedef struct iw_fleet {
    char *name; /* of the folder */
    size_t node_count;
    iw_fleet_node *nodes; /* in the order of adding; once judged, those that stand out first, then by share */
    size_t unreadable_count;
    iw_fleet_unreadable *unreadable;
    /* since iw_fleet_judge(): */
    iw_fleet_opts opts;
    uint64_t tests;    /* among so many comparisons */
    double few_factor; /* a few nodes: from so many times the others' value on one stands out, if they differ
                          as nodes usually do; else NaN */
    iw_spread spread[IW_FLEET_METRICS];
    double watched_ns; /* summed over nodes */
    size_t source_count;
    iw_fleet_source *sources; /* the largest mean share first */
    size_t finding_count, outlier_count;
    iw_fleet_finding *findings; /* the largest excess first, those of a node together */
    size_t difference_count;
    iw_fleet_difference *differences;
    size_t group_count;
    iw_fleet_group *groups; /* by fact, the largest first */
    iw_caveats caveats;     /* of the nodes together */
    struct iwi_fleet_cells *cells;
} iw_fleet;

/** `name`: of the folder, for people. */
IW_API IW_NODISCARD iw_status iw_fleet_new(const iw_log *log, const char *name, iw_fleet **fleet_p);
IW_API void iw_fleet_free(iw_fleet *fleet);

/** "noise/n0713.h5" is node "n0713"; to be freed. NULL: no memory. */
IW_API char *iw_node_name(const iw_log *log, const char *path);

/** Adds the sums of a node; nothing of the recording is kept. `path`: its file. */
IW_API IW_NODISCARD iw_status iw_fleet_add(const iw_log *log, iw_fleet *fleet, const char *path,
                                           const iw_recording *recording);

/** The same of what was summed up before. */
IW_API IW_NODISCARD iw_status iw_fleet_add_digest(const iw_log *log, iw_fleet *fleet,
                                                  const iw_digest *digest);

/** Where digests come from, in the same order each time. */
typedef struct iw_digest_stream {
    void *arg;
    iw_status (*rewind)(const iw_log *log, void *arg);
    iw_status (*next)(const iw_log *log, void *arg, iw_digest **digest_p); /* NULL behind the last */
    /* To other processes, whose streams have further digests: those of the first come first. NULL: this
     * process has all of them. */
    const struct iw_link *link;
    /* Behind the first reading: whether others are this process's own than were read, so that all is read
     * again. Then it is asked again. NULL: they never are. */
    iw_status (*settle)(const iw_log *log, void *arg, bool *is_other_p);
    /* Of what is read next, only cells of CPUs with these numbers are needed (iw_digest_file_want()), so
     * reading again is cheap. NULL: it is not, and all are given. */
    void (*want)(void *arg, uint32_t first_cpu, uint32_t end_cpu);
} iw_digest_stream;

/** Adds all of them to a new fleet; of several digests of a node the latest. The fleet reads them again, for
 * the CPUs of large fleets in parts, until it is judged: memory grows with nodes and not with their CPUs.
 * Collective over the processes of a link, as are merging and judging: when one process fails, whoever
 * started the others has to end them. */
IW_API IW_NODISCARD iw_status iw_fleet_read(const iw_log *log, iw_fleet *fleet,
                                            const iw_digest_stream *stream);

/** Brings together what the processes of a link have read, before it is judged: the first one has all nodes
 * and all files that could not be read. Nothing without a link. */
IW_API IW_NODISCARD iw_status iw_fleet_merge(const iw_log *log, iw_fleet *fleet);

/** Notes that a file could not be read. */
IW_API IW_NODISCARD iw_status iw_fleet_add_unreadable(const iw_log *log, iw_fleet *fleet, const char *path,
                                                      const char *reason);

/** Finds what stands out; once, when all nodes are added. Of several processes the first one has the answer.
 * IW_ERR_RANGE: no node, or options out of range. */
IW_API IW_NODISCARD iw_status iw_fleet_judge(const iw_log *log, iw_fleet *fleet, const iw_fleet_opts *opts);

/** "share", "rate", "longest". */
IW_API const char *iw_fleet_metric_name(iw_fleet_metric metric);

/** A judged fleet: which nodes stand out, with what, and what to do; what the fleet is like. CSV has a line
 * for each node. */
IW_API iw_doc iw_fleet_doc(const iw_fleet *fleet);

/** What the digest of one node says: sources, lengths of detours, settings. CSV has a line for each source.
 */
IW_API iw_doc iw_digest_doc(const iw_digest *digest);

#ifdef __cplusplus
}
#endif
#endif
