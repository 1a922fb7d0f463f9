/* Reading ELF files: what they need, and that no damage does harm.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/launch/target.h"
#include "made_elf.h"
#include "support/support.h"

static const struct iwt_elf example = {
    .needed = {"libmpi.so.40", "libc.so.6"}, .rpath = "/opt/lib", .runpath = "$ORIGIN/../lib"};

static iw_status read_bytes(const iw_log *log, const void *bytes, size_t size, struct iwi_elf *elf)
{
    const int file = memfd_create("elf", MFD_CLOEXEC);
    iw_status status;

    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    status = iwi_elf_read(log, file, "x", elf);
    (void)close(file);
    return status;
}

static void tells_needed_libraries_and_search_paths(void **state)
{
    unsigned char bytes[IWT_ELF_SIZE];
    struct iwi_elf elf;

    (void)state;
    assert_ok(read_bytes(NULL, bytes, iwt_elf_bytes(&example, bytes), &elf));
    assert_int_equal(elf.kind, IWI_ELF_DYNAMIC);
    assert_int_equal(elf.needed_count, 2);
    assert_string_equal(elf.needed[0], "libmpi.so.40");
    assert_string_equal(elf.needed[1], "libc.so.6");
    assert_string_equal(elf.rpath, "/opt/lib");
    assert_string_equal(elf.runpath, "$ORIGIN/../lib");
    iwi_elf_release(&elf);
}

static void reads_this_test_itself(void **state)
{
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct iwi_elf elf;
    bool has_libc = false;

    (void)state;
    assert_ok(iwi_elf_read(NULL, file, "exe", &elf));
    (void)close(file);
    for (size_t i = 0; i < elf.needed_count; i++) {
        has_libc = has_libc || strcmp(elf.needed[i], "libc.so.6") == 0;
    }
    assert_true(has_libc);
    iwi_elf_release(&elf);
}

static void takes_scripts_and_short_files_as_something_else(void **state)
{
    static const char *const texts[] = {
        "", "#", "#!/bin/sh\necho a script that is longer than a header of ELF is, so\n"};
    struct iwi_elf elf;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_ok(read_bytes(NULL, texts[i], strlen(texts[i]), &elf));
        assert_int_equal(elf.kind, IWI_ELF_NONE);
        assert_int_equal(elf.needed_count, 0);
    }
}

static void takes_programs_for_other_machines_as_something_else(void **state)
{
    unsigned char bytes[IWT_ELF_SIZE];
    const size_t size = iwt_elf_bytes(&example, bytes);
    ElfW(Ehdr) header;
    struct iwi_elf elf;

    (void)state;
    memcpy(&header, bytes, sizeof header);
    header.e_machine = EM_SPARCV9;
    memcpy(bytes, &header, sizeof header);
    assert_ok(read_bytes(NULL, bytes, size, &elf));
    assert_int_equal(elf.kind, IWI_ELF_NONE);
}

static void knows_static_programs(void **state)
{
    unsigned char bytes[IWT_ELF_SIZE];
    const size_t size = iwt_elf_bytes(&example, bytes);
    ElfW(Ehdr) header;
    struct iwi_elf elf;

    (void)state;
    memcpy(&header, bytes, sizeof header);
    header.e_phnum = 1; /* without the dynamic segment, the second */
    memcpy(bytes, &header, sizeof header);
    assert_ok(read_bytes(NULL, bytes, size, &elf));
    assert_int_equal(elf.kind, IWI_ELF_STATIC);
    iwi_elf_release(&elf);
}

/* Every error is logged once; nothing that was cut off is taken for the whole. */
static void survives_being_cut_off_at_every_byte(void **state)
{
    unsigned char bytes[IWT_ELF_SIZE];
    const size_t size = iwt_elf_bytes(&example, bytes);
    struct iwi_elf elf;

    (void)state;
    for (size_t cut = 4; cut < size; cut++) {
        struct iwt_log log;

        iwt_log_init(&log);
        assert_status(read_bytes(&log.log, bytes, cut, &elf), IW_ERR_TRUNCATED);
        assert_int_equal(log.errors, 1);
        iwt_assert_logged(&log, "'x' ends within its");
    }
}

static void survives_every_changed_byte(void **state)
{
    static const unsigned char changes[] = {0x01, 0x80, 0xff};
    unsigned char bytes[IWT_ELF_SIZE];
    const size_t size = iwt_elf_bytes(&example, bytes);

    (void)state;
    for (size_t i = 0; i < size; i++) {
        for (size_t k = 0; k < sizeof changes; k++) {
            struct iwt_log log;
            struct iwi_elf elf;

            iwt_log_init(&log);
            bytes[i] ^= changes[k];
            if (read_bytes(&log.log, bytes, size, &elf) == IW_OK) {
                assert_int_equal(log.errors, 0);
                iwi_elf_release(&elf);
            } else {
                assert_int_equal(log.errors, 1);
            }
            bytes[i] ^= changes[k];
        }
    }
}

static void refuses_numbers_that_no_file_has(void **state)
{
    unsigned char bytes[IWT_ELF_SIZE];
    const size_t size = iwt_elf_bytes(&example, bytes);
    ElfW(Ehdr) header;
    struct iwt_log log;
    struct iwi_elf elf;

    (void)state;
    iwt_log_init(&log);
    memcpy(&header, bytes, sizeof header);
    header.e_phnum = 60000;
    memcpy(bytes, &header, sizeof header);
    assert_status(read_bytes(&log.log, bytes, size, &elf), IW_ERR_FORMAT);
    iwt_assert_logged(&log, "'x' has a damaged header: 60000 segments");
}

static void change_entry(unsigned char *bytes, int64_t tag, uint64_t value)
{
    ElfW(Dyn) entry;
    size_t at = IWT_ELF_DYNAMIC_AT;

    for (;; at += sizeof entry) {
        memcpy(&entry, bytes + at, sizeof entry);
        if (entry.d_tag == tag) {
            break;
        }
        assert_int_not_equal(entry.d_tag, DT_NULL);
    }
    entry.d_un.d_val = value;
    memcpy(bytes + at, &entry, sizeof entry);
}

/* As Spack and Nix link: a folder for each of many libraries. The path lies behind the other strings. */
static void reads_long_search_paths(void **state)
{
    static const size_t lengths[] = {511, 512, 4095, 4096, 20000, (1 << 20) - 1};

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        unsigned char *bytes = calloc(1, IWT_ELF_SIZE + lengths[i] + 1);
        struct iwi_elf elf;

        assert_non_null(bytes);
        (void)iwt_elf_bytes(&example, bytes);
        change_entry(bytes, DT_RUNPATH, IWT_ELF_SIZE - IWT_ELF_TEXTS_AT);
        change_entry(bytes, DT_STRSZ, IWT_ELF_SIZE - IWT_ELF_TEXTS_AT + lengths[i] + 1);
        memset(bytes + IWT_ELF_SIZE, 'x', lengths[i]);
        assert_status(read_bytes(NULL, bytes, IWT_ELF_SIZE + lengths[i] + 1, &elf), IW_OK);
        assert_int_equal(strlen(elf.runpath), lengths[i]);
        iwi_elf_release(&elf);
        free(bytes);
    }
}

/* Changes the value of the dynamic entry of that tag, and reads. */
static void assert_refused_with(int64_t tag, uint64_t value, const char *sentence)
{
    unsigned char bytes[IWT_ELF_SIZE];
    const size_t size = iwt_elf_bytes(&example, bytes);
    struct iwt_log log;
    struct iwi_elf elf;

    change_entry(bytes, tag, value);
    iwt_log_init(&log);
    assert_status(read_bytes(&log.log, bytes, size, &elf), IW_ERR_FORMAT);
    iwt_assert_logged(&log, sentence);
}

static void refuses_strings_outside_of_their_table(void **state)
{
    (void)state;
    assert_refused_with(DT_NEEDED, 5000, "'x' has a damaged dynamic section: a string at 5000 of ");
    assert_refused_with(DT_RUNPATH, UINT64_MAX, "'x' has a damaged dynamic section: a string at ");
    assert_refused_with(DT_STRTAB, 0x20000, "'x' has a damaged dynamic section: no table of strings");
    assert_refused_with(DT_STRTAB, 0x10, "'x' has a damaged dynamic section: no table of strings");
    assert_refused_with(DT_STRSZ, UINT64_MAX, "'x' has a damaged dynamic section: no table of strings");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_needed_libraries_and_search_paths),
        cmocka_unit_test(reads_long_search_paths),
        cmocka_unit_test(reads_this_test_itself),
        cmocka_unit_test(takes_scripts_and_short_files_as_something_else),
        cmocka_unit_test(takes_programs_for_other_machines_as_something_else),
        cmocka_unit_test(knows_static_programs),
        cmocka_unit_test(survives_being_cut_off_at_every_byte),
        cmocka_unit_test(survives_every_changed_byte),
        cmocka_unit_test(refuses_numbers_that_no_file_has),
        cmocka_unit_test(refuses_strings_outside_of_their_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
