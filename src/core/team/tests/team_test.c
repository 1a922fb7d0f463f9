/* Members of one process: order and sizes of messages, taking, waiting, failing.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/team/mailbox.h"
#include "core/team/team.h"
#include "team_work.h"

/* Runs `work` as `threads` members. */
static iw_status run(const iw_log *log, uint32_t threads, iwi_member_work work, void *arg)
{
    struct iwi_team *team = NULL;
    iw_status status;

    assert_int_equal(iwi_team_new(log, NULL, threads, &team), IW_OK);
    assert_int_equal(iwi_team_size(team), threads);
    assert_int_equal(iwi_team_first(team), 0);
    status = iwi_team_run(team, log, work, arg);
    iwi_team_free(team);
    return status;
}

static void doze(long ns)
{
    const struct timespec a_while = {.tv_nsec = ns};

    (void)nanosleep(&a_while, NULL);
}

/* ---- who is who ---- */

static iw_status sign(struct iwi_member *member, void *arg)
{
    atomic_uint *seen = arg;

    atomic_fetch_add(&seen[member->number], 1);
    return member->count == 14 ? IW_OK : IW_ERR_FORMAT;
}

static void every_member_runs_once(void **state)
{
    atomic_uint seen[14] = {0};

    (void)state;
    assert_int_equal(run(NULL, 14, sign, seen), IW_OK);
    for (int m = 0; m < 14; m++) {
        assert_int_equal(atomic_load(&seen[m]), 1);
    }
}

/* ---- messages ---- */

enum { MESSAGES = 500 };

static void all_members_talk_to_all(void **state)
{
    (void)state;
    assert_int_equal(run(NULL, 1, iwt_talk_to_all, NULL), IW_OK);
    assert_int_equal(run(NULL, 2, iwt_talk_to_all, NULL), IW_OK);
    assert_int_equal(run(NULL, 14, iwt_talk_to_all, NULL), IW_OK);
}

/* Sends, or receives, many messages before it waits for any of them. */
static iw_status stay_in_order(struct iwi_member *member, void *arg)
{
    struct iwi_transfer transfers[MESSAGES];
    uint64_t values[MESSAGES];
    const uint32_t *first_to_come = arg;

    if (member->number != *first_to_come) {
        doze(2000000);
    }
    for (uint64_t i = 0; i < MESSAGES; i++) {
        values[i] = member->number == 0 ? i : 0;
        IW_TRY(member->number == 0 ? iwi_member_send(member, 1, &values[i], 8, &transfers[i])
                                   : iwi_member_receive(member, 0, &values[i], 8, &transfers[i]));
    }
    IW_TRY(iwi_member_wait(member, transfers, MESSAGES));
    for (uint64_t i = 0; i < MESSAGES; i++) {
        if (values[i] != i) {
            return IW_ERR_FORMAT;
        }
    }
    return IW_OK;
}

static void messages_arrive_in_the_order_of_sending(void **state)
{
    (void)state;
    for (uint32_t first_to_come = 0; first_to_come < 2; first_to_come++) {
        assert_int_equal(run(NULL, 2, stay_in_order, &first_to_come), IW_OK);
    }
}

static void messages_have_any_size(void **state)
{
    (void)state;
    assert_int_equal(run(NULL, 2, iwt_send_sizes, NULL), IW_OK);
    assert_int_equal(run(NULL, 5, iwt_send_sizes, NULL), IW_OK);
}

struct mismatch {
    uint32_t first_to_come;
    atomic_int status[2];
};

static iw_status expect_more(struct iwi_member *member, void *arg)
{
    struct mismatch *mismatch = arg;
    static const unsigned char data[8] = {0};
    unsigned char room[16];
    struct iwi_transfer transfer;
    iw_status status;

    if (member->number != mismatch->first_to_come) {
        doze(1000000);
    }
    status = member->number == 0 ? iwi_member_send(member, 1, data, 8, &transfer)
                                 : iwi_member_receive(member, 0, room, 16, &transfer);
    if (status == IW_OK) {
        status = iwi_member_wait(member, &transfer, 1);
    }
    atomic_store(&mismatch->status[member->number], (int)status);
    return status;
}

static void another_size_than_expected_is_refused_on_both_sides(void **state)
{
    (void)state;
    for (uint32_t first_to_come = 0; first_to_come < 2; first_to_come++) {
        struct mismatch mismatch = {.first_to_come = first_to_come};
        struct iwt_log log;

        iwt_log_init(&log);
        assert_int_equal(run(&log.log, 2, expect_more, &mismatch), IW_ERR_FORMAT);
        assert_int_equal(atomic_load(&mismatch.status[0]), IW_ERR_FORMAT);
        assert_int_equal(atomic_load(&mismatch.status[1]), IW_ERR_FORMAT);
        assert_string_equal(log.text, "error: member 0 sends 8 bytes where member 1 expects 16\n");
    }
}

static iw_status send_more_than_possible(struct iwi_member *member, void *arg)
{
    static const char data[1];
    struct iwi_transfer transfer;

    (void)arg;
    return iwi_member_send(member, member->number, data, IW_LINK_MOST_BYTES + 1, &transfer);
}

static void messages_that_are_too_long_are_refused(void **state)
{
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_int_equal(run(&log.log, 1, send_more_than_possible, NULL), IW_ERR_RANGE);
    iwt_assert_logged(&log, "a message of 1073741825 bytes is too long");
}

/* ---- taking ---- */

static void messages_of_any_size_are_taken_in_order(void **state)
{
    (void)state;
    assert_int_equal(run(NULL, 1, iwt_take_sizes, NULL), IW_OK);
    assert_int_equal(run(NULL, 2, iwt_take_sizes, NULL), IW_OK);
    assert_int_equal(run(NULL, 7, iwt_take_sizes, NULL), IW_OK);
}

static iw_status take_nothing(struct iwi_member *member, void *arg)
{
    struct iwi_bytes message = {.data = NULL};
    bool has = true;

    (void)arg;
    IW_TRY(iwi_member_take(member, 1 - member->number, false, &message, &has));
    return has || message.count != 0 ? IW_ERR_FORMAT : IW_OK;
}

static void nothing_is_taken_where_nothing_was_sent(void **state)
{
    (void)state;
    assert_int_equal(run(NULL, 2, take_nothing, NULL), IW_OK);
}

/* ---- all together ---- */

static void the_largest_value_of_all_members_is_found(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 9; threads++) {
        assert_int_equal(run(NULL, threads, iwt_find_largest, NULL), IW_OK);
    }
    assert_int_equal(run(NULL, 33, iwt_find_largest, NULL), IW_OK);
}

/* ---- failure ---- */

/* One member fails while the others wait for messages that never come, in each way there is. */
static iw_status wait_in_vain(struct iwi_member *member, void *arg)
{
    struct iwi_bytes message = {.data = NULL};
    struct iwi_transfer transfer;
    atomic_uint *surprises = arg;
    int64_t value = 1;
    bool has;

    switch (member->number) {
    case 0: IW_TRY(iwi_member_receive(member, 1, &value, 8, &transfer)); break;
    case 1: return iwi_member_take(member, 0, true, &message, &has);
    case 2: IW_TRY(iwi_member_send(member, 3, &value, 8, &transfer)); break;
    case 3: doze(5000000); return iwi_fail(member->log, IW_ERR_NOMEM, "no more");
    default: return iwi_member_max(member, &value, 1);
    }
    if (iwi_member_wait(member, &transfer, 1) != IW_ERR_NOMEM ||
        iwi_member_send(member, 1, &value, 8, &transfer) != IW_ERR_NOMEM ||
        iwi_member_receive(member, 1, &value, 8, &transfer) != IW_ERR_NOMEM ||
        iwi_member_take(member, 1, false, &message, &has) != IW_ERR_NOMEM) {
        atomic_fetch_add(surprises, 1);
    }
    return iwi_fail(member->log, IW_ERR_IO, "a later failure");
}

static void a_failure_wakes_all_and_is_told_once(void **state)
{
    struct iwt_log log;
    atomic_uint surprises = 0;

    (void)state;
    iwt_log_init(&log);
    assert_int_equal(run(&log.log, 7, wait_in_vain, &surprises), IW_ERR_NOMEM);
    assert_string_equal(log.text, "error: no more\n");
    assert_int_equal(atomic_load(&surprises), 0);
}

/* Members have messages under way in memory that goes away with the failure: nobody may touch it then (as
 * the address sanitizer sees). */
static iw_status fail_in_the_middle(struct iwi_member *member, void *arg)
{
    enum { BYTES = 1 << 16 };
    const uint32_t next = (member->number + 1) % member->count;
    const uint32_t last = (member->number + member->count - 1) % member->count;
    unsigned char *mine = malloc(BYTES), *theirs = malloc(BYTES);
    struct iwi_transfer transfers[2];
    iw_status status = IW_OK;

    (void)arg;
    memset(mine, 1, BYTES);
    for (int i = 0; status == IW_OK; i++) {
        status = iwi_member_send(member, next, mine, BYTES, &transfers[0]);
        if (status == IW_OK) {
            status = iwi_member_receive(member, last, theirs, BYTES, &transfers[1]);
        }
        if (status == IW_OK && member->number == 2 && i == 20) {
            status = IW_ERR_IO;
            iwi_team_fail(member->team, status);
        }
        if (status == IW_OK) {
            status = iwi_member_wait(member, transfers, 2);
        }
    }
    free(mine);
    free(theirs);
    return status;
}

static void memory_is_left_alone_after_a_failure(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(run(NULL, 5, fail_in_the_middle, NULL), IW_ERR_IO);
    }
}

/* ---- patience ---- */

static int64_t limit_after(struct iwi_patience *patience, int64_t waited_ns, int times)
{
    for (int i = 0; i < times; i++) {
        iwi_patience_learn(patience, waited_ns);
    }
    return iwi_patience_limit_ns(patience);
}

static void looking_lasts_about_twice_as_long_as_waits_do(void **state)
{
    struct iwi_patience patience;

    (void)state;
    iwi_patience_init(&patience, false);
    assert_in_range(limit_after(&patience, 200000, 100), 390000, 400000);
    assert_in_range(limit_after(&patience, 1000000, 100), 990000, 1000000); /* never longer than 1 ms */
    assert_int_equal(limit_after(&patience, 0, 200), 20000);                /* nor shorter than 20 us */
}

/* Whoever is away for milliseconds has lost its CPU: looking would not help, however often it happens. */
static void long_waits_make_nobody_look_longer(void **state)
{
    struct iwi_patience patience;

    (void)state;
    iwi_patience_init(&patience, false);
    assert_int_equal(limit_after(&patience, 3000000, 100), 20000);
    assert_in_range(limit_after(&patience, 100000, 100), 190000, 200000);
    iwi_patience_init(&patience, true);
    assert_int_equal(limit_after(&patience, 200000, 100), 1000); /* more members than CPUs */
}

static int64_t thread_cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Member 1 lets member 0 wait for 5 ms, ten times. */
static iw_status make_wait(struct iwi_member *member, void *arg)
{
    int64_t *waiting_ns = arg, value = 0;
    const int64_t begin_ns = thread_cpu_ns();

    for (int i = 0; i < 10; i++) {
        struct iwi_transfer transfer;

        if (member->number == 1) {
            doze(5000000);
            IW_TRY(iwi_member_send(member, 0, &value, sizeof value, &transfer));
        } else {
            IW_TRY(iwi_member_receive(member, 1, &value, sizeof value, &transfer));
        }
        IW_TRY(iwi_member_wait(member, &transfer, 1));
    }
    if (member->number == 0) {
        *waiting_ns = thread_cpu_ns() - begin_ns;
    }
    return IW_OK;
}

/* 50 ms of waiting; spinning for 1 ms each time would take 10 ms. The least of several: time that the host
 * takes may count as ours. */
static void who_waits_for_long_leaves_the_cpu_to_others(void **state)
{
    int64_t least_ns = INT64_MAX;

    (void)state;
    for (int i = 0; i < 20 && least_ns > 5000000; i++) {
        int64_t waiting_ns = 0;

        assert_int_equal(run(NULL, 2, make_wait, &waiting_ns), IW_OK);
        least_ns = waiting_ns < least_ns ? waiting_ns : least_ns;
    }
    assert_in_range(least_ns, 1, 5000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_runs_once),
        cmocka_unit_test(all_members_talk_to_all),
        cmocka_unit_test(messages_arrive_in_the_order_of_sending),
        cmocka_unit_test(messages_have_any_size),
        cmocka_unit_test(another_size_than_expected_is_refused_on_both_sides),
        cmocka_unit_test(messages_that_are_too_long_are_refused),
        cmocka_unit_test(messages_of_any_size_are_taken_in_order),
        cmocka_unit_test(nothing_is_taken_where_nothing_was_sent),
        cmocka_unit_test(the_largest_value_of_all_members_is_found),
        cmocka_unit_test(a_failure_wakes_all_and_is_told_once),
        cmocka_unit_test(memory_is_left_alone_after_a_failure),
        cmocka_unit_test(looking_lasts_about_twice_as_long_as_waits_do),
        cmocka_unit_test(long_waits_make_nobody_look_longer),
        cmocka_unit_test(who_waits_for_long_leaves_the_cpu_to_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
