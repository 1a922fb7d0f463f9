/* Program against launcher against part: which MPI it is, and the sentences when it does not fit.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <idlewave/internal/mpi.h>

#include "made_elf.h"
#include "support/support.h"

static const char part_file[] = "libidlewave-trace.so";

/* A part of that MPI, built with `library`. */
static void put_part(const char *folder, const char *mpi, const char *library)
{
    const struct iwt_elf part = {.needed = {"libc.so.6", library}};

    (void)mkdir(iwt_path(folder, mpi), 0755);
    iwt_write_elf(iwt_path(iwt_path(folder, mpi), part_file), &part);
}

static int set_up(void **state)
{
    iwt_clean_environment();
    *state = iwt_make_folder();
    put_part(*state, "openmpi", "libmpi.so.40");
    put_part(*state, "mpich", "libmpich.so.12");
    return setenv("IDLEWAVE_PARTS", *state, 1);
}

static int tear_down(void **state)
{
    iwt_remove_folder(*state);
    return 0;
}

static void require_both(void)
{
    if (iw_mpi_name(0) == NULL || iw_mpi_name(1) == NULL) {
        skip(); /* built for one MPI or none */
    }
}

/* A program called "app" in the folder; gives its path. */
static const char *put_app(const char *folder, const char *library)
{
    const struct iwt_elf app = {.needed = {"libm.so.6", library}};

    iwt_write_elf(iwt_path(folder, "app"), &app);
    return iwt_path(folder, "app");
}

static void start_by(const char *mpi)
{
    const bool is_openmpi = strcmp(mpi, "openmpi") == 0;

    assert_int_equal(setenv(is_openmpi ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK", "0", 1), 0);
    assert_int_equal(setenv(is_openmpi ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE", "4", 1), 0);
}

static void assert_chosen(const char *program, const char *expected)
{
    const char *name = NULL;

    assert_ok(iw_mpi_choose(NULL, program, part_file, &name));
    assert_string_equal(name, expected);
}

static void assert_refused(const char *program, iw_status expected, const char *sentence)
{
    const char *name = NULL;
    struct iwt_log log;

    iwt_log_init(&log);
    assert_status(iw_mpi_choose(&log.log, program, part_file, &name), expected);
    assert_null(name);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, sentence);
}

/* ---- what a program needs ---- */

static void tells_mpis_by_their_libraries(void **state)
{
    static const char *const known[][2] = {
        {"libmpi.so.40", "openmpi"},       {"libmpi.so.20", "openmpi"},
        {"libmpi_mpifh.so.40", "openmpi"}, {"libmpi_usempif08.so.40", "openmpi"},
        {"libmpi_cxx.so.40", "openmpi"},   {"libmpich.so.12", "mpich"},
        {"libmpi.so.12", "mpich"},         {"libmpichfort.so.12", "mpich"},
        {"libmpifort.so.12", "mpich"},
    };

    require_both();
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *name = NULL;

        assert_ok(iw_mpi_of_program(NULL, put_app(*state, known[i][0]), &name));
        assert_string_equal(name, known[i][1]);
    }
}

static void sees_no_mpi_in_scripts_and_other_programs(void **state)
{
    const char *name = "?";

    assert_ok(iw_mpi_of_program(NULL, put_app(*state, "libmpi-like.so"), &name));
    assert_null(name);
    iwt_write_file(iwt_path(*state, "script"), "#!/bin/sh\n", 10);
    name = "?";
    assert_ok(iw_mpi_of_program(NULL, iwt_path(*state, "script"), &name));
    assert_null(name);
}

static void refuses_an_mpi_that_it_does_not_know(void **state)
{
    assert_refused(put_app(*state, "libmpi_cray.so.12"), IW_ERR_UNSUPPORTED,
                   "needs libmpi_cray.so.12, an unknown MPI: idlewave supports Open");
}

static void looks_programs_up_in_path(void **state)
{
    const char *name = NULL;
    struct iwt_log log;

    require_both();
    iwt_log_init(&log);
    (void)put_app(*state, "libmpich.so.12");
    assert_int_equal(setenv("PATH", *state, 1), 0);
    assert_ok(iw_mpi_of_program(NULL, "app", &name));
    assert_string_equal(name, "mpich");
    assert_status(iw_mpi_of_program(&log.log, "appp", &name), IW_ERR_IO);
    iwt_assert_logged(&log, "no program 'appp' in PATH");
    assert_int_equal(setenv("PATH", "/nonexistent", 1), 0);
    assert_int_equal(chdir(*state), 0);
    assert_status(iw_mpi_of_program(&log.log, "app", &name), IW_ERR_IO);
    iwt_assert_logged(&log, "'app' is not in PATH: for the one in this folder, type ./app");
    assert_int_equal(chdir("/"), 0);
}

static void refuses_what_cannot_be_run(void **state)
{
    const char *path = put_app(*state, "libmpi.so.40");

    assert_int_equal(chmod(path, 0644), 0);
    assert_refused(path, IW_ERR_IO, "app' cannot be run: Permission denied");
    assert_refused(*state, IW_ERR_IO, "' cannot be run: Permission denied"); /* a folder */
    assert_refused("", IW_ERR_IO, "'' is not the name of a program");
}

/* ---- what it is run with ---- */

static void takes_the_program_s_mpi_with_its_launcher_or_with_none(void **state)
{
    const char *path = put_app(*state, "libmpi.so.40");

    require_both();
    assert_chosen(path, "openmpi");
    start_by("openmpi");
    assert_chosen(path, "openmpi");
}

static void refuses_a_launcher_of_the_other_mpi(void **state)
{
    require_both();
    start_by("mpich");
    assert_refused(put_app(*state, "libmpi.so.40"), IW_ERR_USAGE,
                   "app' is a program of openmpi, but was started by a launcher of mpich: each process would "
                   "be alone; use the launcher of openmpi (on Debian mpirun.openmpi), or srun --mpi=pmix");
}

static void warns_where_srun_connects_nothing(void **state)
{
    const char *name = NULL;
    struct iwt_log log;

    require_both();
    iwt_log_init(&log);
    assert_int_equal(setenv("SLURM_STEP_ID", "0", 1), 0);
    assert_int_equal(setenv("SLURM_PROCID", "0", 1), 0);
    assert_int_equal(setenv("SLURM_STEP_NUM_TASKS", "8", 1), 0);
    assert_ok(iw_mpi_choose(&log.log, put_app(*state, "libmpich.so.12"), part_file, &name));
    assert_string_equal(name, "mpich");
    assert_int_equal(log.warnings, 1);
    iwt_assert_logged(&log, "srun started 8 processes without --mpi=pmix or --mpi=pmi2:");
    iwt_assert_logged(&log, "use srun --mpi=pmi2");
}

static void takes_the_launcher_s_mpi_where_the_program_shows_none(void **state)
{
    require_both();
    iwt_write_file(iwt_path(*state, "script"), "#!/bin/sh\n", 10);
    start_by("mpich");
    assert_chosen(iwt_path(*state, "script"), "mpich");
}

static void refuses_where_nothing_tells_the_mpi(void **state)
{
    iwt_write_file(iwt_path(*state, "script"), "#!/bin/sh\n", 10);
    assert_refused(iwt_path(*state, "script"), IW_ERR_UNSUPPORTED,
                   "script' does not seem to use MPI, and no MPI launcher started it");
}

static void refuses_an_mpi_of_another_interface_than_the_part_s(void **state)
{
    require_both();
    assert_refused(put_app(*state, "libmpi.so.12"), IW_ERR_UNSUPPORTED,
                   "app' needs libmpi.so.12, but idlewave was built for the mpich of libmpich.so.12");
}

static void refuses_where_the_part_is_missing(void **state)
{
    require_both();
    assert_int_equal(setenv("IDLEWAVE_PARTS", "/nonexistent", 1), 0);
    assert_refused(put_app(*state, "libmpi.so.40"), IW_ERR_IO,
                   "'/nonexistent/openmpi/libidlewave-trace.so':");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(tells_mpis_by_their_libraries),
        TEST(sees_no_mpi_in_scripts_and_other_programs),
        TEST(refuses_an_mpi_that_it_does_not_know),
        TEST(looks_programs_up_in_path),
        TEST(refuses_what_cannot_be_run),
        TEST(takes_the_program_s_mpi_with_its_launcher_or_with_none),
        TEST(refuses_a_launcher_of_the_other_mpi),
        TEST(warns_where_srun_connects_nothing),
        TEST(takes_the_launcher_s_mpi_where_the_program_shows_none),
        TEST(refuses_where_nothing_tells_the_mpi),
        TEST(refuses_an_mpi_of_another_interface_than_the_part_s),
        TEST(refuses_where_the_part_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
