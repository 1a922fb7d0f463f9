/* Which CPUs are chosen, and pinning to them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/machine/cpus.h"

#include <pthread.h>
#include <sched.h>

#include "support/support.h"

static uint32_t first_allowed(void)
{
    cpu_set_t set;

    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (uint32_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void by_default_all_cpus_of_the_thread_are_chosen(void **state)
{
    struct iwi_cpus cpus;
    cpu_set_t set;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_ok(iwi_cpus_choose(NULL, NULL, 0, &cpus));
    assert_int_equal(cpus.count, CPU_COUNT(&set));
    for (size_t i = 0; i < cpus.count; i++) {
        assert_true(CPU_ISSET(cpus.numbers[i], &set));
        assert_true(i == 0 || cpus.numbers[i - 1] < cpus.numbers[i]);
    }
    iwi_cpus_release(&cpus);
}

static void a_narrow_affinity_narrows_the_choice(void **state)
{
    const uint32_t first = first_allowed();
    cpu_set_t before, only;
    struct iwi_cpus cpus;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&only);
    CPU_SET(first, &only);
    assert_int_equal(sched_setaffinity(0, sizeof only, &only), 0);
    assert_ok(iwi_cpus_choose(NULL, NULL, 0, &cpus));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(cpus.count, 1);
    assert_int_equal(cpus.numbers[0], first);
    iwi_cpus_release(&cpus);
}

static void a_cpu_that_is_not_there_is_refused_with_those_that_are(void **state)
{
    const uint32_t wanted[] = {8191};
    struct iwi_cpus cpus;
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_status(iwi_cpus_choose(&log.log, wanted, 1, &cpus), IW_ERR_RANGE);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, "CPU 8191 is not available: this process may use ");
}

static void a_cpu_listed_twice_or_none_is_refused(void **state)
{
    const uint32_t first = first_allowed(), wanted[] = {first, first};
    struct iwi_cpus cpus;
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_status(iwi_cpus_choose(&log.log, wanted, 2, &cpus), IW_ERR_RANGE);
    iwt_assert_logged(&log, "is listed twice");
    assert_status(iwi_cpus_choose(&log.log, wanted, 0, &cpus), IW_ERR_RANGE);
    iwt_assert_logged(&log, "no CPU given");
}

static void *pin_and_look(void *arg)
{
    const struct iwi_cpus *cpus = arg;
    cpu_set_t set;

    assert_int_equal(iwi_cpus_pin(cpus, cpus->numbers[cpus->count - 1]), 0);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(CPU_ISSET(cpus->numbers[cpus->count - 1], &set));
    return NULL;
}

static void pinning_moves_only_the_thread_that_asks(void **state)
{
    cpu_set_t before, after;
    struct iwi_cpus cpus;
    pthread_t thread;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_ok(iwi_cpus_choose(NULL, NULL, 0, &cpus));
    assert_int_equal(pthread_create(&thread, NULL, pin_and_look, &cpus), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    iwi_cpus_release(&cpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_default_all_cpus_of_the_thread_are_chosen),
        cmocka_unit_test(a_narrow_affinity_narrows_the_choice),
        cmocka_unit_test(a_cpu_that_is_not_there_is_refused_with_those_that_are),
        cmocka_unit_test(a_cpu_listed_twice_or_none_is_refused),
        cmocka_unit_test(pinning_moves_only_the_thread_that_asks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
