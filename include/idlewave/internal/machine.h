/* idlewave/internal/machine.h - a network told as the machine that it is: its levels, and what messages take
 * at each of them. For `idlewave net show`; not installed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_INTERNAL_MACHINE_H
#define IW_INTERNAL_MACHINE_H

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/net.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IW_NET_MACHINE_SMALL_BYTES UINT64_C(8)
#define IW_NET_MACHINE_LARGE_BYTES (UINT64_C(1) << 20)

/** Messages between two ranks that meet at this level. */
typedef struct iw_net_machine_level {
    char name[16];
    uint32_t ranks; /* of a group; 0: this is the outermost level, which has all */
    uint32_t parts; /* of a group: groups of the level inside; 0: any number, or ranks */
    iw_time L_ps, o_send_ps, o_recv_ps, g_ps; /* of a small message */
    iw_fs_per_byte G;                         /* the same */
    double bytes_per_ns;                      /* that a rank alone moves in large messages; 0: no limit */
    uint32_t segments;                        /* sizes from which on costs are others */
    double taper;                             /* 0: none */
    bool is_node;                             /* groups have the NICs, if there are any */
    /* From the begin of the send to the end of the receive, which waits for it: alone, and as simulations
     * have it, where all active ranks share NICs and narrow links. */
    iw_time small_ps, large_ps, shared_ps;
    bool is_device_progress; /* a device moves messages */
} iw_net_machine_level;

typedef struct iw_net_machine {
    char name[64];
    size_t level_count;
    iw_net_machine_level levels[IW_NET_INNER_MAX + 1]; /* from inside out */
    uint64_t S_bytes;
    iw_placement placement;
    uint32_t placed_ranks, placed_nodes; /* of a list */
    uint32_t nic_count;                  /* of a node */
    double nic_bytes_per_ns;             /* of one; 0: no limit */
    uint32_t active;                     /* ranks of a node that share them; 0: they wait in queues */
    bool has_rails;
    iw_memory memory;
    iw_caveats caveats;
} iw_net_machine;

/** IW_ERR_RANGE as iw_net_check(), IW_ERR_NOMEM. */
IW_NODISCARD iw_status iw_net_machine_describe(const iw_log *log, const iw_net *net,
                                               iw_net_machine *machine_p);

iw_doc iw_net_machine_doc(const iw_net_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
