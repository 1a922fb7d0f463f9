/* Layout of binary GOAL: little endian, no padding (docs/reference/formats/goal.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GOAL_BINARY_H
#define IWI_GOAL_BINARY_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

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
