/* Where the metrics of a watching go: a file for node_exporter, or requests of Prometheus.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_WATCH_METRICS_H
#define IW_CLI_WATCH_METRICS_H

#include <idlewave/idlewave.h>

#include "features/watch/verb/http_page.h"

struct watch_metrics {
    const struct ui *ui;
    const char *file; /* NULL: a page */
    bool is_begun;
    int64_t due_ns; /* of the time that is watched: when to publish next */
    struct http_page page;
    iw_watch_metrics *metrics;
};

/* `where`: as the option says it. */
int watch_metrics_begin(const struct ui *ui, const char *where, struct watch_metrics *to);

/* For each snapshot; publishes those that are due. */
void watch_metrics_take(struct watch_metrics *to, const iw_watch_result *so_far);

/* Removes the file, so that nobody takes its last values for what is now. */
void watch_metrics_end(struct watch_metrics *to);

#endif
