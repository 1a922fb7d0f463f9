/* Tests of iw_net_write_yaml(): what is written is read back as it was.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/net_measure.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/made_net.h"
#include "support/support.h"

struct folder {
    char path[64], file[96];
};

static int make_folder(void **state)
{
    static struct folder folder;

    snprintf(folder.path, sizeof folder.path, "/tmp/iw_net_write_XXXXXX");
    if (mkdtemp(folder.path) == NULL) {
        return -1;
    }
    snprintf(folder.file, sizeof folder.file, "%s/my.yaml", folder.path);
    *state = &folder;
    return 0;
}

static int remove_folder(void **state)
{
    const struct folder *folder = *state;

    (void)unlink(folder->file);
    return rmdir(folder->path);
}

static void assert_same_costs(const iw_net *a, const iw_net *b)
{
    assert_int_equal(a->L_ps, b->L_ps);
    assert_int_equal(a->o_send_ps, b->o_send_ps);
    assert_int_equal(a->o_recv_ps, b->o_recv_ps);
    assert_int_equal(a->g_ps, b->g_ps);
    assert_int_equal(a->G, b->G);
    assert_int_equal(a->O, b->O);
    assert_int_equal(a->S_bytes, b->S_bytes);
    assert_int_equal(a->segment_count, b->segment_count);
    assert_memory_equal(a->segments, b->segments, a->segment_count * sizeof a->segments[0]);
}

static void what_was_written_is_read_to_the_picosecond(void **state)
{
    const struct folder *folder = *state;
    struct iwt_made_net made;
    struct iwt_log l;
    iw_net net;

    iwt_made_net_init(&made);
    iwt_log_init(&l);
    assert_ok(iw_net_write_yaml(&l.log, &made.measured, "my", "idlewave net", folder->file));
    assert_ok(iw_net_load_level(&l.log, folder->file, "node", &net));
    assert_string_equal(net.name, "my/node");
    assert_same_costs(&net, &made.levels[0].net);
    assert_ok(iw_net_load(&l.log, folder->file, &net));
    assert_string_equal(net.name, "my/network");
    assert_same_costs(&net, &made.levels[1].net);
    assert_string_equal(l.text, "");
}

static char *read_all(const char *path)
{
    char *text = calloc(1, 1 << 16);
    FILE *in = fopen(path, "r");

    assert_non_null(text);
    assert_non_null(in);
    assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
    assert_int_equal(fclose(in), 0);
    return text;
}

static void the_origin_and_both_conventions_of_latency_are_noted(void **state)
{
    static const char *const parts[] = {
        "    L: 0.213456us # without overheads",
        "    L_half_round_trip: 0.563456us",
        "    S: 256 # the receiver computes\n",
        "    S: 4194304 # the receiver computes; no limit was found up to this size",
        "    S_receiver_in_mpi: 4040 #",
        "      - {from: 1048576, L: 1000us, o_s: 0, o_r: 0, g: 800us, G: 123.456789ns, O: 0}",
        "        - [1, 1200, [563.5, 507.1, 676.1], ",
        "  command: \"mpirun \\\"x\\\" ?y\"",
        "  host: \"alpha\"",
        "  mpi: \"Open MPI v4.1.4\"",
        "  clock: \"CLOCK_MONOTONIC, 25.0 ns a reading\"",
        "  calls: blocking\n",
        "  samples: 2400",
        "  not_valid: \"3 ranks share 2 CPUs on host alpha\"",
        "    - {ranks: [1, 2], small_factor: 2.00, large_factor: 1.01}",
    };
    const struct folder *folder = *state;
    struct iwt_made_net made;
    iw_net net;
    char *text;

    iwt_made_net_init(&made);
    snprintf(made.samples.warning, sizeof made.samples.warning, "3 ranks share 2 CPUs on host alpha");
    assert_ok(iw_net_write_yaml(NULL, &made.measured, "my", "mpirun \"x\" \ny", folder->file));
    text = read_all(folder->file);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(text, parts[i]) == NULL) {
            print_message("'%s' is not in\n%s", parts[i], text);
        }
        assert_non_null(strstr(text, parts[i]));
    }
    free(text);
    assert_ok(iw_net_load(NULL, folder->file, &net));
}

static void exchanges_are_written_beside_half_round_trips(void **state)
{
    static const char *const parts[] = {
        "    L_half_round_trip: 0.4us # of messages to and fro, not both ways at once",
        "gap, o_s, o_r and exchange: [median, low, high] in ns",
        ", [563.5, 500.0, 600.0]]\n",
        "  calls: exchange\n",
    };
    const struct folder *folder = *state;
    struct iwt_made_net made;
    iw_net net;
    char *text;

    iwt_made_net_init(&made);
    made.samples.calls = IW_NET_CALLS_EXCHANGE;
    made.levels[0].half_round_trip.median_ns = 400;
    made.levels[0].exchange = made.points[0].exchange = (iw_net_value){563.456, 500, 600};
    assert_ok(iw_net_write_yaml(NULL, &made.measured, "my", "c", folder->file));
    text = read_all(folder->file);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(text, parts[i]) == NULL) {
            print_message("'%s' is not in\n%s", parts[i], text);
        }
        assert_non_null(strstr(text, parts[i]));
    }
    free(text);
    assert_ok(iw_net_load(NULL, folder->file, &net));
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
    struct iwt_made_net made;
    struct iwt_log l;

    (void)state;
    iwt_made_net_init(&made);
    iwt_log_init(&l);
    assert_status(iw_net_write_yaml(&l.log, &made.measured, "my", "c", "/nowhere/at/all.yaml"), IW_ERR_IO);
    assert_int_equal(l.errors, 1);
    iwt_assert_logged(&l, "/nowhere/at");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read_to_the_picosecond, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(exchanges_are_written_beside_half_round_trips, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_origin_and_both_conventions_of_latency_are_noted, make_folder,
                                        remove_folder),
        cmocka_unit_test(a_place_that_cannot_be_written_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
