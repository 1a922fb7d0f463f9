/* idlewave/net.h - the LogGOPS parameters of a network. docs/semantics.md says what each one does.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_NET_H
#define IW_NET_H

#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iw_net {
    char name[64];
    iw_time L_ps;      /* latency */
    iw_time o_send_ps; /* CPU time of a send */
    iw_time o_recv_ps; /* CPU time of a receive */
    iw_time g_ps;      /* least time between the starts of two messages */
    iw_fs_per_byte G;  /* further gap for each byte after the first */
    iw_fs_per_byte O;  /* further CPU time for each byte after the first */
    uint64_t S_bytes;  /* larger messages use rendezvous */
} iw_net;

/** Table III of the 2010 paper: chic, altix, cnl, zeptoos, xt4. NULL for an unknown name. */
IW_API const iw_net *iw_net_builtin(const char *name);

/** Names of the built-in networks, NULL after the last. */
IW_API const char *iw_net_builtin_name(size_t index);

/** Reads a YAML file (docs/formats/net.md); IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_RANGE logged as 'file:line'. */
IW_API IW_NODISCARD iw_status iw_net_load(const iw_log *log, const char *path, iw_net *net_p);

/** A network `factor` times faster: L, g and G are divided by it, o and O stay. */
IW_API IW_NODISCARD iw_status iw_net_scale(const iw_log *log, iw_net *net, double factor);

/** Refuses negative or absurd parameters. */
IW_API IW_NODISCARD iw_status iw_net_check(const iw_log *log, const iw_net *net);

#ifdef __cplusplus
}
#endif
#endif
