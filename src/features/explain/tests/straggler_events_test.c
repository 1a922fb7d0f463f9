/* Timelines of training and their files of sizes: read, cut off at every byte, and wrong.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/explain/stragglers/pipeline.h"
#include "support/support.h"

/* One replica of one stage, one micro-batch. */
#define EVENT(NAME, TS, DUR, ARGS)                                                                          \
    "{\"name\":\"" NAME "\",\"pid\":0,\"tid\":0,\"ts\":" TS ",\"dur\":" DUR ",\"ph\":\"X\",\"args\":{" ARGS \
    "}}"
#define ARGS_0 "\"step\":3,\"model_chunk\":0,\"mb_id\":null,\"seq_id\":0"
#define FORWARD EVENT("forward-compute", "0.25", "1000.0000015", ARGS_0)
#define BACKWARD EVENT("backward-compute", "1000.5", "2e3", ARGS_0)
#define TIMELINE "[" FORWARD "," BACKWARD ",{\"ph\":\"M\",\"name\":\"thread_name\"}]"

static iw_status read_text(struct iwt_log *l, const char *text, size_t size, struct iw_straggler_job **job_p)
{
    iw_status status;

    iwt_log_init(l);
    *job_p = iwi_pipe_new(&l->log, "t.json");
    assert_non_null(*job_p);
    status = iwi_straggler_read_memory(*job_p, "t.json", text, size);
    return status == IW_OK ? iwi_pipe_finish(*job_p) : status;
}

static void times_are_exact_to_the_picosecond(void **state)
{
    struct iw_straggler_job *job;
    struct iwt_log l;

    (void)state;
    assert_ok(read_text(&l, TIMELINE, strlen(TIMELINE), &job));
    assert_int_equal(job->step_numbers[0], 3);
    assert_int_equal(job->lengths_ps[iwi_pipe_slot(job, IWI_PIPE_FORWARD, 0)], 1000000002);
    assert_int_equal(job->lengths_ps[iwi_pipe_slot(job, IWI_PIPE_BACKWARD, 0)], 2 * IW_PS_PER_MS);
    assert_int_equal(job->step_begins_ps[0], 250000);
    assert_int_equal(job->step_ends_ps[0], 3000500000);
    iw_straggler_job_free(job);
}

static void what_is_cut_off_is_refused_at_every_byte(void **state)
{
    struct iw_straggler_job *job;
    struct iwt_log l;

    (void)state;
    for (size_t size = 0; size < strlen(TIMELINE); size++) {
        assert_true(read_text(&l, TIMELINE, size, &job) != IW_OK);
        assert_int_equal(l.errors, 1);
        iw_straggler_job_free(job);
    }
}

static void events_that_lack_something_say_what(void **state)
{
    static const struct {
        const char *text, *why;
        iw_status status;
    } cases[] = {
        {"[" EVENT("cudaLaunchKernel", "0", "1", ARGS_0) "]", "is not an operation of such timelines",
         IW_ERR_FORMAT},
        {"[" EVENT("gc", "0", "1", "\"step\":1") "]", "no number 'seq_id'", IW_ERR_FORMAT},
        {"[" EVENT("gc", "0", "1", "\"seq_id\":0") "]", "no number 'step'", IW_ERR_FORMAT},
        {"[" EVENT("gc", "0", "1", "\"step\":-1,\"seq_id\":0") "]", "no number 'step'", IW_ERR_FORMAT},
        {"[" EVENT("gc", "0", "1", "\"step\":4294967296,\"seq_id\":0") "]", "no number 'step'",
         IW_ERR_FORMAT},
        {"[" EVENT("gc", "null", "1", ARGS_0) "]", "no time 'ts'", IW_ERR_FORMAT},
        {"[" EVENT("gc", "1e30", "1", ARGS_0) "]", "no time 'ts'", IW_ERR_FORMAT},
        {"[" EVENT("gc", "0", "\"1\"", ARGS_0) "]", "no time 'dur'", IW_ERR_FORMAT},
        {"[" EVENT("gc", "0", "-10001", ARGS_0) "]", "less than -10 ms", IW_ERR_RANGE},
        {"[" EVENT("gc", "0", "1", "\"step\":1,\"seq_id\":0,\"model_chunk\":1") "]", "interleaved",
         IW_ERR_UNSUPPORTED},
        {"[{\"ph\":\"X\",\"name\":\"gc\"}]", "no number 'pid'", IW_ERR_FORMAT},
        {"[]", "no training events", IW_ERR_FORMAT},
        {"{\"traceEvents\":[]}", "no training events", IW_ERR_FORMAT},
    };
    struct iw_straggler_job *job;
    struct iwt_log l;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_status(read_text(&l, cases[i].text, strlen(cases[i].text), &job), cases[i].status);
        iwt_assert_logged(&l, cases[i].why);
        assert_int_equal(l.errors, 1);
        iw_straggler_job_free(job);
    }
}

/* ---- sizes ---- */

static iw_status read_meta(struct iwt_log *l, const char *text, uint32_t *gpus_p)
{
    struct iw_straggler_job *job;
    iw_status status;

    assert_ok(read_text(l, TIMELINE, strlen(TIMELINE), &job));
    status = iwi_straggler_read_meta(job, "meta.yaml", text, strlen(text));
    *gpus_p = job->gpus;
    iw_straggler_job_free(job);
    return status;
}

static void sizes_are_compared_with_the_timeline(void **state)
{
    static const char good[] =
        "trial_name: T\nrun_id: 0\ndp_size: 1\ndsp_size: 2\npp_size: 1\ntp_size: 4\nvpp_size: 1\n"
        "world_size: 8\n";
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"dp_size: 2\n", "dp_size 2, but the timeline has 1 replicas"},
        {"pp_size: 4\n", "pp_size 4, but the timeline has 1 stages"},
        {"vpp_size: 2\n", "vpp_size 2"},
        {"world_size: 0\n", "'0' is not between 1 and"},
        {"world_size: many\n", "key 'world_size': 'many' is not a count"},
        {"other: 1\n", "other"},
        {"", "meta.yaml"},
    };
    struct iwt_log l;
    uint32_t gpus;

    (void)state;
    assert_ok(read_meta(&l, good, &gpus));
    assert_int_equal(gpus, 8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(read_meta(&l, cases[i].text, &gpus) != IW_OK);
        iwt_assert_logged(&l, cases[i].why);
        assert_int_equal(l.errors, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_exact_to_the_picosecond),
        cmocka_unit_test(what_is_cut_off_is_refused_at_every_byte),
        cmocka_unit_test(events_that_lack_something_say_what),
        cmocka_unit_test(sizes_are_compared_with_the_timeline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
