/* Building digests of nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NODE_DIGEST_H
#define IWI_NODE_DIGEST_H

#include <idlewave/digest.h>

/* The logarithm that stands for a value; 0 below 1. */
uint16_t iwi_digest_code(double value);

/* The attribute of a node that was recorded while programs of users ran. */
#define IWI_DIGEST_BUSY_KEY "busy"

/* A digest without CPUs; its only source is number 0. */
IW_NODISCARD iw_status iwi_digest_new(const iw_log *log, const char *node, iw_digest **digest_p);
IW_NODISCARD iw_status iwi_digest_add_cpu(const iw_log *log, iw_digest *digest, uint32_t cpu,
                                          int64_t length_ns);
IW_NODISCARD iw_status iwi_digest_add_source(const iw_log *log, iw_digest *digest, const iw_source *source);
IW_NODISCARD iw_status iwi_digest_add_cell(const iw_log *log, iw_digest_source *source,
                                           const iw_digest_cell *cell);
IW_NODISCARD iw_status iwi_digest_set(const iw_log *log, iw_digest *digest, const char *name,
                                      const char *value);

#endif
