/* Launchers told apart by the variables they set, as seen on real systems.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <idlewave/internal/mpi.h>

#include "kit/launch/launcher.h"
#include "made_elf.h"
#include "support/support.h"

static int set_up(void **state)
{
    (void)state;
    iwt_clean_environment();
    return 0;
}

static void set(const char *name, const char *value)
{
    assert_int_equal(setenv(name, value, 1), 0);
}

static void assert_launcher(const char *name, uint32_t size, uint32_t rank)
{
    iw_launcher launcher;

    iwi_launcher_read_env(&launcher);
    if (name != NULL) {
        assert_non_null(launcher.name);
        assert_string_equal(launcher.name, name);
    } else {
        assert_null(launcher.name);
    }
    assert_int_equal(launcher.size, size);
    assert_int_equal(launcher.rank, rank);
}

static void sees_none_in_a_plain_shell(void **state)
{
    (void)state;
    assert_launcher(NULL, 0, 0);
}

static void sees_none_in_the_script_of_a_slurm_job(void **state)
{
    (void)state;
    set("SLURM_PROCID", "0");
    set("SLURM_NTASKS", "64");
    assert_launcher(NULL, 0, 0);
    assert_int_equal(unsetenv("SLURM_NTASKS"), 0);
}

static void knows_open_mpi_s_mpirun_also_inside_a_step_of_slurm(void **state)
{
    (void)state;
    set("OMPI_COMM_WORLD_RANK", "3");
    set("OMPI_COMM_WORLD_SIZE", "64");
    set("PMIX_RANK", "3");
    set("PMIX_NAMESPACE", "1539375105");
    set("SLURM_STEP_ID", "0"); /* of the daemons that mpirun started by srun, one a node */
    set("SLURM_STEP_NUM_TASKS", "2");
    set("SLURM_PROCID", "1");
    assert_launcher("openmpi", 64, 3);
}

static void knows_hydra(void **state)
{
    (void)state;
    set("PMI_RANK", "2");
    set("PMI_SIZE", "4");
    assert_launcher("mpich", 4, 2);
}

static void knows_srun_with_pmix_and_with_pmi2(void **state)
{
    (void)state;
    set("SLURM_STEP_ID", "7");
    set("SLURM_STEP_NUM_TASKS", "16");
    set("SLURM_PROCID", "5");
    set("PMIX_RANK", "5");
    set("PMIX_NAMESPACE", "slurm.pmix.12.7");
    assert_launcher("openmpi", 16, 5);
    set("PMI_RANK", "5");
    set("PMI_SIZE", "16");
    assert_int_equal(unsetenv("PMIX_RANK"), 0);
    assert_launcher("mpich", 16, 5);
}

static void assert_local(uint32_t size, uint32_t rank)
{
    iw_launcher launcher;

    iwi_launcher_read_env(&launcher);
    assert_int_equal(launcher.local_size, size);
    assert_int_equal(launcher.local_rank, rank);
}

static void knows_which_process_of_the_node_this_is(void **state)
{
    (void)state;
    set("PMI_RANK", "6");
    set("PMI_SIZE", "8");
    assert_local(0, 0); /* not told */
    set("SLURM_LOCALID", "3");
    assert_local(0, 3);
    set("MPI_LOCALRANKID", "2");
    set("MPI_LOCALNRANKS", "4");
    assert_local(4, 2);
    set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
    set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    assert_local(2, 1);
}

static void counts_the_tasks_of_slurm_s_nodes(void **state)
{
    (void)state;
    set("SLURM_STEP_ID", "0");
    set("SLURM_STEP_NUM_TASKS", "15");
    set("SLURM_PROCID", "9");
    set("SLURM_LOCALID", "1");
    set("SLURM_STEP_TASKS_PER_NODE", "4(x2),1,3(x2)");
    set("SLURM_NODEID", "1");
    assert_local(4, 1);
    set("SLURM_NODEID", "2");
    assert_local(1, 1);
    set("SLURM_NODEID", "4");
    assert_local(3, 1);
    set("SLURM_NODEID", "5");
    assert_local(0, 1);
    set("SLURM_STEP_TASKS_PER_NODE", "4(x");
    set("SLURM_NODEID", "0");
    assert_local(0, 1);
    set("SLURM_NTASKS_PER_NODE", "2");
    assert_local(2, 1);
}

static void knows_that_srun_alone_connects_nothing(void **state)
{
    (void)state;
    set("SLURM_STEP_ID", "7");
    set("SLURM_STEP_NUM_TASKS", "16");
    set("SLURM_PROCID", "5");
    assert_launcher(NULL, 16, 5);
    set("SLURM_STEP_NUM_TASKS", "1");
    assert_launcher(NULL, 0, 0);
}

static void takes_variables_that_are_no_numbers_as_not_there(void **state)
{
    static const char *const values[] = {"", "-1", "four", "4x", "99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        set("PMI_RANK", "0");
        set("PMI_SIZE", values[i]);
        assert_launcher(NULL, 0, 0);
    }
}

static void refuses_to_be_alone_where_more_were_started(void **state)
{
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    set("SLURM_STEP_ID", "7");
    set("SLURM_STEP_NUM_TASKS", "2");
    set("PMIX_NAMESPACE", "slurm.pmix.12.7");
    set("PMIX_RANK", "1");
    assert_status(iwi_launcher_check_size(&log.log, "mpich", 1), IW_ERR_USAGE);
    assert_int_equal(log.errors, 0); /* rank 0 tells it for all */
    set("PMIX_RANK", "0");
    assert_status(iwi_launcher_check_size(&log.log, "mpich", 1), IW_ERR_USAGE);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, "the launcher started 2 processes, but mpich sees 1: it");
    iwt_assert_logged(&log, "srun --mpi=pmi2");
    assert_ok(iwi_launcher_check_size(&log.log, "openmpi", 2));
}

static void lets_one_process_be_alone_without_a_launcher(void **state)
{
    (void)state;
    assert_ok(iwi_launcher_check_size(NULL, "mpich", 1));
}

/* Reads until that many lines are there. */
static void hear(int file, int lines, char *said, size_t size)
{
    size_t length = 0;

    while (lines > 0 && length + 1 < size && read(file, said + length, 1) == 1) {
        lines -= said[length++] == '\n';
    }
    said[length] = '\0';
}

/* The launcher's side, in a process of its own; ends with 0 if all was as PMI-1 has it: a greeting, its
 * answer, the end of all. Whoever asked for that must still be there a while later. */
static void play_launcher(int file)
{
    static const char answer[] = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
    struct pollfd other = {file, POLLIN, 0};
    char said[256];
    int code = 0;

    hear(file, 1, said, sizeof said);
    code |= strcmp(said, "cmd=init pmi_version=1 pmi_subversion=1\n") == 0 ? 0 : 1;
    code |= write(file, answer, sizeof answer - 1) == sizeof answer - 1 ? 0 : 2;
    hear(file, 1, said, sizeof said);
    code |= strcmp(said, "cmd=abort exitcode=64\n") == 0 ? 0 : 4;
    code |= poll(&other, 1, 200) == 0 ? 0 : 8; /* neither a word nor its end */
    _exit(code);
}

static void has_the_launcher_end_all_and_waits_for_it(void **state)
{
    char number[16];
    int ends[2], code;
    pid_t launcher;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    (void)snprintf(number, sizeof number, "%d", ends[1]);
    set("PMI_FD", number);
    launcher = fork();
    assert_true(launcher >= 0);
    if (launcher == 0) {
        (void)close(ends[1]);
        play_launcher(ends[0]);
    }
    assert_int_equal(close(ends[0]), 0);
    iw_launcher_abort(64);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(waitpid(launcher, &code, 0), launcher);
    assert_int_equal(code, 0);
}

static void bears_that_the_launcher_is_gone(void **state)
{
    char number[16];
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    (void)snprintf(number, sizeof number, "%d", ends[1]);
    set("PMI_FD", number);
    assert_int_equal(close(ends[0]), 0);
    iw_launcher_abort(64);
    assert_int_equal(close(ends[1]), 0);
}

static void writes_to_nothing_that_is_no_launcher(void **state)
{
    static const char *const values[] = {"", "-1", "four", "99999999999999999999"};
    FILE *file = tmpfile();
    char number[16];

    (void)state;
    assert_non_null(file);
    (void)snprintf(number, sizeof number, "%d", fileno(file));
    set("PMI_FD", number);
    iw_launcher_abort(1);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        set("PMI_FD", values[i]);
        iw_launcher_abort(1);
    }
    assert_int_equal(unsetenv("PMI_FD"), 0);
    iw_launcher_abort(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sees_none_in_a_plain_shell, set_up),
        cmocka_unit_test_setup(sees_none_in_the_script_of_a_slurm_job, set_up),
        cmocka_unit_test_setup(knows_open_mpi_s_mpirun_also_inside_a_step_of_slurm, set_up),
        cmocka_unit_test_setup(knows_hydra, set_up),
        cmocka_unit_test_setup(knows_srun_with_pmix_and_with_pmi2, set_up),
        cmocka_unit_test_setup(knows_which_process_of_the_node_this_is, set_up),
        cmocka_unit_test_setup(counts_the_tasks_of_slurm_s_nodes, set_up),
        cmocka_unit_test_setup(knows_that_srun_alone_connects_nothing, set_up),
        cmocka_unit_test_setup(takes_variables_that_are_no_numbers_as_not_there, set_up),
        cmocka_unit_test_setup(refuses_to_be_alone_where_more_were_started, set_up),
        cmocka_unit_test_setup(lets_one_process_be_alone_without_a_launcher, set_up),
        cmocka_unit_test_setup(has_the_launcher_end_all_and_waits_for_it, set_up),
        cmocka_unit_test_setup(bears_that_the_launcher_is_gone, set_up),
        cmocka_unit_test_setup(writes_to_nothing_that_is_no_launcher, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
