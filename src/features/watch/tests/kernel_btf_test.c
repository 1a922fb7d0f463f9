/* What kernels have, by descriptions of their types that are made here.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/kernel_side.h"

#include <bpf/btf.h>

#include "support/support.h"

/* As the kernel has it: a typedef of a pointer to a function, whose first parameter is a pointer. */
static void add_tracepoint(struct btf *kernel, const char *typedef_name, int parameters)
{
    const int function = btf__add_func_proto(kernel, 0);

    assert_true(function > 0);
    for (int i = 0; i < 1 + parameters; i++) {
        assert_int_equal(btf__add_func_param(kernel, "p", 0), 0);
    }
    assert_true(btf__add_typedef(kernel, typedef_name, btf__add_ptr(kernel, function)) > 0);
}

static int begin(void **state)
{
    struct btf *kernel = btf__new_empty();

    assert_non_null(kernel);
    add_tracepoint(kernel, "btf_trace_sched_switch", 4);
    add_tracepoint(kernel, "btf_trace_local_timer_entry", 1);
    assert_true(btf__add_typedef(kernel, "btf_trace_no_function", btf__add_int(kernel, "int", 4, 0)) > 0);
    *state = kernel;
    return 0;
}

static int end(void **state)
{
    btf__free(*state);
    return 0;
}

static void parameters_are_counted_without_the_first(void **state)
{
    assert_int_equal(iwi_btf_parameters(*state, "sched_switch"), 4);
    assert_int_equal(iwi_btf_parameters(*state, "local_timer_entry"), 1);
}

static void a_tracepoint_that_is_not_there_has_none(void **state)
{
    assert_int_equal(iwi_btf_parameters(*state, "sched"), -1);
    assert_int_equal(iwi_btf_parameters(*state, "no_function"), -1);
}

static void controllers_have_the_numbers_of_the_kernel(void **state)
{
    assert_int_equal(iwi_btf_controller(*state, "cpu"), -1); /* built without any */
    assert_true(btf__add_enum(*state, "cgroup_subsys_id", 4) > 0);
    assert_int_equal(btf__add_enum_value(*state, "cpuset_cgrp_id", 0), 0);
    assert_int_equal(btf__add_enum_value(*state, "cpu_cgrp_id", 1), 0);
    assert_int_equal(iwi_btf_controller(*state, "cpuset"), 0);
    assert_int_equal(iwi_btf_controller(*state, "cpu"), 1);
    assert_int_equal(iwi_btf_controller(*state, "memory"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parameters_are_counted_without_the_first, begin, end),
        cmocka_unit_test_setup_teardown(a_tracepoint_that_is_not_there_has_none, begin, end),
        cmocka_unit_test_setup_teardown(controllers_have_the_numbers_of_the_kernel, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
