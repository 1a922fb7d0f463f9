/* What keeps a real-time thread from taking a CPU for good, open to tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BACK_END_FIFO_H
#define IWI_BACK_END_FIFO_H

#include "features/replay/injector.h"

struct iwi_fifo_limits {
    int64_t heartbeat_ns; /* the watchdog, a thread of normal priority, says so often that it runs, */
    int64_t silence_ns;   /* and when it has not for so long, no detour is made */
    int64_t overrun_ns;   /* a detour that is so much longer than planned loses its priority for good */
};

#define IWI_FIFO_LIMITS                                                        \
    {                                                                          \
        .heartbeat_ns = INT64_C(500000000), .silence_ns = INT64_C(2000000000), \
        .overrun_ns = INT64_C(1000000000)                                      \
    }

IW_NODISCARD iw_status iwi_fifo_open(const iw_log *log, iw_injector *injector,
                                     const struct iwi_fifo_limits *limits);

#endif
