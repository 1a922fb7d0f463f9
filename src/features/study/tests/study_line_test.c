/* Finished cells as lines, and back, exactly.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study_testing.h"

#include <math.h>

#include "features/study/files/study_line.h"

static iw_cell_result make_cell(void)
{
    return (iw_cell_result){.id = "0123456789abcdef",
                            .system = strdup("chic"),
                            .work = strdup("say \"h\xc3\xa4\"\\"),
                            .net = strdup("chic / 10"),
                            .noise = strdup("periodic:10Hz,1us"),
                            .ranks = 1u << 20,
                            .bytes = UINT64_C(1) << 40,
                            .trials = 1000,
                            .seed = INT64_MAX,
                            .messages = UINT64_C(20) << 20,
                            .sync = IW_SYNC_PHASE,
                            .net_scale = 0.1,
                            .noise_share = 1.0 / 3,
                            .noiseless_ns = 12345.678,
                            .makespan_ns = {.count = 1000,
                                            .min = 12345.678,
                                            .q1 = 0x1.fffffffffffffp+60,
                                            .median = 1e-300,
                                            .q3 = 5e-324,
                                            .max = 1.7976931348623157e308,
                                            .mean = 2.0 / 3,
                                            .median_low = 1e22,
                                            .median_high = 123456789012345680,
                                            .mean_low = 0.1,
                                            .mean_high = 1.0 / 7},
                            .p5_ns = 0,
                            .p95_ns = 9007199254740993.0};
}

/* Not inlined: gcc 12 would then take the line for a dangling pointer where it is searched. */
__attribute__((noinline)) static char *line_of(const iw_cell_result *cell)
{
    struct iwt_log l;
    char *line = NULL;

    iwt_log_init(&l);
    assert_ok(iwi_cell_line_new(&l.log, cell, &line));
    assert_string_equal(l.text, "");
    return line;
}

static iw_cell_result cell_of(const char *line, size_t length)
{
    struct iwt_log l;
    iw_cell_result cell;

    iwt_log_init(&l);
    if (iwi_cell_line_read(&l.log, "r.jsonl", 1, line, length, &cell) != IW_OK) {
        fail_msg("%s%s", l.text, line);
    }
    return cell;
}

static void assert_same(const iw_cell_result *a, const iw_cell_result *b)
{
    assert_string_equal(a->id, b->id);
    assert_string_equal(a->system, b->system);
    assert_string_equal(a->work, b->work);
    assert_string_equal(a->net, b->net);
    assert_string_equal(a->noise, b->noise);
    assert_int_equal(a->ranks, b->ranks);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->trials, b->trials);
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->sync, b->sync);
    assert_memory_equal(&a->net_scale, &b->net_scale, sizeof a->net_scale);
    assert_memory_equal(&a->noise_share, &b->noise_share, sizeof a->noise_share);
    assert_memory_equal(&a->noiseless_ns, &b->noiseless_ns, sizeof a->noiseless_ns);
    assert_memory_equal(&a->makespan_ns, &b->makespan_ns, sizeof a->makespan_ns);
    assert_memory_equal(&a->p5_ns, &b->p5_ns, sizeof a->p5_ns);
    assert_memory_equal(&a->p95_ns, &b->p95_ns, sizeof a->p95_ns);
    assert_true((a->recording.laws == NULL) == (b->recording.laws == NULL));
    if (a->recording.laws != NULL) {
        assert_string_equal(a->recording.laws, b->recording.laws);
    }
}

static void a_line_looks_as_documented(void **state)
{
    static const char expected[] =
        "{\"schema\":\"idlewave.cell/"
        "2\",\"id\":\"0123456789abcdef\",\"system\":\"a\",\"work\":\"w\",\"ranks\":2,"
        "\"bytes\":8,\"sync\":\"none\",\"net_scale\":0.1,\"trials\":3,\"seed\":1,\"net\":\"chic\",\"noise\":"
        "\"none\","
        "\"messages\":2,\"noise_share\":null,\"noiseless_ns\":12345.678,\"makespan_ns\":{\"count\":3,\"min\":"
        "1,"
        "\"p5\":1.1,\"q1\":1.5,\"median\":2,\"q3\":2.5,\"p95\":2.9,\"max\":3,\"mean\":2,\"median_low\":null,"
        "\"median_high\":null,\"mean_low\":null,\"mean_high\":null},\"digest\":\"87ebe23796bb623f\"}\n";
    iw_cell_result cell = {.id = "0123456789abcdef",
                           .system = strdup("a"),
                           .work = strdup("w"),
                           .net = strdup("chic"),
                           .noise = strdup("none"),
                           .ranks = 2,
                           .bytes = 8,
                           .trials = 3,
                           .seed = 1,
                           .messages = 2,
                           .net_scale = 0.1,
                           .noise_share = NAN,
                           .noiseless_ns = 12345.678,
                           .makespan_ns = {3, 1, 1.5, 2, 2.5, 3, 2, NAN, NAN, NAN, NAN},
                           .p5_ns = 1.1,
                           .p95_ns = 2.9};
    char *line = line_of(&cell);

    (void)state;
    assert_string_equal(line, expected);
    free(line);
    iwi_cell_result_release(&cell);
}

static void lines_are_read_back_exactly(void **state)
{
    iw_cell_result cell = make_cell(), again;
    char *line = line_of(&cell), *line_again;

    (void)state;
    assert_int_equal(line[strlen(line) - 1], '\n');
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    again = cell_of(line, strlen(line) - 1);
    assert_same(&again, &cell);
    line_again = line_of(&again);
    assert_string_equal(line_again, line);
    free(line);
    free(line_again);
    iwi_cell_result_release(&cell);
    iwi_cell_result_release(&again);
}

static void what_is_supposed_is_told_and_read_again(void **state)
{
    iw_cell_result cell = make_cell(), again;
    char *line;

    (void)state;
    cell.recording = (iw_cell_recording){10.0, 0.01, 0.1, 0.3, NAN, NULL, {20000000, 6.5, 10, 3.25}};
    line = line_of(&cell);
    assert_non_null(strstr(line,
                           "\"sensitivity\":{\"length_ns\":20000000,\"every_seconds\":6.5,\"trials\":10,"
                           "\"slowdown\":3.25}}"));
    again = cell_of(line, strlen(line) - 1);
    assert_int_equal(again.recording.sensitivity.length_ns, 20000000);
    assert_int_equal(again.recording.sensitivity.trials, 10);
    assert_true(again.recording.sensitivity.every_s == 6.5 && again.recording.sensitivity.slowdown == 3.25);
    iwi_cell_result_release(&again);
    iwi_cell_result_release(&cell);
    free(line);
}

static void laws_are_told_only_where_they_stood_in(void **state)
{
    iw_cell_result cell = make_cell(), again;
    char *line, *extrapolated;

    (void)state;
    cell.recording = (iw_cell_recording){.seconds = 10.0,
                                         .unseen = 0.01,
                                         .slowdown_low = -0.02,
                                         .slowdown_high = 0.3,
                                         .record_s = NAN}; /* noise may help, rarely */
    line = line_of(&cell);
    assert_null(strstr(line, "is_extrapolated"));
    again = cell_of(line, strlen(line) - 1);
    assert_same(&again, &cell);
    assert_true(again.recording.slowdown_low == -0.02);
    iwi_cell_result_release(&again);
    cell.recording.laws = strdup("poisson:9.87Hz,exp:19.9us + periodic:250Hz,3us");
    extrapolated = line_of(&cell);
    assert_non_null(strstr(extrapolated, "\"is_extrapolated\":true,\"laws\":\"poisson:9.87Hz,exp:19.9us + "
                                         "periodic:250Hz,3us\"}"));
    again = cell_of(extrapolated, strlen(extrapolated) - 1);
    assert_same(&again, &cell);
    iwi_cell_result_release(&again);
    iwi_cell_result_release(&cell);
    free(line);
    free(extrapolated);
}

/* Random bit patterns: every finite number from 0 on must survive. */
static void any_number_is_read_back_exactly(void **state)
{
    iw_cell_result cell = make_cell();
    uint64_t x = 88172645463325252;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        iw_cell_result again;
        uint64_t bits;
        char *line;

        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bits = x & (UINT64_MAX >> 1);
        memcpy(&cell.noiseless_ns, &bits, sizeof bits);
        if (!isfinite(cell.noiseless_ns)) {
            continue;
        }
        line = line_of(&cell);
        again = cell_of(line, strlen(line) - 1);
        assert_same(&again, &cell);
        free(line);
        iwi_cell_result_release(&again);
    }
    iwi_cell_result_release(&cell);
}

static void a_line_cut_at_any_byte_is_refused(void **state)
{
    iw_cell_result cell = make_cell();
    char *line = line_of(&cell);

    (void)state;
    for (size_t length = 0; length < strlen(line) - 1; length++) {
        char *cut = malloc(length + 1); /* exactly so long, for the sanitizers */
        iw_cell_result read;
        struct iwt_log l;

        assert_non_null(cut);
        memcpy(cut, line, length);
        iwt_log_init(&l);
        assert_status(iwi_cell_line_read(&l.log, "r.jsonl", 7, cut, length, &read), IW_ERR_FORMAT);
        iwt_assert_logged(&l, "'r.jsonl:7': not JSON: ");
        assert_int_equal(l.errors, 1);
        free(cut);
    }
    free(line);
    iwi_cell_result_release(&cell);
}

/* Replaces the first `from` of the line; false: it is not there. */
static bool replaced(const char *line, const char *from, const char *to, char *buf, size_t size)
{
    const char *at = strstr(line, from);

    if (at == NULL) {
        return false;
    }
    snprintf(buf, size, "%.*s%s%s", (int)(at - line), line, to, at + strlen(from));
    return true;
}

static void faults_of_lines_are_told(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } faults[] = {
        {"cell/2", "cell/3", "'r.jsonl:3': member 'schema' is not 'idlewave.cell/2'"},
        {"cell/2", "cell/1", "run the study again, into a new folder"},
        {"\"mean_low\":", "\"mean_lo\":", "member 'mean_low' is not a number from 0 on"},
        {"\"schema\":", "\"scheme\":", "member 'schema' is not"},
        {"0123456789abcdef", "0123456789abcdeF", "member 'id' is not 16 hexadecimal digits"},
        {"0123456789abcdef", "0123", "member 'id' is not 16 hexadecimal digits"},
        {"\"system\":\"chic\"", "\"system\":5", "member 'system' is not a text"},
        {"\"work\":", "\"wrok\":", "member 'work' is not a text"},
        {"\"net\":\"chic", "\"net\":\"ch\\u0000c", "not JSON"},
        {"\"noise\":", "\"nose\":", "member 'noise' is not a text"},
        {"\"ranks\":1048576", "\"ranks\":0", "member 'ranks' is not a count, or out of range"},
        {"\"ranks\":1048576", "\"ranks\":4294967296", "member 'ranks' is not a count, or out of range"},
        {"\"ranks\":1048576", "\"ranks\":2.5", "member 'ranks' is not a count"},
        {"\"bytes\":", "\"bytes\":-", "member 'bytes' is not a count"},
        {"\"trials\":1000", "\"trials\":0", "member 'trials' is not a count"},
        {"\"seed\":", "\"seed\":9", "not JSON"},
        {"\"messages\":", "\"message\":", "member 'messages' is not a count"},
        {"\"phase\"", "\"fase\"", "member 'sync' is not none, start or phase"},
        {"\"net_scale\":0.1", "\"net_scale\":0", "member 'net_scale' is not a number above 0"},
        {"\"noiseless_ns\":", "\"noiseless_ns\":-", "member 'noiseless_ns' is not a number from 0 on"},
        {"12345.678", "null", "member 'noiseless_ns' is not a number from 0 on"},
        {"12345.678", "1e999", "not JSON"},
        {"\"makespan_ns\":{", "\"makespan_ns\":5,\"other\":{", "member 'makespan_ns' is not an object"},
        {"\"count\":1000", "\"count\":\"x\"", "member 'count' is not a count"},
        {"\"median\":", "\"medium\":", "member 'median' is not a number from 0 on"},
        {"\"system\":", "\"system\":\"x\",\"system\":", "not JSON"},
        {"12345.678", "1234567.8", "'r.jsonl:3': the line does not match its digest"},
        {"\"min\":12345.678", "\"min\":12345.679", "remove it and run the study again"},
        {"\"system\":\"chic\"", "\"system\":\"chik\"", "the line does not match its digest"},
        {"\"digest\":\"", "\"digest\":\"0", "the line does not match its digest"},
        {"\"digest\":", "\"digest\":5,\"d\":", "member 'digest' is not a text"},
    };
    iw_cell_result cell = make_cell();
    char *line = line_of(&cell);

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char bad[2048];
        iw_cell_result read;
        struct iwt_log l;

        assert_true(replaced(line, faults[i].from, faults[i].to, bad, sizeof bad));
        iwt_log_init(&l);
        assert_status(iwi_cell_line_read(&l.log, "r.jsonl", 3, bad, strlen(bad), &read), IW_ERR_FORMAT);
        iwt_assert_logged(&l, faults[i].message);
        assert_int_equal(l.errors, 1);
    }
    free(line);
    iwi_cell_result_release(&cell);
}

/* As people or other programs may write them. */
static void lines_without_a_digest_must_be_plausible(void **state)
{
    iw_cell_result cell = make_cell(), read;
    char bare[2048], *line, *end;
    struct iwt_log l;

    (void)state;
    cell.makespan_ns.min = cell.noiseless_ns / 2;
    line = line_of(&cell);
    end = strstr(line, ",\"digest\"");
    assert_non_null(end);
    snprintf(end, strlen(end), "}");
    read = cell_of(line, strlen(line));
    assert_same(&read, &cell);
    iwi_cell_result_release(&read);
    assert_true(replaced(line, "\"noiseless_ns\":12345.678", "\"noiseless_ns\":12345.68", bare, sizeof bare));
    iwt_log_init(&l);
    assert_status(iwi_cell_line_read(&l.log, "r.jsonl", 3, bare, strlen(bare), &read), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "'r.jsonl:3': 12345.7 ns without noise, but only 6172.84 ns with it");
    free(line);
    iwi_cell_result_release(&cell);
}

static void members_of_later_versions_are_left_out(void **state)
{
    iw_cell_result cell = make_cell(), again;
    char *line = line_of(&cell);
    char more[2048];

    (void)state;
    assert_true(replaced(line, "{\"schema\"", "{\"energy\":[1],\"schema\"", more, sizeof more));
    again = cell_of(more, strlen(more) - 1);
    assert_same(&again, &cell);
    free(line);
    iwi_cell_result_release(&cell);
    iwi_cell_result_release(&again);
}

static void what_json_cannot_hold_is_not_written(void **state)
{
    iw_cell_result cell = make_cell();
    struct iwt_log l;
    char *line = NULL;

    (void)state;
    cell.seed = UINT64_MAX;
    iwt_log_init(&l);
    assert_status(iwi_cell_line_new(&l.log, &cell, &line), IW_ERR_RANGE);
    iwt_assert_logged(&l, "cell 0123456789abcdef: 18446744073709551615 is too large");
    cell.seed = 1;
    cell.net[0] = '\xff';
    iwt_log_init(&l);
    assert_status(iwi_cell_line_new(&l.log, &cell, &line), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "the net of a cell is not UTF-8");
    assert_null(line);
    iwi_cell_result_release(&cell);
}

static void assert_results_name(uint32_t shard, uint32_t shards, uint32_t writer, const char *expected)
{
    struct dirent entry;
    char name[64];

    iwi_results_file_name(shard, shards, writer, name);
    assert_string_equal(name, expected);
    snprintf(entry.d_name, sizeof entry.d_name, "%s", name);
    assert_int_equal(iwi_is_results_file(&entry), 1);
}

static void results_files_are_called_after_their_shard_and_writer(void **state)
{
    static const char *const others[] = {"results",
                                         "results.json",
                                         "results-.jsonl",
                                         "results-p.jsonl",
                                         "results-p1.jsonl",
                                         "results-p02.jsonl",
                                         "results-1-of-1.jsonl",
                                         "results-2-of-8-p1.jsonl",
                                         "results-p2p.jsonl",
                                         "results-p2-of-8.jsonl",
                                         "results.jsonl~",
                                         "my-results.jsonl",
                                         "results-0-of-8.jsonl",
                                         "results-p99999999999.jsonl"};
    struct dirent entry;

    (void)state;
    assert_results_name(0, 1, 0, "results.jsonl");
    assert_results_name(1, 8, 0, "results-2-of-8.jsonl");
    assert_results_name(0, 1, 2, "results-p3.jsonl");
    assert_results_name(1, 8, 99999, "results-2-of-8-p100000.jsonl");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(entry.d_name, sizeof entry.d_name, "%s", others[i]);
        assert_int_equal(iwi_is_results_file(&entry), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_looks_as_documented),
        cmocka_unit_test(lines_are_read_back_exactly),
        cmocka_unit_test(what_is_supposed_is_told_and_read_again),
        cmocka_unit_test(laws_are_told_only_where_they_stood_in),
        cmocka_unit_test(any_number_is_read_back_exactly),
        cmocka_unit_test(a_line_cut_at_any_byte_is_refused),
        cmocka_unit_test(faults_of_lines_are_told),
        cmocka_unit_test(lines_without_a_digest_must_be_plausible),
        cmocka_unit_test(members_of_later_versions_are_left_out),
        cmocka_unit_test(what_json_cannot_hold_is_not_written),
        cmocka_unit_test(results_files_are_called_after_their_shard_and_writer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
