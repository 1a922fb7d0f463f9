/* Settings in messages of the library become options of the verb.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "options/opt.h"
#include "process/ui.h"
#include "support/support.h"

static const struct opt rows[] = {{.name = "rules"}, {.name = "net-level"}, {.name = "from"}};
static const struct opt_group groups[] = {OPT_GROUP("What runs", rows, 0)};

static void assert_written(const char *text, const char *expected)
{
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);

    assert_non_null(out);
    setting_names_write(groups, 1, text, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(written, expected);
    free(written);
}

static void a_setting_becomes_the_option_of_its_name(void **state)
{
    (void)state;
    assert_written("use `rules` idlewave, or another `net_level`",
                   "use --rules idlewave, or another --net-level");
}

static void a_setting_with_another_name_becomes_its_option(void **state)
{
    (void)state;
    assert_written("name one (`import.format`)", "name one (--from)");
}

static void a_setting_without_option_stays(void **state)
{
    (void)state;
    assert_written("leave `rendezvous` out", "leave 'rendezvous' out");
}

static void other_backquotes_stay(void **state)
{
    (void)state;
    assert_written("", "");
    assert_written("`", "`");
    assert_written("`rules", "`rules");
    assert_written("``", "``");
    assert_written("'a`b c`'", "'a`b c`'");
    assert_written("`rules_of_a_name_that_is_longer_than_any_option`",
                   "`rules_of_a_name_that_is_longer_than_any_option`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_setting_becomes_the_option_of_its_name),
        cmocka_unit_test(a_setting_with_another_name_becomes_its_option),
        cmocka_unit_test(a_setting_without_option_stays),
        cmocka_unit_test(other_backquotes_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
