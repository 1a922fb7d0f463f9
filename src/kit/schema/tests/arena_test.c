/* Arenas: room for anything, texts of any length, and a flag instead of an error at every step.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdint.h>
#include <string.h>

#include "core/base/arena.h"
#include "support/support.h"

static void pieces_are_zeroed_aligned_and_apart(void **state)
{
    struct iwi_arena arena = {.blocks = NULL};
    unsigned char *pieces[200];

    (void)state;
    for (size_t i = 0; i < 200; i++) {
        pieces[i] = iwi_arena_take(&arena, i + 1, 3);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % sizeof(long double), 0);
        for (size_t k = 0; k < 3 * (i + 1); k++) {
            assert_int_equal(pieces[i][k], 0);
        }
        memset(pieces[i], (int)(i + 1), 3 * (i + 1));
    }
    for (size_t i = 0; i < 200; i++) {
        assert_int_equal(pieces[i][3 * i + 2], i + 1);
    }
    assert_false(arena.is_broken);
    iwi_arena_free(&arena);
}

static void texts_may_be_longer_than_a_block(void **state)
{
    struct iwi_arena arena = {.blocks = NULL};
    const char *text = iwi_arena_text(&arena, "%0*d", 100000, 7);

    (void)state;
    assert_int_equal(strlen(text), 100000);
    assert_string_equal(text + 99999, "7");
    iwi_arena_free(&arena);
}

static void what_cannot_be_had_breaks_it(void **state)
{
    struct iwi_arena arena = {.blocks = NULL};

    (void)state;
    assert_null(iwi_arena_take(&arena, SIZE_MAX / 2, 16));
    assert_true(arena.is_broken);
    assert_string_equal(iwi_arena_text(&arena, "still %s", "fine"), "still fine");
    iwi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(texts_may_be_longer_than_a_block),
        cmocka_unit_test(what_cannot_be_had_breaks_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
