/* Names of the functions of an ELF file, by where they lie in it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_ELF_SYMBOLS_H
#define IWI_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

#include "features/watch/symbols.h"

/* What of the file is loaded, and at which address of the file's own. */
struct iwi_elf_segment {
    uint64_t offset, bytes, address;
};

struct iwi_elf_symbols {
    struct iwi_elf_segment *segments;
    size_t segment_count, segment_capacity;
    struct iwi_symbols functions; /* by the file's own addresses */
};

/* Of .symtab and .dynsym. Of a file that is damaged, or no ELF file, what can be read of it: nothing at
 * worst. To be released. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_elf_symbols_load(const iw_log *log, int file, struct iwi_elf_symbols *symbols);
void iwi_elf_symbols_release(struct iwi_elf_symbols *symbols);

/* The file's own address of a place in it, as `addr2line` wants it; the place itself where nothing is loaded.
 */
uint64_t iwi_elf_address(const struct iwi_elf_symbols *symbols, uint64_t offset);

#endif
