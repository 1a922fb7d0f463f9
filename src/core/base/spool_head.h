/* The head of the files that a traced run writes until it ends: the tracer makes them, readers of traces must
 * know what a run that died has left.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SPOOL_HEAD_H
#define IWI_SPOOL_HEAD_H

#include <stdint.h>

#define IWI_SPOOL_FOLDER "spool" /* in the folder of the trace */

#define IWI_SPOOL_MAGIC UINT64_C(0x314c4f4f50535749) /* "IWSPOOL1" */

struct iwi_spool_head {
    uint64_t magic;
    uint32_t rank, world_size;
    uint32_t thread, version;
    uint64_t call_digest; /* of the names of calls: the numbers of another build mean other calls */
    int64_t realtime_ns;  /* CLOCK_REALTIME and CLOCK_MONOTONIC, read together */
    int64_t monotonic_ns;
    char host[64];
    char mpi[16];
    char cpu_clock[16];
};

#define IWI_SPOOL_VERSION 3
#define IWI_SPOOL_OLDEST 2 /* that can be finished */

#endif
