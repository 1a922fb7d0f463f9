/* Reads the tables of symbols of an ELF file with libelf.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/elf_symbols.h"

#include <stdlib.h>

#include <gelf.h>

#include "core/base/base.h"

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
