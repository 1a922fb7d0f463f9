/* Networks as YAML; docs/formats/net.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_YAML_H
#define IWI_NET_YAML_H

#include <idlewave/net.h>

/* `name` stands for the text in messages, and its last part is the network's name unless the text has one. */
IW_NODISCARD iw_status iwi_net_read_memory(const iw_log *log, const char *name, const char *data, size_t size,
                                           iw_net *net_p);

#endif
