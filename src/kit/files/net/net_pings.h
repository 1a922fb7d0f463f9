/* Messages between two ranks, timed one by one: what noise of the network does to each of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * netgauge (`-x one_one -f FILE`) writes a line for each: its size, and half its round trip in microseconds
 * in a column that it calls rtt. Times hold the noise of the CPUs that timed them too, and are multiples of
 * the step of their clock.
 */
#ifndef IWI_NET_PINGS_H
#define IWI_NET_PINGS_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>
#include <idlewave/time.h>

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
