/* Digests from statistics of run queues, in memory: for the reader and its tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DIGEST_RUNQ_H
#define IWI_DIGEST_RUNQ_H

#include <idlewave/digest.h>

/* `path` is for messages, `node` the name of the node. IW_ERR_FORMAT, IW_ERR_RANGE, IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_runq_digest(const iw_log *log, const char *path, const char *node,
                                       const char *data, size_t size, iw_digest **digest_p);

#endif
