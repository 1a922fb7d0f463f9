/* Operations behind requests: found by handle, in order, however many share one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include "mpi/trace/requests.h"

static void add(struct iwi_requests *requests, uint64_t handle, uint64_t number)
{
    struct iwi_op *op = iwi_requests_new(requests);

    assert_non_null(op);
    op->handle = handle;
    op->request = number;
    op->kind = IWI_OP_SEND;
    iwi_requests_add(requests, op);
}

static uint64_t take(struct iwi_requests *requests, uint64_t handle)
{
    struct iwi_op *op = iwi_requests_take(requests, handle);
    uint64_t number = op != NULL ? op->request : 0;

    if (op != NULL) {
        iwi_requests_drop(requests, op);
    }
    return number;
}

static void an_operation_is_found_by_its_handle_once(void **state)
{
    struct iwi_requests requests;

    (void)state;
    assert_true(iwi_requests_init(&requests, false));
    add(&requests, 100, 1);
    add(&requests, 200, 2);
    assert_int_equal(take(&requests, 200), 2);
    assert_int_equal(take(&requests, 200), 0);
    assert_int_equal(take(&requests, 100), 1);
    assert_int_equal(take(&requests, 300), 0);
    assert_int_equal(requests.op_count, 0);
    iwi_requests_release(&requests);
}

static void operations_of_one_handle_come_from_old_to_new(void **state)
{
    struct iwi_requests requests;

    (void)state;
    assert_true(iwi_requests_init(&requests, false));
    for (uint64_t i = 1; i <= 5; i++) {
        add(&requests, 7, i);
    }
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(take(&requests, 7), i);
    }
    iwi_requests_release(&requests);
}

static void what_is_put_back_is_the_oldest_again(void **state)
{
    struct iwi_requests requests;

    (void)state;
    assert_true(iwi_requests_init(&requests, true));
    for (uint64_t i = 1; i <= 3; i++) {
        add(&requests, 7, i);
    }
    struct iwi_op *first = iwi_requests_take(&requests, 7);
    struct iwi_op *second = iwi_requests_take(&requests, 7);
    iwi_requests_put_back(&requests, second);
    iwi_requests_put_back(&requests, first);
    add(&requests, 7, 4);
    for (uint64_t i = 1; i <= 4; i++) {
        assert_int_equal(take(&requests, 7), i);
    }
    iwi_requests_release(&requests);
}

static void the_last_of_a_chain_can_be_taken_and_others_added(void **state)
{
    struct iwi_requests requests;

    (void)state;
    assert_true(iwi_requests_init(&requests, false));
    struct iwi_op *only = NULL;
    add(&requests, 7, 1);
    only = iwi_requests_take(&requests, 7);
    add(&requests, 7, 2);
    iwi_requests_put_back(&requests, only);
    assert_int_equal(take(&requests, 7), 1);
    assert_int_equal(take(&requests, 7), 2);
    iwi_requests_release(&requests);
}

static void many_operations_are_all_found(void **state)
{
    enum { N = 20000 };
    struct iwi_requests requests;

    (void)state;
    assert_true(iwi_requests_init(&requests, false));
    for (uint64_t i = 1; i <= N; i++) {
        add(&requests, i * 64, i); /* as addresses are */
    }
    for (uint64_t i = N; i >= 1; i--) {
        assert_int_equal(take(&requests, i * 64), i);
    }
    iwi_requests_release(&requests);
}

/* MPICH gives all sends that are done at once the same handle. */
static void a_hundred_thousand_operations_of_one_handle_take_no_time(void **state)
{
    enum { N = 100000 };
    struct iwi_requests requests;

    (void)state;
    assert_true(iwi_requests_init(&requests, false));
    for (uint64_t i = 1; i <= N; i++) {
        add(&requests, 7, i);
    }
    for (uint64_t i = 1; i <= N; i++) {
        assert_int_equal(take(&requests, 7), i);
    }
    iwi_requests_release(&requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_is_found_by_its_handle_once),
        cmocka_unit_test(operations_of_one_handle_come_from_old_to_new),
        cmocka_unit_test(what_is_put_back_is_the_oldest_again),
        cmocka_unit_test(the_last_of_a_chain_can_be_taken_and_others_added),
        cmocka_unit_test(many_operations_are_all_found),
        cmocka_unit_test(a_hundred_thousand_operations_of_one_handle_take_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
