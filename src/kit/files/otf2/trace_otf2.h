/* OTF2 archives: read by libotf2 in a child process, handed over as one block of memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_OTF2_H
#define IWI_TRACE_OTF2_H

#include <stdio.h>

#include "kit/files/trace/trace_read.h"

/* Reads the archive of this anchor file. */
IW_NODISCARD iw_status iwi_trace_otf2(const iw_log *log, const char *path, struct iw_trace **trace_p);

/* ---- the block ---- */

enum { IWI_ORIGIN_SIZE = 16 };

struct iwi_otf2_head {
    char magic[8];
    char origin[IWI_ORIGIN_SIZE];
    uint32_t rank_count, comm_count;
    uint64_t comms_at; /* offset of the communicators, behind all ranks */
    struct iwi_gaps gaps;
    struct iwi_function_uses uses;
    uint32_t has_cpu_time, distrusts_sources;
    int64_t zero_ns;
    uint64_t size_list_count, part_count; /* behind the communicators */
};

/* Before the calls and completed requests of each rank. */
struct iwi_otf2_rank {
    uint64_t call_count, completed_count;
    uint64_t request_count;
    iw_time last_compute_wall_ps, wall_ps;
    int64_t clock_added_ns[2];
    char node[IWI_TRACE_NODE_SIZE];
};

/* Before the members of each communicator; member_count 0: all ranks. */
struct iwi_otf2_comm {
    uint32_t size, member_count;
    char name[IWI_COMM_NAME_SIZE];
};

/* At the beginning of the file; also sets its magic. Again at the end, when all is known. */
void iwi_otf2_put_head(FILE *out, struct iwi_otf2_head *head);
/* Padded to 8 bytes. */
void iwi_otf2_put(FILE *out, const void *data, size_t size);
/* Writes the arrays of `rank`, padded to 8 bytes; failures are seen when the file is closed. */
void iwi_otf2_put_rank(FILE *out, const struct iwi_trace_rank *rank);
void iwi_otf2_put_comm(FILE *out, const struct iwi_comm *comm);

/* Makes a finished trace of a block, whose memory it takes over on success. */
IW_NODISCARD iw_status iwi_otf2_take(const iw_log *log, const char *path, void *bytes, size_t size,
                                     struct iw_trace **trace_p);

#endif
