/* The nearest known word.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <string.h>

#include "core/base/nearest.h"

static const char *nearest_to(const char *word)
{
    static const char *const known[] = {"ranks", "bytes", "sync", "net-scale", "trials", "systems"};
    struct iwi_nearest nearest;

    iwi_nearest_begin(&nearest, word);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        iwi_nearest_offer(&nearest, known[i]);
    }
    return nearest.best != NULL ? nearest.best : "none";
}

static void slips_of_the_hand_are_understood(void **state)
{
    (void)state;
    assert_string_equal(nearest_to("rank"), "ranks");
    assert_string_equal(nearest_to("rnaks"), "ranks");
    assert_string_equal(nearest_to("net_scale"), "net-scale");
    assert_string_equal(nearest_to("sistems"), "systems");
    assert_string_equal(nearest_to("trails"), "trials");
}

static void other_words_are_near_to_none(void **state)
{
    char word[200];

    (void)state;
    assert_string_equal(nearest_to(""), "none");
    assert_string_equal(nearest_to("colour"), "none");
    memset(word, 'r', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_string_equal(nearest_to(word), "none");
}

static void the_hint_is_empty_without_a_near_word(void **state)
{
    struct iwi_nearest nearest;
    char hint[IWI_HINT_SIZE];

    (void)state;
    iwi_nearest_begin(&nearest, "rank");
    assert_string_equal(iwi_nearest_hint(&nearest, hint), "");
    iwi_nearest_offer(&nearest, "ranks");
    assert_string_equal(iwi_nearest_hint(&nearest, hint), "; did you mean 'ranks'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_of_the_hand_are_understood),
        cmocka_unit_test(other_words_are_near_to_none),
        cmocka_unit_test(the_hint_is_empty_without_a_near_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
