/* Networks as YAML; docs/reference/formats/net.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_YAML_H
#define IWI_NET_YAML_H

#include <idlewave/net.h>

#include "kit/files/io/yaml_doc.h"

/* Of a file; iwi_net_release() it, behind all of its copies. `level`: as of iw_net_open(). */
IW_NODISCARD iw_status iwi_net_load(const iw_log *log, const char *path, const char *level, iw_net *net_p);

/* `name` stands for the text in messages, and its last part is the network's name unless the text has one. */
IW_NODISCARD iw_status iwi_net_read_memory(const iw_log *log, const char *name, const char *data, size_t size,
                                           const char *level, iw_net *net_p);

/* A network as a mapping within another document; called `name` unless it has one of its own. */
IW_NODISCARD iw_status iwi_net_read_node(struct iwi_yaml *yaml, const yaml_node_t *node, const char *name,
                                         iw_net *net_p);

/* By how much messages are delayed: a sequence of quantiles, or a mapping with a series, which has to be
 * released. The network is checked. */
IW_NODISCARD iw_status iwi_net_read_noise(const struct iwi_yaml_value *value, iw_net *net);

/* The node of each rank of a network whose levels and NICs have been read: a sequence. Last of all: what it
 * reads has to be released. */
IW_NODISCARD iw_status iwi_net_read_list(const struct iwi_yaml_value *value, iw_net *net);

#endif
