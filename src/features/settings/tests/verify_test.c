/* Whole nodes, from their files, with and without recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/verify.h>

#include <stdlib.h>
#include <string.h>

#include <idlewave/recording.h>

#include "support/made_recording.h"
#include "support/support.h"

#define NODE(name) IW_TEST_DATA "/nodes/" name

static iw_verify *verify(const char *root, const iw_recording *recording, const char *list)
{
    iw_verify_opts opts = IW_VERIFY_OPTS_INIT;
    char fault[IW_CPU_FAULT_SIZE];
    iw_verify *answer = NULL;
    iw_cpu_set cpus;

    opts.root = root;
    opts.recording = recording;
    if (list != NULL) {
        assert_true(iw_cpu_set_parse(list, &cpus, fault));
        opts.cpus = &cpus;
    }
    assert_ok(iw_verify_run(NULL, &opts, &answer));
    return answer;
}

static const iw_mitigation *find(const iw_verify *answer, const char *name)
{
    for (size_t i = 0; i < answer->count; i++) {
        if (strcmp(answer->mitigations[i].name, name) == 0) {
            return &answer->mitigations[i];
        }
    }
    return NULL;
}

static void assert_state(const iw_verify *answer, const char *name, iw_mitigation_state state)
{
    const iw_mitigation *m = find(answer, name);

    assert_non_null(m);
    if (m->state != state) {
        fail_msg("%s is %s: %s", name, iw_mitigation_state_name(m->state), m->evidence);
    }
}

/* CPUs 2-7 with these sources. */
static iw_recording *record(const char *const *specs, size_t count)
{
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_edit edit;

    opts.specs = (const char **)specs;
    opts.spec_count = count;
    opts.duration_ns = INT64_C(60000000000);
    opts.cpu_count = 6;
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    for (size_t i = 0; i < recording->cpu_count; i++) {
        recording->cpus[i].cpu = (uint32_t)i + 2;
    }
    return recording;
}

static void a_good_node_is_fine(void **state)
{
    iw_verify *answer = verify(NODE("isolated"), NULL, NULL);

    (void)state;
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 0);
    assert_state(answer, "nohz_full", IW_MITIGATION_EFFECTIVE);
    assert_state(answer, "rcu_nocbs", IW_MITIGATION_EFFECTIVE);
    assert_state(answer, "IRQ affinity", IW_MITIGATION_EFFECTIVE);
    assert_state(answer, "isolated CPUs", IW_MITIGATION_UNKNOWN); /* counters do not name threads */
    assert_string_equal(answer->host, "node07");
    iw_verify_free(answer);
}

static void a_good_node_with_a_quiet_recording_is_in_effect(void **state)
{
    static const char *const specs[] = {"irq/local_timer=periodic:1Hz,2us"};
    iw_recording *recording = record(specs, 1);
    iw_verify *answer = verify(NODE("isolated"), recording, NULL);

    (void)state;
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 0);
    assert_state(answer, "nohz_full", IW_MITIGATION_EFFECTIVE);
    assert_state(answer, "isolated CPUs", IW_MITIGATION_EFFECTIVE);
    assert_state(answer, "workqueue mask", IW_MITIGATION_EFFECTIVE);
    iw_verify_free(answer);
    iw_recording_free(recording);
}

static void the_tick_came_back_by_counters(void **state)
{
    iw_verify *answer = verify(NODE("tick"), NULL, NULL);

    (void)state;
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 1);
    assert_state(answer, "nohz_full", IW_MITIGATION_CONTRADICTED);
    assert_state(answer, "dl_server off", IW_MITIGATION_ABSENT);
    assert_non_null(strstr(answer->mitigations[0].advice, "fair_server"));
    iw_verify_free(answer);
}

static void a_recording_finds_tick_daemon_and_interrupt(void **state)
{
    static const char *const specs[] = {
        "irq/local_timer=periodic:1kHz,2us", "thread/sshd=poisson:2Hz,exp:50us",
        "irq/eno1-TxRx-0=poisson:5Hz,exp:4us", "thread/kworker/3:1=poisson:5Hz,exp:4us"};
    iw_recording *recording = record(specs, 4);
    iw_verify *answer = verify(NODE("tick"), recording, NULL);
    const iw_mitigation *isolation = find(answer, "isolated CPUs");

    (void)state;
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 3);
    assert_string_equal(answer->mitigations[0].name, "nohz_full"); /* 0.2 % of the time: the worst */
    assert_int_equal(answer->mitigations[0].source_count, 1);
    assert_string_equal(answer->mitigations[0].sources[0], "irq/local_timer");
    assert_state(answer, "IRQ affinity", IW_MITIGATION_CONTRADICTED);
    assert_int_equal(isolation->state, IW_MITIGATION_CONTRADICTED);
    assert_int_equal(isolation->source_count, 1); /* the worker is bound to its CPU */
    assert_string_equal(isolation->sources[0], "thread/sshd");
    iw_verify_free(answer);
    iw_recording_free(recording);
}

static void an_inverted_list_is_found(void **state)
{
    iw_verify *answer = verify(NODE("inverted"), NULL, NULL);

    (void)state;
    assert_state(answer, "isolated CPUs", IW_MITIGATION_CONTRADICTED);
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 1);
    iw_verify_free(answer);
    answer = verify(NODE("inverted"), NULL, "2-7");
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 2); /* nohz_full, too */
    iw_verify_free(answer);
}

static void interrupts_on_isolated_cpus_are_found(void **state)
{
    iw_verify *answer = verify(NODE("interrupts"), NULL, NULL);

    (void)state;
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 1);
    assert_string_equal(answer->mitigations[0].name, "IRQ affinity");
    assert_non_null(strstr(answer->mitigations[0].evidence, "eno1-TxRx-0 120/s on CPU 4"));
    assert_non_null(strstr(answer->mitigations[0].advice, "for i in 36 37; do echo 0-1 >"));
    assert_null(strstr(answer->mitigations[0].advice, " 25")); /* could go there, does not */
    iw_verify_free(answer);
}

static void a_virtual_machine_is_told(void **state)
{
    iw_verify *answer = verify(NODE("vm"), NULL, NULL);
    const iw_mitigation *metal = find(answer, "bare metal");

    (void)state;
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 0);
    assert_int_equal(metal->state, IW_MITIGATION_ABSENT);
    assert_non_null(strstr(metal->evidence, "4 % steal"));
    assert_int_equal(answer->remark_count, 1);
    assert_non_null(strstr(answer->remarks[0], "virtual machine (QEMU)"));
    iw_verify_free(answer);
}

static void a_container_is_told(void **state)
{
    iw_verify *answer = verify(NODE("container"), NULL, NULL);

    (void)state;
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 0);
    assert_int_equal(answer->remark_count, 1);
    assert_non_null(strstr(answer->remarks[0], "container"));
    assert_string_equal(answer->quiet_origin, "those of the batch job");
    assert_state(answer, "core specialisation", IW_MITIGATION_CONFIGURED);
    iw_verify_free(answer);
}

static void a_recording_of_another_node_is_told(void **state)
{
    iw_recording *recording = iwt_recording(2, 1000000000);
    iw_verify *answer;

    (void)state;
    iwt_attribute(recording, "host", "node08");
    iwt_attribute(recording, "kernel", "6.1.0-18-amd64");
    answer = verify(NODE("isolated"), recording, NULL);
    assert_string_equal(answer->recorded_host, "node08");
    assert_int_equal(answer->remark_count, 0);
    iw_verify_free(answer);
    iwt_attribute(recording, "kernel", "5.14");
    answer = verify(NODE("isolated"), recording, NULL);
    assert_int_equal(answer->remark_count, 1);
    iw_verify_free(answer);
    iwt_attribute(recording, "host", "node07");
    answer = verify(NODE("isolated"), recording, NULL);
    assert_string_equal(answer->recorded_host, "");
    iw_verify_free(answer);
    iw_recording_free(recording);
}

static void an_untuned_node_contradicts_nothing(void **state)
{
    iw_verify *answer = verify(NODE("plain"), NULL, NULL);

    (void)state;
    assert_int_equal(answer->counts[IW_MITIGATION_CONTRADICTED], 0);
    assert_state(answer, "nohz_full", IW_MITIGATION_ABSENT);
    assert_true(find(answer, "nohz_full")->is_felt);
    assert_string_equal(answer->quiet_origin, "");
    iw_verify_free(answer);
}

static void this_machine_can_be_verified(void **state)
{
    iw_verify *answer = verify("", NULL, NULL);

    (void)state;
    assert_true(answer->count > 10);
    iw_verify_free(answer);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    iw_verify_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_node_is_fine),
        cmocka_unit_test(a_good_node_with_a_quiet_recording_is_in_effect),
        cmocka_unit_test(the_tick_came_back_by_counters),
        cmocka_unit_test(a_recording_finds_tick_daemon_and_interrupt),
        cmocka_unit_test(an_inverted_list_is_found),
        cmocka_unit_test(interrupts_on_isolated_cpus_are_found),
        cmocka_unit_test(a_virtual_machine_is_told),
        cmocka_unit_test(a_container_is_told),
        cmocka_unit_test(a_recording_of_another_node_is_told),
        cmocka_unit_test(an_untuned_node_contradicts_nothing),
        cmocka_unit_test(this_machine_can_be_verified),
        cmocka_unit_test(freeing_nothing_is_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
