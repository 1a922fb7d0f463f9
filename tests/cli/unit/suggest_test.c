/* Which word was meant.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/suggest.h"

#include <string.h>

#include "support/support.h"

static const char *nearest(const char *word)
{
    static const char *const words[] = {"trials", "threads", "ranks",  "ranks-per-node",
                                        "L",      "o",       "o-send", "explain"};
    struct suggestion suggestion;

    suggest_begin(&suggestion, word);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        suggest_offer(&suggestion, words[i]);
    }
    return suggestion.best;
}

static void distance_counts_edits_and_swaps(void **state)
{
    (void)state;
    assert_int_equal(suggest_distance("trials", "trials"), 0);
    assert_int_equal(suggest_distance("trails", "trials"), 1);
    assert_int_equal(suggest_distance("trial", "trials"), 1);
    assert_int_equal(suggest_distance("", "abc"), 3);
    assert_int_equal(suggest_distance("kitten", "sitting"), 3);
}

static void words_too_long_are_far_from_everything(void **state)
{
    char word[65];

    (void)state;
    memset(word, 'x', 64);
    word[64] = '\0';
    assert_true(suggest_distance(word, word) > 1000000);
    assert_null(nearest(word));
}

static void nearest_word_is_found(void **state)
{
    (void)state;
    assert_string_equal(nearest("trails"), "trials");
    assert_string_equal(nearest("thread"), "threads");
    assert_string_equal(nearest("osend"), "o-send");
}

static void abbreviations_are_understood(void **state)
{
    (void)state;
    assert_string_equal(nearest("exp"), "explain");
    assert_string_equal(nearest("ranks-per"), "ranks-per-node");
}

static void far_words_are_not_suggested(void **state)
{
    (void)state;
    assert_null(nearest("xyzzy"));
    assert_null(nearest("q"));
    assert_null(nearest(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_counts_edits_and_swaps),
        cmocka_unit_test(words_too_long_are_far_from_everything),
        cmocka_unit_test(nearest_word_is_found),
        cmocka_unit_test(abbreviations_are_understood),
        cmocka_unit_test(far_words_are_not_suggested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
