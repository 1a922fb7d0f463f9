/* Networks that are built in: those of the 2010 paper, and machines with levels. docs/how-to/machines.md has
 * the source of each value.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/net.h>

#include <string.h>

#include "core/base/base.h"

#define NS(value) ((value)*IW_PS_PER_NS)
#define COSTS(L_ns, o_ns, g_ns, G_fs) \
    .L_ps = NS(L_ns), .o_send_ps = NS(o_ns), .o_recv_ps = NS(o_ns), .g_ps = NS(g_ns), .G = (G_fs)

/* O = 0 throughout. S is that of Table III; the machines have none that is published. */
#define NETWORK(name_, ...)                                          \
    {                                                                \
        .name = (name_), .S_bytes = UINT64_C(65) * 1024, __VA_ARGS__ \
    }
#define INNER(name_, ranks_, ...)                                           \
    {                                                                       \
        .name = (name_), .ranks = (ranks_), .costs = { COSTS(__VA_ARGS__) } \
    }

/* Two sockets of 64 cores, one rank on each core; they share one NIC. */
#define SOCKET INNER("socket", 64, 160, 160, 170, 59000)
#define TWO_SOCKETS INNER("node", 128, 300, 160, 170, 100000)
#define ONE_NIC(G_fs)                            \
    {                                            \
        .count = 1, .node_level = 1, .G = (G_fs) \
    }

static const iw_net networks[] = {
    NETWORK("chic", COSTS(5330, 770, 1560, 1250000)), /* these five: Table III, in microseconds there */
    NETWORK("altix", COSTS(1640, 990, 900, 1230000)),
    NETWORK("cnl", COSTS(4770, 2870, 2040, 2670000)),
    NETWORK("zeptoos", COSTS(8670, 3420, 2810, 2690000)),
    NETWORK("xt4", COSTS(9900, 1750, 3400, 580000)),
    NETWORK("hdr-fat-tree", COSTS(800, 200, 200, 41700), .inner_count = 2, .inner = {SOCKET, TWO_SOCKETS},
            .nics = ONE_NIC(41700)),
    NETWORK("ndr-fat-tree", COSTS(800, 200, 200, 21300), .inner_count = 2, .inner = {SOCKET, TWO_SOCKETS},
            .nics = ONE_NIC(21300)),
    NETWORK("slingshot-dragonfly", COSTS(1600, 200, 200, 40000), .inner_count = 3,
            .inner = {SOCKET, TWO_SOCKETS, INNER("group", 16384, 1200, 200, 200, 40000)},
            .nics = ONE_NIC(40000)),
    /* GPUs and NICs move messages by themselves. */
    NETWORK("gpu-node-nvlink", COSTS(2700, 0, 0, 21300), .is_device_progress = true, .inner_count = 1,
            .inner = {{.name = "node",
                       .ranks = 8,
                       .costs = {COSTS(600, 0, 0, 2700), .is_device_progress = true}}},
            .nics = {.count = 8, .node_level = 0, .has_rails = true, .G = 21300}),
};

enum { NETWORK_COUNT = sizeof networks / sizeof networks[0] };

const iw_net *iw_net_builtin(const char *name)
{
    for (size_t i = 0; i < NETWORK_COUNT; i++) {
        if (strcmp(networks[i].name, name) == 0) {
            return &networks[i];
        }
    }
    return NULL;
}

const char *iw_net_builtin_name(size_t index)
{
    return index < NETWORK_COUNT ? networks[index].name : NULL;
}
