/* A network in a sentence.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/text/words.h"
#include "support/support.h"

static void assert_words(const char *name, const char *expected)
{
    char words[IWI_PHRASE_SIZE];

    assert_string_equal(iwi_net_words(name, words), expected);
}

static void a_network_goes_by_its_name(void **state)
{
    (void)state;
    assert_words("hdr-fat-tree", "hdr-fat-tree");
    assert_words("my,cluster", "my,cluster"); /* of a user */
    assert_words("chic / 10", "chic / 10");
}

static void what_options_changed_is_told(void **state)
{
    (void)state;
    assert_words("chic, changed", "chic with changed costs");
    assert_words("hdr-fat-tree, nodes of 4", "hdr-fat-tree with nodes of 4");
    assert_words("hdr-fat-tree, nodes of 4, changed", "hdr-fat-tree with nodes of 4, changed");
}

static void none_has_no_costs_but_those_given(void **state)
{
    (void)state;
    assert_words("none", "a network without costs");
    assert_words("none, changed", "a network with the given costs");
    assert_words("nonesuch", "nonesuch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_goes_by_its_name),
        cmocka_unit_test(what_options_changed_is_told),
        cmocka_unit_test(none_has_no_costs_but_those_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
