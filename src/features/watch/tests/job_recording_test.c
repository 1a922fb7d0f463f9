/* Recordings of what ranks lost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/job/job_recording.h"

#include <idlewave/watch.h>

#include "core/base/base.h"
#include "support/support.h"

/* Two ranks, given the other way round, which have a CPU each from 1 to 3 ms. A daemon takes rank 0's
 * for 0.1 ms; on the other CPU rank 1 waits 0.2 ms for rank 0, which nobody else takes. */
struct job {
    struct iwi_job_segment segment;
    struct iwi_job_cpu cpus[2];
    struct iwi_job_run runs[2][3];
    struct iwi_job_rank ranks[2];
    iw_recording *sources, *recording;
    uint32_t daemon;
    struct iwi_job_seen seen;
    struct iwt_log log;
};

static int begin(void **state)
{
    static struct job job;

    job = (struct job){
        .cpus = {{.segments = &job.segment, .count = 1}, {.count = 0}},
        .runs = {{{1000000, 1, IWI_JOB_RUNS}, {1500000, 1, IWI_JOB_LEAVES}, {1700000, 1, IWI_JOB_RUNS}},
                 {{1000000, 0, IWI_JOB_RUNS}, {3000000, 0, IWI_JOB_SLEEPS}}},
        .ranks = {{.rank = 1, .runs = job.runs[0], .count = 3},
                  {.rank = 0, .runs = job.runs[1], .count = 2}}};
    iwt_log_init(&job.log);
    assert_ok(iw_recording_new(NULL, 0, &job.sources));
    assert_ok(iw_recording_source(NULL, job.sources, IW_CLASS_THREAD, "sshd", &job.daemon));
    job.segment = (struct iwi_job_segment){1200000, 1300000, job.daemon};
    job.seen = (struct iwi_job_seen){.start_ns = 1000000,
                                     .end_ns = 3000000,
                                     .clock_error_ns = 7,
                                     .ranks = job.ranks,
                                     .rank_count = 2,
                                     .cpus = job.cpus,
                                     .cpu_count = 2,
                                     .sources = job.sources,
                                     .attribution = IW_ATTRIBUTION_LEVEL_PERF,
                                     .lost = 5};
    *state = &job;
    return 0;
}

static int end(void **state)
{
    struct job *job = *state;

    iw_recording_free(job->sources);
    iw_recording_free(job->recording);
    return 0;
}

static void check_detour(const iw_recording *recording, uint32_t rank, int64_t start_ns, int64_t duration_ns,
                         const char *source)
{
    const iw_detours *detours = &recording->cpus[rank];

    assert_int_equal(detours->cpu, rank);
    assert_int_equal(detours->count, 1);
    assert_int_equal(detours->start_ns[0], start_ns);
    assert_int_equal(detours->duration_ns[0], duration_ns);
    assert_string_equal(recording->sources[detours->source[0]].name, source);
}

static void ranks_are_in_their_order_with_what_they_lost(void **state)
{
    const iw_job_watch_opts opts = IW_JOB_WATCH_OPTS_INIT;
    struct job *job = *state;

    assert_ok(iwi_job_recording(NULL, &job->seen, &opts, &job->recording));
    assert_int_equal(job->recording->cpu_count, 2);
    check_detour(job->recording, 0, 200000, 100000, "sshd");
    check_detour(job->recording, 1, 500000, 200000, "other ranks of the job");
    assert_int_equal(job->recording->cpus[0].length_ns, 2000000);
}

static void in_wanted_time_waiting_for_the_job_itself_is_apart(void **state)
{
    iw_job_watch_opts opts = IW_JOB_WATCH_OPTS_INIT;
    struct job *job = *state;

    opts.wants_wanted_time = true;
    assert_ok(iwi_job_recording(NULL, &job->seen, &opts, &job->recording));
    check_detour(job->recording, 0, 200000, 100000, "sshd");
    assert_int_equal(job->recording->cpus[1].count, 0);
    assert_int_equal(job->recording->cpus[1].length_ns, 1800000); /* 2 ms less the 0.2 */
    assert_int_equal(job->recording->probe, IW_PROBE_WATCH);
    assert_string_equal(iw_recording_get(job->recording, "wait_own_ns"), "200000");
    assert_string_equal(iw_recording_get(job->recording, "watched"), "threads");
}

static void a_recording_says_how_it_was_made(void **state)
{
    iw_job_watch_opts opts = IW_JOB_WATCH_OPTS_INIT;
    struct job *job = *state;

    opts.command = "idlewave trace ./app";
    assert_ok(iwi_job_recording(NULL, &job->seen, &opts, &job->recording));
    assert_int_equal(job->recording->attribution, IW_ATTRIBUTION_LEVEL_PERF);
    assert_string_equal(iw_recording_get(job->recording, "command"), "idlewave trace ./app");
    assert_string_equal(iw_recording_get(job->recording, "watched"), "ranks");
    assert_string_equal(iw_recording_get(job->recording, "clock"), "CLOCK_MONOTONIC");
    assert_string_equal(iw_recording_get(job->recording, "clock_error_ns"), "7");
    assert_string_equal(iw_recording_get(job->recording, "start_mono_ns"), "1000000");
    assert_string_equal(iw_recording_get(job->recording, "kernel_events_lost"), "5");
}

static void without_any_rank_there_is_none(void **state)
{
    iw_job_watch_opts opts = IW_JOB_WATCH_OPTS_INIT;
    struct job *job = *state;

    job->seen.rank_count = 0;
    assert_status(iwi_job_recording(&job->log.log, &job->seen, &opts, &job->recording), IW_ERR_IO);
    iwt_assert_logged(&job->log, "no rank of the job was seen to run on this node");
    opts.wants_wanted_time = true;
    assert_status(iwi_job_recording(&job->log.log, &job->seen, &opts, &job->recording), IW_ERR_IO);
    iwt_assert_logged(&job->log, "no thread of the job was seen to run on this node");
    assert_null(job->recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranks_are_in_their_order_with_what_they_lost, begin, end),
        cmocka_unit_test_setup_teardown(in_wanted_time_waiting_for_the_job_itself_is_apart, begin, end),
        cmocka_unit_test_setup_teardown(a_recording_says_how_it_was_made, begin, end),
        cmocka_unit_test_setup_teardown(without_any_rank_there_is_none, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
