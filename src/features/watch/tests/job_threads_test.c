/* Which threads are ranks: by environments below a made-up /proc.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/job/job_recording.h"

#include "support/fake_root.h"

struct bench {
    char root[FAKE_ROOT_SIZE];
    struct iwi_job_threads threads;
};

static void add_thread(const struct bench *bench, int tid, int process, const char *mark)
{
    char path[FAKE_PATH_SIZE], text[FAKE_PATH_SIZE];
    FILE *out;

    snprintf(path, sizeof path, "/proc/%d/status", tid);
    snprintf(text, sizeof text, "Name:\tx\nTgid:\t%d\nPid:\t%d\n", process, tid);
    fake_root_file(bench->root, path, text);
    snprintf(path, sizeof path, "/proc/%d/environ", tid);
    fake_root_file(bench->root, path, "");
    snprintf(text, sizeof text, "%s/proc/%d/environ", bench->root, tid);
    out = fopen(text, "w");
    assert_non_null(out);
    fprintf(out, "HOME=/root%cIDLEWAVE_TRACE_KERNEL=%s%cA=b", '\0', mark, '\0');
    assert_int_equal(fclose(out), 0);
}

static int64_t rank_of(struct bench *bench, int tid, const char *comm)
{
    int64_t rank;

    assert_ok(iwi_job_thread_find(&bench->threads, tid, comm, &rank));
    return rank;
}

static int begin(void **state)
{
    static struct bench bench;

    bench = (struct bench){0};
    fake_root_make(bench.root);
    bench.threads = (struct iwi_job_threads){.root = bench.root, .job = "/run/one"};
    *state = &bench;
    return 0;
}

static int end(void **state)
{
    struct bench *bench = *state;

    iwi_job_threads_release(&bench->threads);
    fake_root_remove(bench->root);
    return 0;
}

static void ranks_have_the_mark_of_their_job(void **state)
{
    struct bench *bench = *state;

    add_thread(bench, 10, 10, "3:/run/one");
    add_thread(bench, 11, 10, "3:/run/one");
    add_thread(bench, 12, 12, "4:/run/other");
    add_thread(bench, 13, 13, "x:/run/one");
    assert_int_equal(rank_of(bench, 10, "app"), 3);
    assert_int_equal(rank_of(bench, 11, "app"), IWI_JOB_OTHER);
    assert_int_equal(rank_of(bench, 12, "app"), IWI_JOB_NOT);
    assert_int_equal(rank_of(bench, 13, "app"), IWI_JOB_NOT);
    assert_int_equal(rank_of(bench, 14, "gone"), IWI_JOB_NOT);
    assert_int_equal(rank_of(bench, 0, "swapper/0"), IWI_JOB_NOT);
}

static void a_thread_is_looked_up_again_when_it_runs_another_program(void **state)
{
    struct bench *bench = *state;

    add_thread(bench, 10, 10, "");
    assert_int_equal(rank_of(bench, 10, "idlewave"), IWI_JOB_NOT);
    add_thread(bench, 10, 10, "0:/run/one");
    assert_int_equal(rank_of(bench, 10, "idlewave"), IWI_JOB_NOT);
    assert_int_equal(iwi_job_thread_known(&bench->threads, 10), IWI_JOB_NOT);
    assert_int_equal(rank_of(bench, 10, "app"), 0);
    assert_int_equal(iwi_job_thread_known(&bench->threads, 10), 0);
}

static void who_is_told_is_not_looked_up(void **state)
{
    struct bench *bench = *state;

    assert_ok(iwi_job_thread_tell(&bench->threads, 20, 7));
    assert_int_equal(rank_of(bench, 20, "app"), 7);
    assert_int_equal(rank_of(bench, 20, "another"), 7);
    assert_int_equal(iwi_job_thread_known(&bench->threads, 20), 7);
}

static void there_is_room_for_many_threads(void **state)
{
    enum { MANY = 5000 };
    struct bench *bench = *state;

    add_thread(bench, 77, 77, "5:/run/one");
    for (int tid = 1; tid <= MANY; tid++) {
        assert_int_equal(rank_of(bench, tid, "x"), tid == 77 ? 5 : IWI_JOB_NOT);
    }
    assert_int_equal(iwi_job_thread_known(&bench->threads, 77), 5);
    assert_int_equal(iwi_job_thread_known(&bench->threads, MANY + 1), IWI_JOB_NOT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranks_have_the_mark_of_their_job, begin, end),
        cmocka_unit_test_setup_teardown(a_thread_is_looked_up_again_when_it_runs_another_program, begin, end),
        cmocka_unit_test_setup_teardown(who_is_told_is_not_looked_up, begin, end),
        cmocka_unit_test_setup_teardown(there_is_room_for_many_threads, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
