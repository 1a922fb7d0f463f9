/* How a check divides its time between looking, measuring and jobs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CHECK_TIMES_H
#define IW_CLI_CHECK_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct asked_times {
    int64_t within_ns, duration_ns; /* duration 0: as long as `within` allows */
    bool is_within_typed, is_duration_typed;
    bool wants_watch, has_jobs;
};

struct check_times {
    int64_t within_ns; /* all of it, from the start */
    bool has_look;     /* at who uses the CPUs, before anything is measured */
    int64_t look_ns;
    int64_t measured_ns;
    int64_t busy_ns; /* how long programs that keep the node busy are watched */
};

struct check_times check_times_of(const struct asked_times *asked);

#endif
