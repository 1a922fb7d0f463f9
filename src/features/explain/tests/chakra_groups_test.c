/* Groups of processes as PyTorch lists them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/chakra/chakra.h"
#include "support/support.h"

static const struct iwi_chakra_group *group_of(struct iwi_chakra *all, const char *name)
{
    const size_t before = all->group_count;
    uint32_t index;

    assert_ok(iwi_chakra_find_group(all, name, &index));
    assert_int_equal(all->group_count, before);
    return &all->groups[index];
}

static void ranks_tell_the_size_else_it_is_that_which_is_given(void **state)
{
    struct iwi_chakra all;

    (void)state;
    iwi_chakra_init(&all, NULL);
    assert_ok(iwi_chakra_read_groups(
        &all, "[{\\\"pg_name\\\": \\\"0\\\", \\\"ranks\\\": [4, 5,7], \\\"group_size\\\": 8}, "
              "{\"pg_name\": \"1\", \"ranks\": [], \"group_size\": 16}, {\"pg_name\": \"2\", \"group_size\": "
              "many}]"));
    assert_int_equal(group_of(&all, "0")->rank_count, 3);
    assert_int_equal(group_of(&all, "0")->ranks[2], 7);
    assert_int_equal(group_of(&all, "0")->size, 3);
    assert_int_equal(group_of(&all, "1")->rank_count, 0);
    assert_int_equal(group_of(&all, "1")->size, 16);
    assert_int_equal(group_of(&all, "2")->size, 0);
    iwi_chakra_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_tell_the_size_else_it_is_that_which_is_given)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
