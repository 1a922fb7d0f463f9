/* The account of a real-time thread's time: never more than its limit in any period.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/injector.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/rng.h"
#include "support/support.h"

/* A root folder with these two limits; "" leaves a file out. */
static struct iwi_duty duty_with(const char *period, const char *runtime)
{
    char root[] = "/tmp/iw-duty-XXXXXX", path[128];
    const char *const names[2] = {"sched_rt_period_us", "sched_rt_runtime_us"}, *const values[2] = {period,
                                                                                                    runtime};
    const char *const folders[3] = {"/proc/sys/kernel", "/proc/sys", "/proc"};
    struct iwi_duty duty;

    assert_non_null(mkdtemp(root));
    for (size_t i = 3; i-- > 0;) {
        (void)snprintf(path, sizeof path, "%s%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        if (values[i][0] != '\0') {
            FILE *file;

            (void)snprintf(path, sizeof path, "%s/proc/sys/kernel/%s", root, names[i]);
            file = fopen(path, "w");
            assert_non_null(file);
            (void)fprintf(file, "%s\n", values[i]);
            (void)fclose(file);
        }
    }
    iwi_duty_init(&duty, root);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/proc/sys/kernel/%s", root, names[i]);
        (void)unlink(path);
    }
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "%s%s", root, folders[i]);
        (void)rmdir(path);
    }
    (void)rmdir(root);
    return duty;
}

static void nine_tenths_of_the_kernels_limit_are_used(void **state)
{
    struct iwi_duty duty = duty_with("1000000", "950000");

    (void)state;
    assert_int_equal(duty.period_ns, 1000000000);
    assert_int_equal(duty.most_ns, 855000000);
    duty = duty_with("500000", "100000");
    assert_int_equal(duty.period_ns, 500000000);
    assert_int_equal(duty.most_ns, 90000000);
    duty = duty_with("1000000", "0");
    assert_int_equal(duty.most_ns, 0);
    assert_false(iwi_duty_take(&duty, 1000000000, 1));
}

static void no_limit_or_no_file_is_as_usual(void **state)
{
    struct iwi_duty duty = duty_with("1000000", "-1");

    (void)state;
    assert_int_equal(duty.most_ns, 855000000);
    duty = duty_with("", "");
    assert_int_equal(duty.period_ns, 1000000000);
    assert_int_equal(duty.most_ns, 855000000);
    duty = duty_with("rubbish", "rubbish");
    assert_int_equal(duty.most_ns, 855000000);
}

static void a_detour_over_the_limit_is_refused_and_not_booked(void **state)
{
    struct iwi_duty duty = duty_with("1000000", "950000");

    (void)state;
    assert_false(iwi_duty_take(&duty, 10000000000, 855000001));
    assert_true(iwi_duty_take(&duty, 10000000000, 855000000));
    assert_false(iwi_duty_take(&duty, 10900000000, 1000));
    assert_true(iwi_duty_take(&duty, 12000000000, 855000000)); /* a period later all is free again */
}

/* Random detours, and the truth summed over each window of a period that ends with one. */
static void no_period_ever_has_more_than_the_limit(void **state)
{
    enum { DETOURS = 4000 };
    const struct iwi_draw_id draw = {.seed = 3, .purpose = IWI_DRAW_TEST};
    struct iwi_duty duty = duty_with("100000", "50000");
    static int64_t start[DETOURS], length[DETOURS];
    int64_t now = 7000000000;
    size_t count = 0, refused = 0;

    (void)state;
    for (size_t i = 0; i < DETOURS; i++) {
        const int64_t duration = (int64_t)iwi_draw_below(draw, 2 * i, 4000000);

        now += (int64_t)iwi_draw_below(draw, 2 * i + 1, 4000000);
        if (!iwi_duty_take(&duty, now, duration)) {
            refused++;
            continue;
        }
        start[count] = now;
        length[count++] = duration;
        now += duration;
        for (int64_t j = (int64_t)count - 1, sum = 0; j >= 0 && start[j] > now - duty.period_ns; j--) {
            sum += length[j];
            assert_true(sum <= duty.most_ns);
        }
    }
    assert_true(refused > DETOURS / 100);
    assert_true(count > DETOURS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nine_tenths_of_the_kernels_limit_are_used),
        cmocka_unit_test(no_limit_or_no_file_is_as_usual),
        cmocka_unit_test(a_detour_over_the_limit_is_refused_and_not_booked),
        cmocka_unit_test(no_period_ever_has_more_than_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
