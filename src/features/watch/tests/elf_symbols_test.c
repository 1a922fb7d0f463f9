/* Functions of ELF files, whole and damaged.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/symbols.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/support.h"

/* A file with one loaded segment, at 0x1000 of its own addresses from its byte 64 on, and some functions. */
enum { SECTIONS = 3, SYMBOLS = 7, LOADED_AT = 0x1000, LOADED_FROM = 64, LOADED_BYTES = 0x300 };
static const char NAMES[] = "\0burn\0__burn\0sized\0data\0missing\0unsized";

struct made {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[SYMBOLS];
    char names[sizeof NAMES];
};

static Elf64_Sym symbol(const char *name, unsigned type, uint16_t section, uint64_t address, uint64_t bytes)
{
    const char *at = NAMES + 1;

    while (strcmp(at, name) != 0) {
        at += strlen(at) + 1;
    }
    return (Elf64_Sym){.st_name = (Elf64_Word)(at - NAMES),
                       .st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type),
                       .st_shndx = section,
                       .st_value = address,
                       .st_size = bytes};
}

static struct made make(void)
{
    struct made made = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_phoff = offsetof(struct made, segment),
                   .e_shoff = offsetof(struct made, sections),
                   .e_ehsize = sizeof made.header,
                   .e_phentsize = sizeof made.segment,
                   .e_phnum = 1,
                   .e_shentsize = sizeof made.sections[0],
                   .e_shnum = SECTIONS},
        .segment = {.p_type = PT_LOAD,
                    .p_offset = LOADED_FROM,
                    .p_filesz = LOADED_BYTES,
                    .p_memsz = LOADED_BYTES,
                    .p_vaddr = LOADED_AT},
        .sections = {
            {.sh_type = SHT_NULL},
            {.sh_type = SHT_SYMTAB,
             .sh_offset = offsetof(struct made, symbols),
             .sh_size = sizeof made.symbols,
             .sh_entsize = sizeof made.symbols[0],
             .sh_link = 2},
            {.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct made, names), .sh_size = sizeof NAMES}}};

    made.symbols[1] = symbol("__burn", STT_FUNC, 1, 0x1100, 0x10);
    made.symbols[2] = symbol("burn", STT_FUNC, 1, 0x1100, 0x20);
    made.symbols[3] = symbol("sized", STT_FUNC, 1, 0x1020, 0x10);
    made.symbols[4] = symbol("data", STT_OBJECT, 1, 0x1180, 0x100);
    made.symbols[5] = symbol("missing", STT_FUNC, SHN_UNDEF, 0, 0);
    made.symbols[6] = symbol("unsized", STT_FUNC, 1, 0x1200, 0);
    memcpy(made.names, NAMES, sizeof NAMES);
    return made;
}

static void load(const void *bytes, size_t size, struct iwi_elf_symbols *symbols)
{
    const int file = memfd_create("made", MFD_CLOEXEC);

    assert_true(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    assert_int_equal(iwi_elf_symbols_load(NULL, file, symbols), IW_OK);
    assert_int_equal(close(file), 0);
}

static void functions_are_found_by_address(void **state)
{
    const struct made made = make();
    struct iwi_elf_symbols symbols;

    (void)state;
    load(&made, sizeof made, &symbols);
    assert_int_equal(symbols.functions.count, 3);
    assert_int_equal(iwi_elf_address(&symbols, LOADED_FROM + 0x120), 0x1120);
    assert_int_equal(iwi_elf_address(&symbols, 5), 5); /* nothing is loaded there */
    assert_null(iwi_symbols_find(&symbols.functions, 0x101f));
    assert_string_equal(iwi_symbols_find(&symbols.functions, 0x1020), "sized");
    assert_null(iwi_symbols_find(&symbols.functions, 0x1030)); /* behind its end */
    assert_string_equal(iwi_symbols_find(&symbols.functions, 0x111f),
                        "burn");                               /* the plain name, and the larger size */
    assert_null(iwi_symbols_find(&symbols.functions, 0x1180)); /* no function */
    assert_string_equal(iwi_symbols_find(&symbols.functions, 0x9999), "unsized");
    iwi_elf_symbols_release(&symbols);
}

static void ask(const void *bytes, size_t size)
{
    struct iwi_elf_symbols symbols;

    load(bytes, size, &symbols);
    for (uint64_t address = 0; address < 0x2000; address += 0x10) {
        const char *name = iwi_symbols_find(&symbols.functions, iwi_elf_address(&symbols, address));

        assert_true(name == NULL || strlen(name) < sizeof NAMES);
    }
    assert_true(iwi_symbols_find(&symbols.functions, UINT64_MAX) == NULL || symbols.functions.count > 0);
    iwi_elf_symbols_release(&symbols);
}

static void a_file_may_end_anywhere(void **state)
{
    const struct made made = make();

    (void)state;
    for (size_t size = 0; size < sizeof made; size++) {
        ask(&made, size);
    }
}

static void any_byte_may_be_wrong(void **state)
{
    static const unsigned char wrong[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct made made = make();
    unsigned char *bytes = (unsigned char *)&made;

    (void)state;
    for (size_t at = 0; at < sizeof made; at++) {
        const unsigned char right = bytes[at];

        for (size_t i = 0; i < sizeof wrong; i++) {
            bytes[at] = wrong[i];
            ask(bytes, sizeof made);
        }
        bytes[at] = right;
    }
}

static void what_is_no_elf_file_has_no_functions(void **state)
{
    struct iwi_elf_symbols symbols;

    (void)state;
    load("!<arch>\nnot an archive", 22, &symbols);
    assert_int_equal(symbols.functions.count, 0);
    assert_null(iwi_symbols_find(&symbols.functions, 1));
    iwi_elf_symbols_release(&symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_by_address),
        cmocka_unit_test(a_file_may_end_anywhere),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(what_is_no_elf_file_has_no_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
