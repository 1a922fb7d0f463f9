/* Collections of networks and noise: what reading, checking and writing them share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COLLECTION_H
#define IWI_COLLECTION_H

#include <idlewave/collection.h>

#include "core/base/base.h"

enum { IWI_COLLECTED_NAME_BYTES = 60, IWI_MOST_COLLECTED = 10000 };

/* `file` stands for the text in messages. */
IW_NODISCARD iw_status iwi_collection_read_memory(const iw_log *log, const char *file, const char *data,
                                                  size_t size, iw_collection **collection_p);

/* Small letters, digits and hyphens: it can be no path, no SPEC, and no option. */
bool iwi_collected_name_is_good(const char *name);

/* Of a file of less than 2^63 bytes. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_sha256_of_file(const iw_log *log, const char *path, char **text_p,
                                          uint64_t *bytes_p);

#endif
