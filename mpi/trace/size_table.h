/* Lists of what a rank sends to whom in collectives: each different one has a number.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_SIZE_TABLE_H
#define IWI_TRACE_SIZE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists are sequences of rank and bytes. A program that never sends the same twice must not fill the memory. */
#define IWI_SIZE_TABLE_BYTES ((size_t)16 << 20)

struct iwi_size_entry {
    uint64_t hash;
    uint64_t *words;
    uint32_t count;
};

struct iwi_size_table {
    struct iwi_size_entry *entries; /* number - 1 */
    uint32_t count, capacity;
    uint32_t *slots; /* number; 0: free */
    size_t slot_count, bytes;
};

/* The list's number, from 1 on; 0: there is no room for it. *is_new_p: it was not there before. */
uint32_t iwi_size_table_number(struct iwi_size_table *table, const uint64_t *words, uint32_t count, bool *is_new_p);
void iwi_size_table_release(struct iwi_size_table *table);

#endif
