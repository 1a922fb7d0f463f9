/* Profiles of PyTorch in which one kernel is several messages (batch_isend_irecv): each meets its other half.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/explain/arrivals/rerun.h"
#include "features/explain/kineto/kineto.h"
#include "support/made_kineto_parts.h"
#include "support/support.h"

enum { STEP_OFFSET = 10 };

static void read_texts(const struct iwi_kineto_text *texts, size_t count, struct iwi_visits *visits)
{
    struct iwt_log l;
    iw_status status;

    iwt_log_init(&l);
    iwi_visits_init(visits, &l.log, "Kineto");
    status = iwi_kineto_read_memory(&l.log, texts, count, visits);
    if (status != IW_OK) {
        print_message("%s", l.text);
    }
    assert_ok(status);
    visits->log = NULL;
}

static void read_run(const struct iwt_kineto_run *run, struct iwi_visits *visits)
{
    struct iwi_kineto_text *texts = calloc(run->ranks, sizeof *texts);

    for (uint32_t r = 0; r < run->ranks; r++) {
        texts[r].name = "f";
        texts[r].data = iwt_kineto_text(run, r, &texts[r].size);
    }
    read_texts(texts, run->ranks, visits);
    for (uint32_t r = 0; r < run->ranks; r++) {
        free((void *)texts[r].data);
    }
    free(texts);
}

/* The visit to a message from one rank to another that begins when an event does. */
static const struct iwi_visit *message_of(const struct iwi_visits *visits, const struct iwt_kineto_run *run,
                                          uint32_t rank, const struct iwt_kineto_event *event, uint32_t from,
                                          uint32_t to)
{
    const int64_t zero_ns = run->of[0].events[0].begin_ns;
    char name[32];

    (void)snprintf(name, sizeof name, "%u to %u of 3 (pipe)", from, to);
    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        if (visits->ranks[visit->rank].number == rank &&
            visit->enter_ps == (event->begin_ns - zero_ns) * 1000 &&
            strcmp(visits->groups[visit->group].name, name) == 0) {
            assert_int_equal(visit->leave_ps, (event->end_ns - zero_ns) * 1000);
            assert_int_equal(visit->bytes, event->elements * 4);
            assert_int_equal(visit->step, event->step + STEP_OFFSET);
            assert_int_equal(visits->ranks[visit->root].number, from);
            return visit;
        }
    }
    fail_msg("no %s on rank %u", name, rank);
    return NULL;
}

static void check_batches(const struct iwi_visits *visits, const struct iwt_kineto_run *run)
{
    size_t messages = 0, pairs = 0;

    for (uint32_t r = 0; r < run->ranks; r++) {
        for (size_t i = 0; i < run->of[r].count; i++) {
            const struct iwt_kineto_event *event = &run->of[r].events[i];
            const bool is_send = event->kind == IWT_SEND;

            if (is_send || event->kind == IWT_RECV) {
                (void)message_of(visits, run, r, event, is_send ? r : event->peer, is_send ? event->peer : r);
                messages++;
            }
            if (event->is_pair) {
                (void)message_of(visits, run, r, event, event->source, r);
                messages++;
                pairs++;
            }
        }
    }
    assert_true(pairs > 0);
    for (size_t i = 0; i < visits->visit_count; i++) {
        messages -= visits->visits[i].op == IWI_VISIT_MESSAGE;
    }
    assert_int_equal(messages, 0);
}

static void messages_in_one_kernel_are_matched(void **state)
{
    (void)state;
    for (int style = IWT_KINETO_NEW; style <= IWT_KINETO_OLD; style++) {
        struct iwt_kineto made = iwt_kineto_default();
        struct iwt_kineto_run run;
        struct iwi_visits visits;

        made.style = (enum iwt_kineto_style)style;
        made.is_batched = true;
        made.tp = 1;
        made.pp = 4;
        made.microbatches = 3;
        made.steps = 2;
        iwt_kineto_run(&made, &run);
        read_run(&run, &visits);
        check_batches(&visits, &run);
        assert_int_equal(visits.unmatched, 0);
        assert_null(strstr(visits.lacks, "no records"));
        iwi_visits_release(&visits);
        iwt_kineto_release(&run);
    }
}

#define HEAD "{\"distributedInfo\": {\"rank\": 0, \"world_size\": 3}, \"traceEvents\": ["
#define RECORD(ts, id, tid, name, key, peer, seq)                                                           \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts \
    ",\"dur\":1,\"args\":{\"External id\":" id ",\"Collective name\":\"" name                               \
    "\",\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1, 2]\",\"Group size\":3,\"" key         \
    "\":" peer ",\"Seq\":" seq "}},"
#define LAUNCHED(ts, tid, correlation)                                                               \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernelExC\",\"pid\":1,\"tid\":" tid \
    ",\"ts\":" ts ",\"dur\":1,\"args\":{\"correlation\":" correlation "}},"
#define SEND_RECV(ts, correlation)                                                                           \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv(x)\",\"pid\":0,\"tid\":9,\"ts\":" ts \
    ",\"dur\":5,\"args\":{\"stream\":9,\"correlation\":" correlation "}}"

/* Thread 7 records a message whose kernel was lost (number 4), then two of number 5, and launches the kernel
 * of these; thread 8 records another one meanwhile, whose kernel comes later. */
static void a_batch_has_the_records_of_its_thread_and_number(void **state)
{
    static const char file[] = HEAD RECORD("1", "11", "7", "send", "Dst Rank", "1", "4")
        RECORD("10", "12", "7", "send", "Dst Rank", "2", "5")
            RECORD("11", "14", "8", "recv", "Src Rank", "2", "9")
                RECORD("12", "13", "7", "recv", "Src Rank", "1", "5") LAUNCHED("14", "7", "21")
                    LAUNCHED("16", "8", "22") SEND_RECV("20", "21") "," SEND_RECV("30", "22") "]}";
    const struct iwi_kineto_text text = {"a.json", file, sizeof file - 1};
    struct iwi_visits visits;

    (void)state;
    read_texts(&text, 1, &visits);
    assert_int_equal(visits.visit_count, 3);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"0 to 2 of 0", "1 to 0 of 0", "2 to 0 of 0"};
        bool is_found = false;

        for (size_t v = 0; v < 3; v++) {
            const struct iwi_visit *visit = &visits.visits[v];

            is_found |= strcmp(visits.groups[visit->group].name, names[i]) == 0 &&
                        visit->leave_ps - visit->enter_ps == 5 * IW_PS_PER_US;
        }
        assert_true(is_found);
    }
    iwi_visits_release(&visits);
}

/* A collection of 40 ms on the third of four stages, which its neighbours wait for in kernels that also are
 * messages to others: without it the run is as much shorter as the model says. */
static void what_a_pause_costs_is_found_through_batches(void **state)
{
    const struct iwt_kineto_pause pause = {
        .rank = 2, .step = 1, .cause = IWT_KINETO_GC, .length_ns = 40000000};
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run, without;
    struct iwi_visits visits;
    struct iwi_rerun *rerun;
    const bool is_left_out = true;
    iw_time steps_ps[3], traced_ps[3];
    int64_t truth_ns, found_ns;

    (void)state;
    made.is_batched = true;
    made.tp = made.dp = 1;
    made.pp = 4;
    made.microbatches = 4;
    made.steps = 3;
    iwt_kineto_run(&made, &without);
    made.pauses = &pause;
    made.pause_count = 1;
    iwt_kineto_run(&made, &run);
    truth_ns = run.step_end_ns[1] - without.step_end_ns[1];
    read_run(&run, &visits);
    assert_int_equal(visits.pause_count, 1);
    assert_ok(iwi_rerun_new(&visits, &rerun));
    assert_ok(iwi_rerun_run(rerun, NULL, traced_ps));
    assert_ok(iwi_rerun_run(rerun, &is_left_out, steps_ps));
    found_ns = (traced_ps[1] - steps_ps[1]) / IW_PS_PER_NS;
    print_message("cost %lld us, truth %lld us\n", (long long)found_ns / 1000, (long long)truth_ns / 1000);
    assert_true(truth_ns > 25000000);
    assert_true(llabs((long long)(found_ns - truth_ns)) < 200000);
    iwi_rerun_free(rerun);
    iwi_visits_release(&visits);
    iwt_kineto_release(&run);
    iwt_kineto_release(&without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_in_one_kernel_are_matched),
        cmocka_unit_test(a_batch_has_the_records_of_its_thread_and_number),
        cmocka_unit_test(what_a_pause_costs_is_found_through_batches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
