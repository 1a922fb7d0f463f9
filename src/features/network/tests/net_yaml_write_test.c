/* Tests of iw_net_write_yaml(): what is written is read back as it was.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/internal/net_measure.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/rng.h"
#include "kit/files/net/net_yaml.h"
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
    assert_ok(iwi_net_load(&l.log, folder->file, "node", &net));
    assert_string_equal(net.name, "my/node");
    assert_same_costs(&net, &made.levels[0].net);
    assert_ok(iwi_net_load(&l.log, folder->file, "network", &net));
    assert_string_equal(net.name, "my/network");
    assert_same_costs(&net, &made.levels[1].net);
    assert_string_equal(l.text, "");
}

/* Whose ranks are on which hosts, as it is read: "a" is the first host, and so on. */
static iw_net net_of_seats(const struct folder *folder, const char *seats, uint32_t hosts)
{
    static char names[16][64];
    struct iwt_made_net made;
    iw_net net;

    iwt_made_net_init(&made);
    made.measured.ranks = (uint32_t)strlen(seats);
    made.measured.hosts = hosts;
    made.measured.host_names = names;
    for (uint32_t rank = 0; rank < made.measured.ranks; rank++) {
        snprintf(names[rank], sizeof names[rank], "%c", seats[rank]);
    }
    assert_ok(iw_net_write_yaml(NULL, &made.measured, "my", "idlewave net", folder->file));
    assert_ok(iwi_net_load(NULL, folder->file, NULL, &net));
    return net;
}

static void ranks_that_sit_evenly_on_hosts_give_levels(void **state)
{
    iw_net net = net_of_seats(*state, "aabbcc", 3);

    assert_string_equal(net.name, "my");
    assert_int_equal(net.inner_count, 1);
    assert_string_equal(net.inner[0].name, "node");
    assert_int_equal(net.inner[0].ranks, 2);
    assert_int_equal(net.placement, IW_PLACEMENT_BLOCK);
    assert_int_equal(net_of_seats(*state, "aaabbbcc", 3).inner[0].ranks, 3); /* the last host has fewer */
    net = net_of_seats(*state, "abcabcab", 3);
    assert_int_equal(net.inner[0].ranks, 3);
    assert_int_equal(net.placement, IW_PLACEMENT_ROUND_ROBIN);
}

static void ranks_that_do_not_give_the_outermost_level_alone(void **state)
{
    static const char *const seats[] = {"abbb", "abba", "aabbba", "aabba"};

    for (size_t i = 0; i < sizeof seats / sizeof seats[0]; i++) {
        const iw_net net = net_of_seats(*state, seats[i], 2);

        assert_int_equal(net.inner_count, 0);
        assert_string_equal(net.name, "my/network");
    }
    assert_int_equal(net_of_seats(*state, "abc", 3).inner_count, 0);
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
        "    S: unknown # the receiver computes; no limit was found\n    S_at_least: 4194304\n",
        "    S_receiver_in_mpi: 4040 #",
        "      - {from: 1048576, L: 1000us, o_s: unknown, o_r: unknown, g: 800us, G: 123.456789ns, O: 0}",
        "        - [1, 1200, [563.5, 507.1, 676.1], ",
        "  command: \"mpirun \\\"x\\\" \\u000ay\"",
        "  host: \"alpha\"",
        "  mpi: \"Open MPI v4.1.4\"",
        "  clock: \"CLOCK_MONOTONIC, 25.0 ns a reading\"",
        "  launches: 1\n",
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
    snprintf(made.measured.warning, sizeof made.measured.warning, "3 ranks share 2 CPUs on host alpha");
    assert_ok(iw_net_write_yaml(NULL, &made.measured, "my", "mpirun \"x\" \ny", folder->file));
    text = read_all(folder->file);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(text, parts[i]) == NULL) {
            print_message("'%s' is not in\n%s", parts[i], text);
        }
        assert_non_null(strstr(text, parts[i]));
    }
    free(text);
    assert_ok(iwi_net_load(NULL, folder->file, NULL, &net));
}

static void exchanges_are_written_beside_half_round_trips(void **state)
{
    static const char *const parts[] = {
        "    L_half_round_trip: 0.4us # of messages to and fro, not both ways at once",
        "gap, o_s, o_r and exchange: [value, low, high] in ns",
        ", [563.5, 500.0, 600.0]]\n",
        "  calls: exchange\n",
    };
    const struct folder *folder = *state;
    struct iwt_made_net made;
    iw_net net;
    char *text;

    iwt_made_net_init(&made);
    made.measured.calls = IW_NET_CALLS_EXCHANGE;
    made.levels[0].half_round_trip.value = 400;
    made.levels[0].exchange = made.points[0].exchange = (iw_estimate){563.456, 500, 600};
    assert_ok(iw_net_write_yaml(NULL, &made.measured, "my", "c", folder->file));
    text = read_all(folder->file);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(text, parts[i]) == NULL) {
            print_message("'%s' is not in\n%s", parts[i], text);
        }
        assert_non_null(strstr(text, parts[i]));
    }
    free(text);
    assert_ok(iwi_net_load(NULL, folder->file, NULL, &net));
}

/* ---- names ---- */

/* `name` comes back as `expected`. */
static void assert_read_back(const struct folder *folder, const char *name, const char *expected)
{
    struct iwt_made_net made;
    struct iwt_log l;
    char whole[80];
    iw_net net;

    iwt_made_net_init(&made);
    iwt_log_init(&l);
    assert_ok(iw_net_write_yaml(NULL, &made.measured, name, name, folder->file));
    if (iwi_net_load(&l.log, folder->file, "node", &net) != IW_OK) {
        fail_msg("the name '%s' is not read: %s", name, l.text);
    }
    snprintf(whole, sizeof whole, "%s/node", expected);
    assert_string_equal(net.name, whole);
}

static void any_name_is_read_as_it_was(void **state)
{
    static const char *const names[] = {
        "it's",
        "'",
        "''",
        "\"",
        "\\",
        "\\\"'",
        "a: b # c",
        "- x",
        " x ",
        "%a",
        "tab\tline\n",
        "\r",
        "\x1b[31m\x7f",
        "null",
        "J\xc3\xbclich",
        "\xc2\x85",
        "~",
        "!x",
        "{a}",
        "@x",
        "\xe2\x80\xa8",
        "\xef\xbb\xbf",
        "\xef\xbf\xbf",
        "\xf0\x9f\x8c\x8a",
    };
    const struct folder *folder = *state;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_read_back(folder, names[i], names[i]);
    }
}

static size_t put_random_character(const struct iwi_draw_id id, uint64_t index, char *at)
{
    static const uint32_t most[] = {0x7f, 0x7ff, 0xffff, 0x10ffff};
    uint32_t code = 1 + (uint32_t)iwi_draw_below(id, 2 * index, most[iwi_draw_below(id, 2 * index + 1, 4)]);

    code = code >= 0xd800 && code <= 0xdfff ? '\'' : code; /* halves of pairs are no characters */
    if (code < 0x80) {
        at[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        at[0] = (char)(0xc0 | code >> 6);
        at[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        at[0] = (char)(0xe0 | code >> 12);
        at[1] = (char)(0x80 | (code >> 6 & 0x3f));
        at[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    at[0] = (char)(0xf0 | code >> 18);
    at[1] = (char)(0x80 | (code >> 12 & 0x3f));
    at[2] = (char)(0x80 | (code >> 6 & 0x3f));
    at[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static void random_names_are_read_as_they_were(void **state)
{
    enum {
        NAMES = 300,
        CHARACTERS = 10
    }; /* at most 40 bytes: of longer ones less is kept beside the level */
    const struct folder *folder = *state;

    for (uint64_t i = 0; i < NAMES; i++) {
        const struct iwi_draw_id id = {.seed = i};
        char name[4 * CHARACTERS + 1] = "";
        size_t length = 0;

        for (uint64_t k = 0; k < CHARACTERS; k++) {
            length += put_random_character(id, k, name + length);
        }
        name[length] = '\0';
        assert_read_back(folder, name, name);
    }
}

static void what_is_no_text_is_replaced(void **state)
{
    const struct folder *folder = *state;
    char many[256];

    assert_read_back(folder, "", "net");
    assert_read_back(folder, "a\xff\xc3", "a\xef\xbf\xbd\xef\xbf\xbd");
    assert_read_back(folder, "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    memset(many, 0xff, sizeof many - 1);
    many[sizeof many - 1] = '\0';
    assert_read_back(folder, many,
                     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                     "\xef\xbf\xbd\xef");
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
        cmocka_unit_test_setup_teardown(ranks_that_sit_evenly_on_hosts_give_levels, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(ranks_that_do_not_give_the_outermost_level_alone, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(exchanges_are_written_beside_half_round_trips, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_origin_and_both_conventions_of_latency_are_noted, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(any_name_is_read_as_it_was, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(random_names_are_read_as_they_were, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_no_text_is_replaced, make_folder, remove_folder),
        cmocka_unit_test(a_place_that_cannot_be_written_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
