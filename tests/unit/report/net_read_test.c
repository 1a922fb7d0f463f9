/* Tests of iw_net_read_json(): a launch comes back from its JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_net.h"
#include "support/support.h"

static char *json_of(const struct iwt_made_net *made)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_net_write_json(NULL, &made->measured, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void a_launch_is_read_as_it_was_written(void **state)
{
    struct iwt_made_net made;
    iw_net_launch launch;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    made.samples.calls = IW_NET_CALLS_EXCHANGE;
    made.points[0].gap = (iw_net_value){0, 0, 3};
    made.points[0].exchange = (iw_net_value){900.5, 900, 901};
    text = json_of(&made);
    assert_ok(iw_net_read_json(NULL, "launch 1", text, strlen(text), &launch));
    assert_int_equal(launch.measured->launches, 1);
    assert_int_equal(launch.samples->ranks, 3);
    assert_int_equal(launch.samples->hosts, 2);
    assert_string_equal(launch.samples->host_names[2], "beta");
    assert_string_equal(launch.samples->mpi_version, "Open MPI v4.1.4");
    assert_int_equal(launch.samples->calls, IW_NET_CALLS_EXCHANGE);
    assert_int_equal(launch.samples->pair_count, 3);
    assert_int_equal(launch.measured->level_count, 2);
    assert_string_equal(launch.samples->levels[1].name, "network");
    assert_int_equal(launch.samples->levels[0].eager_computing.bytes, 256);
    assert_true(launch.samples->levels[0].eager_computing.is_at_most);
    assert_false(launch.samples->levels[1].eager_inside.is_at_most);
    assert_int_equal(launch.measured->levels[0].point_count, 1);
    assert_true(launch.measured->levels[0].points[0].gap.value_ns == 0);
    assert_true(launch.measured->levels[0].points[0].exchange.value_ns == 900.5);
    assert_true(launch.measured->levels[0].points[0].half_round_trip.value_ns == 563.456);
    assert_int_equal(launch.measured->slow_count, 1);
    assert_int_equal(launch.measured->slow[0].link->ranks[0], 1);
    iw_net_launch_release(&launch);
    free(text);
}

static void replace(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);

    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
}

static void what_is_no_launch_is_refused(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } faults[] = {
        {"net-measured/2", "net-measured/1", "'launch 1' is no result of net"},
        {"\"ranks\": 3,", "\"ranks\": 1,", "is no network between ranks"},
        {"\"levels\"", "\"lovels\"", "'launch 1' has 0 levels"},
        {"\"bytes\": 1,", "\"bytes\": 0,", "point 1 of level 'node' has no size above"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct iwt_made_net made;
        iw_net_launch launch;
        struct iwt_log l;
        char *text;

        iwt_made_net_init(&made);
        text = json_of(&made);
        replace(text, faults[i].from, faults[i].to);
        iwt_log_init(&l);
        assert_status(iw_net_read_json(&l.log, "launch 1", text, strlen(text), &launch), IW_ERR_FORMAT);
        iwt_assert_logged(&l, faults[i].message);
        assert_int_equal(l.errors, 1);
        free(text);
    }
}

static void a_text_cut_at_any_byte_is_survived(void **state)
{
    struct iwt_made_net made;
    char *text;

    (void)state;
    iwt_made_net_init(&made);
    text = json_of(&made);
    for (size_t size = 0; size + 2 < strlen(text); size += 7) { /* without the last brace */
        iw_net_launch launch;

        assert_status(iw_net_read_json(NULL, "launch 1", text, size, &launch), IW_ERR_FORMAT);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_is_read_as_it_was_written),
        cmocka_unit_test(what_is_no_launch_is_refused),
        cmocka_unit_test(a_text_cut_at_any_byte_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
