/* Plans handed to another process: the same arrives, and nothing but a whole plan is accepted.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/inject_plan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "support/support.h"

enum { EVENTS = 3 };

static struct iwt_log l;
static const int64_t start_ns[EVENTS] = {1000, 200000, 900000}, duration_ns[EVENTS] = {20000, 30000, 40000};

static int begin(void **state)
{
    (void)state;
    iwt_log_init(&l);
    return 0;
}

static iw_inject_plan *small_plan(void)
{
    const iw_inject_opts opts = {.sync = IW_SYNC_PHASE,
                                 .skew_ns = 77,
                                 .time_scale = 2,
                                 .most_share = 0.25,
                                 .is_uncompensated = true,
                                 .seed = 5,
                                 .node = 6};
    const iw_inject_costs costs = {.overhead_ns = 8000, .floor_ns = 10000};
    const iw_inject_facts facts = {
        .event_count = 9, .made_count = EVENTS, .made_ns = 9e4, .length_ns = 1000000};
    iw_inject_plan *plan;

    assert_ok(iwi_plan_new(&l.log, &opts, &costs, &facts, start_ns, duration_ns, EVENTS, &plan));
    return plan;
}

/* A file with these bytes, sealed as a plan's is. */
static int sealed(const void *bytes, size_t size)
{
    const int fd = memfd_create("test", MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
    return fd;
}

static void assert_refused(const void *bytes, size_t size)
{
    const int fd = sealed(bytes, size);
    iw_inject_plan *plan = NULL;
    const iw_status status = iwi_plan_map(&l.log, fd, &plan);

    assert_true(status == IW_ERR_FORMAT || status == IW_ERR_TRUNCATED);
    assert_null(plan);
    assert_true(l.errors > 0);
    iwt_log_init(&l);
    (void)close(fd);
}

static void a_shared_plan_arrives_as_it_was(void **state)
{
    iw_inject_plan *plan = small_plan(), *mapped = NULL;
    int fd = -1;

    (void)state;
    assert_ok(iw_inject_plan_share(&l.log, plan, &fd));
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0); /* stays open across exec */
    assert_ok(iwi_plan_map(&l.log, fd, &mapped));
    (void)close(fd);
    assert_int_equal(mapped->count, EVENTS);
    assert_memory_equal(mapped->start_ns, start_ns, sizeof start_ns);
    assert_memory_equal(mapped->duration_ns, duration_ns, sizeof duration_ns);
    assert_int_equal(mapped->opts.sync, IW_SYNC_PHASE);
    assert_int_equal(mapped->opts.skew_ns, 77);
    assert_true(mapped->opts.time_scale == 2 && mapped->opts.most_share == 0.25);
    assert_true(mapped->opts.is_uncompensated);
    assert_int_equal(mapped->opts.seed, 5);
    assert_int_equal(mapped->opts.node, 6);
    assert_true(mapped->costs.floor_ns == 10000);
    assert_int_equal(iw_inject_plan_facts(mapped)->event_count, 9);
    iw_inject_plan_free(mapped);
    iw_inject_plan_free(plan);
}

static void nobody_can_change_a_shared_plan(void **state)
{
    iw_inject_plan *plan = small_plan();
    int fd = -1;

    (void)state;
    assert_ok(iw_inject_plan_share(&l.log, plan, &fd));
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    (void)close(fd);
    iw_inject_plan_free(plan);
}

static void plans_cut_anywhere_are_refused(void **state)
{
    iw_inject_plan *plan = small_plan();

    (void)state;
    for (size_t size = 0; size < plan->block_bytes; size++) {
        assert_refused(plan->block, size);
    }
    iw_inject_plan_free(plan);
}

static void plans_with_any_byte_changed_are_refused(void **state)
{
    iw_inject_plan *plan = small_plan();
    unsigned char *bytes = malloc(plan->block_bytes + 16);

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < plan->block_bytes; i++) {
        memcpy(bytes, plan->block, plan->block_bytes);
        bytes[i] ^= 0x81;
        assert_refused(bytes, plan->block_bytes);
    }
    memcpy(bytes, plan->block, plan->block_bytes);
    memset(bytes + plan->block_bytes, 0, 16);
    assert_refused(bytes, plan->block_bytes + 16); /* longer than it says */
    free(bytes);
    iw_inject_plan_free(plan);
}

/* With a digest that fits, each field must be checked for itself. */
static void assert_head_refused(const iw_inject_plan *plan, size_t at, const void *value, size_t size)
{
    unsigned char *bytes = malloc(plan->block_bytes);
    struct iwi_plan_head *head = (struct iwi_plan_head *)bytes;
    struct iwi_hash digest;

    assert_non_null(bytes);
    memcpy(bytes, plan->block, plan->block_bytes);
    memcpy(bytes + at, value, size);
    head->digest = 0;
    iwi_hash_init(&digest, iwi_hash_key);
    iwi_hash_add(&digest, bytes, plan->block_bytes);
    head->digest = iwi_hash_value(&digest);
    assert_refused(bytes, plan->block_bytes);
    free(bytes);
}

#define REFUSED(plan, field, type, bad)                                                       \
    do {                                                                                      \
        const type bad_ = (bad);                                                              \
        assert_head_refused(plan, offsetof(struct iwi_plan_head, field), &bad_, sizeof bad_); \
    } while (0)

static void plans_with_impossible_values_are_refused(void **state)
{
    iw_inject_plan *plan = small_plan();
    const size_t events = sizeof(struct iwi_plan_head);
    const int64_t out_of_order = 10000, too_long = IW_INJECT_MOST_NS + 1, negative = -1, late = 1000000;

    (void)state;
    REFUSED(plan, version, uint32_t, IWI_PLAN_VERSION + 1);
    REFUSED(plan, event_count, uint64_t, EVENTS + 1);
    REFUSED(plan, event_count, uint64_t, UINT64_C(1) << 60);
    REFUSED(plan, block_bytes, uint64_t, UINT64_MAX);
    REFUSED(plan, sync, uint32_t, 3);
    REFUSED(plan, is_uncompensated, uint32_t, 2);
    REFUSED(plan, skew_ns, int64_t, -1);
    REFUSED(plan, time_scale, double, 0);
    REFUSED(plan, most_share, double, -1);
    REFUSED(plan, costs.overhead_ns, double, -1);
    REFUSED(plan, facts.length_ns, int64_t, 0);
    REFUSED(plan, facts.length_ns, int64_t, INT64_MAX);
    REFUSED(plan, facts.made_count, uint64_t, 1);
    assert_head_refused(plan, events + sizeof(int64_t), &out_of_order, sizeof(int64_t));
    assert_head_refused(plan, events, &negative, sizeof(int64_t));
    assert_head_refused(plan, events + 2 * sizeof(int64_t), &late, sizeof(int64_t));
    assert_head_refused(plan, events + (EVENTS + 2) * sizeof(int64_t), &too_long, sizeof(int64_t));
    assert_head_refused(plan, events + (EVENTS + 2) * sizeof(int64_t), &negative, sizeof(int64_t));
    iw_inject_plan_free(plan);
}

static void files_that_can_change_are_refused(void **state)
{
    iw_inject_plan *plan = small_plan(), *mapped = NULL;
    const int fd = memfd_create("test", MFD_ALLOW_SEALING);

    (void)state;
    assert_int_equal(write(fd, plan->block, plan->block_bytes), (ssize_t)plan->block_bytes);
    assert_status(iwi_plan_map(&l.log, fd, &mapped), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "not a sealed file");
    (void)close(fd);
    assert_status(iwi_plan_map(&l.log, fd, &mapped), IW_ERR_IO);
    assert_status(iwi_plan_map(&l.log, STDIN_FILENO, &mapped), IW_ERR_FORMAT);
    iw_inject_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_shared_plan_arrives_as_it_was, begin),
        cmocka_unit_test_setup(nobody_can_change_a_shared_plan, begin),
        cmocka_unit_test_setup(plans_cut_anywhere_are_refused, begin),
        cmocka_unit_test_setup(plans_with_any_byte_changed_are_refused, begin),
        cmocka_unit_test_setup(plans_with_impossible_values_are_refused, begin),
        cmocka_unit_test_setup(files_that_can_change_are_refused, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
