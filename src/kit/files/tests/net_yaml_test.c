/* Networks from YAML.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>

#include "kit/files/net/net_yaml.h"

static iw_status read_net(struct iwt_log *l, const char *text, iw_net *net)
{
    iwt_log_init(l);
    return iwi_net_read_memory(&l->log, "dir/my.net.yaml", text, strlen(text), NULL, net);
}

static void a_whole_file_is_read(void **state)
{
    static const char text[] = "# measured\nformat: idlewave.net/1\nname: fast\nL: 5.33us\no_s: 0.77 us\n"
                               "o_recv: \"0.8us\"\ng: 1560ns\nG: 0.00125us\nO: 2ps\nS: 65KiB\n"
                               "origin:\n  host: [a, b]\n  L: whatever\n";
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_ok(read_net(&l, text, &net));
    assert_string_equal(net.name, "fast");
    assert_int_equal(net.L_ps, 5330000);
    assert_int_equal(net.o_send_ps, 770000);
    assert_int_equal(net.o_recv_ps, 800000);
    assert_int_equal(net.g_ps, 1560000);
    assert_int_equal(net.G, 1250000);
    assert_int_equal(net.O, 2000);
    assert_int_equal(net.S_bytes, 66560);
    assert_string_equal(l.text, "");
}

static void only_four_keys_are_needed(void **state)
{
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_ok(read_net(&l, "{L: 1us, o: 2us, g: 0, G: 1ns, O: 0}", &net));
    assert_string_equal(net.name, "my.net");
    assert_int_equal(net.o_send_ps, 2000000);
    assert_int_equal(net.o_recv_ps, 2000000);
    assert_int_equal(net.g_ps, 0);
    assert_int_equal(net.O, 0);
    assert_int_equal(net.S_bytes, 66560);
}

static void what_is_unknown_has_a_documented_default(void **state)
{
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_ok(
        read_net(&l, "{L: 1us, o_s: unknown, o_r: 2us, g: unknown, G: 1ns, O: unknown, S: unknown}", &net));
    assert_int_equal(net.L_ps, 1000000);
    assert_int_equal(net.o_send_ps, 0);
    assert_int_equal(net.o_recv_ps, 2000000);
    assert_int_equal(net.g_ps, 0);
    assert_int_equal(net.O, 0);
    assert_int_equal(net.S_bytes, 66560);
    assert_ok(read_net(&l, "{L: unknown, o: 2us, g: 0, G: 1ns, S: unknown, S_at_least: 4MiB}", &net));
    assert_int_equal(net.L_ps, 0);
    assert_int_equal(net.S_bytes, 4 << 20);
    assert_ok(read_net(&l, "{L: 1us, o: 2us, g: 0, G: 1ns, S_at_least: 1MiB}", &net));
    assert_int_equal(net.S_bytes, 1 << 20);
    assert_string_equal(l.text, "");
}

struct fault {
    const char *text;
    iw_status status;
    const char *message;
};

#define NEEDED "L: 1us\no: 1us\ng: 1us\nG: 1ns\n"

static void faults_are_told_with_file_and_line(void **state)
{
    static const struct fault faults[] = {
        {"", IW_ERR_TRUNCATED, "'dir/my.net.yaml:1': the file is empty"},
        {"# nothing\n", IW_ERR_TRUNCATED, "the file is empty"},
        {"- L\n- o\n", IW_ERR_FORMAT, "'dir/my.net.yaml:1': expected a mapping"},
        {"just text", IW_ERR_FORMAT, "expected a mapping"},
        {NEEDED "latency: 1us\n", IW_ERR_FORMAT,
         "'dir/my.net.yaml:5': unknown key 'latency'; keys are L, o, o_s, o_r, g, G, O, S, name, format, "
         "S_at_least, progress, origin, segments, memory, noise, levels, placement, nics, ranks, taper, "
         "L_half_round_trip, "
         "S_receiver_in_mpi, S_receiver_in_mpi_at_least, measured"},
        {"L: 1us\no: 1us\ng: 1us\nG: unknown\n", IW_ERR_FORMAT,
         "'dir/my.net.yaml:4': G is unknown: a network measured at one size does not give it; add the"},
        {NEEDED "S: 8KiB\nS_at_least: 4KiB\n", IW_ERR_FORMAT,
         "'dir/my.net.yaml:6': key 'S_at_least' stands only where S is unknown"},
        {NEEDED
         "S: unknown\nS_at_least: unknown\nsegments: [{from: unknown, L: 1us, o: 1us, g: 1us, G: 1ns}]\n",
         IW_ERR_RANGE, "segment"},
        {NEEDED "[a, b]: 1us\n", IW_ERR_FORMAT, "'dir/my.net.yaml:5': expected a key"},
        {NEEDED "g: 2us\n", IW_ERR_FORMAT, "'dir/my.net.yaml:5': key 'g' is already in line 3"},
        {"L: 1us\no_s: 1us\no_send: 1us\n", IW_ERR_FORMAT, "my.net.yaml:3': key 'o_s' is already in line"},
        {NEEDED "o_s: 1us\n", IW_ERR_FORMAT, "my.net.yaml:2': key 'o' excludes 'o_s' and 'o_r'"},
        {"o: 1us\ng: 1us\nG: 1ns\n", IW_ERR_FORMAT,
         "key 'L' is missing; needed are L, o (or o_s and o_r), g, G"},
        {"L: 1us\ng: 1us\nG: 1ns\n", IW_ERR_FORMAT, "key 'o' is missing"},
        {"L: 1us\no_s: 1us\ng: 1us\nG: 1ns\n", IW_ERR_FORMAT, "key 'o_r' is missing"},
        {"L: 1us\no_r: 1us\ng: 1us\nG: 1ns\n", IW_ERR_FORMAT, "key 'o_s' is missing"},
        {"L: 1us\no: 1us\nG: 1ns\n", IW_ERR_FORMAT, "key 'g' is missing"},
        {"L: 1us\no: 1us\ng: 1ns\n", IW_ERR_FORMAT, "key 'G' is missing"},
        {"L: 5\n", IW_ERR_FORMAT, "'dir/my.net.yaml:1': key 'L': "},
        {"L: 1us\no:\n  5 parsec\n", IW_ERR_FORMAT, "'dir/my.net.yaml:3': key 'o': "},
        {"L: -1us\n", IW_ERR_RANGE, "'dir/my.net.yaml:1': key 'L': "},
        {"L: 20days\n", IW_ERR_FORMAT, "'dir/my.net.yaml:1': key 'L': "},
        {"S: many\n", IW_ERR_FORMAT, "'dir/my.net.yaml:1': key 'S': "},
        {"L: [1us]\n", IW_ERR_FORMAT, "'dir/my.net.yaml:1': key 'L' needs a single value"},
        {"L: \"1us\\0\"\n", IW_ERR_FORMAT, "key 'L' needs a single value"},
        {"name: \"\"\n", IW_ERR_RANGE, "my.net.yaml:1': key 'name' needs 1 to 63 bytes"},
        {"name: 0123456789012345678901234567890123456789012345678901234567890123\n", IW_ERR_RANGE,
         "key 'name' needs 1 to 63 bytes"},
        {"format: idlewave.net/3\n", IW_ERR_FORMAT,
         "my.net.yaml:1': format 'idlewave.net/3' is not 'idlewave.net/2'"},
        {NEEDED "---\nL: 1us\n", IW_ERR_FORMAT, "my.net.yaml:5': more than one YAML document"},
        {NEEDED "O: {a\n", IW_ERR_FORMAT, "'dir/my.net.yaml:6': "},
        {NEEDED "\tO: 1\n", IW_ERR_FORMAT, "'dir/my.net.yaml:5': "},
        {"L: 1us\no: 1us\ng: 1us\nG: 2us\n", IW_ERR_RANGE,
         "'dir/my.net.yaml:1': network 'my.net': G is more than 1 us per byte"},
        {"L: 2h\no: 1us\ng: 1us\nG: 2ns\n", IW_ERR_RANGE, "network 'my.net': L is more than 1 h"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct iwt_log l;
        iw_net net;

        assert_status(read_net(&l, faults[i].text, &net), faults[i].status);
        iwt_assert_logged(&l, faults[i].message);
        assert_int_equal(l.errors, 1);
    }
}

static void a_file_cut_at_any_byte_is_survived(void **state)
{
    static const char text[] = "format: idlewave.net/1\n" NEEDED "origin: {a: [1, 2], b: *c}\n";

    (void)state;
    for (size_t size = 0; size < sizeof text; size++) {
        struct iwt_log l;
        iw_net net;
        iw_status status;

        iwt_log_init(&l);
        status = iwi_net_read_memory(&l.log, "t.yaml", text, size, NULL, &net);
        assert_int_equal(l.errors, status == IW_OK ? 0 : 1);
    }
}

static void a_net_is_not_touched_on_failure(void **state)
{
    struct iwt_log l;
    iw_net net = {.name = "before"};

    (void)state;
    assert_status(read_net(&l, "name: after\n", &net), IW_ERR_FORMAT);
    assert_string_equal(net.name, "before");
}

static void a_file_is_loaded_by_path(void **state)
{
    char path[] = "/tmp/iw_net_XXXXXX";
    const int fd = mkstemp(path);
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, NEEDED, strlen(NEEDED)), strlen(NEEDED));
    assert_int_equal(close(fd), 0);
    iwt_log_init(&l);
    assert_ok(iwi_net_load(&l.log, path, NULL, &net));
    assert_int_equal(net.L_ps, 1000000);
    assert_int_equal(unlink(path), 0);
    assert_status(iwi_net_load(&l.log, path, NULL, &net), IW_ERR_IO);
    iwt_assert_logged(&l, "No such file or directory");
}

/* ---- segments and levels ---- */

#define SEGMENTED                                                                                \
    NEEDED "segments:\n  - {from: 2KiB, L: 9us, o_s: 2us, o_r: 3us, g: 4us, G: 2ns, O: 0.5ns}\n" \
           "  - {from: 1MiB, L: 4ms, o: 1us, g: 4ms, G: 1ns}\n"

static void segments_are_read(void **state)
{
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_ok(read_net(&l, SEGMENTED, &net));
    assert_int_equal(net.segment_count, 2);
    assert_int_equal(net.segments[0].from_bytes, 2048);
    assert_int_equal(net.segments[0].L_ps, 9000000);
    assert_int_equal(net.segments[0].o_send_ps, 2000000);
    assert_int_equal(net.segments[0].o_recv_ps, 3000000);
    assert_int_equal(net.segments[0].g_ps, 4000000);
    assert_int_equal(net.segments[0].G, 2000000);
    assert_int_equal(net.segments[0].O, 500000);
    assert_int_equal(net.segments[1].from_bytes, 1 << 20);
    assert_int_equal(net.segments[1].o_recv_ps, 1000000);
    assert_int_equal(net.segments[1].O, 0);
}

#define LEVELS                                                                                             \
    "format: idlewave.net/1\nname: my\nlevels:\n"                                                          \
    "  - {name: node, L: 1us, L_half_round_trip: 3us, o: 1us, g: 1us, G: 1ns, S: 256, S_receiver_in_mpi: " \
    "4000,\n"                                                                                              \
    "     segments: [{from: 300, L: 2us, o: 1us, g: 2us, G: 1ns}], measured: {pair: [0, 1], x: [[y]]}}\n"  \
    "  - {name: network, L: 7us, o: 1us, g: 1us, G: 1ns}\n"                                                \
    "origin: {a: b}\n"

static iw_status read_level(struct iwt_log *l, const char *text, const char *level, iw_net *net)
{
    iwt_log_init(l);
    return iwi_net_read_memory(&l->log, "dir/other.yaml", text, strlen(text), level, net);
}

static void the_outermost_level_is_taken_unless_another_is_named(void **state)
{
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_ok(read_level(&l, LEVELS, NULL, &net));
    assert_int_equal(net.L_ps, 7000000);
    assert_int_equal(net.S_bytes, 66560);
    assert_int_equal(net.segment_count, 0);
    assert_string_equal(net.name, "my/network");
    assert_ok(read_level(&l, LEVELS, "node", &net));
    assert_int_equal(net.L_ps, 1000000);
    assert_int_equal(net.S_bytes, 256);
    assert_int_equal(net.segment_count, 1);
    assert_string_equal(net.name, "my/node");
}

static void a_level_that_is_not_there_is_told_with_those_that_are(void **state)
{
    struct iwt_log l;
    iw_net net;

    (void)state;
    assert_status(read_level(&l, LEVELS, "rack", &net), IW_ERR_USAGE);
    iwt_assert_logged(&l, "unknown level 'rack': this network has node, network");
    assert_status(read_level(&l, NEEDED, "node", &net), IW_ERR_USAGE);
    iwt_assert_logged(&l, "no level 'node': this network has no levels");
}

static void levels_with_sizes_are_one_network(void **state)
{
    static const char text[] = "format: idlewave.net/2\nname: fat\nplacement: round-robin\nlevels:\n"
                               "  - {name: socket, ranks: 64, L: 1ns, o: 2ns, g: 3ns, G: 4ps, S: 1}\n"
                               "  - {name: node, ranks: 128, L: 5ns, o: 6ns, g: 7ns, G: 8ps,\n"
                               "     segments: [{from: 100, L: 9ns, o: 10ns, g: 11ns, G: 12ps}]}\n"
                               "  - {name: network, L: 1us, o: 2us, g: 3us, G: 4ns, S: 12345}\n";
    iw_net net;

    (void)state;
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", text, strlen(text), NULL, &net));
    assert_string_equal(net.name, "fat");
    assert_int_equal(net.inner_count, 2);
    assert_int_equal(net.placement, IW_PLACEMENT_ROUND_ROBIN);
    assert_string_equal(net.inner[0].name, "socket");
    assert_int_equal(net.inner[0].ranks, 64);
    assert_int_equal(net.inner[0].costs.L_ps, 1000);
    assert_int_equal(net.inner[1].ranks, 128);
    assert_int_equal(net.inner[1].costs.segment_count, 1);
    assert_int_equal(net.inner[1].costs.segments[0].g_ps, 11000);
    assert_int_equal(net.L_ps, 1000000);
    assert_int_equal(net.S_bytes, 12345);
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", text, strlen(text), "node", &net));
    assert_string_equal(net.name, "fat/node");
    assert_int_equal(net.inner_count, 0);
    assert_int_equal(net.L_ps, 5000);
}

static void faults_of_segments_and_levels_are_told_with_file_and_line(void **state)
{
    static const struct fault faults[] = {
        {NEEDED "segments:\n  - {L: 1us, o: 1us, g: 1us, G: 1ns}\n", IW_ERR_FORMAT,
         "'dir/my.net.yaml:6': a segment needs the key 'from'"},
        {NEEDED "segments: [{from: 5, L: 1us, g: 1us, G: 1ns}]\n", IW_ERR_FORMAT, ":5': key 'o' is missing"},
        {NEEDED "segments: [{from: 5, S: 1, L: 1us, o: 1us, g: 1us, G: 1ns}]\n", IW_ERR_FORMAT,
         ":5': unknown key 'S'; keys are L, o, o_s, o_r, g, G, O, from"},
        {NEEDED "segments: [{from: many, L: 1us, o: 1us, g: 1us, G: 1ns}]\n", IW_ERR_FORMAT,
         ":5': key 'from': "},
        {NEEDED "segments: [{from: 5, L: 0, o: 1us, g: 1us, G: 1ns}]\n", IW_ERR_RANGE,
         "a message of 5 bytes, where segment 1 begins, must not take less time"},
        {NEEDED "segments:\n", IW_ERR_FORMAT, ":5': expected a mapping such as '{L: ...}'"},
        {"levels: []\n", IW_ERR_RANGE, ":1': 0 levels: use 1 to 6"},
        {"levels: [{name: a, memory: none}]\n", IW_ERR_FORMAT, "belongs beside the levels, not into one"},
        {"L: 1us\no: 1us\ng: 1us\nG: 1ns\nmemory: ranks=2,core=1GB/s\n", IW_ERR_FORMAT,
         "key 'memory': 'ranks=2,core=1GB/s' is not a memory: write for"},
        {"levels: [{L: 1us}]\n", IW_ERR_FORMAT, ":1': a level needs the key 'name'"},
        {"levels: [{name: a, levels: []}]\n", IW_ERR_FORMAT, "cannot contain levels"},
        {"levels:\n  - {name: a, L: 1us, o: 1us, g: 1us}\n", IW_ERR_FORMAT, ":2': key 'G' is missing"},
        {"levels:\n  - {name: a, L: 1us, o: 1us, g: 1us, G: 1ns}\n  - {name: a, L: 1us, o: 1us, g: 1us, G: "
         "1ns}\n",
         IW_ERR_FORMAT, ":3': level 'a' is defined twice"},
        {"levels:\n  - {name: a, ranks: 8, L: 1us, o: 1us, g: 1us, G: 1ns}\n  - {name: b, ranks: 12, L: 1us, "
         "o: "
         "1us, g: 1us, G: 1ns}\n  - {name: c, L: 1us, o: 1us, g: 1us, G: 1ns}\n",
         IW_ERR_RANGE, "level 'b' has groups of 12 ranks: use a larger multiple of 8"},
        {"levels:\n  - {name: a, ranks: 8, L: 1us, o: 1us, g: 1us, G: 1ns}\n  - {name: b, ranks: 16, L: 1us, "
         "o: "
         "1us, g: 1us, G: 1ns}\n",
         IW_ERR_FORMAT,
         "all levels but the last need the key 'ranks', the size of their groups: 'b' is the last"},
        {"levels:\n  - {name: a, ranks: 1, L: 1us, o: 1us, g: 1us, G: 1ns}\n", IW_ERR_RANGE,
         ":2': key 'ranks': '1' is not between 2 and 4294967295"},
        {"placement: anywhere\nlevels: [{name: a}]\n", IW_ERR_FORMAT,
         "placement 'anywhere' is neither 'block' nor 'round-robin'"},
        {"ranks: 8\nL: 1us\no: 1us\ng: 1us\nG: 1ns\n", IW_ERR_FORMAT,
         "key 'ranks' belongs to a network with levels"},
        {"L: 1us\nlevels: [{name: a}]\n", IW_ERR_FORMAT, ":1': key 'L' belongs into one of the levels"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct iwt_log l;
        iw_net net;

        assert_status(read_net(&l, faults[i].text, &net), faults[i].status);
        iwt_assert_logged(&l, faults[i].message);
        assert_int_equal(l.errors, 1);
    }
}

static void a_file_with_levels_cut_at_any_byte_is_survived(void **state)
{
    static const char text[] = LEVELS;

    (void)state;
    for (size_t size = 0; size < sizeof text; size++) {
        struct iwt_log l;
        iw_net net;
        iw_status status;

        iwt_log_init(&l);
        status = iwi_net_read_memory(&l.log, "t.yaml", text, size, NULL, &net);
        assert_int_equal(l.errors, status == IW_OK ? 0 : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_is_read),
        cmocka_unit_test(only_four_keys_are_needed),
        cmocka_unit_test(what_is_unknown_has_a_documented_default),
        cmocka_unit_test(faults_are_told_with_file_and_line),
        cmocka_unit_test(a_file_cut_at_any_byte_is_survived),
        cmocka_unit_test(a_net_is_not_touched_on_failure),
        cmocka_unit_test(a_file_is_loaded_by_path),
        cmocka_unit_test(segments_are_read),
        cmocka_unit_test(the_outermost_level_is_taken_unless_another_is_named),
        cmocka_unit_test(a_level_that_is_not_there_is_told_with_those_that_are),
        cmocka_unit_test(levels_with_sizes_are_one_network),
        cmocka_unit_test(faults_of_segments_and_levels_are_told_with_file_and_line),
        cmocka_unit_test(a_file_with_levels_cut_at_any_byte_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
