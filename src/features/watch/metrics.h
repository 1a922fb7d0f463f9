/* What monitoring knows of a watching: counters that only rise, of a bounded number of sources.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_METRICS_H
#define IWI_METRICS_H

#include <stdbool.h>

#include <idlewave/watch.h>

enum { IWI_METRIC_PLACES = 32 };

/* Those of one name, without what tells apart CPUs and queues. */
struct iwi_metric_source {
    iw_source source;
    uint64_t seen_ns, seen_count; /* by the kernel, at the last snapshot */
    uint64_t now_ns, now_count;   /* and at this one */
    uint64_t ns, count;           /* since it has its place */
    int64_t moved_ns;             /* when it last took time */
    bool has_place;
};

struct iw_watch_metrics {
    const iw_log *log;
    char *watched;                     /* the job in words; NULL: no snapshot yet */
    struct iwi_metric_source *sources; /* by class and name */
    size_t source_count, capacity, placed;
    uint64_t other_ns, other_count; /* of sources without a place, while they had none */
    iw_watch_totals totals;
    uint64_t wait_others_ns; /* behind threads that are not of the job */
    iw_watch_losses losses;
    iw_watch_source all, classes[IW_CLASSES];
    int64_t updated_ns, load_ns;
};

/* The name that all queues of a device and all threads of a kind have: "kworker/3:1H" is "kworker",
 * "nvme0q12" is "nvme0q". */
void iwi_metric_name(const iw_source *source, iw_source *common);

#endif
