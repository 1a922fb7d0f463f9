/* Names of functions, by their addresses.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SYMBOLS_H
#define IWI_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

#include "features/watch/names.h"

struct iwi_symbol {
    uint64_t address, bytes; /* bytes 0: nobody knows, so it ends where the next one begins */
    size_t name;             /* where it is in `names` */
};

struct iwi_symbols {
    struct iwi_symbol *array;
    size_t count, capacity;
    struct iwi_names names;
};

/* IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_symbols_add(const iw_log *log, struct iwi_symbols *symbols, uint64_t address,
                                       uint64_t bytes, const char *name);

/* Once all are added: by address, one name for each. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_symbols_sort(const iw_log *log, struct iwi_symbols *symbols);

/* The function that has the address; NULL: none is known. */
const char *iwi_symbols_find(const struct iwi_symbols *symbols, uint64_t address);

void iwi_symbols_release(struct iwi_symbols *symbols);

#endif
