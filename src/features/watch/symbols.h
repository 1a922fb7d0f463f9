/* Names of functions, by their addresses.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SYMBOLS_H
#define IWI_SYMBOLS_H

#include <idlewave/log.h>

#include <stddef.h>
#include <stdint.h>

/* ---- names behind each other in one piece of memory, known by where they begin ---- */

struct iwi_names {
    char *text; /* moves as it grows */
    size_t size, capacity;
};

/* `length` characters of a name; *at_p: where it begins. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_names_add(const iw_log *log, struct iwi_names *names, const char *name,
                                     size_t length, size_t *at_p);

void iwi_names_release(struct iwi_names *names);

/* ---- symbols ---- */

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

/* ---- names of the kernel's functions ---- */

/* None where the kernel hides addresses (kptr_restrict). To be released. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_kernel_symbols_load(const iw_log *log, const char *root,
                                               struct iwi_symbols *symbols);

/* "chacha_block_generic < urandom_read_iter < vfs_read": what an interrupt of the timer met, the innermost
 * first, given all addresses from the interrupt on; the interrupt's own functions are left out. "user space":
 * nothing of the kernel; "": nothing is known. */
void iwi_kernel_stack_text(const struct iwi_symbols *symbols, const uint64_t *addresses, size_t count,
                           char *text, size_t size);

#endif
