/* Digests from statistics of run queues: sums by process, and what is refused.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/digest.h>
#include <idlewave/files.h>

#include "features/fleet/node_digest.h"
#include "kit/files/tests/noise_hdf5_testing.h"

enum { TEXT_SIZE = 16 * 1024, LENGTH_NS = 1000000000 };
#define BEGIN "unlimited\n[23:06:37] Attached tracepoints.\n{\n  \"final_aggregated_summary_river\": [\n"
#define END "  ]\n}\n[23:12:05] Cleanup complete. Exiting.\n"
#define START_NS INT64_C(1747523197212625699)

/* What a process is said to have waited. */
struct told {
    const char *comm;
    double count, sum_ns, max_ns;
    const char *variance;
    int64_t first_ns, last_ns; /* from the start */
};

static size_t print_process(const struct told *told, bool is_first, char *text, size_t size)
{
    return (size_t)snprintf(
        text, size,
        "%s{\"tgid\": 359, \"comm\": \"%s\", \"cgroup_id\": 10385, \"on_cpu_stats_ns\": {\"count\": 3.0},\n"
        "\"runq_latency_stats_ns\": {\"count\": %.1f, \"sum_ns\": %.3f, \"median_ns\": 1.5, \"max_ns\": "
        "%.3f, "
        "\"variance_ns2\": %s},\n\"first_seen_ts_ns\": %lld, \"last_seen_ts_ns\": %lld}\n",
        is_first ? "" : ",", told->comm, told->count, told->sum_ns, told->max_ns, told->variance,
        (long long)(START_NS + told->first_ns), (long long)(START_NS + told->last_ns));
}

static void print_node(const struct told *told, size_t count, char text[TEXT_SIZE])
{
    size_t used = (size_t)snprintf(text, TEXT_SIZE, BEGIN);

    for (size_t i = 0; i < count; i++) {
        used += print_process(&told[i], i == 0, text + used, TEXT_SIZE - used);
    }
    snprintf(text + used, TEXT_SIZE - used, END);
}

static iw_digest *read_node(const struct told *told, size_t count)
{
    char text[TEXT_SIZE];
    iw_digest *digest = NULL;

    print_node(told, count, text);
    assert_ok(iwi_runq_digest(NULL, "n.out", "n", text, strlen(text), &digest));
    return digest;
}

static void expect_no_digest(const char *text, iw_status status, const char *message)
{
    struct iwt_log log;
    iw_digest *digest = NULL;

    iwt_log_init(&log);
    assert_status(iwi_runq_digest(&log.log, "n.out", "n", text, strlen(text), &digest), status);
    iwt_assert_logged(&log, message);
    assert_int_equal(log.errors, 1);
}

static const struct told usual[] = {
    {"lmp", 3, 9000, 5000, "1000000", 0, LENGTH_NS},
    {"bash", 1, 2000, 2000, "null", LENGTH_NS / 2, LENGTH_NS / 2},
    {"lmp", 2, 3000, 2000, "500000", 0, LENGTH_NS / 4},
    {"idle", 0, 0, 0, "null", 0, LENGTH_NS},
};

static bool is_about(double value, double wanted)
{
    return fabs(value / wanted - 1) < 1e-3;
}

/* Squares: sum^2 / n + variance (n - 1), so 27e6 + 2e6 and 4.5e6 + 0.5e6 of lmp, 4e6 of bash. */
static void processes_of_a_name_are_one_source(void **state)
{
    iw_digest *digest = read_node(usual, 4);
    const iw_digest_source *all = &digest->sources[0], *lmp = &digest->sources[1];

    (void)state;
    assert_string_equal(digest->node, "n");
    assert_true(digest->start_ns == START_NS);
    assert_int_equal(digest->cpu_count, 1);
    assert_int_equal(digest->cpus[0].length_ns, LENGTH_NS);
    assert_int_equal(digest->source_count, 3);
    assert_string_equal(lmp->source.name, "lmp waiting");
    assert_string_equal(digest->sources[2].source.name, "bash waiting");
    assert_true(lmp->count == 5 && lmp->busy_ns == 12000 && lmp->longest_ns == 5000);
    assert_true(all->count == 6 && all->busy_ns == 14000 && all->longest_ns == 5000);
    assert_true(is_about(iw_digest_value(lmp->cells[0].all[IW_DIGEST_SQUARE]), 34e6));
    assert_true(is_about(iw_digest_value(all->cells[0].all[IW_DIGEST_SQUARE]), 38e6));
    assert_true(is_about(iw_digest_value(all->cells[0].steady[IW_DIGEST_BUSY]), 14000));
    iw_digest_free(digest);
}

/* Of 20 stretches, a moment at the half touches the tenth and the eleventh. */
static void a_source_came_where_it_was_seen(void **state)
{
    iw_digest *digest = read_node(usual, 4);

    (void)state;
    assert_int_equal(digest->sources[1].cells[0].stretches, 0xfffff);
    assert_int_equal(digest->sources[2].cells[0].stretches, 3U << 9);
    iw_digest_free(digest);
}

static void it_says_where_it_is_from(void **state)
{
    iw_digest *digest = read_node(usual, 4);

    (void)state;
    assert_string_equal(iw_digest_get(digest, "imported_from"), "run queue statistics");
    assert_string_equal(iw_digest_get(digest, "busy"), "yes");
    assert_int_equal(digest->probe, IW_PROBE_WATCH);
    iw_digest_free(digest);
}

static void a_file_is_told_and_named_by_itself(void **state)
{
    const struct iwt_folder *folder = *state;
    char path[1024], text[TEXT_SIZE];
    iw_digest *digest = NULL;
    FILE *file;

    snprintf(path, sizeof path, "%s/lammps-7-x.out", folder->path);
    print_node(usual, 4, text);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_true(iw_is_runq_file(path));
    assert_false(iw_is_runq_file(folder->path));
    assert_ok(iw_digest_import(NULL, path, &digest));
    assert_string_equal(digest->node, "lammps-7-x");
    iw_digest_free(digest);
}

static void what_cannot_be_is_refused(void **state)
{
    static const struct told times = {"a", 1, 1, 1, "null", 5, 4}, moment = {"a", 1, 1, 1, "null", 5, 5},
                             less = {"a", 1, -1, 1, "null", 0, 5},
                             long_wait = {"a", 1, 9e14, 1, "null", 0, 5};
    char text[TEXT_SIZE];

    (void)state;
    expect_no_digest("", IW_ERR_FORMAT, "has no run queue statistics");
    expect_no_digest("[\"final_aggregated_summary_river\"]", IW_ERR_FORMAT, "has no run queue statistics");
    expect_no_digest(BEGIN, IW_ERR_FORMAT, "truncated or not JSON");
    expect_no_digest(BEGIN END, IW_ERR_FORMAT, "no statistics of 1 to 10000 processes");
    print_node(&times, 1, text);
    expect_no_digest(text, IW_ERR_FORMAT, "process 1 of its statistics: 'first_seen_ts_ns'");
    print_node(&moment, 1, text);
    expect_no_digest(text, IW_ERR_RANGE, "not seen for 1 ns to 240 h");
    print_node(&less, 1, text);
    expect_no_digest(text, IW_ERR_FORMAT, "'sum_ns' and 'max_ns'");
    print_node(&long_wait, 1, text);
    expect_no_digest(text, IW_ERR_FORMAT, "'sum_ns' and 'max_ns'");
    expect_no_digest(BEGIN "{\"first_seen_ts_ns\": 1, \"last_seen_ts_ns\": 3}" END, IW_ERR_FORMAT,
                     "'comm' is missing");
    expect_no_digest(BEGIN "{\"comm\": \"a\", \"first_seen_ts_ns\": 1, \"last_seen_ts_ns\": 3}" END,
                     IW_ERR_FORMAT, "no 'count'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_of_a_name_are_one_source),
        cmocka_unit_test(a_source_came_where_it_was_seen),
        cmocka_unit_test(it_says_where_it_is_from),
        cmocka_unit_test_setup_teardown(a_file_is_told_and_named_by_itself, open_folder, close_folder),
        cmocka_unit_test(what_cannot_be_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
