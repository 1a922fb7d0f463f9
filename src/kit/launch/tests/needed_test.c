/* The walk through needed libraries: order, places, ends.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/launch/target.h"
#include "made_elf.h"
#include "support/support.h"

static int set_up(void **state)
{
    iwt_clean_environment();
    *state = iwt_make_folder();
    return 0;
}

static int tear_down(void **state)
{
    iwt_remove_folder(*state);
    return 0;
}

static bool append_name(void *arg, const char *name)
{
    char *names = arg;

    snprintf(names + strlen(names), 1000 - strlen(names), "%s ", name);
    return strcmp(name, "last") != 0;
}

static void assert_walk(const char *folder, const char *expected)
{
    char names[1000] = "";

    assert_ok(iwi_needed_walk(NULL, iwt_path(folder, "app"), "/nonexistent", append_name, names));
    assert_string_equal(names, expected);
}

/* A library of that name in the folder "<folder>/<place>", which needs `needs`. */
static void put_library(const char *folder, const char *place, const char *name, const char *needs)
{
    const struct iwt_elf elf = {.needed = {needs}};

    (void)mkdir(iwt_path(folder, place), 0755);
    iwt_write_elf(iwt_path(iwt_path(folder, place), name), &elf);
}

static void put_app(const char *folder, const char *rpath, const char *runpath)
{
    const struct iwt_elf elf = {.needed = {"liba"}, .rpath = rpath, .runpath = runpath};

    iwt_write_elf(iwt_path(folder, "app"), &elf);
}

static void names_what_is_not_found(void **state)
{
    put_app(*state, NULL, NULL);
    assert_walk(*state, "liba ");
}

static void looks_in_rpath_of_the_program_also_for_libraries_of_libraries(void **state)
{
    put_app(*state, "/nonexistent:$ORIGIN/r", NULL);
    put_library(*state, "r", "liba", "libb");
    put_library(*state, "r", "libb", "libc");
    assert_walk(*state, "liba libb libc ");
}

static void looks_in_runpath_of_the_needing_one_only(void **state)
{
    put_app(*state, NULL, "${ORIGIN}/r");
    put_library(*state, "r", "liba", "libb");
    put_library(*state, "r", "libb", "libc");
    assert_walk(*state, "liba libb ");
}

static void forgets_rpath_of_the_program_for_one_with_a_runpath(void **state)
{
    const struct iwt_elf liba = {.needed = {"libb"}, .runpath = "/nonexistent"};

    put_app(*state, "$ORIGIN/r", NULL);
    put_library(*state, "r", "libb", "libc");
    iwt_write_elf(iwt_path(*state, "r/liba"), &liba);
    assert_walk(*state, "liba libb ");
}

static void prefers_rpath_then_the_environment_then_runpath(void **state)
{
    const char *const folder = *state;

    put_library(folder, "rpath", "liba", "from_rpath");
    put_library(folder, "variable", "liba", "from_variable");
    put_library(folder, "runpath", "liba", "from_runpath");
    assert_int_equal(setenv("LD_LIBRARY_PATH", iwt_path(folder, "variable"), 1), 0);
    put_app(folder, "$ORIGIN/rpath", NULL);
    assert_walk(folder, "liba from_rpath ");
    put_app(folder, "$ORIGIN/rpath", "$ORIGIN/runpath"); /* a runpath switches rpath off */
    assert_walk(folder, "liba from_variable ");
    assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
    assert_walk(folder, "liba from_runpath ");
}

static void passes_over_files_that_are_no_libraries(void **state)
{
    const char *const folder = *state;

    put_library(folder, "first", "other", NULL);
    iwt_write_file(iwt_path(iwt_path(folder, "first"), "liba"), "/* GNU ld script */", 19);
    put_library(folder, "second", "liba", "libb");
    put_app(folder, "$ORIGIN/first:$ORIGIN/second", NULL);
    assert_walk(folder, "liba libb ");
}

static void ends_in_circles(void **state)
{
    put_app(*state, "$ORIGIN/r", NULL);
    put_library(*state, "r", "liba", "libb");
    put_library(*state, "r", "libb", "liba");
    assert_walk(*state, "liba libb ");
}

static void ends_when_it_is_told_to(void **state)
{
    const struct iwt_elf elf = {.needed = {"first", "last", "never"}};

    iwt_write_elf(iwt_path(*state, "app"), &elf);
    assert_walk(*state, "first last ");
}

static void needs_nothing_for_a_script(void **state)
{
    iwt_write_file(iwt_path(*state, "app"), "#!/bin/sh\n", 10);
    assert_walk(*state, "");
}

static void finds_the_system_s_libraries_by_its_cache(void **state)
{
    char names[1000] = "";

    (void)state;
    assert_ok(iwi_needed_walk(NULL, "/bin/ls", IWI_LIBRARY_CACHE, append_name, names));
    assert_non_null(strstr(names, "libc.so.6 "));
    assert_non_null(strstr(names, "ld-linux")); /* needed by the C library, not by ls */
}

static void tells_what_is_wrong_with_the_program(void **state)
{
    struct iwt_log log;

    iwt_log_init(&log);
    assert_status(iwi_needed_walk(&log.log, iwt_path(*state, "none"), "", append_name, NULL), IW_ERR_IO);
    iwt_assert_logged(&log, "none' cannot be read: No such file");
    iwt_write_file(iwt_path(*state, "app"), "\177ELF", 4);
    assert_status(iwi_needed_walk(&log.log, iwt_path(*state, "app"), "", append_name, NULL),
                  IW_ERR_TRUNCATED);
    iwt_assert_logged(&log, "app' ends within its header");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(names_what_is_not_found),
        TEST(looks_in_rpath_of_the_program_also_for_libraries_of_libraries),
        TEST(looks_in_runpath_of_the_needing_one_only),
        TEST(forgets_rpath_of_the_program_for_one_with_a_runpath),
        TEST(prefers_rpath_then_the_environment_then_runpath),
        TEST(passes_over_files_that_are_no_libraries),
        TEST(ends_in_circles),
        TEST(ends_when_it_is_told_to),
        TEST(needs_nothing_for_a_script),
        TEST(finds_the_system_s_libraries_by_its_cache),
        TEST(tells_what_is_wrong_with_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
