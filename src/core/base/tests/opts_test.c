/* Options of callers built for other versions of the library.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/opts.h"

#include <stdint.h>

#include "support/support.h"

struct opts {
    size_t size;
    uint64_t old, new;
};

static const struct opts defaults = {sizeof defaults, 1, 2};

static void all_fields_of_a_caller_that_knows_them_are_taken(void **state)
{
    const struct opts given = {sizeof given, 10, 20};
    struct opts known = defaults;

    (void)state;
    assert_ok(IWI_READ_OPTS(NULL, "INIT", &given, &known));
    assert_memory_equal(&known, &given, sizeof known);
}

static void fields_that_an_old_caller_does_not_know_keep_their_defaults(void **state)
{
    const struct opts given = {offsetof(struct opts, new), 10, 20};
    struct opts known = defaults;

    (void)state;
    assert_ok(IWI_READ_OPTS(NULL, "INIT", &given, &known));
    assert_int_equal(known.size, sizeof known);
    assert_int_equal(known.old, 10);
    assert_int_equal(known.new, 2);
}

static void no_options_are_the_defaults(void **state)
{
    struct opts known = defaults;

    (void)state;
    assert_ok(IWI_READ_OPTS(NULL, "INIT", NULL, &known));
    assert_memory_equal(&known, &defaults, sizeof known);
}

static void a_size_that_is_none_or_too_large_is_refused_with_what_to_do(void **state)
{
    struct opts given = {0, 10, 20}, known = defaults;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(IWI_READ_OPTS(&l.log, "IW_SOME_OPTS_INIT", &given, &known), IW_ERR_USAGE);
    iwt_assert_logged(&l, "options without a size: begin them with IW_SOME_OPTS_INIT");
    given.size = sizeof given + 8;
    iwt_log_init(&l);
    assert_status(IWI_READ_OPTS(&l.log, "IW_SOME_OPTS_INIT", &given, &known), IW_ERR_USAGE);
    iwt_assert_logged(&l, "a newer version");
    assert_memory_equal(&known, &defaults, sizeof known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fields_of_a_caller_that_knows_them_are_taken),
        cmocka_unit_test(fields_that_an_old_caller_does_not_know_keep_their_defaults),
        cmocka_unit_test(no_options_are_the_defaults),
        cmocka_unit_test(a_size_that_is_none_or_too_large_is_refused_with_what_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
