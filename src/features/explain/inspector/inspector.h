/* Lines of NCCL's Inspector plugin: what was read of them, and how it becomes visits.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A line is one rank's part of one collective or message. It names the rank within its communicator only;
 * who that is in the job follows when all lines have been read: a process is the same in all communicators.
 */
#ifndef IWI_INSPECTOR_H
#define IWI_INSPECTOR_H

#include "features/explain/arrivals/visits.h"

enum { IWI_INSPECTOR_ID_SIZE = 32, IWI_INSPECTOR_NAME_SIZE = 40, IWI_INSPECTOR_HOST_SIZE = 64 };

struct iwi_inspector_comm {
    char id[IWI_INSPECTOR_ID_SIZE], name[IWI_INSPECTOR_NAME_SIZE]; /* name: "" if it has none */
    uint32_t size, traced;
    uint32_t group; /* of the visits */
};

struct iwi_inspector_process {
    char host[IWI_INSPECTOR_HOST_SIZE];
    uint64_t pid;
    uint32_t first_gpu; /* index of its first GPU among all */
    uint32_t gpus;
};

/* A rank of a communicator in a process. */
struct iwi_inspector_seat {
    uint32_t process, comm, rank;
    uint32_t gpu;   /* of the process: the n-th of its ranks in the communicator */
    uint32_t index; /* of the rank in the visits */
};

struct iwi_inspector_line {
    uint32_t seat, comm;
    uint32_t sender, receiver; /* of a message: ranks of the communicator */
    uint8_t op;
    bool is_receiver, has_times;
    uint64_t sequence,
        bytes; /* sequence: in the file, of the rank's messages; later of sender and receiver */
    int64_t enter_us, leave_us; /* of the kernel, by the host's wall clock */
    int64_t took_us, written_us;
};

struct iwi_inspector {
    const iw_log *log;
    struct iwi_inspector_comm *comms;
    struct iwi_inspector_process *processes;
    struct iwi_inspector_seat *seats;
    struct iwi_inspector_line *lines;
    size_t comm_count, process_count, seat_count, line_count;
    size_t comm_capacity, process_capacity, seat_capacity, line_capacity;
    size_t first_seat;       /* of the file that is being read: those before are of other files */
    uint64_t cut, timed;     /* files whose last line is cut off; lines with times */
    bool skips_small;        /* not all lines are of idlewave's own plugin (nccl/) */
    uint64_t lost, unpaired; /* collectives and messages that were left out */
};

void iwi_inspector_init(struct iwi_inspector *all, const iw_log *log);
void iwi_inspector_release(struct iwi_inspector *all);

/* The lines of one file; `path` NULL: of memory. A last line that is cut off is left out. */
IW_NODISCARD iw_status iwi_inspector_read(struct iwi_inspector *all, const char *path, const char *name,
                                          const void *data, size_t size);

/* Ranks, groups and visits of all lines, finished; notes of what they lack. */
IW_NODISCARD iw_status iwi_inspector_fill(struct iwi_inspector *all, struct iwi_visits *visits);

#endif
