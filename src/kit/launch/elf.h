/* What a program or library in ELF format needs, read from its dynamic section and nothing else.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_ELF_H
#define IWI_ELF_H

#include "core/base/base.h"

enum iwi_elf_kind {
    IWI_ELF_NONE, /* a script, a file for another machine, anything else */
    IWI_ELF_STATIC,
    IWI_ELF_DYNAMIC
};

struct iwi_elf {
    enum iwi_elf_kind kind;
    char **needed; /* names of libraries, in their order */
    size_t needed_count;
    char *rpath, *runpath; /* NULL: has none */
};

/* Reads the file `file`, called `path` in messages. IW_ERR_TRUNCATED, IW_ERR_FORMAT (an ELF file of this
 * machine that contradicts itself), IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_elf_read(const iw_log *log, int file, const char *path, struct iwi_elf *elf_p);
void iwi_elf_release(struct iwi_elf *elf);

#endif
