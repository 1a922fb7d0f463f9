/* FWQ and FTQ of other tools: what is read, and what is refused.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "convert_testing.h"

#include <math.h>

#include "features/recordings/convert/convert_rows.h"

static iw_status import_with(struct iwt_log *log, const struct iwi_convert_ops *ops, const char *text,
                             int64_t length_ns, iw_recording **recording_p)
{
    iw_import_opts opts = IW_IMPORT_OPTS_INIT;
    struct iwi_import in = {
        .log = &log->log, .path = "in", .data = text, .size = strlen(text), .length_ns = length_ns};

    iwt_log_init(log);
    opts.length_ns = length_ns;
    return iwi_import_memory(&in, ops, &opts, recording_p);
}

static iw_recording *import_for(const struct iwi_convert_ops *ops, const char *text, int64_t length_ns)
{
    struct iwt_log log;
    iw_recording *recording = NULL;

    if (import_with(&log, ops, text, length_ns, &recording) != IW_OK) {
        fail_msg("refused: %s", log.text);
    }
    return recording;
}

/* ---- FWQ ---- */

/* 1 GHz: a cycle is a nanosecond. Of process 0 400 cycles of 4,400 are between quanta, 100 behind each. */
static const char fwq[] = "Speed: process 0, cycles 4400, seconds 0.0000044, GHz 1.000000\n"
                          "Speed: process 1, cycles 2100, seconds 0.0000042, GHz 0.500000\n"
                          "Process 0 running on CPUs 7\n"
                          "900\n1000\n900\n1200\n"
                          "Process 1 running on CPUs 3\n"
                          "500\n500\n600\n500\n";

static void each_quantum_of_fwq_is_a_sample(void **state)
{
    iw_recording *recording = import_text(&iwi_import_fwq, fwq);
    const iw_detours *three = &recording->cpus[0], *seven = &recording->cpus[1];

    (void)state;
    assert_int_equal(recording->probe, IW_PROBE_FWQ);
    assert_int_equal(recording->quantum_ns, 900);
    assert_int_equal(recording->cpu_count, 2);
    assert_int_equal(three->cpu, 3);
    assert_int_equal(seven->cpu, 7);
    assert_int_equal(seven->sample_count, 4);
    assert_int_equal(seven->length_ns, 4400);
    assert_int_equal(seven->sample_start_ns[1], 1000);
    assert_int_equal(seven->sample_start_ns[3], 3100);
    assert_true(fabs(seven->sample[3] - 1200) < 1e-9);
    assert_true(fabs(seven->t_min_ns - 900) < 1e-9);
    /* half the clock, twice the time; the quanta fill the run */
    assert_int_equal(three->length_ns, 4200);
    assert_int_equal(three->sample_start_ns[3], 3200);
    assert_true(fabs(three->sample[2] - 1200) < 1e-9);
    iw_recording_free(recording);
}

static void what_a_quantum_takes_above_the_least_is_a_detour(void **state)
{
    iw_recording *recording = import_text(&iwi_import_fwq, fwq);
    const iw_detours *cpu = &recording->cpus[1];

    (void)state;
    assert_int_equal(cpu->count, 2);
    assert_int_equal(cpu->start_ns[0], 1000);
    assert_int_equal(cpu->duration_ns[0], 100);
    assert_int_equal(cpu->start_ns[1], 3100);
    assert_int_equal(cpu->duration_ns[1], 300);
    iw_recording_free(recording);
}

static void fwq_is_told_by_its_first_line(void **state)
{
    iw_recording *recording = import_text(NULL, fwq);

    (void)state;
    assert_string_equal(iw_recording_get(recording, "imported_from"), "FWQ");
    iw_recording_free(recording);
}

/* Ranks of several nodes, or processes that were not bound. */
static void workers_without_cpus_of_their_own_are_numbered(void **state)
{
    static const char *const cpus[] = {"7", "0-3", "1,5"};

    (void)state;
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        char text[256];
        iw_recording *recording;

        (void)snprintf(
            text, sizeof text,
            "Speed: thread 0, cycles 9, seconds 1, GHz 1\nSpeed: thread 1, cycles 9, seconds 1, GHz 1\n"
            "Thread 0 running on CPUs 7\n9\nThread 1 running on CPUs %s\n9\n",
            cpus[i]);
        recording = import_text(&iwi_import_fwq, text);
        assert_int_equal(recording->cpus[0].cpu, 0);
        assert_int_equal(recording->cpus[1].cpu, 1);
        iw_recording_free(recording);
    }
}

/* fwq of one process writes nothing but cycles. */
static void bare_quanta_need_a_length(void **state)
{
    iw_recording *recording = import_for(&iwi_import_fwq, "900\n1000\n900\n1200\n", 8000);
    struct iwt_log log;

    (void)state;
    assert_int_equal(recording->cpus[0].length_ns, 8000);
    assert_int_equal(recording->cpus[0].sample_start_ns[2], 3800);
    assert_int_equal(recording->cpus[0].duration_ns[1], 600);
    iw_recording_free(recording);
    recording = NULL;
    assert_status(import_with(&log, &iwi_import_fwq, "900\n1000\n", 0, &recording), IW_ERR_USAGE);
    iwt_assert_logged(&log, "give the length of all quanta");
}

static void damaged_fwq_is_refused(void **state)
{
    static const char speed[] = "Speed: process 0, cycles 4400, seconds 0.0000044, GHz 1.0\n";
    char text[512];

    (void)state;
    expect_refused(&iwi_import_fwq, speed, IW_ERR_TRUNCATED, "has no quanta");
    expect_refused(&iwi_import_fwq, "Thread 0 running on CPUs 1\n9\n", IW_ERR_FORMAT,
                   "in the same order as the speeds");
    expect_refused(&iwi_import_fwq, "Speed: process 0, cycles 0, seconds 1, GHz 1\n", IW_ERR_FORMAT,
                   "expected 'Speed:");
    expect_refused(&iwi_import_fwq, "Speed: process 1, cycles 9, seconds 1, GHz 1\n", IW_ERR_FORMAT,
                   "expected 'Speed:");
    (void)snprintf(text, sizeof text, "%s900\n", speed);
    expect_refused(&iwi_import_fwq, text, IW_ERR_FORMAT, "before its quanta");
    (void)snprintf(text, sizeof text, "%sProcess 1 running on CPUs 3\n900\n", speed);
    expect_refused(&iwi_import_fwq, text, IW_ERR_FORMAT, "in the same order as the speeds");
    (void)snprintf(text, sizeof text, "%sProcess 0 running on CPUs 3\n900\n-1\n", speed);
    expect_refused(&iwi_import_fwq, text, IW_ERR_FORMAT, "'in:4': expected the cycles");
    (void)snprintf(text, sizeof text, "%sProcess 0 running on CPUs 3\n9000\n", speed);
    expect_refused(&iwi_import_fwq, text, IW_ERR_FORMAT, "more cycles than its whole run");
    (void)snprintf(text, sizeof text, "%sProcess 0 running on CPUs 3\n900\n90", speed);
    expect_refused(&iwi_import_fwq, text, IW_ERR_TRUNCATED, "cut off");
    (void)snprintf(text, sizeof text, "%.*s", (int)(sizeof fwq - 5), fwq);
    expect_refused(&iwi_import_fwq, text, IW_ERR_TRUNCATED, "process 1 has 3 quanta, but process 0 has 4");
    cut_short(&iwi_import_fwq, fwq, sizeof fwq - 1, 1);
}

/* ---- FTQ ---- */

static const char ftq[] = "# Frequency 1000000.000000\n"
                          "# Ticks per ns: 2.1\n"
                          "# thread 2, core 5\n"
                          "0 500\n1000 480\n2000 490\n3000 500\n";

static void each_window_of_ftq_is_a_sample(void **state)
{
    iw_recording *recording = import_text(NULL, ftq);
    const iw_detours *cpu = &recording->cpus[0];

    (void)state;
    assert_string_equal(iw_recording_get(recording, "imported_from"), "FTQ");
    assert_int_equal(recording->probe, IW_PROBE_FTQ);
    assert_int_equal(recording->quantum_ns, 1000);
    assert_int_equal(cpu->cpu, 5);
    assert_int_equal(cpu->length_ns, 4000);
    assert_int_equal(cpu->sample_count, 4);
    assert_int_equal(cpu->sample_start_ns[2], 2000);
    assert_true(cpu->sample[2] == 490);
    assert_int_equal(cpu->count, 2);
    assert_int_equal(cpu->duration_ns[0], 40); /* 20 of 500 units, of 1000 ns */
    assert_int_equal(cpu->start_ns[1], 2000);
    assert_int_equal(cpu->duration_ns[1], 20);
    iw_recording_free(recording);
}

/* A detour of 2.5 windows: two of them have no line. */
static void windows_without_a_line_have_no_work(void **state)
{
    iw_recording *recording =
        import_text(&iwi_import_ftq, "# Frequency 1000000\n0 500\n1000 250\n4500 250\n5000 500\n6000 500\n");
    const iw_detours *cpu = &recording->cpus[0];
    int64_t lost_ns = 0;

    (void)state;
    assert_int_equal(cpu->length_ns, 7000);
    for (size_t i = 0; i < cpu->count; i++) {
        lost_ns += cpu->duration_ns[i];
    }
    assert_int_equal(cpu->sample_count, 8);
    assert_int_equal(cpu->sample_start_ns[2], 2000);
    assert_true(cpu->sample[2] == 0);
    assert_true(lost_ns >= 3500 && lost_ns <= 4000);
    iw_recording_free(recording);
}

static iw_status read_pair(struct iwt_log *log, const char *counts, const char *times,
                           iw_recording **recording_p)
{
    const struct iwi_import of_times = {
        .log = &log->log, .path = "times", .data = times, .size = strlen(times)};
    const struct iwi_import in = {
        .log = &log->log, .path = "counts", .data = counts, .size = strlen(counts), .length_ns = 5000};

    iwt_log_init(log);
    return iwi_ftq_read(&in, &of_times, recording_p);
}

/* Two threads in ticks of 2 ns; the first window of each began late and does not count. */
static void counts_and_times_of_threads_are_told_apart(void **state)
{
    struct iwt_log log;
    iw_recording *recording = NULL;

    (void)state;
    assert_ok(read_pair(&log, "50\n100\n90\n100\n100\n20\n100\n100\n80\n100\n",
                        "10250\n10500\n11000\n11500\n12000\n10400\n10500\n11000\n11500\n12000\n",
                        &recording));
    assert_int_equal(recording->cpu_count, 2);
    assert_int_equal(recording->cpus[1].cpu, 1);
    assert_int_equal(recording->cpus[0].sample_count, 4);
    assert_true(recording->cpus[0].sample[1] == 90);
    /* 10250 to 12500 ticks are 5000 ns */
    assert_int_equal(recording->quantum_ns, 1111);
    assert_int_equal(recording->cpus[0].sample_start_ns[0], 556);
    assert_int_equal(recording->cpus[0].length_ns, 5000);
    assert_int_equal(recording->cpus[1].duration_ns[0], 222);
    iw_recording_free(recording);
}

static void counts_alone_are_windows_of_one_length(void **state)
{
    iw_recording *recording = import_for(&iwi_import_ftq, "100\n90\n100\n100\n", 4000);

    (void)state;
    assert_int_equal(recording->cpu_count, 1);
    assert_int_equal(recording->quantum_ns, 1000);
    assert_int_equal(recording->cpus[0].sample_start_ns[3], 3000);
    assert_int_equal(recording->cpus[0].duration_ns[0], 100);
    iw_recording_free(recording);
}

static void expect_pair_refused(const char *counts, const char *times, const char *message)
{
    struct iwt_log log;
    iw_recording *recording = NULL;

    assert_status(read_pair(&log, counts, times, &recording), IW_ERR_FORMAT);
    iwt_assert_logged(&log, message);
    assert_int_equal(log.errors, 1);
}

static void damaged_ftq_is_refused(void **state)
{
    struct iwt_log log;
    iw_recording *recording = NULL;

    (void)state;
    expect_refused(&iwi_import_ftq, "# Frequency 1000\n", IW_ERR_TRUNCATED, "has no windows");
    expect_refused(&iwi_import_ftq, "0 500\n1000 5 5\n", IW_ERR_FORMAT, "'in:2': expected the work");
    expect_refused(&iwi_import_ftq, "0 500\n500\n", IW_ERR_FORMAT, "mixed");
    expect_refused(&iwi_import_ftq, "0 500\n1000 40", IW_ERR_TRUNCATED, "cut off");
    expect_refused(&iwi_import_ftq, "0 500\n0 400\n", IW_ERR_FORMAT, "at the same time");
    expect_refused(&iwi_import_ftq, "0 500\n", IW_ERR_FORMAT, "threads of one window");
    expect_refused(&iwi_import_ftq, "0 5\n1 5\n2 5\n1000000 5\n", IW_ERR_FORMAT,
                   "nearly all windows are missing");
    expect_refused(&iwi_import_ftq, "500\n400\n", IW_ERR_USAGE, "give the length of all");
    expect_refused(&iwi_import_ftq, "1\n2\n3\n4\n5\n6\n7\n8\n9\n", IW_ERR_FORMAT,
                   "name the file with their counts");
    expect_pair_refused("5\n5\n", "1\n", "'times' has 1 lines, but 'counts' has 2");
    expect_pair_refused("5\n5\n", "1\nx\n", "'times:2': expected one number");
    assert_status(import_with(&log, &iwi_import_ftq, "5\n5\n", INT64_C(864000) * 1000000001, &recording),
                  IW_ERR_RANGE);
    cut_short(&iwi_import_ftq, ftq, sizeof ftq - 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_quantum_of_fwq_is_a_sample),
        cmocka_unit_test(what_a_quantum_takes_above_the_least_is_a_detour),
        cmocka_unit_test(fwq_is_told_by_its_first_line),
        cmocka_unit_test(workers_without_cpus_of_their_own_are_numbered),
        cmocka_unit_test(bare_quanta_need_a_length),
        cmocka_unit_test(damaged_fwq_is_refused),
        cmocka_unit_test(each_window_of_ftq_is_a_sample),
        cmocka_unit_test(windows_without_a_line_have_no_work),
        cmocka_unit_test(counts_and_times_of_threads_are_told_apart),
        cmocka_unit_test(counts_alone_are_windows_of_one_length),
        cmocka_unit_test(damaged_ftq_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
