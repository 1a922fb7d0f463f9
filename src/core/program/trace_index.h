/* Numbers things by their keys: the first key seen is 0, the next new one 1, ...
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_INDEX_H
#define IWI_TRACE_INDEX_H

#include <idlewave/log.h>
#include <idlewave/status.h>

#include <stddef.h>
#include <stdint.h>

struct iwi_index_key {
    uint64_t a, b;
};

struct iwi_index {
    struct iwi_index_key *keys; /* count of them, by number */
    size_t key_capacity;
    uint32_t *slots; /* number + 1; 0: free */
    size_t capacity; /* a power of two, or 0 */
    uint32_t count;
};

/* The key's number; it is new if that equals the count before. IW_ERR_NOMEM, IW_ERR_RANGE. */
IW_NODISCARD iw_status iwi_index_number(const iw_log *log, struct iwi_index *index, struct iwi_index_key key,
                                        uint32_t *number_p);
void iwi_index_release(struct iwi_index *index);

#endif
