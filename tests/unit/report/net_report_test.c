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

static char *text_of(const struct iwt_made_net *made, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_net_write_text(NULL, &made->measured, path, out));
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
    text = text_of(&made, "my.yaml");
    assert_ptr_equal(strstr(text, "Inside a node a small message takes 563.5 ns"), text);
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") <= 80);
    }
    free(text);
}

static void levels_segments_slow_links_and_what_to_do_next_are_told(void **state)
{
    static const char *const parts[] = {
        "between nodes a small message takes 10.00 us",
        "level 'node': ranks 0 and 1 (alpha)\n",
        "level 'network': ranks 0 and 2 (alpha, beta)\n",
        "  L    213.5 ns",
        "  S    256 B      larger messages wait for a receiver that computes\n",
        "       4040 B     the same if the receiver is in another MPI call\n",
        "  S    unknown    at least 4 MiB: no send waited for its receiver\n",
        "  3 lines describe all sizes:\n",
        "  1 line describes all sizes:\n",
        "    1 MiB      1.000 ms",
        "1 (alpha) - 2 (beta): 20.00 us x 2.00, 81.00 us x 1.01\n",
        "2400 samples in 9.8 s and 1 launch by blocking calls of Open MPI v4.1.4",
        "miss the half round trip",
        "    1 MiB      1.000 ms   unknown    unknown    800.0 us",
        "idlewave simulate --net my.yaml",
    };
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    text = text_of(&made, "my.yaml");
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
    snprintf(made.samples.warning, sizeof made.samples.warning, "4 ranks share 2 CPUs on host alpha");
    text = text_of(&made, NULL);
    assert_ptr_equal(strstr(text, "NOT VALID: 4 ranks share 2 CPUs on host alpha"), text);
    assert_null(strstr(text, "simulate --net"));
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
    text = text_of(&made, NULL);
    assert_has(text, "1 of 1 sizes have");
    assert_has(text, "8 KiB");
    assert_has(text, "--calls exchange");
    free(text);
}

static void the_verdict_has_the_fit_and_what_one_launch_lacks(void **state)
{
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    text = text_of(&made, NULL);
    assert_has(text, "The lines of the file miss a measured time by up to 2.10 %. This was one\nlaunch;");
    assert_has(text, "medians with the 95 % intervals of this launch alone:\n");
    free(text);
    made.measured.launches = 5;
    made.levels[1].fit_error = 0.25;
    text = text_of(&made, NULL);
    assert_has(text, "by up to 25.0 %: too much to\ntrust them");
    assert_has(text, "means of 5 launches with their 95 % intervals:\n");
    assert_null(strstr(text, "This was one launch"));
    free(text);
}

static void what_is_unknown_is_no_number(void **state)
{
    static const char *const keys[] = {"L", "o_send", "o_recv", "g"};
    struct iwt_made_net made;
    char *text = NULL;
    size_t size = 0;
    FILE *out;
    json_t *object, *network, *segment;

    (void)state;
    iwt_made_net_init(&made);
    made.levels[1].L = made.levels[1].o_send = made.levels[1].o_recv = made.levels[1].gap =
        (iw_net_value){0, 0, 50};
    made.levels[1].net.L_ps = made.levels[1].net.g_ps = 0;
    text = text_of(&made, NULL);
    assert_has(text, "  g    unknown                             between messages in a row\n");
    free(text);
    out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_ok(iw_net_write_json(NULL, &made.measured, out));
    assert_int_equal(fclose(out), 0);
    object = json_loads(text, 0, NULL);
    network = json_array_get(json_object_get(object, "levels"), 1);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_true(json_is_null(json_object_get(network, keys[i])));
    }
    assert_true(json_is_null(json_object_get(json_object_get(network, "S"), "bytes")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(network, "S"), "at_least_bytes")),
                     4 << 20);
    segment = json_array_get(json_object_get(network, "segments"), 0);
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
    text = text_of(&made, NULL);
    assert_has(text, "from 4 KiB on messages in a row");
    free(text);
}

static void exchanges_are_told_beside_half_round_trips(void **state)
{
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    made.samples.calls = IW_NET_CALLS_EXCHANGE;
    made.levels[0].exchange = (iw_net_value){1234.5, 1200, 1300};
    text = text_of(&made, NULL);
    assert_has(text, "       1.235 us   [1.200 us, 1.300 us]     both ways at once: o_s+L+o_r\n");
    assert_has(text, "half a round trip\n");
    assert_has(text, "by exchange calls");
    assert_has(text, "miss the exchange");
    free(text);
}

static void the_json_has_what_the_text_has(void **state)
{
    struct iwt_made_net made;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *object, *levels, *node;

    (void)state;
    iwt_made_net_init(&made);
    assert_non_null(out);
    assert_ok(iw_net_write_json(NULL, &made.measured, out));
    assert_int_equal(fclose(out), 0);
    object = json_loads(text, 0, NULL);
    assert_non_null(object);
    levels = json_object_get(object, "levels");
    node = json_array_get(levels, 0);
    assert_string_equal(json_string_value(json_object_get(object, "schema")), "idlewave.net-measured/2");
    assert_true(json_is_true(json_object_get(object, "is_valid")));
    assert_int_equal(json_array_size(levels), 2);
    assert_int_equal(json_array_size(json_object_get(node, "segments")), 3);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(node, "S"), "bytes")), 256);
    assert_true(json_real_value(json_object_get(json_object_get(node, "L"), "value_ns")) == 213.456);
    assert_true(json_is_null(json_object_get(json_object_get(node, "L"), "ci95_ns"))); /* one launch */
    assert_int_equal(json_array_size(json_object_get(json_object_get(node, "L"), "within_launch_ns")), 2);
    assert_true(json_is_null(json_object_get(node, "g_capped_from_bytes")));
    assert_int_equal(json_array_size(json_object_get(node, "points")), 1);
    assert_string_equal(json_string_value(json_object_get(object, "calls")), "blocking");
    assert_true(json_is_null(json_object_get(node, "exchange")));
    assert_int_equal(json_array_size(json_object_get(object, "slow_links")), 1);
    json_decref(object);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_comes_first_and_lines_fit_a_terminal),
        cmocka_unit_test(levels_segments_slow_links_and_what_to_do_next_are_told),
        cmocka_unit_test(shared_cores_are_told_before_anything_else),
        cmocka_unit_test(doubts_are_told),
        cmocka_unit_test(the_verdict_has_the_fit_and_what_one_launch_lacks),
        cmocka_unit_test(what_is_unknown_is_no_number),
        cmocka_unit_test(a_gap_that_was_cut_is_told),
        cmocka_unit_test(exchanges_are_told_beside_half_round_trips),
        cmocka_unit_test(the_json_has_what_the_text_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
