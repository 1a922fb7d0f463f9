/* What was seen on a node's CPUs: from a recording, or from the kernel's counters. Plain data.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_OBSERVED_H
#define IWI_OBSERVED_H

#include <idlewave/noise.h>
#include <idlewave/recording.h>

/* A login or a file that is written comes as a burst of events, but is one thing that happened. Time is cut
 * into slots of at least this length; what comes in a slot and the next one may be one burst. */
#define IWI_BURST_NS INT64_C(1000000000)
enum { IWI_MOST_SLOTS = 65536 };

enum iwi_seen_by { IWI_SEEN_BY_NONE, IWI_SEEN_BY_RECORDING, IWI_SEEN_BY_COUNTERS };

/* One source on one CPU. */
struct iwi_seen_row {
    iw_source source;
    uint32_t place; /* of the CPU */
    uint64_t count;
    uint64_t *slots; /* a bit for each slot of time in which it came */
    double busy_ns;  /* of recordings */
};

struct iwi_seen_cpu {
    uint32_t cpu;
    double seconds;       /* watched */
    double idle;          /* share of that time; NaN: not told. Probes keep their CPU busy */
    double steal;         /* share of the time that the hypervisor admits to; NaN: not told */
    uint64_t least_count; /* counters that rose less may be missing; 0: none is missing */
};

struct iwi_observed {
    enum iwi_seen_by by;
    iw_attribution_level attribution;
    bool tells[IW_CLASSES];      /* sources of this class have been told apart */
    bool lacks_names;            /* of threads: preemptions are told, not by whom */
    bool is_counted[IW_CLASSES]; /* by counters, also with a recording whose attribution level does not name
                                    them */
    bool has_smi_count;
    double smi_count;  /* how often firmware interrupted */
    size_t slot_count; /* counters that come with a recording have one only */
    iw_cpu_set cpus;
    size_t cpu_count, row_count, row_capacity; /* rows: a CPU after the other */
    struct iwi_seen_cpu *seen_cpus;
    struct iwi_seen_row *rows;
};

/* Each to be released, whatever it gave. */
IW_NODISCARD iw_status iwi_observe_recording(const iw_log *log, const iw_recording *recording,
                                             struct iwi_observed *seen);

/* The counters of `root` over `watch_ns`, each second or seldomer. A root that holds a folder 'later' has
 * been copied twice ('later2', ...: more often), then /proc/uptime of the copies tells how far apart. Nothing
 * is observed if they do not differ in time. */
IW_NODISCARD iw_status iwi_observe_counters(const iw_log *log, const char *root, const iw_cpu_set *online,
                                            int64_t watch_ns, struct iwi_observed *seen);
bool iwi_is_copied_twice(const char *root);

void iwi_observed_release(struct iwi_observed *seen);

/* The row of a source on a CPU, made if new. NULL: no memory, logged. */
struct iwi_seen_row *iwi_observed_row(const iw_log *log, struct iwi_observed *seen, iw_class kind,
                                      const char *name, uint32_t place);

/* It came in this slot. */
void iwi_mark_slot(const struct iwi_observed *seen, struct iwi_seen_row *row, size_t slot);

/* What a counter of the kernel ("LOC", "24 nvme0q1", "softirq RCU") is as a source of recordings; false: none
 * that counts. */
bool iwi_source_of_counter(const char *counter, iw_source *source);

#endif
