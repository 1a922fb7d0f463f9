/* The detours as CSV, to the letter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <stdlib.h>

#include "support/made_recording.h"
#include "support/support.h"

#include "noise_sample.h"

static void assert_csv(iw_recording *recording, const char *expected)
{
    char *text = noise_written(recording, false, IW_DOC_CSV);

    assert_string_equal(text, expected);
    free(text);
    iw_recording_free(recording);
}

static void one_line_a_detour(void **state)
{
    (void)state;
    assert_csv(noise_sample(), "cpu,start_ns,duration_ns,class,source\n"
                               "0,1000000,2000,irq,local_timer\n"
                               "0,30000000000,10000000,thread,cron\n"
                               "5,45000000000,5000,thread,cron\n");
}

static void names_are_quoted_where_needed(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000);

    (void)state;
    iwt_detour(recording, 0, 1, 2, iwt_source(recording, IW_CLASS_THREAD, "a,\"b\""));
    iwt_detour(recording, 0, 5, 6, 0);
    assert_csv(recording, "cpu,start_ns,duration_ns,class,source\n"
                          "0,1,2,thread,\"a,\"\"b\"\"\"\n"
                          "0,5,6,unknown,\n");
}

static void quanta_have_a_line_each(void **state)
{
    iw_recording *fwq = iwt_recording(1, 1000), *ftq = iwt_recording(1, 1000);

    (void)state;
    fwq->probe = IW_PROBE_FWQ;
    iwt_sample(fwq, 0, 0, 1000.5);
    iwt_sample(fwq, 0, 1001, 1000.0);
    assert_csv(fwq, "cpu,start_ns,duration_ns\n0,0,1000.5\n0,1001,1000\n");
    ftq->probe = IW_PROBE_FTQ;
    iwt_sample(ftq, 0, 0, 512.0);
    assert_csv(ftq, "cpu,start_ns,work\n0,0,512\n");
}

static void nothing_is_a_header(void **state)
{
    (void)state;
    assert_csv(iwt_recording(2, 1000), "cpu,start_ns,duration_ns,class,source\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_a_detour),
        cmocka_unit_test(names_are_quoted_where_needed),
        cmocka_unit_test(quanta_have_a_line_each),
        cmocka_unit_test(nothing_is_a_header),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
