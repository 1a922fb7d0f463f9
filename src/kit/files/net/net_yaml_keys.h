/* What the readers of networks share: keys, and mappings of parameters.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_YAML_KEYS_H
#define IWI_NET_YAML_KEYS_H

#include "kit/files/net/net_yaml.h"

#define IWI_NET_DEFAULT_S_BYTES (UINT64_C(65) * 1024) /* as in the paper's Table III */

enum iwi_net_key {
    IWI_NET_KEY_L,
    IWI_NET_KEY_O_BOTH,
    IWI_NET_KEY_O_SEND,
    IWI_NET_KEY_O_RECV,
    IWI_NET_KEY_G,
    IWI_NET_KEY_GG,
    IWI_NET_KEY_OO,
    IWI_NET_KEY_S,
    IWI_NET_KEY_NAME,
    IWI_NET_KEY_FORMAT,
    IWI_NET_KEY_S_AT_LEAST, /* counts where S is unknown */
    IWI_NET_KEY_PROGRESS,
    IWI_NET_KEY_ORIGIN,
    IWI_NET_KEY_SEGMENTS,
    IWI_NET_KEY_MEMORY, /* of the whole file, as the next */
    IWI_NET_KEY_NOISE,
    IWI_NET_KEY_LEVELS,
    IWI_NET_KEY_PLACEMENT, /* beside levels, as the next */
    IWI_NET_KEY_NICS,
    IWI_NET_KEY_RANKS, /* of a level, as the next */
    IWI_NET_KEY_TAPER,
    IWI_NET_KEY_HALF, /* what follows is for people */
    IWI_NET_KEY_S_INSIDE,
    IWI_NET_KEY_S_INSIDE_AT_LEAST,
    IWI_NET_KEY_MEASURED,
    IWI_NET_KEYS
};

extern const struct iwi_yaml_key iwi_net_keys[IWI_NET_KEYS];

IW_NODISCARD iw_status iwi_net_read_value(const struct iwi_yaml *yaml, enum iwi_net_key key,
                                          const char *key_name, const yaml_node_t *node, iw_net *net);

/* A mapping of parameters; it is checked. */
IW_NODISCARD iw_status iwi_net_read_entries(struct iwi_yaml *yaml, const yaml_node_t *node,
                                            const struct iwi_yaml_entry *entries, iw_net *net);

/* The limits of iw_net_check(), with the place. */
IW_NODISCARD iw_status iwi_net_check_at(const struct iwi_yaml *yaml, size_t line, const iw_net *net);

/* A file that has levels; `level` is the wanted one, or NULL for all of them. */
IW_NODISCARD iw_status iwi_net_read_levels(struct iwi_yaml *yaml, const struct iwi_yaml_entry *entries,
                                           const char *level, iw_net *net);

/* The NICs of a network whose levels have been read: a mapping. It is checked with the network. */
IW_NODISCARD iw_status iwi_net_read_nics(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net);

/* By how much messages are delayed: a sequence of quantiles, or a mapping with a series, which has to be
 * released. The network is checked. */
IW_NODISCARD iw_status iwi_net_read_noise(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net);

/* The node of each rank of a network whose levels and NICs have been read: a sequence. Last of all: what it
 * reads has to be released. */
IW_NODISCARD iw_status iwi_net_read_list(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net);

/* How much narrower than what is below them the links out of a group are. */
IW_NODISCARD iw_status iwi_net_read_taper(const struct iwi_yaml *yaml, const yaml_node_t *node,
                                          double *taper_p);

#endif
