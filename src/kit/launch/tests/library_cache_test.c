/* The system's list of libraries: made ones, damaged ones, and this machine's.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>
#include <unistd.h>

#include "kit/launch/target.h"
#include "made_elf.h"
#include "support/support.h"

enum { HEADER = 48, ENTRY = 24, OLD = 16 + 12 + 4 /* to a multiple of 8 */ };

static void put_u32(unsigned char *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

/* Two entries of one name and one of another, behind `before` bytes. Returns the size. */
static size_t make_cache(unsigned char *bytes, size_t before)
{
    static const char texts[] = "libmpi.so.40\0/a/libmpi.so.40\0/b/libmpi.so.40\0libz.so.1\0/lib/libz.so.1";
    static const uint32_t places[3][2] = {{0, 13}, {0, 29}, {45, 55}};
    unsigned char *base = bytes + before;
    const uint32_t first = HEADER + 3 * ENTRY;

    memset(bytes, 0, 1024);
    memcpy(base, "glibc-ld.so.cache1.1", 20);
    put_u32(base + 20, 3);
    for (size_t i = 0; i < 3; i++) {
        put_u32(base + HEADER + i * ENTRY + 4, first + places[i][0]);
        put_u32(base + HEADER + i * ENTRY + 8, first + places[i][1]);
    }
    memcpy(base + first, texts, sizeof texts);
    return before + first + sizeof texts;
}

static void load(const void *bytes, size_t size, struct iwi_library_cache *cache)
{
    char *folder = iwt_make_folder();

    iwt_write_file(iwt_path(folder, "cache"), bytes, size);
    iwi_library_cache_load(iwt_path(folder, "cache"), cache);
    iwt_remove_folder(folder);
}

static void check_entries(const struct iwi_library_cache *cache)
{
    size_t at = 0;

    assert_string_equal(iwi_library_cache_next(cache, "libmpi.so.40", &at), "/a/libmpi.so.40");
    assert_string_equal(iwi_library_cache_next(cache, "libmpi.so.40", &at), "/b/libmpi.so.40");
    assert_null(iwi_library_cache_next(cache, "libmpi.so.40", &at));
    at = 0;
    assert_string_equal(iwi_library_cache_next(cache, "libz.so.1", &at), "/lib/libz.so.1");
    at = 0;
    assert_null(iwi_library_cache_next(cache, "libz.so", &at));
}

static void gives_all_paths_of_a_name(void **state)
{
    unsigned char bytes[1024];
    struct iwi_library_cache cache;

    (void)state;
    load(bytes, make_cache(bytes, 0), &cache);
    check_entries(&cache);
    iwi_library_cache_release(&cache);
}

static void finds_the_newer_format_behind_the_older(void **state)
{
    unsigned char bytes[1024];
    const size_t size = make_cache(bytes, OLD);
    struct iwi_library_cache cache;

    (void)state;
    memcpy(bytes, "ld.so-1.7.0", 11);
    put_u32(bytes + 12, 1);
    load(bytes, size, &cache);
    check_entries(&cache);
    iwi_library_cache_release(&cache);
}

static void takes_what_is_missing_or_damaged_as_empty(void **state)
{
    unsigned char bytes[1024];
    const size_t size = make_cache(bytes, 0);
    struct iwi_library_cache cache;
    size_t at = 0;

    (void)state;
    iwi_library_cache_load("/nonexistent/cache", &cache);
    assert_null(iwi_library_cache_next(&cache, "libz.so.1", &at));
    put_u32(bytes + 20, UINT32_MAX);
    load(bytes, size, &cache);
    assert_null(iwi_library_cache_next(&cache, "libz.so.1", &at));
    memcpy(bytes, "ld.so-1.7.0", 11); /* says that the newer one is far behind the end */
    put_u32(bytes + 12, UINT32_MAX);
    load(bytes, size, &cache);
    assert_null(iwi_library_cache_next(&cache, "libz.so.1", &at));
}

static void passes_over_entries_that_point_outside(void **state)
{
    unsigned char bytes[1024];
    const size_t size = make_cache(bytes, 0);
    struct iwi_library_cache cache;
    size_t at = 0;

    (void)state;
    put_u32(bytes + HEADER + 8, UINT32_MAX - 1);     /* path of the first libmpi */
    put_u32(bytes + HEADER + 2 * ENTRY + 4, 0xffff); /* name of libz */
    load(bytes, size, &cache);
    assert_string_equal(iwi_library_cache_next(&cache, "libmpi.so.40", &at), "/b/libmpi.so.40");
    at = 0;
    assert_null(iwi_library_cache_next(&cache, "libz.so.1", &at));
    iwi_library_cache_release(&cache);
}

static void survives_being_cut_off_at_every_byte(void **state)
{
    unsigned char bytes[1024];
    const size_t size = make_cache(bytes, 0);

    (void)state;
    for (size_t cut = 0; cut < size; cut++) {
        struct iwi_library_cache cache;
        size_t at = 0;

        load(bytes, cut, &cache);
        assert_null(iwi_library_cache_next(&cache, "no such library", &at));
        at = 0;
        assert_null(iwi_library_cache_next(&cache, "libz.so.1", &at)); /* the last text is cut off */
        iwi_library_cache_release(&cache);
    }
}

static void knows_the_c_library_of_this_machine(void **state)
{
    struct iwi_library_cache cache;
    const char *path;
    size_t at = 0;

    (void)state;
    if (access("/etc/ld.so.cache", R_OK) != 0) {
        skip();
    }
    iwi_library_cache_load("/etc/ld.so.cache", &cache);
    path = iwi_library_cache_next(&cache, "libc.so.6", &at);
    assert_non_null(path);
    assert_int_equal(access(path, R_OK), 0);
    iwi_library_cache_release(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_all_paths_of_a_name),
        cmocka_unit_test(finds_the_newer_format_behind_the_older),
        cmocka_unit_test(takes_what_is_missing_or_damaged_as_empty),
        cmocka_unit_test(passes_over_entries_that_point_outside),
        cmocka_unit_test(survives_being_cut_off_at_every_byte),
        cmocka_unit_test(knows_the_c_library_of_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
