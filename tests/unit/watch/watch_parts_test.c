/* What watching needs of this process, names of sources, and jobs that cannot be watched.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "watch/capabilities.h"

#include <string.h>

#include "measure/fake_root.h"
#include "support/support.h"
#include "watch/job.h"
#include "watch/source_names.h"

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
    struct iwi_bpf_config config = {0};
    struct iwi_watched_job job;

    (void)state;
    fake_root_make(root);
    opts.pids = &pid;
    opts.pid_count = 1;
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job, &config), IW_ERR_RANGE);
    fake_root_file(root, "/proc/7/status", "Name:\tx\nTgid:\t6\nPPid:\t1\n");
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job, &config), IW_ERR_RANGE);
    fake_root_file(root, "/proc/7/status", "Name:\tx\nTgid:\t7\nPPid:\t1\n");
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job, &config), IW_OK);
    assert_string_equal(job.text, "process 7");
    opts.cgroup = "/";
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job, &config), IW_ERR_USAGE);
    opts.pid_count = 0;
    assert_int_equal(iwi_job_find(NULL, root, &opts, &job, &config), IW_ERR_RANGE);
    fake_root_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_capabilities_are_named),
        cmocka_unit_test(sources_have_the_names_that_record_gives),
        cmocka_unit_test(threads_and_dead_processes_are_no_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
