/* Finding and loading parts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <idlewave/internal/mpi.h>

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

static void require_openmpi(void)
{
    if (iw_mpi_name(0) == NULL || strcmp(iw_mpi_name(0), "openmpi") != 0) {
        skip();
    }
}

static void assert_not_loaded(const char *parts, iw_status expected, const char *sentence)
{
    const iw_mpi_plugin *part = NULL;
    struct iwt_log log;

    iwt_log_init(&log);
    assert_int_equal(setenv("IDLEWAVE_PARTS", parts, 1), 0);
    assert_status(iw_mpi_load(&log.log, "openmpi", &part), expected);
    assert_null(part);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, sentence);
}

static void ends_the_list_of_names(void **state)
{
    size_t count = 0;

    (void)state;
    while (iw_mpi_name(count) != NULL) {
        count++;
    }
    assert_true(count <= 2);
    assert_null(iw_mpi_name(1000));
}

static void refuses_mpis_that_it_was_not_built_for(void **state)
{
    char path[PATH_MAX];
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_status(iw_mpi_plugin_path(&log.log, "lam", "x", path, sizeof path), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&log, "idlewave was built without support for lam");
}

static void says_where_it_has_looked(void **state)
{
    char path[PATH_MAX];
    struct iwt_log log;

    (void)state;
    require_openmpi();
    iwt_log_init(&log);
    assert_status(iw_mpi_plugin_path(&log.log, "openmpi", "none.so", path, sizeof path), IW_ERR_IO);
    iwt_assert_logged(&log, "the part of idlewave for openmpi is missing: no 'none.so' in '/");
    iwt_assert_logged(&log, "/../lib/idlewave/openmpi'");
}

static void gives_full_names_of_given_folders(void **state)
{
    char path[PATH_MAX];

    require_openmpi();
    assert_int_equal(mkdir(iwt_path(*state, "openmpi"), 0755), 0);
    iwt_write_file(iwt_path(*state, "openmpi/x.so"), "", 0);
    assert_int_equal(chdir(*state), 0);
    assert_int_equal(setenv("IDLEWAVE_PARTS", ".", 1), 0);
    assert_ok(iw_mpi_plugin_path(NULL, "openmpi", "x.so", path, sizeof path));
    assert_string_equal(path, iwt_path(*state, "openmpi/x.so"));
    assert_int_equal(chdir("/"), 0);
}

static void refuses_a_part_of_another_version(void **state)
{
    (void)state;
    require_openmpi();
    assert_not_loaded(IWT_FAKE_PLUGINS, IW_ERR_FORMAT,
                      "is a part for openmpi of another version of idlewave (");
}

static void refuses_what_is_no_library(void **state)
{
    require_openmpi();
    assert_int_equal(mkdir(iwt_path(*state, "openmpi"), 0755), 0);
    iwt_write_file(iwt_path(*state, "openmpi/libidlewave-mpi.so"), "text", 4);
    assert_not_loaded(*state, IW_ERR_IO, "the part for openmpi cannot be loaded: ");
}

static void refuses_a_path_that_does_not_fit(void **state)
{
    char path[8];

    (void)state;
    require_openmpi();
    assert_int_equal(setenv("IDLEWAVE_PARTS", IWT_FAKE_PLUGINS, 1), 0);
    assert_status(iw_mpi_plugin_path(NULL, "openmpi", "libidlewave-mpi.so", path, sizeof path), IW_ERR_IO);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(ends_the_list_of_names),
        TEST(refuses_mpis_that_it_was_not_built_for),
        TEST(says_where_it_has_looked),
        TEST(gives_full_names_of_given_folders),
        TEST(refuses_a_part_of_another_version),
        TEST(refuses_what_is_no_library),
        TEST(refuses_a_path_that_does_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
