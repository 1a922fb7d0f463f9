/* NICs and tapers of networks in YAML.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "kit/files/net/net_yaml.h"
#include "support/support.h"

#define NEEDED "L: 1us\no: 1us\ng: 1us\nG: 1ns\n"

#define LEVELS(taper_a, taper_b)                                              \
    "levels:\n  - {name: a, ranks: 8, L: 1us, o: 1us, g: 1us, G: 1ns" taper_a \
    "}\n  - {name: b, ranks: 16, L: 1us, o: 1us, g: 1us, G: 1ns" taper_b      \
    "}\n  - {name: c, L: 1us, o: 1us, g: 1us, G: 1ns}\n"

static void nics_and_tapers_are_read(void **state)
{
    static const char all[] = LEVELS("", ", taper: 1.5") "nics: {count: 4, bandwidth: 200Gbit/s, node: a, "
                                                         "active: 6, rails: true, sharing: queues}\n";
    static const char few[] = LEVELS("", "") "nics: {count: 1, G: 40ps}\n";
    iw_net net;

    (void)state;
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", all, strlen(all), NULL, &net));
    assert_true(net.inner[0].taper == 0.0 && net.inner[1].taper == 1.5);
    assert_int_equal(net.nics.count, 4);
    assert_int_equal(net.nics.G, 40000);
    assert_int_equal(net.nics.node_level, 0);
    assert_int_equal(net.nics.active, 6);
    assert_true(net.nics.has_rails);
    assert_int_equal(net.nics.sharing, IW_NIC_QUEUES);
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", all, strlen(all), "b", &net));
    assert_int_equal(net.nics.count, 0); /* one level has no nodes */
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", few, strlen(few), NULL, &net));
    assert_int_equal(net.nics.node_level, 1);
    assert_int_equal(net.nics.active, 0);
    assert_false(net.nics.has_rails);
    assert_int_equal(net.nics.sharing, IW_NIC_MAX_RATE);
}

static void faults_of_nics_are_told_with_file_and_line(void **state)
{
    static const struct {
        const char *text;
        iw_status status;
        const char *message;
    } faults[] = {
        {NEEDED "nics: {count: 1, G: 1ns}\n", IW_ERR_FORMAT, "key 'nics' belongs to a network with levels"},
        {NEEDED "taper: 2\n", IW_ERR_FORMAT, "key 'taper' belongs to a network with levels"},
        {LEVELS(", nics: {}", ""), IW_ERR_FORMAT, ":2': key 'nics' belongs beside the levels"},
        {LEVELS(", taper: 0.5", ""), IW_ERR_RANGE, ":2': key 'taper': '0.5' is not a number of at least 1"},
        {LEVELS(", taper: wide", ""), IW_ERR_FORMAT, ":2': key 'taper': 'wide' is not a number"},
        {LEVELS("", "") "nics: {count: 1}\n", IW_ERR_FORMAT, ":5': NICs need the key 'count', and either"},
        {LEVELS("", "") "nics: {G: 1ns}\n", IW_ERR_FORMAT, "NICs need the key 'count', and either"},
        {LEVELS("", "") "nics: {count: 1, G: 1ns, bandwidth: 1GB/s}\n", IW_ERR_FORMAT,
         "either 'bandwidth' or 'G' of a single one"},
        {LEVELS("", "") "nics: {count: 0, G: 1ns}\n", IW_ERR_RANGE,
         ":5': key 'count': '0' is not between 1 and"},
        {LEVELS("", "") "nics: {count: 1, bandwidth: 25}\n", IW_ERR_FORMAT,
         ":5': key 'bandwidth': '25' has no unit: write 25GB/s or 200Gbit/s"},
        {LEVELS("", "") "nics: {count: 1, G: 1ns, node: c}\n", IW_ERR_FORMAT,
         "key 'node': no level 'c' with 'ranks' for NICs"},
        {LEVELS("", "") "nics: {count: 1, G: 1ns, rails: maybe}\n", IW_ERR_FORMAT,
         "key 'rails': unknown value 'maybe': use false, true"},
        {LEVELS("", "") "nics: {count: 1, G: 1ns, sharing: fair}\n", IW_ERR_FORMAT,
         "key 'sharing': unknown value 'fair': use max-rate, queues"},
        {LEVELS("", "") "nics: {count: 1, G: 1ns, active: 17}\n", IW_ERR_RANGE,
         ":5': network 'my.net': 17 ranks of a b of 16 cannot be active"},
        {LEVELS("", ", taper: 2") "nics: {count: 1, G: 1ns}\n", IW_ERR_RANGE,
         ":5': network 'my.net': traffic leaving a b uses its NICs: remove its taper"},
        {"levels: [{name: a, L: 1us, o: 1us, g: 1us, G: 1ns, taper: 2}]\n", IW_ERR_FORMAT,
         "level 'a' is the outermost, so no traffic leaves it:"},
        {"levels: [{name: a, L: 1us, o: 1us, g: 1us, G: 1ns}]\nnics: {count: 1, G: 1ns}\n", IW_ERR_FORMAT,
         ":2': NICs need a level for the node"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct iwt_log l;
        iw_net net;

        iwt_log_init(&l);
        assert_status(iwi_net_read_memory(&l.log, "dir/my.net.yaml", faults[i].text, strlen(faults[i].text),
                                          NULL, &net),
                      faults[i].status);
        iwt_assert_logged(&l, faults[i].message);
        assert_int_equal(l.errors, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nics_and_tapers_are_read),
        cmocka_unit_test(faults_of_nics_are_told_with_file_and_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
