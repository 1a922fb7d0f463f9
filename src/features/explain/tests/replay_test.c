/* Replays of random runs: with nothing removed they are the run, and removing never delays anybody.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/blame/run.h"
#include "made_run.h"

enum { RANKS = 4, STEPS = 60, RUNS = 40 };

static uint64_t dice;

static int64_t draw(int64_t below)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((dice >> 33) % (uint64_t)below);
}

/* Ranks compute, lose some of it, then meet in an allreduce or pass messages around a ring. */
static void make_run(struct made_run *made)
{
    int64_t now[RANKS] = {0};

    made_run_begin(made, RANKS);
    for (int step = 0; step < STEPS; step++) {
        const bool is_ring = draw(2) == 0;
        int64_t enter[RANKS], latest = 0;

        for (uint32_t r = 0; r < RANKS; r++) {
            const int64_t lost = draw(3) == 0 ? 1 + draw(40) : 0;

            enter[r] = now[r] + 10 + draw(90) + lost;
            latest = enter[r] > latest ? enter[r] : latest;
            if (lost > 0) {
                made_detour(made, r, draw(2) == 0 ? "a" : "b", now[r] + 2, lost);
            }
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            const uint32_t before = (r + RANKS - 1) % RANKS;

            if (is_ring) {
                const int64_t sent = enter[r] + 2, ready = enter[before] > sent ? enter[before] : sent;

                made_message(made, r, IWI_CALL_SEND, (r + 1) % RANKS, enter[r], sent);
                now[r] = ready + 1 + draw(5);
                made_message(made, r, IWI_CALL_RECV, before, sent, now[r]);
            } else {
                now[r] = latest + 3 + draw(4);
                made_allreduce(made, r, enter[r], now[r]);
            }
        }
    }
}

static void read_run(const struct made_run *made, struct iwi_blamed_run *run)
{
    const iw_recording *kernel = made->kernel;

    *run = (struct iwi_blamed_run){.trace = made->trace};
    assert_ok(iwi_run_read_calls(run));
    assert_ok(iwi_run_link(run));
    assert_ok(iwi_run_read_losses(run, &kernel, 1));
}

static void with_nothing_removed_it_is_the_run(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        struct made_run made;
        struct iwi_blamed_run run;
        bool is_removed[8] = {false};
        int64_t end_ns, without_one_ns, without_ns;

        dice = (uint64_t)i;
        make_run(&made);
        read_run(&made, &run);
        assert_int_equal(run.unordered, 0);
        assert_ok(iwi_run_replay(&run, is_removed, &end_ns));
        assert_int_equal(end_ns, run.end_ns);
        is_removed[1] = true;
        assert_ok(iwi_run_replay(&run, is_removed, &without_one_ns));
        assert_true(without_one_ns <= end_ns);
        is_removed[0] = is_removed[2] = true;
        assert_ok(iwi_run_replay(&run, is_removed, &without_ns));
        assert_true(without_ns <= without_one_ns && without_ns < end_ns);
        iwi_run_release(&run);
        made_run_end(&made);
    }
}

/* ---- large messages ---- */

static void made_large(struct made_run *made, uint32_t rank, enum iwi_call_kind kind, int64_t enter,
                       int64_t leave)
{
    struct iwi_call *call = made_call(made, rank, kind, enter, leave);

    call->peer = 1 - rank;
    call->bytes = 8192;
    call->request = 0;
}

static void made_wait(struct made_run *made, uint32_t rank, int64_t enter, int64_t leave)
{
    struct iwi_call *call = made_call(made, rank, IWI_CALL_WAIT, enter, leave);

    call->request = 0;
    call->request_count = 1;
    if (made->trace->ranks[rank].completed == NULL) {
        made->trace->ranks[rank].completed = calloc(1, sizeof(uint32_t));
        made->trace->ranks[rank].completed_count = 1;
        made->trace->ranks[rank].request_count = 1;
    }
}

/* In us. Rank 1 posts a receive at 0 and computes from 1 to 100, of which the daemon has 30; it waits from
 * 100 on. Rank 0 sends 8 KiB at 20, and gets on when rank 1 is in MPI again: at 105. Without the daemon rank
 * 1 is there at 70, and rank 0 goes on at 75. */
static void a_large_message_waits_for_a_receiver_that_computes(void **state)
{
    const bool is_removed[8] = {true, true};
    struct made_run made;
    struct iwi_blamed_run run;
    int64_t end_ns;

    (void)state;
    made_run_begin(&made, 2);
    made_large(&made, 1, IWI_CALL_IRECV, 0, 1);
    made_wait(&made, 1, 100, 106);
    made_detour(&made, 1, "daemon", 40, 30);
    made_large(&made, 0, IWI_CALL_SEND, 20, 105);
    read_run(&made, &run);
    assert_ok(iwi_run_replay(&run, is_removed, &end_ns));
    assert_int_equal(run.end_ns - end_ns, 30000);
    iwi_run_release(&run);
    made_run_end(&made);
}

/* Sends take 10 us each, but the second takes 50, from 40 on: its receiver polls all the time, and the daemon
 * has its CPU from 52 to 92. 38 us of that are in the send. */
static void a_large_message_waits_for_a_receiver_without_a_cpu(void **state)
{
    static const int64_t starts[] = {20, 40, 100, 130}, ends[] = {30, 90, 110, 140};
    const bool is_removed[8] = {true, true};
    struct made_run made;
    struct iwi_blamed_run run;
    int64_t end_ns;

    (void)state;
    made_run_begin(&made, 2);
    made_large(&made, 1, IWI_CALL_IRECV, 0, 1);
    made_wait(&made, 1, 1, 92);
    made_detour(&made, 1, "daemon", 52, 40);
    for (int64_t i = 0; i < 4; i++) {
        made_large(&made, 0, IWI_CALL_SEND, starts[i], ends[i]);
        made.trace->ranks[0].calls[i].tag = i == 1 ? 0 : 7; /* others than the second are not received */
    }
    read_run(&made, &run);
    assert_int_equal(run.helper_count, 2); /* of the second send, and of the wait */
    assert_ok(iwi_run_replay(&run, is_removed, &end_ns));
    assert_int_equal(run.end_ns - end_ns, 38000);
    iwi_run_release(&run);
    made_run_end(&made);
}

struct sum {
    int64_t ns, last_ns;
};

static iw_status add_stretch(void *arg, const struct iwi_run_stretch *stretch)
{
    struct sum *sum = arg;

    assert_int_equal(stretch->to_ns, sum->last_ns); /* each begins where the next ends */
    sum->last_ns = stretch->from_ns;
    sum->ns += stretch->to_ns - stretch->from_ns;
    return IW_OK;
}

static void the_path_is_as_long_as_the_run(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        struct made_run made;
        struct iwi_blamed_run run;
        struct sum sum = {0};

        dice = 1000 + (uint64_t)i;
        make_run(&made);
        read_run(&made, &run);
        sum.last_ns = run.end_ns;
        assert_ok(iwi_run_walk(&run, add_stretch, &sum));
        assert_int_equal(sum.ns, run.end_ns - run.zero_ns);
        iwi_run_release(&run);
        made_run_end(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_nothing_removed_it_is_the_run),
        cmocka_unit_test(a_large_message_waits_for_a_receiver_that_computes),
        cmocka_unit_test(a_large_message_waits_for_a_receiver_without_a_cpu),
        cmocka_unit_test(the_path_is_as_long_as_the_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
