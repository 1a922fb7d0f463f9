/* Options of simulations and patterns by callers that know fewer fields, or none.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "support/support.h"

/* In memory of just their size: reading more shows under the address sanitizer. */
static void *first_bytes(const void *opts, size_t size)
{
    void *cut = malloc(size);

    assert_non_null(cut);
    memcpy(cut, opts, size);
    memcpy(cut, &size, sizeof size);
    return cut;
}

static void an_old_caller_gets_defaults_for_what_it_does_not_know(void **state)
{
    const iw_net net = iwt_example_net();
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program = NULL;
    iw_sim_result *result = NULL;
    void *old_pattern, *old_opts;

    (void)state;
    pattern.ranks = 5;
    opts.trials = 3;
    old_pattern = first_bytes(&pattern, offsetof(iw_pattern, bytes));
    old_opts = first_bytes(&opts, offsetof(iw_sim_opts, first_trial));
    assert_ok(iw_program_from_pattern(NULL, "barrier", old_pattern, &program));
    assert_ok(iw_simulate(NULL, program, &net, NULL, old_opts, &result));
    assert_int_equal(result->ranks, 5);
    assert_int_equal(result->trials, 3);
    iw_sim_result_free(result);
    iw_program_free(program);
    free(old_pattern);
    free(old_opts);
}

static void what_has_no_size_is_refused(void **state)
{
    const iw_net net = iwt_example_net();
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = {.trials = 1};
    iw_program *program = NULL;
    iw_sim_result *result = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iw_program_from_pattern(NULL, "barrier", NULL, &program)); /* all defaults */
    assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_USAGE);
    iwt_assert_logged(&l, "begin them with IW_SIM_OPTS_INIT");
    iw_program_free(program);
    pattern.size = 0;
    assert_status(iw_program_from_pattern(&l.log, "barrier", &pattern, &program), IW_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_caller_gets_defaults_for_what_it_does_not_know),
        cmocka_unit_test(what_has_no_size_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
