/* The program that is to run: where it is, and which MPI it needs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TARGET_H
#define IWI_TARGET_H

#include "core/base/base.h"

enum { IWI_LIBRARY_NAME_SIZE = 256 };

struct iwi_target_mpi {
    const char *name;                    /* "openmpi", "mpich"; NULL: none is seen, or one of another make */
    char library[IWI_LIBRARY_NAME_SIZE]; /* the MPI itself, "libmpi.so.40"; "": only a library beside it is
                                            seen */
    bool is_other;                       /* library is of an MPI that idlewave does not know */
};

/* The path that would be run for `program`, looked up in PATH. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_target_path(const iw_log *log, const char *program, char *path, size_t size);

/* What the file at `path` needs. */
IW_NODISCARD iw_status iwi_target_mpi_of(const iw_log *log, const char *path, struct iwi_target_mpi *mpi_p);

/* What a program or library in ELF format needs, read from its dynamic section and nothing else. */

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

/* The system's list of libraries, as ldconfig writes it (/etc/ld.so.cache). */

struct iwi_library_cache {
    char *data; /* NULL: there is none */
    size_t size;
    size_t base;  /* where the header begins that texts count from */
    size_t count; /* entries */
};

/* A cache that is missing, damaged or of another format is as an empty one. */
void iwi_library_cache_load(const char *path, struct iwi_library_cache *cache_p);
void iwi_library_cache_release(struct iwi_library_cache *cache);

/* The path of the next library called `name`, from entry *at_p on, which moves behind it; NULL: no more.
 * There may be several, for other machines too. */
const char *iwi_library_cache_next(const struct iwi_library_cache *cache, const char *name, size_t *at_p);

/* All libraries that a program needs, directly or through others, found as the dynamic loader finds them. */

/* Called once for each name, nearest to the program first; false ends the walk. */
typedef bool (*iwi_needed_fn)(void *arg, const char *name);

/* Walks through the needs of the program at `path`; scripts, static programs and programs for other machines
 * need nothing. Libraries that are not found are named, but not walked through. `cache`: usually
 * IWI_LIBRARY_CACHE. IW_ERR_IO (cannot be read), IW_ERR_FORMAT and IW_ERR_TRUNCATED (the program is damaged).
 */
#define IWI_LIBRARY_CACHE "/etc/ld.so.cache"
IW_NODISCARD iw_status iwi_needed_walk(const iw_log *log, const char *path, const char *cache,
                                       iwi_needed_fn each, void *arg);

#endif
