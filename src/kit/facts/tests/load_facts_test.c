/* Who used the CPUs of a recording, by its attributes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/facts/load_facts.h"

#include "support/made_recording.h"
#include "support/support.h"

/* Four CPUs, ten seconds: 40000 ms in all. */
static iw_recording *with_load(const char *users_ms, const char *elapsed_ms)
{
    iw_recording *recording = iwt_recording(1, 10000000000); /* of which one is left */

    iwt_attribute(recording, "load_elapsed_ms", elapsed_ms);
    iwt_attribute(recording, "load_cpus", "4");
    iwt_attribute(recording, "load_users_ms", users_ms);
    iwt_attribute(recording, "load_services_ms", "400");
    iwt_attribute(recording, "load_kernel_ms", "40");
    iwt_attribute(recording, "load_users", "cc1=1800,ninja=200");
    return recording;
}

static void shares_are_of_all_cpus_that_were_measured(void **state)
{
    iw_recording *recording = with_load("2000", "10000");
    const iw_load load = iwi_load_of(recording);

    (void)state;
    assert_true(load.is_known);
    assert_float_equal(load.users, 0.05, 1e-9);
    assert_float_equal(load.services, 0.01, 1e-9);
    assert_float_equal(load.kernel, 0.001, 1e-9);
    assert_string_equal(load.programs, "cc1 4.5 %, ninja 0.5 %");
    iw_recording_free(recording);
}

static void a_fifth_of_one_cpu_is_busy_however_many_there_are(void **state)
{
    iw_recording *busy = with_load("2000", "10000"), *idle = with_load("1990", "10000");

    (void)state;
    assert_true(iwi_load_of(busy).is_busy);
    assert_false(iwi_load_of(idle).is_busy);
    iwt_attribute(busy, "under", "find /"); /* as somebody wanted it */
    assert_false(iwi_load_of(busy).is_busy);
    iw_recording_free(busy);
    iw_recording_free(idle);
}

static void without_accounts_or_in_less_than_a_second_nothing_is_known(void **state)
{
    iw_recording *none = iwt_recording(1, 10000000000), *brief = with_load("2000", "900");

    (void)state;
    assert_false(iwi_load_of(none).is_known);
    assert_false(iwi_load_of(none).is_busy);
    assert_false(iwi_load_of(brief).is_known);
    iw_recording_free(none);
    iw_recording_free(brief);
}

static void threads_of_the_kernel_are_those_that_are_listed(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000000000);
    const uint32_t worker = iwt_source(recording, IW_CLASS_THREAD, "kworker/0:1");
    const uint32_t longer = iwt_source(recording, IW_CLASS_THREAD, "kworker/0:1H");
    const uint32_t irq = iwt_source(recording, IW_CLASS_IRQ, "ksoftirqd/0");

    (void)state;
    assert_false(iwi_is_kernel_thread(recording, worker)); /* nobody tells */
    iwt_attribute(recording, "kernel_threads", "ksoftirqd/0,kworker/0:1");
    assert_true(iwi_is_kernel_thread(recording, worker));
    assert_false(iwi_is_kernel_thread(recording, longer));
    assert_false(iwi_is_kernel_thread(recording, irq));
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_of_all_cpus_that_were_measured),
        cmocka_unit_test(a_fifth_of_one_cpu_is_busy_however_many_there_are),
        cmocka_unit_test(without_accounts_or_in_less_than_a_second_nothing_is_known),
        cmocka_unit_test(threads_of_the_kernel_are_those_that_are_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
