/* Small ELF files for tests: a header, two segments, a dynamic section, strings; nothing that could run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_ELF_H
#define IWT_MADE_ELF_H

#include <stddef.h>

struct iwt_elf {
    const char *needed[8]; /* NULL after the last */
    const char *rpath, *runpath;
};

/* A new folder of the test's own; removed with all that is in it by iwt_remove_folder(). */
char *iwt_make_folder(void);
void iwt_remove_folder(char *folder);

/* "<folder>/<name>" in one of a few static buffers. */
const char *iwt_path(const char *folder, const char *name);

/* The bytes of such a file; returns their number. */
enum { IWT_ELF_SIZE = 2048, IWT_ELF_DYNAMIC_AT = 256, IWT_ELF_TEXTS_AT = 1024 /* where these begin */ };
size_t iwt_elf_bytes(const struct iwt_elf *elf, unsigned char bytes[IWT_ELF_SIZE]);

void iwt_write_file(const char *path, const void *bytes, size_t size); /* and may be run */
void iwt_write_elf(const char *path, const struct iwt_elf *elf);

/* Without variables of launchers, loaders and parts, whatever the test was started by. */
void iwt_clean_environment(void);

#endif
