/* What the files of the plugin share: operations on their way, and those that are done, on their way to a
 * file.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * NCCL calls from the application's threads and from its proxy thread. None of these calls takes a lock,
 * allocates or writes: operations are in a table of slots, and done ones go through a ring to a thread of
 * our own. Where there is no room, what comes is dropped and counted.
 */
#ifndef IWI_NCCL_RECORDER_H
#define IWI_NCCL_RECORDER_H

#include <stdatomic.h>

#include "interface.h"

enum {
    IWI_NCCL_COMMS = 1024,      /* communicators at one time; a power of two */
    IWI_NCCL_SLOTS = 1 << 13,   /* operations on their way */
    IWI_NCCL_RECORDS = 1 << 14, /* done ones that are not written yet */
    IWI_NCCL_NAME_SIZE = 40,
    IWI_NCCL_FUNC_SIZE = 24
};

/* Nanoseconds of the wall clock for those of a GPU's timer. A GPU's time is told when the proxy thread sees
 * it, some time later: the least difference of the last second or two is nearest to the truth, and follows
 * clocks that drift apart. */
struct iwi_nccl_gpu_clock {
    _Atomic int64_t least_ns, least_before_ns; /* wall less GPU, in this second and in the one before */
    _Atomic int64_t second_begin_ns;
};

struct iwi_nccl_comm {
    _Atomic bool is_used;
    uint64_t id;
    char name[IWI_NCCL_NAME_SIZE];
    int32_t rank, ranks, nodes;
    _Atomic uint64_t colls, messages; /* started so far: the n-th is the same on all ranks */
    struct iwi_nccl_gpu_clock clock;
};

/* One operation of one rank, done. Times are nanoseconds of the wall clock. */
struct iwi_nccl_record {
    uint64_t comm_id, sequence, bytes;
    char comm_name[IWI_NCCL_NAME_SIZE], func[IWI_NCCL_FUNC_SIZE];
    int32_t rank, ranks, nodes, peer;
    bool is_message, has_kernel, is_gpu_time;
    int64_t start_ns, stop_ns, kernel_start_ns, kernel_stop_ns;
};

/* What is started: the same for all versions. */
struct iwi_nccl_started {
    const char *func, *datatype;
    uint64_t count;
    int peer;
    uint8_t channels;
    bool is_message;
};

int64_t iwi_nccl_wall_ns(void);
void iwi_nccl_clock_init(struct iwi_nccl_gpu_clock *clock);
void iwi_nccl_clock_saw(struct iwi_nccl_gpu_clock *clock, int64_t gpu_ns, int64_t wall_ns);
int64_t iwi_nccl_clock_wall(const struct iwi_nccl_gpu_clock *clock, int64_t gpu_ns);

/* ---- operations on their way (slots.c); handles are numbers, never followed, so that stale ones do no harm
 * ---- */

void *iwi_nccl_op_start(struct iwi_nccl_comm *comm, const struct iwi_nccl_started *op);       /* NULL: no room */
void *iwi_nccl_kernel_start(void *parent, uint8_t channel, uint64_t gpu_ns);             /* NULL: stale */
void iwi_nccl_kernel_stopped(void *handle, uint64_t gpu_ns);
void iwi_nccl_stop(void *handle);
void iwi_nccl_comm_end(struct iwi_nccl_comm *comm); /* drops what it has on its way */

/* ---- done ones (writer.c) ---- */

/* Opens the file and starts the thread, for the first communicator. False: steps aside, having said why. */
bool iwi_nccl_writer_begin(iwi_nccl_log_fn log);
/* Writes all that is there and ends the thread, after the last one. */
void iwi_nccl_writer_end(void);

void iwi_nccl_done(const struct iwi_nccl_record *record); /* dropped and counted if the ring is full */
void iwi_nccl_count_lost(void);

/* Whether this process began it; its children have no thread that writes. */
bool iwi_nccl_is_ours(void);

/* ---- lines (line.c) ---- */

struct iwi_nccl_origin {
    char host[64];
    long pid;
};

/* Writes a line with its end; how many bytes, 0: it does not fit. */
enum { IWI_NCCL_LINE_SIZE = 1024 };
size_t iwi_nccl_line(const struct iwi_nccl_record *record, const struct iwi_nccl_origin *origin,
                     int64_t now_ns, uint64_t lost, char line[IWI_NCCL_LINE_SIZE]);

#endif
