/* Names the addresses of a stack by the files that are mapped there, of /proc/PID/maps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/symbols.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"

/* ---- tables of symbols of ELF files, by libelf ---- */

/* More than any program has: a damaged file must not fill the memory. */
enum { MOST_SYMBOLS = 1 << 23, MOST_SEGMENTS = 1 << 12 };

static iw_status add_segment(const iw_log *log, const GElf_Phdr *header, struct iwi_elf_symbols *symbols)
{
    IW_TRY(iwi_grow(log, (void **)&symbols->segments, &symbols->segment_capacity, symbols->segment_count + 1,
                    sizeof *symbols->segments));
    symbols->segments[symbols->segment_count++] =
        (struct iwi_elf_segment){header->p_offset, header->p_filesz, header->p_vaddr};
    return IW_OK;
}

static iw_status read_segments(const iw_log *log, Elf *elf, struct iwi_elf_symbols *symbols)
{
    size_t count = 0;
    GElf_Phdr header;

    if (elf_getphdrnum(elf, &count) != 0) {
        return IW_OK;
    }
    for (size_t i = 0; i < count && i < MOST_SEGMENTS; i++) {
        if (gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == PT_LOAD) {
            IW_TRY(add_segment(log, &header, symbols));
        }
    }
    return IW_OK;
}

static bool is_function(const GElf_Sym *symbol)
{
    const unsigned type = GELF_ST_TYPE(symbol->st_info);

    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

static iw_status read_table(const iw_log *log, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                            struct iwi_elf_symbols *symbols)
{
    Elf_Data *data = header->sh_entsize > 0 ? elf_getdata(section, NULL) : NULL;
    const uint64_t count = data != NULL ? header->sh_size / header->sh_entsize : 0;
    GElf_Sym symbol;

    for (uint64_t i = 0; i < count && symbols->functions.count < MOST_SYMBOLS; i++) {
        const char *name;

        if (gelf_getsym(data, (int)i, &symbol) == NULL) {
            break;
        }
        name = is_function(&symbol) ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;
        if (name != NULL && name[0] != '\0') {
            IW_TRY(iwi_symbols_add(log, &symbols->functions, symbol.st_value, symbol.st_size, name));
        }
    }
    return IW_OK;
}

static iw_status read_tables(const iw_log *log, Elf *elf, struct iwi_elf_symbols *symbols)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) != NULL &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)) {
            IW_TRY(read_table(log, elf, section, &header, symbols));
        }
    }
    return IW_OK;
}

iw_status iwi_elf_symbols_load(const iw_log *log, int file, struct iwi_elf_symbols *symbols)
{
    iw_status status = IW_OK;
    Elf *elf;

    *symbols = (struct iwi_elf_symbols){.segment_count = 0};
    (void)elf_version(EV_CURRENT);
    elf = elf_begin(file, ELF_C_READ, NULL);
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF) {
        status = read_segments(log, elf, symbols);
        if (status == IW_OK) {
            status = read_tables(log, elf, symbols);
        }
        if (status == IW_OK) {
            status = iwi_symbols_sort(log, &symbols->functions);
        }
    }
    (void)elf_end(elf);
    return status;
}

void iwi_elf_symbols_release(struct iwi_elf_symbols *symbols)
{
    free(symbols->segments);
    iwi_symbols_release(&symbols->functions);
    *symbols = (struct iwi_elf_symbols){.segment_count = 0};
}

uint64_t iwi_elf_address(const struct iwi_elf_symbols *symbols, uint64_t offset)
{
    for (size_t i = 0; i < symbols->segment_count; i++) {
        const struct iwi_elf_segment *segment = &symbols->segments[i];

        if (offset >= segment->offset && offset - segment->offset < segment->bytes) {
            return segment->address + (offset - segment->offset);
        }
    }
    return offset;
}

/* ---- stacks ---- */

enum { MOST_TOLD = 8, NAME_SIZE = 96 };
static const char DELETED[] = " (deleted)";

void iwi_user_stacks_init(const iw_log *log, const char *root, struct iwi_user_stacks *stacks)
{
    *stacks = (struct iwi_user_stacks){.log = log, .root = root};
}

void iwi_user_stacks_release(struct iwi_user_stacks *stacks)
{
    for (size_t i = 0; i < stacks->file_count; i++) {
        iwi_elf_symbols_release(&stacks->files[i].symbols);
    }
    free(stacks->areas);
    iwi_names_release(&stacks->names);
}

void iwi_user_stacks_forget(struct iwi_user_stacks *stacks)
{
    stacks->pid = 0;
}

/* ---- the memory of a process ---- */

/* A number that ends with `until`; false: there is none. */
static bool take_number(const char **at_p, int base, char until, uint64_t *value_p)
{
    char *end;

    *value_p = strtoull(*at_p, &end, base);
    if (end == *at_p || *end != until) {
        return false;
    }
    *at_p = end + 1;
    return true;
}

/* "55e0c1a2d000-55e0c1a31000 r-xp 00001000 fe:01 1234   /usr/bin/dd": areas with code only. */
static bool read_line(const char *line, struct iwi_user_area *area, const char **path_p)
{
    const char *at = line, *flags;

    if (!take_number(&at, 16, '-', &area->start) || !take_number(&at, 16, ' ', &area->end)) {
        return false;
    }
    flags = at;
    at += strcspn(at, " ");
    if (at - flags != 4 || flags[2] != 'x' || *at != ' ') {
        return false;
    }
    at++;
    if (!take_number(&at, 16, ' ', &area->offset) || !take_number(&at, 16, ':', &area->major) ||
        !take_number(&at, 16, ' ', &area->minor) || !take_number(&at, 10, ' ', &area->inode)) {
        return false;
    }
    *path_p = at + strspn(at, " ");
    return true;
}

static iw_status take_line(struct iwi_user_stacks *stacks, const char *line)
{
    struct iwi_user_area area;
    const char *path;

    if (!read_line(line, &area, &path)) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(stacks->log, (void **)&stacks->areas, &stacks->area_capacity, stacks->area_count + 1,
                    sizeof *stacks->areas));
    IW_TRY(iwi_names_add(stacks->log, &stacks->names, path, strcspn(path, "\n"), &area.name));
    stacks->areas[stacks->area_count++] = area;
    return IW_OK;
}

/* Why there are no areas is in `error`. One without any memory is about to end. */
static iw_status look_at(struct iwi_user_stacks *stacks, uint32_t pid)
{
    char path[64], line[PATH_MAX + 128];
    iw_status status = IW_OK;
    FILE *file;

    if (stacks->pid == pid) {
        return IW_OK;
    }
    stacks->area_count = stacks->names.size = 0;
    stacks->pid = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
    errno = 0;
    file = iwi_sysfile_open(stacks->root, path);
    stacks->error = file == NULL ? errno : 0;
    while (file != NULL && status == IW_OK && fgets(line, sizeof line, file) != NULL) {
        status = take_line(stacks, line);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (status == IW_OK) {
        stacks->pid = pid;
    }
    return status;
}

static const struct iwi_user_area *area_of(const struct iwi_user_stacks *stacks, uint64_t address)
{
    for (size_t i = 0; i < stacks->area_count; i++) {
        if (address >= stacks->areas[i].start && address < stacks->areas[i].end) {
            return &stacks->areas[i];
        }
    }
    return NULL;
}

/* ---- files ---- */

/* Only regular files are opened: devices may do something when they are. */
static int open_regular(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode)
               ? open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
               : -1;
}

/* Through the mapping itself, which needs CAP_CHECKPOINT_RESTORE and knows deleted files too; then by its
 * path as the process sees it; then as this one does, if that is the same file. -1: none of these. */
static int open_mapped(const struct iwi_user_stacks *stacks, const struct iwi_user_area *area)
{
    const char *name = stacks->names.text + area->name;
    char path[2 * PATH_MAX];
    struct stat facts;
    int file;

    snprintf(path, sizeof path, "%s/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, stacks->root,
             stacks->pid, area->start, area->end);
    file = open_regular(path);
    if (file < 0) {
        snprintf(path, sizeof path, "%s/proc/%" PRIu32 "/root%s", stacks->root, stacks->pid, name);
        file = open_regular(path);
    }
    if (file < 0 && stat(name, &facts) == 0 && facts.st_ino == area->inode &&
        facts.st_dev == makedev((unsigned)area->major, (unsigned)area->minor)) {
        file = open_regular(name);
    }
    return file;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* One that has no room takes the place of the oldest. */
static struct iwi_user_file *place_for(struct iwi_user_stacks *stacks)
{
    struct iwi_user_file *file = &stacks->files[stacks->next_file];

    if (stacks->file_count == IWI_USER_FILES) {
        iwi_elf_symbols_release(&file->symbols);
    } else {
        stacks->file_count++;
    }
    stacks->next_file = (stacks->next_file + 1) % IWI_USER_FILES;
    *file = (struct iwi_user_file){.symbols = {.segment_count = 0}};
    return file;
}

/* NULL: it cannot be read. */
static iw_status symbols_of(struct iwi_user_stacks *stacks, const struct iwi_user_area *area,
                            const struct iwi_elf_symbols **symbols_p)
{
    const int fd = open_mapped(stacks, area);
    struct iwi_user_file *file;
    iw_status status = IW_OK;
    struct stat facts;

    *symbols_p = NULL;
    if (fd < 0 || fstat(fd, &facts) != 0) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return IW_OK;
    }
    for (size_t i = 0; i < stacks->file_count && *symbols_p == NULL; i++) {
        if (is_same(&stacks->files[i].facts, &facts)) {
            *symbols_p = &stacks->files[i].symbols;
        }
    }
    if (*symbols_p == NULL) {
        file = place_for(stacks);
        file->facts = facts;
        status = iwi_elf_symbols_load(stacks->log, fd, &file->symbols);
        *symbols_p = &file->symbols;
    }
    (void)close(fd);
    return status;
}

/* ---- words ---- */

/* Without its folder, and marked if it is no longer there. */
static void say_file(const char *path, uint64_t address, char name[NAME_SIZE])
{
    const char *base = strrchr(path, '/');
    size_t length;
    bool is_deleted;

    base = base != NULL ? base + 1 : path;
    length = strlen(base);
    is_deleted = length > sizeof DELETED - 1 && strcmp(base + length - (sizeof DELETED - 1), DELETED) == 0;
    length = is_deleted ? length - (sizeof DELETED - 1) : length;
    snprintf(name, NAME_SIZE, "%.*s%s+0x%" PRIx64, (int)iwi_min((int64_t)length, 48), base,
             is_deleted ? "(deleted)" : "", address);
}

/* The function at the address, the file and the place in it, or what kind of memory it is. */
static iw_status say_address(struct iwi_user_stacks *stacks, const struct iwi_user_area *area,
                             uint64_t address, char name[NAME_SIZE])
{
    const uint64_t offset = address - area->start + area->offset;
    const struct iwi_elf_symbols *symbols;
    const char *function = NULL, *path;

    path = stacks->names.text + area->name;
    if (path[0] != '/') {
        snprintf(name, NAME_SIZE, "%s", path[0] != '\0' ? path : "[code made at run time]");
        return IW_OK;
    }
    IW_TRY(symbols_of(stacks, area, &symbols));
    if (symbols != NULL) {
        function = iwi_symbols_find(&symbols->functions, iwi_elf_address(symbols, offset));
    }
    if (function != NULL) {
        snprintf(name, NAME_SIZE, "%s", function);
    } else {
        say_file(path, symbols != NULL ? iwi_elf_address(symbols, offset) : offset, name);
    }
    return IW_OK;
}

/* Why no more is known; NULL: all there is was said. */
static const char *lack(const struct iwi_user_stacks *stacks, size_t told)
{
    if (stacks->error == EACCES || stacks->error == EPERM) {
        return "its memory map needs CAP_SYS_PTRACE";
    }
    if (stacks->area_count == 0) {
        return "the process has ended";
    }
    return told == 1 ? "ends here: no frame pointers" : NULL;
}

static void add_words(char *text, size_t size, size_t *used_p, const char *before, const char *words)
{
    for (const char *part = before; part != NULL; part = part == before ? words : NULL) {
        for (const char *c = part; *c != '\0' && *used_p + 1 < size; c++) {
            text[(*used_p)++] = (char)(isprint((unsigned char)*c) ? *c : '?'); /* files choose their names */
        }
    }
    text[*used_p] = '\0';
}

iw_status iwi_user_stack_text(struct iwi_user_stacks *stacks, uint32_t pid, const uint64_t *addresses,
                              size_t count, char *text, size_t size)
{
    size_t used = 0, told = 0;
    const char *why;

    text[0] = '\0';
    IW_TRY(look_at(stacks, pid));
    for (size_t i = 0; i < count && addresses[i] != 0 && told <= MOST_TOLD; i++) {
        const uint64_t address = addresses[i] - (i > 0 ? 1 : 0); /* the call, not what follows it */
        const struct iwi_user_area *area = area_of(stacks, address);
        char name[NAME_SIZE];

        if (area == NULL && i > 0 && stacks->area_count > 0) {
            break; /* no code: the register held something else than a frame */
        }
        snprintf(name, sizeof name, "0x%" PRIx64, addresses[i]);
        if (told == MOST_TOLD) {
            snprintf(name, sizeof name, "...");
        } else if (area != NULL) {
            IW_TRY(say_address(stacks, area, address, name));
        }
        add_words(text, size, &used, told > 0 ? " < " : "", name);
        told++;
    }
    why = told > 0 ? lack(stacks, told) : NULL;
    if (why != NULL) {
        add_words(text, size, &used, " (", why);
        add_words(text, size, &used, ")", "");
    }
    return IW_OK;
}
