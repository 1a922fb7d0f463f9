/* What watching needs of this process, names of sources, jobs that cannot be watched, and what is embedded.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/kernel_side.h"

#include <string.h>

#include "features/watch/detours.h"
#include "features/watch/job.h"
#include "support/fake_root.h"
#include "support/support.h"

static void check_lacking(const char *effective, const char *expected)
{
    char root[FAKE_ROOT_SIZE], status[64], text[IWI_CAPABILITIES_SIZE];

    fake_root_make(root);
    snprintf(status, sizeof status, "Name:\tx\nCapEff:\t%s\n", effective);
    fake_root_file(root, "/proc/self/status", status);
    assert_int_equal(iwi_capabilities_lacking(root, text), expected != NULL);
    if (expected != NULL) {
        assert_string_equal(text, expected);
    }
    fake_root_remove(root);
}

/* CAP_SYS_ADMIN is bit 21, CAP_PERFMON 38, CAP_BPF 39. */
static void missing_capabilities_are_named(void **state)
{
    (void)state;
    check_lacking("0000000000000000", "CAP_BPF and CAP_PERFMON");
    check_lacking("0000008000000000", "CAP_PERFMON");
    check_lacking("0000004000000000", "CAP_BPF");
    check_lacking("000000c000000000", NULL);
    check_lacking("0000000000200000", NULL);
}

static void sources_have_the_names_that_record_gives(void **state)
{
    const struct iwi_bpf_name thread = {.comm = "kworker/0:1"}, irq = {.is_irq = 1, .irq = 999999};
    iw_source source;

    (void)state;
    iwi_fixed_source(IWI_BPF_STEAL, &source);
    assert_int_equal(source.kind, IW_CLASS_HARDWARE);
    assert_string_equal(source.name, "steal");
    iwi_fixed_source(IWI_BPF_VECTORS + IWI_BPF_TICK_VECTOR - IWI_BPF_FIRST_VECTOR, &source);
    assert_int_equal(source.kind, IW_CLASS_IRQ);
    assert_string_equal(source.name, "local_timer");
    iwi_fixed_source(IWI_BPF_VECTORS, &source);
    assert_string_equal(source.name, "vector 224");
    iwi_fixed_source(IWI_BPF_SOFTIRQS_END - 1, &source);
    assert_int_equal(source.kind, IW_CLASS_SOFTIRQ);
    assert_string_equal(source.name, "RCU");
    iwi_named_source(&thread, &source);
    assert_int_equal(source.kind, IW_CLASS_THREAD);
    assert_string_equal(source.name, "kworker/0:1");
    iwi_named_source(&irq, &source);
    assert_int_equal(source.kind, IW_CLASS_IRQ);
    assert_string_equal(source.name, "irq 999999");
}

static void threads_and_dead_processes_are_no_jobs(void **state)
{
    const uint32_t pid = 7;
    char root[FAKE_ROOT_SIZE];
    iw_watch_opts opts = IW_WATCH_OPTS_INIT;
    struct iwi_watched_job job;

    (void)state;
    fake_root_make(root);
    opts.pids = &pid;
    opts.pid_count = 1;
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job), IW_ERR_RANGE);
    fake_root_file(root, "/proc/7/status", "Name:\tx\nTgid:\t6\nPPid:\t1\n");
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job), IW_ERR_RANGE);
    fake_root_file(root, "/proc/7/status", "Name:\tx\nTgid:\t7\nPPid:\t1\n");
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job), IW_OK);
    assert_string_equal(job.text, "process 7");
    opts.cgroup = "/";
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job), IW_ERR_USAGE);
    opts.pid_count = 0;
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job), IW_ERR_RANGE);
    fake_root_remove(root);
}

struct taken {
    uint32_t pids[8];
    size_t count;
};

static iw_status take(void *arg, uint32_t pid)
{
    struct taken *taken = arg;

    assert_true(taken->count < 8);
    taken->pids[taken->count++] = pid;
    return IW_OK;
}

static void processes_are_followed_over_generations(void **state)
{
    const uint32_t pid = 70;
    iw_watch_opts opts = IW_WATCH_OPTS_INIT;
    struct iwi_watched_job job;
    struct taken taken = {.count = 0};
    char root[FAKE_ROOT_SIZE];

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/1/status", "Name:\tinit\nTgid:\t1\nPPid:\t0\n");
    fake_root_file(root, "/proc/50/status",
                   "Name:\tgrandchild\nTgid:\t50\nPPid:\t60\n"); /* numbers start anew */
    fake_root_file(root, "/proc/60/status", "Name:\tchild\nTgid:\t60\nPPid:\t70\n");
    fake_root_file(root, "/proc/70/status", "Name:\tgiven\nTgid:\t70\nPPid:\t1\n");
    fake_root_file(root, "/proc/80/status", "Name:\tother\nTgid:\t80\nPPid:\t1\n");
    opts.pids = &pid;
    opts.pid_count = 1;
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job), IW_OK);
    assert_int_equal(iwi_job_each_process(NULL, &job, take, &taken), IW_OK);
    assert_int_equal(taken.count, 3);
    assert_int_equal(taken.pids[0] + taken.pids[1] + taken.pids[2], 50 + 60 + 70);
    fake_root_remove(root);
}

/* A control group, and one below it. */
static void processes_of_a_group_are_those_of_all_below_it(void **state)
{
    struct taken taken = {.count = 0};
    char root[FAKE_ROOT_SIZE];
    struct iwi_watched_job job = {.root = root, .cgroup = root};

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/cgroup.procs", "50\n60\n");
    fake_root_file(root, "/step_0/cgroup.procs", "70\n");
    fake_root_file(root, "/step_0/cpu.max", "max 100000\n");
    assert_int_equal(iwi_job_each_process(NULL, &job, take, &taken), IW_OK);
    assert_int_equal(taken.count, 3);
    assert_int_equal(taken.pids[0] + taken.pids[1] + taken.pids[2], 50 + 60 + 70);
    fake_root_remove(root);
}

/* The object has names of its sources, which are texts of their own; it is there whatever the linker
 * optimises. */
static void what_is_embedded_knows_no_build_folder(void **state)
{
    static const char source[] = "\0./src/features/watch/bpf/watch.bpf.c";
    const size_t size = (uintptr_t)iwi_watch_object_end - (uintptr_t)iwi_watch_object;

    (void)state;
    assert_memory_equal(iwi_watch_object, "\177ELF", 4);
    assert_non_null(memmem(iwi_watch_object, size, source, sizeof source));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_capabilities_are_named),
        cmocka_unit_test(sources_have_the_names_that_record_gives),
        cmocka_unit_test(threads_and_dead_processes_are_no_jobs),
        cmocka_unit_test(processes_are_followed_over_generations),
        cmocka_unit_test(processes_of_a_group_are_those_of_all_below_it),
        cmocka_unit_test(what_is_embedded_knows_no_build_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
