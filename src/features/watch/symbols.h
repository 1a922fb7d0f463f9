/* Names of functions, by their addresses.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SYMBOLS_H
#define IWI_SYMBOLS_H

#include <idlewave/log.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

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

/* ---- stacks of processes in words: the functions that were called, by the files that are mapped ---- */

/* ---- names of the functions of an ELF file, by where they lie in it ---- */

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

/* ---- stacks ---- */

enum { IWI_USER_FILES = 64 };

/* A part of a process's memory with code, as /proc/PID/maps tells it. */
struct iwi_user_area {
    uint64_t start, end, offset;
    size_t name; /* where it is in `names`: a path, "[vdso]", or "" */
    uint64_t major, minor, inode;
};

struct iwi_user_file {
    struct stat facts; /* which file it was, and of when */
    struct iwi_elf_symbols symbols;
};

struct iwi_user_stacks {
    const iw_log *log;
    const char *root;
    uint32_t pid; /* whose memory is known; 0: nobody's */
    int error;    /* why it is not: of errno */
    struct iwi_user_area *areas;
    size_t area_count, area_capacity;
    struct iwi_names names;
    struct iwi_user_file files[IWI_USER_FILES]; /* the last ones that were needed */
    size_t file_count, next_file;
};

void iwi_user_stacks_init(const iw_log *log, const char *root, struct iwi_user_stacks *stacks);
void iwi_user_stacks_release(struct iwi_user_stacks *stacks);

/* Processes may have changed since: their memory is looked at anew. */
void iwi_user_stacks_forget(struct iwi_user_stacks *stacks);

/* "burn < run < main < libc.so.6+0x2724a", the innermost function first: `addresses` has where it is, where
 * it was called from, and so on, up to a 0. File and address in it where a function has no name; behind it,
 * in brackets, why there is no more to say. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_user_stack_text(struct iwi_user_stacks *stacks, uint32_t pid,
                                           const uint64_t *addresses, size_t count, char *text, size_t size);

#endif
