/* Whose CPU time it was: kernel threads, services, programs of users.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/machine/load.h"

#include "support/fake_root.h"

static const uint32_t cpus[] = {0, 1};

/* A process with so many ticks of its own and of children that ended. */
static void put(const char *root, unsigned pid, const char *name, unsigned long flags, unsigned ticks,
                unsigned child_ticks, const char *group)
{
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    snprintf(text, sizeof text,
             "%u (%s) S 1 1 1 0 -1 %lu 0 0 0 0 %u 0 %u 0 20 0 1 0 %u 0 0 18446744073709551615\n", pid, name,
             flags, ticks, child_ticks, 100 + pid);
    fake_root_file(root, path, text);
    snprintf(path, sizeof path, "/proc/%u/cgroup", pid);
    snprintf(text, sizeof text, "0::%s\n", group);
    fake_root_file(root, path, text);
}

/* User, nice and system ticks of each of two CPUs are `ticks` together. */
static void put_cpus(const char *root, unsigned ticks)
{
    char text[256];

    snprintf(text, sizeof text,
             "cpu  1 1 1 1\ncpu0 %u 1 2 90 5 6 7 8 0 0\ncpu1 %u 1 2 90 5 6 7 8 0 0\ncpu10 9 9 9\n", ticks - 3,
             ticks - 3);
    fake_root_file(root, "/proc/stat", text);
}

enum { OWN = 500 };

struct rig {
    char root[FAKE_ROOT_SIZE];
    struct iwi_load_reading before, after;
    struct iwi_load_used used;
};

static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);

    assert_non_null(rig);
    fake_root_make(rig->root);
    put_cpus(rig->root, 1000);
    put(rig->root, 2, "kthreadd", 0x208040, 5, 0, "/");
    put(rig->root, 40, "kworker/0:1-events", 0x4208060, 10, 0, "/");
    put(rig->root, 60, "sshd (odd) name", 0x400100, 10, 0, "/system.slice/sshd.service");
    put(rig->root, 70, "ninja", 0x400000, 10, 100, "/user.slice/user-1000.slice/session-1.scope");
    put(rig->root, OWN, "idlewave", 0x400000, 0, 0, "/user.slice/user-1000.slice/session-1.scope");
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;

    iwi_load_release(&rig->before);
    iwi_load_release(&rig->after);
    fake_root_remove(rig->root);
    free(rig);
    return 0;
}

static void first(struct rig *rig)
{
    assert_ok(iwi_load_read(NULL, rig->root, cpus, 2, &rig->before));
}

/* Ticks of 10 ms; 1000 ticks went by on each of the two CPUs. */
static void second(struct rig *rig)
{
    assert_ok(iwi_load_read(NULL, rig->root, cpus, 2, &rig->after));
    iwi_load_between(&rig->before, &rig->after, OWN, 10.0, 20000.0, &rig->used);
}

static void assert_used(const struct rig *rig, double kernel_ms, double services_ms, double users_ms)
{
    assert_float_equal(rig->used.ms[IWI_LOAD_KERNEL], kernel_ms, 1e-9);
    assert_float_equal(rig->used.ms[IWI_LOAD_SERVICE], services_ms, 1e-9);
    assert_float_equal(rig->used.ms[IWI_LOAD_USER], users_ms, 1e-9);
}

static void each_kind_gets_its_own_time_and_the_recorder_none(void **state)
{
    struct rig *rig = *state;

    first(rig);
    put_cpus(rig->root, 2000); /* 2000 ticks more on both CPUs together */
    put(rig->root, 40, "kworker/0:1-events", 0x4208060, 14, 0, "/");
    put(rig->root, 60, "sshd (odd) name", 0x400100, 13, 0, "/system.slice/sshd.service");
    put(rig->root, 70, "ninja", 0x400000, 12, 200, "/user.slice/user-1000.slice/session-1.scope");
    put(rig->root, 80, "cc1", 0x400000, 300, 0, "/user.slice/user-1000.slice/session-1.scope");
    put(rig->root, OWN, "idlewave", 0x400000, 1591, 0, "/user.slice/user-1000.slice/session-1.scope");
    second(rig);
    /* kernel 4, services 3, users 2 + 100 (children) + 300 (new): 409 of 2000 - 1591 */
    assert_used(rig, 40.0, 30.0, 4020.0);
    assert_string_equal(rig->used.users, "cc1=3000,children of ninja=1020");
}

static void of_children_that_ended_no_more_counts_than_the_cpus_have_left(void **state)
{
    struct rig *rig = *state;

    first(rig);
    put_cpus(rig->root, 2000);
    put(rig->root, 70, "ninja", 0x400000, 10, 100000, "/user.slice/user-1000.slice/session-1.scope");
    put(rig->root, OWN, "idlewave", 0x400000, 1900, 0, "/user.slice/user-1000.slice/session-1.scope");
    second(rig);
    assert_used(rig, 0.0, 0.0, 1000.0); /* 2000 - 1900 */
    assert_string_equal(rig->used.users, "children of ninja=1000");
}

static void time_of_processes_that_do_not_show_is_users_unless_it_is_little(void **state)
{
    struct rig *rig = *state;

    first(rig);
    put_cpus(rig->root, 2000);
    put(rig->root, OWN, "idlewave", 0x400000, 1930, 0, "/user.slice/user-1000.slice/session-1.scope");
    second(rig);
    assert_used(rig, 0.0, 0.0, 700.0); /* 3.5 % */
    iwi_load_release(&rig->after);
    put(rig->root, OWN, "idlewave", 0x400000, 1950, 0, "/user.slice/user-1000.slice/session-1.scope");
    second(rig);
    assert_used(rig, 0.0, 0.0, 0.0); /* 2.5 % may be how the kernel counts */
}

static void batch_jobs_and_containers_below_services_are_users(void **state)
{
    struct rig *rig = *state;

    put(rig->root, 80, "lmp", 0, 0, 0, "/system.slice/slurmstepd.scope/job_7/step_0/user/task_0");
    put(rig->root, 81, "app", 0, 0, 0, "/system.slice/docker-0123.scope");
    put(rig->root, 82, "slurmd", 0, 0, 0, "/system.slice/slurmd.service");
    first(rig);
    put_cpus(rig->root, 2000);
    put(rig->root, 80, "lmp", 0, 500, 0, "/system.slice/slurmstepd.scope/job_7/step_0/user/task_0");
    put(rig->root, 81, "app", 0, 400, 0, "/system.slice/docker-0123.scope");
    put(rig->root, 82, "slurmd", 0, 2, 0, "/system.slice/slurmd.service");
    put(rig->root, OWN, "idlewave", 0, 1098, 0, "/user.slice/user-1000.slice/session-1.scope");
    second(rig);
    assert_used(rig, 0.0, 20.0, 9000.0);
    assert_string_equal(rig->used.users, "lmp=5000,app=4000");
}

static void another_process_with_an_old_pid_is_new(void **state)
{
    struct rig *rig = *state;

    first(rig);
    rig->before.processes[3].start = 1; /* ninja */
    put_cpus(rig->root, 2000);
    put(rig->root, 70, "ninja", 0x400000, 50, 0, "/user.slice/user-1000.slice/session-1.scope");
    put(rig->root, OWN, "idlewave", 0x400000, 1950, 0, "/user.slice/user-1000.slice/session-1.scope");
    second(rig);
    assert_used(rig, 0.0, 0.0, 500.0);
}

static void kernel_threads_are_known_by_their_names(void **state)
{
    struct rig *rig = *state;

    first(rig);
    assert_true(iwi_load_is_kernel(&rig->before, "kthreadd"));
    assert_true(iwi_load_is_kernel(&rig->before, "kworker/0:1"));
    assert_true(iwi_load_is_kernel(&rig->before, "kworker/u8:9")); /* one that has ended */
    assert_false(iwi_load_is_kernel(&rig->before, "ninja"));
    assert_false(iwi_load_is_kernel(&rig->before, "cron"));
}

static void what_is_no_process_is_passed_over(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/proc/90/stat", "90 (cut) S 1 1");
    fake_root_file(rig->root, "/proc/91/stat", "");
    fake_root_file(rig->root, "/proc/92/stat", "92 ) S ( 1 1 1 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 1 0\n");
    first(rig);
    assert_int_equal(rig->before.count, 5);
}

/* In put() all descend from process 1. */
static void users_are_followed_from_the_first_of_their_processes_on(void **state)
{
    static const char session[] = "0::/user.slice/user-1000.slice/session-1.scope\n";
    struct rig *rig = *state;
    uint32_t pids[8];

    put(rig->root, 1, "systemd", 0x400100, 10, 0, "/init.scope");
    fake_root_file(rig->root, "/proc/71/stat",
                   "71 (cc1) R 70 1 1 0 -1 4194304 0 0 0 0 9 0 0 0 20 0 1 0 171 0 0 0\n");
    fake_root_file(rig->root, "/proc/71/cgroup", session);
    first(rig);
    assert_int_equal(iwi_load_users(&rig->before, OWN, pids), 1);
    assert_int_equal(pids[0], 70); /* ninja, which cc1 descends from; neither sshd nor kernel threads */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_kind_gets_its_own_time_and_the_recorder_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_children_that_ended_no_more_counts_than_the_cpus_have_left, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(time_of_processes_that_do_not_show_is_users_unless_it_is_little,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(batch_jobs_and_containers_below_services_are_users, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_process_with_an_old_pid_is_new, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernel_threads_are_known_by_their_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_process_is_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(users_are_followed_from_the_first_of_their_processes_on, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
