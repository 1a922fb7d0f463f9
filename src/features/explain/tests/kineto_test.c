/* Profiles of PyTorch: what is read of made runs is what was made, in all styles; what files lack is said.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/explain/kineto/kineto.h"
#include "support/made_kineto_parts.h"
#include "support/support.h"

enum { STEP_OFFSET = 10 };

/* Reads the first `count` ranks of a run. */
static iw_status read_run(struct iwt_log *l, const struct iwt_kineto_run *run, uint32_t count,
                          struct iwi_visits *visits)
{
    struct iwi_kineto_text *texts = calloc(count, sizeof *texts);
    char(*names)[32] = calloc(count, sizeof *names);
    iw_status status;

    for (uint32_t r = 0; r < count; r++) {
        size_t size;

        (void)snprintf(names[r], sizeof names[r], "rank%u.json", r);
        texts[r].name = names[r];
        texts[r].data = iwt_kineto_text(run, r, &size);
        texts[r].size = size;
    }
    iwt_log_init(l);
    iwi_visits_init(visits, &l->log, "Kineto");
    status = iwi_kineto_read_memory(&l->log, texts, count, visits);
    for (uint32_t r = 0; r < count; r++) {
        free((void *)texts[r].data);
    }
    free(texts);
    free(names);
    return status;
}

static void read_made(const struct iwt_kineto *made, uint32_t count, struct iwt_kineto_run *run,
                      struct iwi_visits *visits)
{
    struct iwt_log l;
    iw_status status;

    iwt_kineto_run(made, run);
    status = read_run(&l, run, count, visits);
    if (status != IW_OK) {
        print_message("%s", l.text);
    }
    assert_ok(status);
}

static void release(struct iwt_kineto_run *run, struct iwi_visits *visits)
{
    iwi_visits_release(visits);
    iwt_kineto_release(run);
}

/* The visit of a rank that begins when an event does. */
static const struct iwi_visit *visit_of(const struct iwi_visits *visits, const struct iwt_kineto_run *run,
                                        uint32_t rank, const struct iwt_kineto_event *event)
{
    const int64_t zero_ns = run->of[0].events[0].begin_ns;

    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        if (visits->ranks[visit->rank].number == rank &&
            visit->enter_ps == (event->begin_ns - zero_ns) * 1000 &&
            visit->leave_ps == (event->end_ns - zero_ns) * 1000) {
            return visit;
        }
    }
    return NULL;
}

static void check_event(const struct iwi_visits *visits, const struct iwt_kineto_run *run, uint32_t rank,
                        const struct iwt_kineto_event *event)
{
    const struct iwi_visit *visit = visit_of(visits, run, rank, event);
    const struct iwi_visit_group *group;
    uint32_t members[128];

    assert_non_null(visit);
    group = &visits->groups[visit->group];
    assert_int_equal(visit->bytes, event->elements * 4);
    assert_int_equal(visit->step, event->step + STEP_OFFSET);
    assert_int_equal(visit->queued_ps, (event->begin_ns - event->launch_end_ns) * 1000);
    assert_true(visit->ready_ps >= 1 || event->kind == IWT_RECV); /* nothing was computed before */
    if (event->kind == IWT_ALLREDUCE) {
        assert_int_equal(visit->op, IWI_VISIT_ALLREDUCE);
        assert_int_equal(group->size, iwt_kineto_members(&run->made, event->group, rank, members));
        assert_int_equal(group->count, group->size);
    } else {
        assert_int_equal(visit->op, IWI_VISIT_MESSAGE);
        assert_int_equal(group->size, 2);
        assert_true(visit->has_root);
        assert_int_equal(visits->ranks[visit->root].number, event->kind == IWT_SEND ? rank : event->peer);
    }
}

/* Everything that was made was read, and each met all of its group. */
static void check_all(const struct iwi_visits *visits, const struct iwt_kineto_run *run)
{
    size_t count = 0;

    for (uint32_t r = 0; r < run->ranks; r++) {
        for (size_t i = 0; i < run->of[r].count; i++) {
            const struct iwt_kineto_event *event = &run->of[r].events[i];

            if (event->kind == IWT_ALLREDUCE || event->kind == IWT_SEND || event->kind == IWT_RECV) {
                check_event(visits, run, r, event);
                count++;
            }
        }
    }
    assert_int_equal(visits->visit_count, count);
    assert_int_equal(visits->unmatched, 0);
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];

        assert_int_equal(encounter->count, visits->groups[visits->visits[encounter->first].group].count);
    }
}

static void all_styles_tell_the_same(void **state)
{
    (void)state;
    for (int style = IWT_KINETO_NEW; style <= IWT_KINETO_OLD; style++) {
        struct iwt_kineto made = iwt_kineto_default();
        struct iwt_kineto_run run;
        struct iwi_visits visits;

        made.style = (enum iwt_kineto_style)style;
        made.is_info_last = style == IWT_KINETO_MID;
        made.padding = 3;
        read_made(&made, 8, &run, &visits);
        check_all(&visits, &run);
        assert_int_equal(visits.step_count, 8 * made.steps);
        assert_int_equal(visits.ranks[0].stage, 0);
        assert_int_equal(visits.ranks[7].stage, 1);
        if (style == IWT_KINETO_NEW) {
            assert_string_equal(visits.lacks, "");
        } else {
            assert_non_null(strstr(visits.lacks, "Collectives have no numbers"));
        }
        release(&run, &visits);
    }
}

static void names_alone_are_enough_where_all_ranks_meet(void **state)
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits visits;

    (void)state;
    made.tp = made.pp = 1;
    made.dp = 4;
    made.style = IWT_KINETO_BARE;
    read_made(&made, 4, &run, &visits);
    assert_int_equal(visits.group_count, 1);
    assert_string_equal(visits.groups[0].name, "stream 28");
    assert_int_equal(visits.groups[0].count, 4);
    assert_int_equal(visits.encounter_count, made.steps * (made.layers + 1));
    assert_int_equal(visits.unmatched, 0);
    assert_non_null(strstr(visits.lacks, "NCCL kernels have no arguments"));
    release(&run, &visits);
}

static void long_groups_are_completed(void **state)
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits visits;

    (void)state;
    made.tp = 2;
    made.dp = 40; /* PyTorch writes 30 ranks of a group at most */
    made.pp = 1;
    made.steps = 1;
    made.layers = 1;
    read_made(&made, 80, &run, &visits);
    check_all(&visits, &run);
    release(&run, &visits);
}

static void what_a_file_lacks_is_said(void **state)
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits visits;

    (void)state;
    made.is_without_steps = made.is_without_launches = made.is_without_info = true;
    read_made(&made, 1, &run, &visits);
    assert_non_null(strstr(visits.lacks, "Only one rank"));
    assert_non_null(strstr(visits.lacks, "There are no steps"));
    assert_non_null(strstr(visits.lacks, "There are no launches"));
    assert_int_equal(visits.rank_count, 1);
    assert_int_equal(visits.visits[0].step, IWI_VISIT_NO_STEP);
    assert_int_equal(visits.visits[0].queued_ps, 0);
    release(&run, &visits);
}

/* ---- pauses ---- */

static const struct iwi_pause *pause_of(const struct iwi_visits *visits, uint8_t cause, uint32_t rank,
                                        uint32_t step)
{
    for (size_t i = 0; i < visits->pause_count; i++) {
        const struct iwi_pause *pause = &visits->pauses[i];

        if (pause->cause == cause && visits->ranks[pause->rank].number == rank &&
            pause->step == step + STEP_OFFSET) {
            return pause;
        }
    }
    return NULL;
}

static void check_pause(const struct iwi_visits *visits, uint8_t cause, uint32_t rank, uint32_t step,
                        int64_t least_us, int64_t most_us)
{
    const struct iwi_pause *pause = pause_of(visits, cause, rank, step);

    assert_non_null(pause);
    assert_in_range((pause->end_ps - pause->begin_ps) / IW_PS_PER_US, least_us, most_us);
    assert_int_equal(pause->is_on_host, cause != IWI_PAUSE_SLOW && cause != IWI_PAUSE_LAUNCH);
}

/* Late launches: 8 or 9 kernels of 200 us are in the queue when the host stops, at 6 us each. */
static void pauses_are_found_and_named(void **state)
{
    const struct iwt_kineto_pause pauses[] = {{3, 1, IWT_KINETO_GC, 50000000},
                                              {5, 2, IWT_KINETO_SLOW, 3000000},
                                              {0, 2, IWT_KINETO_LAUNCH, 8000000},
                                              {1, 0, IWT_KINETO_LOADER, 10000000},
                                              {6, 3, IWT_KINETO_MALLOC, 700000}};

    (void)state;
    for (int style = IWT_KINETO_NEW; style <= IWT_KINETO_OLD; style++) {
        struct iwt_kineto made = iwt_kineto_default();
        struct iwt_kineto_run run;
        struct iwi_visits visits;

        made.style = (enum iwt_kineto_style)style;
        made.pauses = pauses;
        made.pause_count = sizeof pauses / sizeof pauses[0];
        read_made(&made, 8, &run, &visits);
        check_pause(&visits, IWI_PAUSE_GC, 3, 1, 50000, 50000);
        check_pause(&visits, IWI_PAUSE_SLOW, 5, 2, 2990, 3010);
        check_pause(&visits, IWI_PAUSE_LAUNCH, 0, 2, 5000, 8000);
        check_pause(&visits, IWI_PAUSE_LOADER, 1, 0, 10000, 10000);
        check_pause(&visits, IWI_PAUSE_MEMORY, 6, 3, 700, 700);
        assert_int_equal(visits.pause_count, 5);
        release(&run, &visits);
    }
}

static void a_run_without_pauses_has_none(void **state)
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits visits;

    (void)state;
    made.jitter = 0.1;
    made.steps = 6;
    read_made(&made, 8, &run, &visits);
    assert_int_equal(visits.pause_count, 0);
    assert_int_equal(visits.host_wait_count, 8 * made.steps);
    release(&run, &visits);
}

/* ---- clocks ---- */

/* How long a rank waited in a collective, by the truth; -1: not there. */
static int64_t true_wait_ns(const struct iwt_kineto_run *run, uint32_t rank,
                            const struct iwt_kineto_event *event)
{
    uint32_t members[128];
    const uint32_t count = iwt_kineto_members(&run->made, event->group, rank, members);
    int64_t last_ns = event->begin_ns;

    for (uint32_t i = 0; i < count; i++) {
        const struct iwt_kineto_rank *of = &run->of[members[i]];

        for (size_t k = 0; k < of->count; k++) {
            const struct iwt_kineto_event *other = &of->events[k];

            if (other->kind == IWT_ALLREDUCE && other->group == event->group &&
                other->sequence == event->sequence) {
                last_ns = other->begin_ns > last_ns ? other->begin_ns : last_ns;
            }
        }
    }
    return last_ns - event->begin_ns;
}

/* Each rank's waits, in their order by group and number, are the true ones within twice the stated error, and
 * what the clock of the first rank itself is wrong by. */
static void check_waits(const struct iwi_visits *visits, const struct iwt_kineto_run *run, uint32_t rank)
{
    const double error_ns = 2 * (double)visits->clock_error_ps / IW_PS_PER_NS + 2;

    for (size_t i = 0; i < run->of[rank].count; i++) {
        const struct iwt_kineto_event *event = &run->of[rank].events[i];
        bool is_found = false;

        if (event->kind != IWT_ALLREDUCE) {
            continue;
        }
        for (size_t e = 0; e < visits->encounter_count && !is_found; e++) {
            const struct iwi_encounter *encounter = &visits->encounters[e];

            for (uint64_t k = encounter->first; k < encounter->first + encounter->count && !is_found; k++) {
                const struct iwi_visit *visit = &visits->visits[k];
                const char *name = visits->groups[visit->group].name;
                const bool is_it = visit->rank == rank && visit->op == IWI_VISIT_ALLREDUCE &&
                                   visit->sequence == event->sequence + 100 &&
                                   name[0] == '0' + (int)event->group;
                const int64_t wait_ns =
                    (iwi_encounter_start_ps(visits, encounter) - visit->enter_ps) / IW_PS_PER_NS;

                is_found = is_it;
                assert_true(!is_it || fabs((double)(wait_ns - true_wait_ns(run, rank, event))) <=
                                          error_ns + (double)wait_ns * 1e-6 * run->made.drift_ppm);
            }
        }
        assert_true(is_found);
    }
}

static void waits_are_right_whatever_clocks_show(void **state)
{
    const struct iwt_kineto_pause pauses[] = {{3, 1, IWT_KINETO_GC, 20000000},
                                              {6, 2, IWT_KINETO_SLOW, 4000000}};

    (void)state;
    for (int round = 0; round < 2; round++) {
        struct iwt_kineto made = iwt_kineto_default();
        struct iwt_kineto_run run;
        struct iwi_visits visits;

        made.clock_us = 800;
        made.drift_ppm = round == 0 ? 0 : 100;
        made.pauses = pauses;
        made.pause_count = 2;
        read_made(&made, 8, &run, &visits);
        assert_ok(iwi_visits_align(&visits));
        assert_int_equal(visits.clock_sets, 1);
        assert_true(visits.clock_error_ps < IW_PS_PER_US);
        for (uint32_t r = 0; r < 8; r++) {
            const double offset_ns = (double)(run.clock_ns[r] - run.clock_ns[0]) +
                                     (run.drift[r] - run.drift[0]) * (double)run.step_end_ns[3] / 2;

            assert_true(llabs((long long)(-visits.ranks[r].clock_added_ps / 1000 - (int64_t)offset_ns)) <
                        2000);
            check_waits(&visits, &run, r);
        }
        release(&run, &visits);
    }
}

/* ---- what is refused ---- */

#define HEAD(rank) "{\"distributedInfo\": {\"rank\": " rank ", \"world_size\": 2}, \"traceEvents\": ["
#define STEP "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#7\",\"ts\":0,\"dur\":100},"
#define KERNEL(ts, name, more)                                                                              \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":" ts ",\"dur\":5,\"args\":{\"stream\":3" \
    ",\"Collective name\":\"" more "\",\"In msg nelems\":10,\"Group size\":2,\"dtype\":\"Half\","           \
    "\"Process Group Name\":\"g\",\"Process Group Ranks\":\"[0, 1]\"}}"
#define REDUCE(ts) KERNEL(ts, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", "allreduce")

static iw_status read_two(struct iwt_log *l, const char *one, const char *other, struct iwi_visits *visits)
{
    const struct iwi_kineto_text texts[] = {{"a.json", one, strlen(one)},
                                            {"b.json", other, other != NULL ? strlen(other) : 0}};

    iwt_log_init(l);
    iwi_visits_init(visits, &l->log, "Kineto");
    return iwi_kineto_read_memory(&l->log, texts, other != NULL ? 2 : 1, visits);
}

static void expect_refused(const char *one, const char *other, iw_status expected, const char *message)
{
    struct iwt_log l;
    struct iwi_visits visits;

    assert_status(read_two(&l, one, other, &visits), expected);
    assert_int_equal(l.errors, 1);
    iwt_assert_logged(&l, message);
    iwi_visits_release(&visits);
}

static void files_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    expect_refused(
        HEAD("0") STEP REDUCE("10") "," REDUCE("20") "]}", HEAD("1") STEP REDUCE("10") "]}", IW_ERR_FORMAT,
        "group 'g' in step 7: rank 0 has 2 collectives, rank 1 has 1, and no numbers ('Seq') match");
    expect_refused(HEAD("0") REDUCE("10") "]}", HEAD("0") REDUCE("10") "]}", IW_ERR_FORMAT,
                   "'b.json' is a second file of rank 0");
    expect_refused("{\"traceEvents\": [" REDUCE("10") "]}", HEAD("0") REDUCE("10") "]}", IW_ERR_FORMAT,
                   "'a.json' does not name its rank");
    expect_refused(
        HEAD("0") REDUCE("10") "]}",
        "{\"distributedInfo\": {\"rank\": 1, \"world_size\": 8}, \"traceEvents\": [" REDUCE("10") "]}",
        IW_ERR_FORMAT, "'b.json' is of a run of 8 ranks, earlier files of a run of 2");
    expect_refused(HEAD("5") REDUCE("10") "]}", NULL, IW_ERR_FORMAT,
                   "rank 5 takes part in group 'g', but is not a member");
    expect_refused(HEAD("0") REDUCE("10") "]}", HEAD("1") REDUCE("1000000000000") "]}", IW_ERR_RANGE,
                   "'b.json': its events are more than ten days from the first one of 'a.json'");
    expect_refused(HEAD("0") "]}", NULL, IW_ERR_FORMAT, "has neither GPU kernels nor");
    expect_refused(HEAD("0") "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\"}]}", NULL, IW_ERR_FORMAT,
                   "'a.json', byte 66: an event has no time");
    expect_refused(HEAD("0") KERNEL("1", "ncclDevKernel_ReduceScatter", "reduce_scatter") "]}",
                   HEAD("1") REDUCE("2") "]}", IW_ERR_FORMAT, "give traces of the same steps");
}

#define COMPUTE(ts, dur, id)                                                     \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":" ts ",\"dur\":" dur \
    ",\"args\":{\"stream\":7,\"correlation\":" id "}}"
#define LAUNCH(ts, dur, id)                                                                           \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":" ts ",\"dur\":" dur \
    ",\"args\":{\"correlation\":" id "}}"

/* Kernels may begin before their launch has returned: then nothing was queued, and the gap is late by as
 * much. A gap before a kernel that was launched in time is a dependence. */
static void gaps_are_late_launches_or_dependences(void **state)
{
    struct iwt_log l;
    struct iwi_visits visits;

    (void)state;
    assert_ok(read_two(
        &l,
        HEAD("0") LAUNCH("0", "5", "1") "," COMPUTE("10", "90", "1") "," LAUNCH("500", "10", "2") "," COMPUTE(
            "505", "100", "2") "," LAUNCH("520", "5", "3") "," COMPUTE("900", "50", "3") "]}",
        NULL, &visits));
    assert_int_equal(visits.stretch_count, 3);
    assert_int_equal(visits.stretches[0].queued_ps, 5 * IW_PS_PER_US);
    assert_int_equal(visits.stretches[1].queued_ps, 1);
    assert_int_equal(visits.stretches[2].queued_ps, 375 * IW_PS_PER_US);
    assert_int_equal(visits.pause_count, 1);
    assert_int_equal(visits.pauses[0].cause, IWI_PAUSE_LAUNCH);
    assert_int_equal(visits.pauses[0].begin_ps, 100 * IW_PS_PER_US);
    assert_int_equal(visits.pauses[0].end_ps, 505 * IW_PS_PER_US);
    iwi_visits_release(&visits);
}

static void messages_of_whom_nothing_is_recorded_are_kept_apart(void **state)
{
    struct iwt_log l;
    struct iwi_visits visits;

    (void)state;
    assert_ok(read_two(&l, HEAD("0") KERNEL("1", "ncclDevKernel_SendRecv(x)", "coalesced") "]}",
                       HEAD("1") KERNEL("2", "ncclDevKernel_SendRecv(x)", "coalesced") "]}", &visits));
    assert_int_equal(visits.visit_count, 2);
    assert_int_equal(visits.encounter_count, 2);
    assert_string_equal(visits.groups[visits.visits[0].group].name, "messages of rank 0");
    assert_non_null(strstr(visits.lacks, "2 kernels of messages have no records"));
    iwi_visits_release(&visits);
}

/* Kernels of 20 bytes in, 2 ranks: what is gathered is 40. */
static void sizes_are_of_the_whole_buffer(void **state)
{
    struct iwt_log l;
    struct iwi_visits visits;

    (void)state;
    assert_ok(read_two(&l,
                       HEAD("0") KERNEL("1", "ncclDevKernel_AllGather_RING_LL", "_allgather_base") "," KERNEL(
                           "9", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", "_reduce_scatter_base") "]}",
                       NULL, &visits));
    assert_int_equal(visits.visits[0].op, IWI_VISIT_ALLGATHER);
    assert_int_equal(visits.visits[0].bytes, 40);
    assert_int_equal(visits.visits[1].op, IWI_VISIT_REDUCE_SCATTER);
    assert_int_equal(visits.visits[1].bytes, 20);
    iwi_visits_release(&visits);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    const char *whole = HEAD("0") STEP REDUCE("10") "," REDUCE("20.5") "]}";
    struct iwt_log l;
    struct iwi_visits visits;

    (void)state;
    for (size_t size = 0; size < strlen(whole); size++) {
        const struct iwi_kineto_text text = {"a.json", whole, size};

        iwt_log_init(&l);
        iwi_visits_init(&visits, &l.log, "Kineto");
        assert_status(iwi_kineto_read_memory(&l.log, &text, 1, &visits), IW_ERR_TRUNCATED);
        assert_int_equal(l.errors, 1);
        iwi_visits_release(&visits);
    }
    assert_ok(read_two(&l, whole, NULL, &visits));
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_styles_tell_the_same),
        cmocka_unit_test(names_alone_are_enough_where_all_ranks_meet),
        cmocka_unit_test(long_groups_are_completed),
        cmocka_unit_test(what_a_file_lacks_is_said),
        cmocka_unit_test(pauses_are_found_and_named),
        cmocka_unit_test(a_run_without_pauses_has_none),
        cmocka_unit_test(waits_are_right_whatever_clocks_show),
        cmocka_unit_test(files_that_do_not_fit_are_refused),
        cmocka_unit_test(gaps_are_late_launches_or_dependences),
        cmocka_unit_test(messages_of_whom_nothing_is_recorded_are_kept_apart),
        cmocka_unit_test(sizes_are_of_the_whole_buffer),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
