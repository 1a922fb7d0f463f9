/* What to do against which source.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/whatif.h>

#include "support/support.h"

static void assert_remedy(iw_class kind, const char *name, const char *how_part, bool is_moved)
{
    const iw_remedy *remedy = iw_remedy_of(kind, name);

    assert_non_null(remedy);
    if (strstr(remedy->how, how_part) == NULL || remedy->is_moved != is_moved) {
        fail_msg("'%s': '%s', moved: %d", name, remedy->how, (int)remedy->is_moved);
    }
}

static void the_tick_is_stopped_by_nohz_full(void **state)
{
    (void)state;
    assert_remedy(IW_CLASS_IRQ, "local_timer", "nohz_full", false);
    assert_remedy(IW_CLASS_SOFTIRQ, "TIMER", "nohz_full", false);
    assert_remedy(IW_CLASS_SOFTIRQ, "SCHED", "nohz_full", false);
}

static void interrupts_of_devices_move_to_other_cpus(void **state)
{
    (void)state;
    assert_remedy(IW_CLASS_IRQ, "eno1-TxRx-3", "smp_affinity_list", true);
    assert_remedy(IW_CLASS_IRQ, "nvme0q4", "smp_affinity_list", true);
    assert_remedy(IW_CLASS_SOFTIRQ, "NET_RX", "smp_affinity_list", true);
}

static void workers_bound_to_a_cpu_do_not_move_and_others_do(void **state)
{
    (void)state;
    assert_remedy(IW_CLASS_THREAD, "kworker/3:1", "vm.stat_interval", false);
    assert_remedy(IW_CLASS_THREAD, "kworker/u8:0", "workqueue/cpumask", true);
    assert_remedy(IW_CLASS_THREAD, "migration/2", "isolcpus", false);
}

static void any_daemon_can_be_kept_off(void **state)
{
    (void)state;
    assert_remedy(IW_CLASS_THREAD, "slurmstepd", "AllowedCPUs", true);
    assert_remedy(IW_CLASS_THREAD, "", "AllowedCPUs", true);
    assert_remedy(IW_CLASS_THREAD, "[brackets]*", "AllowedCPUs", true);
}

static void threads_of_the_kernel_are_not_units_of_systemd(void **state)
{
    static const char *const names[] = {"kswapd0", "kdamond.0", "jbd2/sda1-8", "xfsaild/dm-0",
                                        "xfs-buf/dm-0"};

    (void)state;
    assert_remedy(IW_CLASS_THREAD, "kswapd0", "memory is short", true);
    assert_remedy(IW_CLASS_THREAD, "kdamond.0", "/sys/kernel/mm/damon/admin", true);
    assert_remedy(IW_CLASS_THREAD, "jbd2/sda1-8", "ext4", true);
    assert_remedy(IW_CLASS_THREAD, "xfsaild/dm-0", "XFS", true);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_null(strstr(iw_remedy_of(IW_CLASS_THREAD, names[i])->how, "systemd"));
    }
}

static void what_the_kernel_did_not_see_is_a_matter_of_the_machine(void **state)
{
    (void)state;
    assert_remedy(IW_CLASS_HARDWARE, IW_SOURCE_UNSEEN, "virtual machine", false);
    assert_remedy(IW_CLASS_NMI, "perf", "nmi_watchdog", false);
}

static void an_unknown_source_is_to_be_found_out_first(void **state)
{
    (void)state;
    assert_remedy(IW_CLASS_UNKNOWN, "", "record", false);
}

static void every_class_has_words(void **state)
{
    (void)state;
    for (int kind = 0; kind < IW_CLASSES; kind++) {
        const iw_remedy *remedy = iw_remedy_of((iw_class)kind, "whatever");

        assert_true(strlen(remedy->name) > 5 && strlen(remedy->name) < 60);
        assert_true(strlen(remedy->how) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tick_is_stopped_by_nohz_full),
        cmocka_unit_test(interrupts_of_devices_move_to_other_cpus),
        cmocka_unit_test(workers_bound_to_a_cpu_do_not_move_and_others_do),
        cmocka_unit_test(any_daemon_can_be_kept_off),
        cmocka_unit_test(threads_of_the_kernel_are_not_units_of_systemd),
        cmocka_unit_test(what_the_kernel_did_not_see_is_a_matter_of_the_machine),
        cmocka_unit_test(an_unknown_source_is_to_be_found_out_first),
        cmocka_unit_test(every_class_has_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
