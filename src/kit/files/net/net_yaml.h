/* Networks as YAML; docs/reference/formats/net.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_YAML_H
#define IWI_NET_YAML_H

#include <idlewave/log.h>
#include <idlewave/net.h>
#include <idlewave/time.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/files/io/yaml_doc.h"

/* Of a file; iwi_net_release() it, behind all of its copies. `level`: as of iw_net_open(). */
IW_NODISCARD iw_status iwi_net_load(const iw_log *log, const char *path, const char *level, iw_net *net_p);

/* `name` stands for the text in messages, and its last part is the network's name unless the text has one. */
IW_NODISCARD iw_status iwi_net_read_memory(const iw_log *log, const char *name, const char *data, size_t size,
                                           const char *level, iw_net *net_p);

/* A network as a mapping within another document; called `name` unless it has one of its own. */
IW_NODISCARD iw_status iwi_net_read_node(struct iwi_yaml *yaml, const yaml_node_t *node, const char *name,
                                         iw_net *net_p);

/* By how much messages are delayed: a sequence of quantiles, or a mapping with a series, which has to be
 * released. The network is checked. */
IW_NODISCARD iw_status iwi_net_read_noise(const struct iwi_yaml_value *value, iw_net *net);

/* The node of each rank of a network whose levels and NICs have been read: a sequence. Last of all: what it
 * reads has to be released. */
IW_NODISCARD iw_status iwi_net_read_list(const struct iwi_yaml_value *value, iw_net *net);

/* Networks in files of other tools, which features read. */

struct iwi_net_reader {
    const char *what; /* for messages: "output of netgauge's loggp" */
    bool (*matches)(const char *data, size_t size);
    /* `path` is for messages; the network gets its name, and is checked, by the caller. */
    iw_status (*read)(const iw_log *log, const char *path, const char *data, size_t size, iw_net *net_p);
};

/* Ends with NULL; made of the features of this build. */
extern const struct iwi_net_reader *const iwi_net_readers[];

/* Messages between two ranks, timed one by one: what noise of the network does to each of them. */

/* Those of one size. */
struct iwi_ping_times {
    uint64_t bytes;
    size_t count;          /* at least 1 */
    iw_time *half_trip_ps; /* half round trips, in the order of time; above 0 */
    iw_time *sorted_ps;    /* the same, ascending: sorted_ps[0] is the floor */
    size_t run_count;      /* runs of the benchmark, with unknown time between them */
    size_t *run_first;     /* message with which each begins */
    double lag1;           /* correlation of a time with the next one of its run; 0 of less than 3 messages */
};

struct iwi_pings {
    size_t size_count;
    struct iwi_ping_times *sizes; /* ascending */
};

/* Reads what netgauge writes with `-x one_one -f FILE` (ng_netnoise_mpi_lat.out, ng_one_one_*.out). `path` is
 * for pings. IW_ERR_FORMAT, IW_ERR_TRUNCATED, IW_ERR_RANGE, IW_ERR_NOMEM. Release the result. */
IW_NODISCARD iw_status iwi_pings_read(const iw_log *log, const char *path, const char *data, size_t size,
                                      struct iwi_pings *pings_p);

/* The least time that at least the share q (0 to 1) of the messages does not exceed. */
iw_time iwi_pings_quantile(const struct iwi_ping_times *times, double q);

void iwi_pings_release(struct iwi_pings *pings);

#endif
