/* Reads the dynamic section of ELF files. Every offset and count of a file is checked before it is used.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/launch/target.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beyond what any real file has. */
enum { MOST_SEGMENTS = 1024, MOST_ENTRIES = 65536, MOST_NEEDED = 1024, MOST_TEXT = 1 << 20 };

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#elif defined(__powerpc64__)
enum { OWN_MACHINE = EM_PPC64 };
#elif defined(__riscv)
enum { OWN_MACHINE = EM_RISCV };
#elif defined(__i386__)
enum { OWN_MACHINE = EM_386 };
#elif defined(__s390x__)
enum { OWN_MACHINE = EM_S390 };
#else
enum { OWN_MACHINE = EM_NONE }; /* not known here: any will do */
#endif

enum { OWN_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 };
enum { OWN_DATA = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB };

struct reader {
    const iw_log *log;
    const char *path;
    int file;
    ElfW(Ehdr) header;
    ElfW(Phdr) * segments;
    ElfW(Dyn) * entries;
    size_t entry_count;
    uint64_t texts_offset, texts_size; /* the string table, in the file */
};

/* Bytes read from there, less than `size` at the end of the file; -1: cannot be read. */
static ssize_t read_some(int file, uint64_t offset, void *buf, size_t size)
{
    size_t done = 0;

    if (offset > (uint64_t)INT64_MAX - size) {
        return 0;
    }
    while (done < size) {
        const ssize_t count = pread(file, (char *)buf + done, size - done, (off_t)(offset + done));

        if (count == 0) {
            break;
        }
        if (count < 0 && errno != EINTR) {
            return -1;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return (ssize_t)done;
}

static iw_status read_all(const struct reader *r, uint64_t offset, void *buf, size_t size, const char *what)
{
    const ssize_t count = read_some(r->file, offset, buf, size);

    if (count < 0) {
        return iwi_fail(r->log, IW_ERR_IO, "'%s' cannot be read: %s", r->path, strerror(errno));
    }
    if ((size_t)count < size) {
        return iwi_fail(r->log, IW_ERR_TRUNCATED, "'%s' ends within its %s", r->path, what);
    }
    return IW_OK;
}

/* ---- header and segments ---- */

static bool is_ours(const ElfW(Ehdr) * header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == OWN_CLASS &&
           header->e_ident[EI_DATA] == OWN_DATA &&
           (header->e_machine == OWN_MACHINE || OWN_MACHINE == EM_NONE) &&
           (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

/* *is_ours_p: the rest may be read. Files too short for a header are something else, unless they begin as
 * one. */
static iw_status read_header(struct reader *r, bool *is_ours_p)
{
    const ssize_t count = read_some(r->file, 0, &r->header, sizeof r->header);

    *is_ours_p = false;
    if (count < 0) {
        return iwi_fail(r->log, IW_ERR_IO, "'%s' cannot be read: %s", r->path, strerror(errno));
    }
    if (count < (ssize_t)sizeof r->header) {
        return count >= SELFMAG && memcmp(r->header.e_ident, ELFMAG, SELFMAG) == 0
                   ? iwi_fail(r->log, IW_ERR_TRUNCATED, "'%s' ends within its header", r->path)
                   : IW_OK;
    }
    *is_ours_p = is_ours(&r->header);
    return IW_OK;
}

static iw_status read_segments(struct reader *r)
{
    const size_t count = r->header.e_phnum;

    if (count > MOST_SEGMENTS || (count > 0 && r->header.e_phentsize != sizeof *r->segments)) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s' has a damaged header: %zu segments of %u bytes", r->path,
                        count, (unsigned)r->header.e_phentsize);
    }
    r->segments = iwi_new_array(r->log, count, sizeof *r->segments);
    if (r->segments == NULL) {
        return IW_ERR_NOMEM;
    }
    return read_all(r, r->header.e_phoff, r->segments, count * sizeof *r->segments, "table of segments");
}

static const ElfW(Phdr) * find_dynamic(const struct reader *r)
{
    for (size_t i = 0; i < r->header.e_phnum; i++) {
        if (r->segments[i].p_type == PT_DYNAMIC) {
            return &r->segments[i];
        }
    }
    return NULL;
}

/* ---- the dynamic section ---- */

static iw_status read_entries(struct reader *r, const ElfW(Phdr) * segment)
{
    const uint64_t count = segment->p_filesz / sizeof *r->entries;

    if (count > MOST_ENTRIES) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s' has a damaged dynamic section: %" PRIu64 " entries",
                        r->path, count);
    }
    r->entries = iwi_new_array(r->log, (size_t)count, sizeof *r->entries);
    if (r->entries == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(read_all(r, segment->p_offset, r->entries, (size_t)count * sizeof *r->entries, "dynamic section"));
    while (r->entry_count < count && r->entries[r->entry_count].d_tag != DT_NULL) {
        r->entry_count++;
    }
    return IW_OK;
}

static bool find_entry(const struct reader *r, int64_t tag, uint64_t *value_p)
{
    for (size_t i = 0; i < r->entry_count; i++) {
        if (r->entries[i].d_tag == tag) {
            *value_p = r->entries[i].d_un.d_val;
            return true;
        }
    }
    return false;
}

/* The place in the file of what will be at `address` in memory. */
static bool offset_of(const struct reader *r, uint64_t address, uint64_t *offset_p)
{
    for (size_t i = 0; i < r->header.e_phnum; i++) {
        const ElfW(Phdr) *segment = &r->segments[i];

        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz &&
            segment->p_offset <= UINT64_MAX - (address - segment->p_vaddr)) {
            *offset_p = segment->p_offset + (address - segment->p_vaddr);
            return true;
        }
    }
    return false;
}

static iw_status find_texts(struct reader *r)
{
    uint64_t address;

    if (!find_entry(r, DT_STRTAB, &address) || !find_entry(r, DT_STRSZ, &r->texts_size) ||
        !offset_of(r, address, &r->texts_offset) || r->texts_size > UINT64_MAX - r->texts_offset) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s' has a damaged dynamic section: no table of strings",
                        r->path);
    }
    return IW_OK;
}

/* A copy of the string at `place` of the table. */
static iw_status read_text(const struct reader *r, uint64_t place, char **text_p)
{
    const uint64_t left = r->texts_size > place ? r->texts_size - place : 0;
    enum { FIRST_READ = 512 }; /* longer than most */

    if (left == 0) {
        return iwi_fail(r->log, IW_ERR_FORMAT,
                        "'%s' has a damaged dynamic section: a string at %" PRIu64 " of %" PRIu64, r->path,
                        place, r->texts_size);
    }
    for (size_t room = FIRST_READ; room <= MOST_TEXT; room *= 2) {
        const size_t wanted = left < room ? (size_t)left : room;
        char *text = malloc(wanted);
        const ssize_t size =
            text != NULL ? read_some(r->file, r->texts_offset + place, text, wanted) : (ssize_t)-1;

        if (text == NULL) {
            return iwi_fail(r->log, IW_ERR_NOMEM, "out of memory");
        }
        if (size > 0 && memchr(text, '\0', (size_t)size) != NULL) {
            *text_p = text;
            return IW_OK;
        }
        free(text);
        if (size < (ssize_t)room) {
            break;
        }
    }
    return iwi_fail(r->log, IW_ERR_TRUNCATED, "'%s' ends within its table of strings", r->path);
}

static iw_status read_optional_text(const struct reader *r, int64_t tag, char **text_p)
{
    uint64_t place;

    return find_entry(r, tag, &place) ? read_text(r, place, text_p) : IW_OK;
}

static iw_status read_needed(const struct reader *r, struct iwi_elf *elf)
{
    size_t count = 0;

    for (size_t i = 0; i < r->entry_count; i++) {
        count += r->entries[i].d_tag == DT_NEEDED;
    }
    if (count > MOST_NEEDED) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s' has a damaged dynamic section: it needs %zu libraries",
                        r->path, count);
    }
    elf->needed = iwi_new_array(r->log, count, sizeof *elf->needed);
    if (elf->needed == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < r->entry_count; i++) {
        if (r->entries[i].d_tag == DT_NEEDED) {
            IW_TRY(read_text(r, r->entries[i].d_un.d_val, &elf->needed[elf->needed_count]));
            elf->needed_count++;
        }
    }
    return IW_OK;
}

static iw_status read_dynamic(struct reader *r, struct iwi_elf *elf)
{
    const ElfW(Phdr) * segment;

    IW_TRY(read_segments(r));
    segment = find_dynamic(r);
    if (segment == NULL) {
        elf->kind = IWI_ELF_STATIC;
        return IW_OK;
    }
    elf->kind = IWI_ELF_DYNAMIC;
    IW_TRY(read_entries(r, segment));
    IW_TRY(find_texts(r));
    IW_TRY(read_needed(r, elf));
    IW_TRY(read_optional_text(r, DT_RPATH, &elf->rpath));
    return read_optional_text(r, DT_RUNPATH, &elf->runpath);
}

iw_status iwi_elf_read(const iw_log *log, int file, const char *path, struct iwi_elf *elf_p)
{
    struct reader r = {.log = log, .path = path, .file = file};
    struct iwi_elf elf = {.kind = IWI_ELF_NONE};
    bool is_elf;
    iw_status status = read_header(&r, &is_elf);

    if (status == IW_OK && is_elf) {
        status = read_dynamic(&r, &elf);
    }
    free(r.segments);
    free(r.entries);
    if (status != IW_OK) {
        iwi_elf_release(&elf);
        return status;
    }
    *elf_p = elf;
    return IW_OK;
}

void iwi_elf_release(struct iwi_elf *elf)
{
    for (size_t i = 0; i < elf->needed_count; i++) {
        free(elf->needed[i]);
    }
    free(elf->needed);
    free(elf->rpath);
    free(elf->runpath);
    *elf = (struct iwi_elf){.kind = IWI_ELF_NONE};
}
