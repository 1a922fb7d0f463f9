/* Reads the tables of symbols of an ELF file with libelf.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "watch/elf_symbols.h"

#include <stdlib.h>
#include <string.h>

#include <gelf.h>

#include "base/base.h"

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

static iw_status add_symbol(const iw_log *log, const GElf_Sym *symbol, const char *name,
                            struct iwi_elf_symbols *symbols)
{
    const size_t length = strlen(name) + 1;

    IW_TRY(iwi_grow(log, (void **)&symbols->array, &symbols->capacity, symbols->count + 1,
                    sizeof *symbols->array));
    IW_TRY(
        iwi_grow(log, (void **)&symbols->names, &symbols->names_capacity, symbols->names_size + length, 1));
    memcpy(symbols->names + symbols->names_size, name, length);
    symbols->array[symbols->count++] =
        (struct iwi_elf_symbol){symbol->st_value, symbol->st_size, symbols->names_size};
    symbols->names_size += length;
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

    for (uint64_t i = 0; i < count && symbols->count < MOST_SYMBOLS; i++) {
        const char *name;

        if (gelf_getsym(data, (int)i, &symbol) == NULL) {
            break;
        }
        name = is_function(&symbol) ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;
        if (name != NULL && name[0] != '\0') {
            IW_TRY(add_symbol(log, &symbol, name, symbols));
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

/* Names of one function, the best first: as people write it, not as a library calls it inside. Where they lie
 * in `names` tells them apart at last, so that the order is always the same. */
struct named {
    struct iwi_elf_symbol symbol;
    const char *name;
};

static int by_address(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const size_t lines_x = strspn(x->name, "_"), lines_y = strspn(y->name, "_");

    if (x->symbol.address != y->symbol.address) {
        return x->symbol.address > y->symbol.address ? 1 : -1;
    }
    if (lines_x != lines_y) {
        return lines_x > lines_y ? 1 : -1;
    }
    return (x->symbol.name > y->symbol.name) - (x->symbol.name < y->symbol.name);
}

/* One name for each address. */
static iw_status sort(const iw_log *log, struct iwi_elf_symbols *symbols)
{
    struct named *named = iwi_new_array(log, symbols->count, sizeof *named);
    size_t used = 0;

    if (named == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < symbols->count; i++) {
        named[i] = (struct named){symbols->array[i], symbols->names + symbols->array[i].name};
    }
    qsort(named, symbols->count, sizeof *named, by_address);
    for (size_t i = 0; i < symbols->count; i++) {
        struct iwi_elf_symbol *last = &symbols->array[used > 0 ? used - 1 : 0];

        if (used == 0 || last->address != named[i].symbol.address) {
            symbols->array[used++] = named[i].symbol;
        } else if (last->bytes < named[i].symbol.bytes) {
            last->bytes = named[i].symbol.bytes;
        }
    }
    symbols->count = used;
    free(named);
    return IW_OK;
}

iw_status iwi_elf_symbols_load(const iw_log *log, int file, struct iwi_elf_symbols *symbols)
{
    iw_status status = IW_OK;
    Elf *elf;

    *symbols = (struct iwi_elf_symbols){.count = 0};
    (void)elf_version(EV_CURRENT);
    elf = elf_begin(file, ELF_C_READ, NULL);
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF) {
        status = read_segments(log, elf, symbols);
        if (status == IW_OK) {
            status = read_tables(log, elf, symbols);
        }
        if (status == IW_OK && symbols->count > 0) {
            status = sort(log, symbols);
        }
    }
    (void)elf_end(elf);
    return status;
}

void iwi_elf_symbols_release(struct iwi_elf_symbols *symbols)
{
    free(symbols->segments);
    free(symbols->array);
    free(symbols->names);
    *symbols = (struct iwi_elf_symbols){.count = 0};
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

const char *iwi_elf_symbol(const struct iwi_elf_symbols *symbols, uint64_t address)
{
    size_t first = 0, end = symbols->count; /* array[first - 1] <= address < array[end] */
    const struct iwi_elf_symbol *symbol;

    while (first < end) {
        const size_t middle = first + (end - first) / 2;

        if (symbols->array[middle].address <= address) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    if (first == 0) {
        return NULL;
    }
    symbol = &symbols->array[first - 1];
    return symbol->bytes == 0 || address - symbol->address < symbol->bytes ? symbols->names + symbol->name
                                                                           : NULL;
}
