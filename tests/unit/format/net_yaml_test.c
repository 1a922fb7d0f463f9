/* Networks from YAML.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/net_yaml.h"

static iw_status read_net(struct iwt_log *l, const char *text, iw_net *net)
{
    iwt_log_init(l);
    return iwi_net_read_memory(&l->log, "dir/my.net.yaml", text, strlen(text), net);
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
         "'dir/my.net.yaml:5': unknown key 'latency'; known are L, o, o_s, o_r, g, G, O, S, name, format, "
         "origin"},
        {NEEDED "[a, b]: 1us\n", IW_ERR_FORMAT, "'dir/my.net.yaml:5': expected a key"},
        {NEEDED "g: 2us\n", IW_ERR_FORMAT, "'dir/my.net.yaml:5': key 'g' is given again, first in line 3"},
        {"L: 1us\no_s: 1us\no_send: 1us\n", IW_ERR_FORMAT, "my.net.yaml:3': key 'o_s' is given again"},
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
        {"name: \"\"\n", IW_ERR_RANGE, "my.net.yaml:1': the name must have 1 to 63 bytes"},
        {"name: 0123456789012345678901234567890123456789012345678901234567890123\n", IW_ERR_RANGE,
         "the name must have 1 to 63 bytes"},
        {"format: idlewave.net/2\n", IW_ERR_FORMAT,
         "my.net.yaml:1': format 'idlewave.net/2' is not 'idlewave.net/1'"},
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
        status = iwi_net_read_memory(&l.log, "t.yaml", text, size, &net);
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
    assert_ok(iw_net_load(&l.log, path, &net));
    assert_int_equal(net.L_ps, 1000000);
    assert_int_equal(unlink(path), 0);
    assert_status(iw_net_load(&l.log, path, &net), IW_ERR_IO);
    iwt_assert_logged(&l, "No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_is_read),
        cmocka_unit_test(only_four_keys_are_needed),
        cmocka_unit_test(faults_are_told_with_file_and_line),
        cmocka_unit_test(a_file_cut_at_any_byte_is_survived),
        cmocka_unit_test(a_net_is_not_touched_on_failure),
        cmocka_unit_test(a_file_is_loaded_by_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
