/* Tests of the text and JSON of measured networks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/made_net.h"
#include "support/support.h"

static char *written(const struct iwt_made_net *made, iw_doc_format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_net_doc(&made->measured), format, NULL, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        print_message("'%s' is not in\n%s", part, text);
    }
    assert_non_null(strstr(text, part));
}

static void the_verdict_comes_first_and_lines_fit_a_terminal(void **state)
{
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    text = written(&made, IW_DOC_TEXT);
    assert_ptr_equal(strstr(text, "Inside a node a small message takes 563.5 ns"), text);
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") <= 80);
    }
    free(text);
}

static void levels_segments_and_slow_links_are_reported(void **state)
{
    static const char *const parts[] = {
        "between nodes a small message takes 10.00 us",
        "Level 'node', between ranks 0 and 1 on alpha:\n",
        "Level 'network', between ranks 0 and 2 on alpha and beta:\n",
        "L   213.5 ns 192.1 to 256.1 ns",
        "S      256 B                   larger messages wait while the receiver computes\n",
        "      4040 B                   the same while the receiver is in another MPI\n",
        "S     unknown  at least 4 MiB     no send waited for its receiver\n",
        "3 lines describe all sizes\n",
        "1 line describes all sizes\n",
        "1 - 2  alpha - beta  20.00 us    2.00  81.00 us    1.01\n",
        "2400 samples in 9.8 s and 1 launch by blocking calls of Open MPI v4.1.4",
        "miss the half round trip",
        "1 MiB  1.000 ms   unknown   unknown  800.0 us",
    };
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    text = written(&made, IW_DOC_TEXT);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_has(text, parts[i]);
    }
    assert_null(strstr(text, "NOT VALID"));
    free(text);
}

static void shared_cores_are_told_before_anything_else(void **state)
{
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    snprintf(made.measured.warning, sizeof made.measured.warning, "4 ranks share 2 CPUs on host alpha");
    text = written(&made, IW_DOC_TEXT);
    assert_ptr_equal(strstr(text, "NOT VALID: 4 ranks share 2 CPUs on host alpha"), text);
    free(text);
}

static void doubts_are_told(void **state)
{
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    made.levels[0].wide_points = 1;
    made.levels[0].overlapped_from_bytes = 8192;
    made.levels[0].least_overlap = 0.75;
    text = written(&made, IW_DOC_TEXT);
    assert_has(text, "1 of 1 sizes have");
    assert_has(text, "8 KiB");
    assert_has(text, "measure exchanges");
    free(text);
}

static void the_verdict_has_the_fit_and_what_one_launch_lacks(void **state)
{
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    text = written(&made, IW_DOC_TEXT);
    assert_has(text, "The fitted lines miss measured times by up to 2.10 %. Only one launch was\nmeasured");
    assert_has(text, "medians with 95 % intervals of this launch only.\n");
    free(text);
    made.measured.launches = 5;
    made.levels[1].fit_error = 0.25;
    text = written(&made, IW_DOC_TEXT);
    assert_has(text, "by up to 25.0 %, too much");
    assert_has(text, "means of 5 launches with their 95 % intervals.\n");
    assert_null(strstr(text, "Only one launch"));
    free(text);
}

static void what_is_unknown_is_no_number(void **state)
{
    static const char *const keys[] = {"L_ns", "o_send_ns", "o_recv_ns", "g_ns"};
    struct iwt_made_net made;
    char *text;
    json_t *object, *network, *segment;

    (void)state;
    iwt_made_net_init(&made);
    made.levels[1].L = made.levels[1].o_send = made.levels[1].o_recv = made.levels[1].gap =
        (iw_estimate){0, 0, 50};
    made.levels[1].net.L_ps = made.levels[1].net.g_ps = 0;
    text = written(&made, IW_DOC_TEXT);
    assert_has(text, "\ng     unknown                     interval between messages in a row\n");
    free(text);
    text = written(&made, IW_DOC_JSON);
    object = json_loads(text, 0, NULL);
    network = json_array_get(json_object_get(object, "levels"), 1);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_true(json_is_null(json_object_get(json_object_get(network, keys[i]), "value")));
    }
    assert_true(json_is_false(json_object_get(json_object_get(network, "S"), "is_at_most")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(network, "S"), "bytes")), 4 << 20);
    segment = json_object_get(network, "net");
    assert_true(json_is_null(json_object_get(segment, "L_ns")));
    assert_true(json_is_null(json_object_get(segment, "g_ns")));
    assert_true(json_is_number(json_object_get(segment, "o_send_ns")));
    json_decref(object);
    free(text);
}

static void a_gap_that_was_cut_is_told(void **state)
{
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    made.levels[0].capped_from_bytes = 4096;
    made.levels[0].most_capped = 1.7;
    text = written(&made, IW_DOC_TEXT);
    assert_has(text, "from 4 KiB on, messages in a row");
    free(text);
}

/* M7: what may be nothing divides nothing. */
static void a_gap_whose_interval_begins_at_nothing_is_no_bandwidth(void **state)
{
    struct iwt_made_net made;
    iw_net_point *last;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    last = &made.levels[0].points[made.levels[0].point_count - 1];
    last->gap = (iw_estimate){1e-3, 0.0, 3.0};
    last->half_round_trip.value = (double)last->bytes;
    text = written(&made, IW_DOC_TEXT);
    assert_has(text, "large ones move at 1 GB/s");
    free(text);
}

static void exchanges_are_told_beside_half_round_trips(void **state)
{
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    made.measured.calls = IW_NET_CALLS_EXCHANGE;
    made.levels[0].exchange = (iw_estimate){1234.5, 1200, 1300};
    text = written(&made, IW_DOC_TEXT);
    assert_has(text, "    1.235 us 1.200 to 1.300 us both ways at once: o_s+L+o_r\n");
    assert_has(text, "half a round trip\n");
    assert_has(text, "by exchange calls");
    assert_has(text, "miss the exchange");
    free(text);
}

static void the_json_has_what_the_text_has(void **state)
{
    struct iwt_made_net made;
    char *text;
    json_t *object, *levels, *node;

    (void)state;
    iwt_made_net_init(&made);
    text = written(&made, IW_DOC_JSON);
    object = json_loads(text, 0, NULL);
    assert_non_null(object);
    levels = json_object_get(object, "levels");
    node = json_array_get(levels, 0);
    assert_string_equal(json_string_value(json_object_get(object, "schema")), "idlewave.net-measured/3");
    assert_string_equal(json_string_value(json_object_get(object, "warning")), "");
    assert_int_equal(json_array_size(levels), 2);
    assert_int_equal(json_array_size(json_object_get(json_object_get(node, "net"), "segments")), 2);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(node, "S"), "bytes")), 256);
    assert_true(json_real_value(json_object_get(json_object_get(node, "L_ns"), "value")) == 213.456);
    assert_int_equal(json_array_size(json_object_get(node, "points")), 1);
    assert_string_equal(json_string_value(json_object_get(object, "calls")), "blocking");
    assert_true(json_is_null(json_object_get(json_object_get(node, "exchange_ns"), "value")));
    assert_int_equal(json_array_size(json_object_get(object, "slow")), 1);
    json_decref(object);
    free(text);
}

static void a_launch_comes_back_from_its_json(void **state)
{
    struct iwt_made_net made;
    const iw_net_measured *read;
    iw_doc_file *file;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    made.measured.calls = IW_NET_CALLS_EXCHANGE;
    made.points[0].gap = (iw_estimate){0, 0, 3};
    text = written(&made, IW_DOC_JSON);
    assert_ok(iw_doc_read(NULL, "launch 1", text, strlen(text), &file));
    read = iw_net_of_doc(iw_doc_of(file));
    assert_non_null(read);
    assert_int_equal(read->calls, IW_NET_CALLS_EXCHANGE);
    assert_string_equal(read->host_names[2], "beta");
    assert_string_equal(read->levels[1].name, "network");
    assert_int_equal(read->levels[0].eager_computing.bytes, 256);
    assert_int_equal(read->levels[0].net.segment_count, 2);
    assert_int_equal(read->levels[0].net.segments[1].G, 123456789);
    assert_false(read->levels[0].points[0].gap.value > 0);
    assert_true(read->levels[0].points[0].half_round_trip.value == 563.456);
    assert_int_equal(read->slow[0].ranks[0], 1);
    iw_doc_close(file);
    free(text);
}

static void what_is_no_launch_is_refused(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } faults[] = {
        {"net-measured/3", "net-measured/1", "'launch 1' was written by another version"},
        {"\"bytes\": 1,", "\"bytes\": 0,", "point 1 of level 'node' does not exceed the size"},
        {"\"alpha\",", "       ,", "'launch 1:"},
        {"2\n      ],", "3\n      ],", "level 'network' has no pair of ranks"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct iwt_made_net made;
        iw_doc_file *file;
        struct iwt_log l;
        char *text, *at;

        iwt_made_net_init(&made);
        text = written(&made, IW_DOC_JSON);
        at = strstr(text, faults[i].from);
        assert_non_null(at);
        memcpy(at, faults[i].to, strlen(faults[i].to));
        iwt_log_init(&l);
        assert_status(iw_doc_read(&l.log, "launch 1", text, strlen(text), &file), IW_ERR_FORMAT);
        iwt_assert_logged(&l, faults[i].message);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_comes_first_and_lines_fit_a_terminal),
        cmocka_unit_test(levels_segments_and_slow_links_are_reported),
        cmocka_unit_test(shared_cores_are_told_before_anything_else),
        cmocka_unit_test(doubts_are_told),
        cmocka_unit_test(the_verdict_has_the_fit_and_what_one_launch_lacks),
        cmocka_unit_test(what_is_unknown_is_no_number),
        cmocka_unit_test(a_gap_that_was_cut_is_told),
        cmocka_unit_test(a_gap_whose_interval_begins_at_nothing_is_no_bandwidth),
        cmocka_unit_test(exchanges_are_told_beside_half_round_trips),
        cmocka_unit_test(the_json_has_what_the_text_has),
        cmocka_unit_test(a_launch_comes_back_from_its_json),
        cmocka_unit_test(what_is_no_launch_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
