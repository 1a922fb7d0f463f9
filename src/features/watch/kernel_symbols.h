/* Names of the kernel's functions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_KERNEL_SYMBOLS_H
#define IWI_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

#include "features/watch/symbols.h"

/* None where the kernel hides addresses (kptr_restrict). To be released. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_kernel_symbols_load(const iw_log *log, const char *root,
                                               struct iwi_symbols *symbols);

/* "chacha_block_generic < urandom_read_iter < vfs_read": what an interrupt of the timer met, the innermost
 * first, given all addresses from the interrupt on; the interrupt's own functions are left out. "user space":
 * nothing of the kernel; "": nothing is known. */
void iwi_kernel_stack_text(const struct iwi_symbols *symbols, const uint64_t *addresses, size_t count,
                           char *text, size_t size);

#endif
