/* What recordings and counters say, by source and CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/settings/observed.h"

#include <math.h>
#include <string.h>

#include "support/fake_root.h"
#include "support/made_recording.h"
#include "support/support.h"

static const int64_t SECOND_NS = 1000000000;

static uint64_t count_of(const struct iwi_observed *seen, iw_class kind, const char *name, uint32_t cpu)
{
    uint64_t count = 0;

    for (size_t i = 0; i < seen->row_count; i++) {
        const struct iwi_seen_row *row = &seen->rows[i];

        if (row->source.kind == kind && strcmp(row->source.name, name) == 0 &&
            seen->seen_cpus[row->place].cpu == cpu) {
            count += row->count;
        }
    }
    return count;
}

static void detours_count_for_each_of_their_sources(void **state)
{
    iw_recording *recording = iwt_recording(2, 10 * SECOND_NS);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer");
    const uint32_t cron = iwt_source(recording, IW_CLASS_THREAD, "cron");
    struct iwi_observed seen;

    (void)state;
    recording->cpus[1].cpu = 5;
    iwt_detour(recording, 0, 100, 2000, tick);
    iwt_detour(recording, 0, 5000, 1000, cron);
    iwt_part(recording, 0, cron, 700);
    iwt_part(recording, 0, tick, 200); /* 100 ns are left open: cron's */
    iwt_detour(recording, 1, 100, 50, 0);
    iwt_attribute(recording, "steal_ms", "0:500,5:100");
    assert_ok(iwi_observe_recording(NULL, recording, &seen));
    assert_int_equal(count_of(&seen, IW_CLASS_IRQ, "local_timer", 0), 2);
    assert_int_equal(count_of(&seen, IW_CLASS_THREAD, "cron", 0), 1);
    assert_int_equal(seen.row_count, 2); /* unknown ones are nobody's */
    assert_true(seen.rows[1].busy_ns == 800.0);
    assert_true(iw_cpu_set_has(&seen.cpus, 5));
    assert_true(fabs(seen.seen_cpus[0].steal - 0.05) < 1e-12);
    assert_true(fabs(seen.seen_cpus[1].steal - 0.01) < 1e-12);
    assert_true(seen.tells[IW_CLASS_IRQ] && seen.tells[IW_CLASS_THREAD] && !seen.lacks_names);
    iwi_observed_release(&seen);
    iw_recording_free(recording);
}

static void events_are_marked_in_their_second(void **state)
{
    iw_recording *recording = iwt_recording(1, 10 * SECOND_NS);
    const uint32_t cron = iwt_source(recording, IW_CLASS_THREAD, "cron");
    struct iwi_observed seen;

    (void)state;
    iwt_detour(recording, 0, 100, 1000, cron);
    iwt_detour(recording, 0, 5000, 1000, cron);
    iwt_detour(recording, 0, 3 * SECOND_NS - 1000, 900, cron);
    iwt_detour(recording, 0, 9 * SECOND_NS, 1000, cron);
    assert_ok(iwi_observe_recording(NULL, recording, &seen));
    assert_int_equal(seen.rows[0].count, 4);
    assert_int_equal(seen.slot_count, 11); /* the last one begins where the recording ends */
    assert_int_equal(seen.rows[0].slots[0], 1 << 0 | 1 << 2 | 1 << 9);
    iwi_observed_release(&seen);
    iw_recording_free(recording);
}

static void counters_stand_in_for_a_weak_attribution(void **state)
{
    iw_recording *recording = iwt_recording(2, 10 * SECOND_NS);
    struct iwi_observed seen;

    (void)state;
    recording->attribution = IW_ATTRIBUTION_LEVEL_SWITCHES;
    iwt_attribute(
        recording, "interrupts",
        "0:LOC=2500,softirq RCU=7,36 eno1=12,MCP=3;1:LOC=1,a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=4");
    assert_ok(iwi_observe_recording(NULL, recording, &seen));
    assert_int_equal(count_of(&seen, IW_CLASS_IRQ, "local_timer", 0), 2500);
    assert_int_equal(count_of(&seen, IW_CLASS_SOFTIRQ, "RCU", 0), 7);
    assert_int_equal(count_of(&seen, IW_CLASS_IRQ, "eno1", 0), 12);
    assert_true(seen.tells[IW_CLASS_IRQ] && seen.is_counted[IW_CLASS_IRQ] && seen.lacks_names);
    assert_int_equal(seen.seen_cpus[0].least_count, 0);
    assert_int_equal(seen.seen_cpus[1].least_count, 1); /* twelve were kept: more may have risen */
    iwi_observed_release(&seen);
    iw_recording_free(recording);
}

static void quanta_without_counters_tell_nothing(void **state)
{
    iw_recording *recording = iwt_recording(1, SECOND_NS);
    struct iwi_observed seen;

    (void)state;
    recording->probe = IW_PROBE_FWQ;
    recording->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    assert_ok(iwi_observe_recording(NULL, recording, &seen));
    for (iw_class kind = 0; kind < IW_CLASSES; kind++) {
        assert_false(seen.tells[kind]);
    }
    iwi_observed_release(&seen);
    iw_recording_free(recording);
}

static void hostile_attributes_are_passed_over(void **state)
{
    static const char *const texts[] = {
        "", ":", ";;;;", "0", "0:", "0:=;0:,,,", "x:=", "0:LOC", "0:LOC=", "0:LOC=-1", "0:LOC=1;0:LOC=2"};
    iw_recording *recording = iwt_recording(1, SECOND_NS);

    (void)state;
    recording->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct iwi_observed seen;

        iwt_attribute(recording, "interrupts", texts[i]);
        iwt_attribute(recording, "steal_ms", texts[i]);
        assert_ok(iwi_observe_recording(NULL, recording, &seen));
        iwi_observed_release(&seen);
    }
    iw_recording_free(recording);
}

static void two_copies_of_counters_are_compared(void **state)
{
    struct iwi_observed seen;
    iw_cpu_set online = {{3}};

    (void)state;
    assert_true(iwi_is_copied_twice(IW_TEST_DATA "/nodes/vm"));
    assert_ok(iwi_observe_counters(NULL, IW_TEST_DATA "/nodes/vm", &online, 0, &seen));
    assert_int_equal(seen.by, IWI_SEEN_BY_COUNTERS);
    assert_true(seen.seen_cpus[1].seconds == 10.0);
    assert_int_equal(count_of(&seen, IW_CLASS_IRQ, "local_timer", 0), 2500);
    assert_int_equal(count_of(&seen, IW_CLASS_IRQ, "virtio1-req.0", 1), 200);
    assert_int_equal(count_of(&seen, IW_CLASS_SOFTIRQ, "RCU", 0), 1000);
    assert_true(fabs(seen.seen_cpus[0].steal - 0.05) < 1e-9); /* 50 of 1000 ticks */
    assert_true(seen.seen_cpus[0].idle == 0.0);
    iwi_observed_release(&seen);
}

static void copies_tell_in_which_of_them_counters_rose(void **state)
{
    struct iwi_observed seen;
    iw_cpu_set online = {{0xff}};
    const struct iwi_seen_row *card = NULL;

    (void)state;
    assert_ok(iwi_observe_counters(NULL, IW_TEST_DATA "/nodes/interrupts", &online, 0, &seen));
    assert_int_equal(seen.slot_count, 5);
    assert_true(seen.seen_cpus[4].seconds == 5.0);
    for (size_t i = 0; i < seen.row_count; i++) {
        card = strcmp(seen.rows[i].source.name, "eno1-TxRx-0") == 0 ? &seen.rows[i] : card;
    }
    assert_non_null(card);
    assert_int_equal(card->count, 600);
    assert_int_equal(card->slots[0], 0x1f);
    iwi_observed_release(&seen);
}

static void without_a_clock_nothing_is_observed(void **state)
{
    char root[FAKE_ROOT_SIZE];
    struct iwi_observed seen;
    iw_cpu_set online = {{1}};

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/interrupts", "  CPU0\nLOC: 1 Local\n");
    assert_ok(iwi_observe_counters(NULL, root, &online, 1000, &seen));
    assert_int_equal(seen.by, IWI_SEEN_BY_NONE);
    assert_int_equal(seen.cpu_count, 0);
    iwi_observed_release(&seen);
    fake_root_remove(root);
}

static void this_machine_s_counters_rise(void **state)
{
    struct iwi_observed seen;
    iw_cpu_set online = {{1}};

    (void)state;
    assert_ok(iwi_observe_counters(NULL, "", &online, 50000000, &seen));
    if (seen.by == IWI_SEEN_BY_COUNTERS) { /* some sandboxes have no such files */
        assert_true(seen.seen_cpus[0].seconds > 0.02);
    }
    iwi_observed_release(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detours_count_for_each_of_their_sources),
        cmocka_unit_test(events_are_marked_in_their_second),
        cmocka_unit_test(counters_stand_in_for_a_weak_attribution),
        cmocka_unit_test(quanta_without_counters_tell_nothing),
        cmocka_unit_test(hostile_attributes_are_passed_over),
        cmocka_unit_test(two_copies_of_counters_are_compared),
        cmocka_unit_test(copies_tell_in_which_of_them_counters_rose),
        cmocka_unit_test(without_a_clock_nothing_is_observed),
        cmocka_unit_test(this_machine_s_counters_rise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
