/* GOAL schedules in memory and in files; docs/reference/formats/goal.md describes both forms.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GOAL_H
#define IWI_GOAL_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "core/program/program.h"
#include "kit/files/io/input.h"
#include "kit/files/io/out.h"

/* First word of a binary schedule; the second is what a --save-mem run of LogGOPSim leaves behind. */
#define IWI_GOAL_MAGIC UINT64_C(4223)
#define IWI_GOAL_MAGIC_SPENT UINT64_C(2342)

/* With the largest G that iw_net_check() lets pass, one message stays far from the end of iw_time. */
#define IWI_GOAL_MOST_BYTES (UINT64_C(1) << 40)

/* Highest cpu or nic id: struct iwi_schedule counts them in 8 bits. */
#define IWI_GOAL_MOST_ID 254

/* Fewer ranks than this may lack blocks in any number; more need a file of at least as many bytes. */
#define IWI_GOAL_FREE_RANKS (UINT64_C(1) << 20)

/* What is read: `name` stands for it in messages. */
struct iwi_goal_source {
    const char *name;
    const char *data;
    size_t size;
    iw_time unit_ps;               /* of calc lengths */
    const struct iwi_input *input; /* the file that the data is in; NULL: memory */
    bool wants_program; /* a graph in order may come as the program that it is (program/in_order.h) */
};

/* Text or binary, told apart by content. On IW_OK the caller owns the schedule: a DAG, or a program. */
IW_NODISCARD iw_status iwi_goal_read_memory(const iw_log *log, const struct iwi_goal_source *source,
                                            struct iwi_schedule **schedule_p);

IW_NODISCARD iw_status iwi_goal_read_text(const iw_log *log, const struct iwi_goal_source *source,
                                          struct iwi_schedule **schedule_p);
IW_NODISCARD iw_status iwi_goal_read_binary(const iw_log *log, const struct iwi_goal_source *source,
                                            struct iwi_schedule **schedule_p);

/* What is written; failures are logged to the output's log. */
struct iwi_goal_sink {
    struct iwi_out *out;
    const struct iwi_schedule *schedule; /* a DAG */
    const iw_program *program;           /* its delays lengthen the calcs; NULL: none */
    iw_time unit_ps;
    uint64_t rounded; /* out: calcs whose length was not a whole number of units */
};

IW_NODISCARD iw_status iwi_goal_write_text(struct iwi_goal_sink *sink);
IW_NODISCARD iw_status iwi_goal_write_binary(struct iwi_goal_sink *sink);

/* ---- layout of binary GOAL: little endian, no padding (docs/reference/formats/goal.md) ---- */

enum {
    IWI_GOAL_BASE = 8,          /* rank positions count from here */
    IWI_GOAL_HEADER_BYTES = 14, /* magic u64, ranks u32, highest cpu u8, highest nic u8 */
    IWI_GOAL_ENTRY_BYTES = 16,  /* of the rank table: begin u64, end u64 */
    IWI_GOAL_RANK_BYTES = 8,    /* at a rank's begin: nodes u32, roots u32 */
    IWI_GOAL_NODE_BYTES = 39
};

/* Offsets in a node. */
enum {
    IWI_GOAL_NODE_OPEN = 0,   /* u32 edges in */
    IWI_GOAL_NODE_TYPE = 4,   /* u8 */
    IWI_GOAL_NODE_PEER = 5,   /* u32 */
    IWI_GOAL_NODE_SIZE = 9,   /* u64 bytes or length */
    IWI_GOAL_NODE_TAG = 17,   /* u32 */
    IWI_GOAL_NODE_CPU = 21,   /* u8 */
    IWI_GOAL_NODE_NIC = 22,   /* u8 */
    IWI_GOAL_NODE_ENDS = 23,  /* u32 number, u32 first position of those that wait for its end */
    IWI_GOAL_NODE_STARTS = 31 /* the same for its start */
};

enum { IWI_GOAL_TYPE_SEND = 1, IWI_GOAL_TYPE_RECV, IWI_GOAL_TYPE_CALC };

static inline uint32_t iwi_goal_get_u32(const char *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof value);
    return le32toh(value);
}

static inline uint64_t iwi_goal_get_u64(const char *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof value);
    return le64toh(value);
}

static inline void iwi_goal_put_u32(char *p, uint32_t value)
{
    value = htole32(value);
    memcpy(p, &value, sizeof value);
}

static inline void iwi_goal_put_u64(char *p, uint64_t value)
{
    value = htole64(value);
    memcpy(p, &value, sizeof value);
}

#endif
