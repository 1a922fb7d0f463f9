/* Lines of NCCL's Inspector: made runs come back as they were, and what is missing is told.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "inspector_testing.h"

#include <string.h>

#include "support/made_kineto_parts.h"

/* Of the same rank, at the same time (to the microsecond, from the first on), as long. */
static const struct iwi_visit *visit_at(const struct iwi_visits *visits, uint32_t rank, int64_t enter_us,
                                        bool is_message, uint64_t bytes)
{
    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        if (visits->ranks[visit->rank].number == rank && (visit->op == IWI_VISIT_MESSAGE) == is_message &&
            visit->bytes == bytes && visit->enter_ps == enter_us * IW_PS_PER_US) {
            return visit;
        }
    }
    return NULL;
}

static bool is_told(const struct iwt_kineto_event *event, const struct iwt_inspector *made)
{
    return (event->kind == IWT_ALLREDUCE || event->kind == IWT_SEND || event->kind == IWT_RECV) &&
           (made->has_small || event->elements * 4 >= IWT_INSPECTOR_LEAST_BYTES);
}

static int64_t first_us(const struct iwt_kineto_run *run, const struct iwt_inspector *made)
{
    int64_t first_ns = INT64_MAX;

    for (uint32_t r = 0; r < run->ranks; r++) {
        for (size_t i = 0; i < run->of[r].count; i++) {
            if (is_told(&run->of[r].events[i], made)) {
                first_ns = iwi_min(first_ns, run->of[r].events[i].begin_ns);
            }
        }
    }
    return first_ns / 1000;
}

static void check_visit(const struct iwt_kineto_run *run, const struct iwi_visits *visits, uint32_t rank,
                        const struct iwt_kineto_event *event, int64_t zero_us)
{
    const bool is_message = event->kind != IWT_ALLREDUCE;
    const struct iwi_visit *visit =
        visit_at(visits, rank, event->begin_ns / 1000 - zero_us, is_message, event->elements * 4);
    uint32_t members[64];
    const uint32_t size = iwt_kineto_members(&run->made, event->group, rank, members);

    assert_non_null(visit);
    assert_int_equal(visit->leave_ps, (event->end_ns / 1000 - zero_us) * IW_PS_PER_US);
    if (is_message) {
        assert_int_equal(visits->groups[visit->group].count, 2);
        assert_true(visit->has_root);
        assert_int_equal(visits->ranks[visit->root].number, event->kind == IWT_SEND ? rank : event->peer);
    } else {
        assert_int_equal(visit->sequence, event->sequence * IWI_VISIT_OPS + IWI_VISIT_ALLREDUCE);
        assert_int_equal(visits->groups[visit->group].count, size);
        for (uint32_t m = 0; m < size; m++) {
            assert_int_equal(visits->ranks[visits->groups[visit->group].members[m]].number, members[m]);
        }
    }
}

/* All that the run has: as many visits, and each where it was. */
static void compare(const struct iwt_kineto_run *run, const struct iwi_visits *visits,
                    const struct iwt_inspector *made)
{
    const int64_t zero_us = first_us(run, made);
    size_t told = 0;

    assert_int_equal(visits->rank_count, run->ranks);
    for (uint32_t r = 0; r < run->ranks; r++) {
        for (size_t i = 0; i < run->of[r].count; i++) {
            if (is_told(&run->of[r].events[i], made)) {
                told++;
                check_visit(run, visits, r, &run->of[r].events[i], zero_us);
            }
        }
    }
    assert_int_equal(visits->visit_count, told);
    assert_int_equal(visits->unmatched, 0);
}

static void runs_come_back(void **state)
{
    static const struct iwt_inspector kinds[] = {
        {.is_verbose = true},
        {.is_verbose = true, .has_small = true},
        {.is_verbose = true, .is_v43 = true},
    };
    static const uint32_t shapes[][3] = {{2, 2, 2}, {1, 4, 1}, {4, 2, 1}, {2, 3, 4}};

    (void)state;
    for (size_t i = 0; i < 12; i++) {
        const struct iwt_inspector *kind = &kinds[i / 4];
        struct iwt_kineto made = iwt_kineto_default();
        struct iwt_kineto_run run;
        struct iwi_visits visits;

        made.seed = i + 1;
        made.steps = 2;
        made.tp = shapes[i % 4][0];
        made.dp = shapes[i % 4][1];
        made.pp = shapes[i % 4][2];
        iwt_kineto_run(&made, &run);
        assert_ok(read_inspector(NULL, &run, kind, &visits));
        compare(&run, &visits, kind);
        iwi_visits_release(&visits);
        iwt_kineto_release(&run);
    }
}

/* Several GPUs of a process are told apart where they are in the same communicators. */
static void processes_with_several_gpus(void **state)
{
    const struct iwt_inspector kind = {.is_verbose = true, .process_gpus = 2};
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits visits;
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    iwt_kineto_run(&made, &run);
    assert_status(read_inspector(&log.log, &run, &kind, &visits), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&log, "has several GPUs");
    iwi_visits_release(&visits);
    iwt_kineto_release(&run);
    made.tp = made.pp = 1;
    made.dp = 4;
    iwt_kineto_run(&made, &run);
    assert_ok(read_inspector(NULL, &run, &kind, &visits));
    compare(&run, &visits, &kind);
    iwi_visits_release(&visits);
    iwt_kineto_release(&run);
}

/* Ranks are numbered by the communicator of all of them, also where hosts and processes are in another
 * order; nodes are hosts. */
static void ranks_and_nodes_are_known(void **state)
{
    const struct iwt_inspector kind = {.is_verbose = true, .has_small = true};
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits visits;

    (void)state;
    made.dp = 4;
    iwt_kineto_run(&made, &run);
    assert_ok(read_inspector(NULL, &run, &kind, &visits));
    assert_int_equal(visits.rank_count, 16);
    for (size_t i = 0; i < visits.rank_count; i++) {
        char node[16];

        (void)snprintf(node, sizeof node, "node%u", visits.ranks[i].number / IWT_INSPECTOR_NODE_GPUS);
        assert_string_equal(visits.ranks[i].node, node);
    }
    assert_null(strstr(visits.lacks, "numbered"));
    iwi_visits_release(&visits);
    iwt_kineto_release(&run);
}

/* Waits without times: how much longer than the shortest it took, to the microsecond. */
static void waits_follow_from_durations(void **state)
{
    const struct iwt_inspector verbose = {.is_verbose = true}, brief = {.is_verbose = false};
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits with, without;

    (void)state;
    made.pauses = late;
    made.pause_count = 1;
    iwt_kineto_run(&made, &run);
    assert_ok(read_inspector(NULL, &run, &verbose, &with));
    assert_ok(read_inspector(NULL, &run, &brief, &without));
    assert_same_waits(&with, &without);
    assert_non_null(strstr(without.lacks, "NCCL_INSPECTOR_DUMP_VERBOSE=1"));
    assert_null(strstr(with.lacks, "VERBOSE"));
    iwi_visits_release(&with);
    iwi_visits_release(&without);
    iwt_kineto_release(&run);
}

/* What some ranks have no line of is left out, and counted: no wait is computed from half of a group. */
static void lost_lines_are_told(void **state)
{
    const struct iwt_inspector kind = {.is_verbose = true, .loses = 7};
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits visits;

    (void)state;
    iwt_kineto_run(&made, &run);
    assert_ok(read_inspector(NULL, &run, &kind, &visits));
    assert_true(visits.encounter_count > 10);
    for (size_t i = 0; i < visits.encounter_count; i++) {
        const struct iwi_encounter *e = &visits.encounters[i];

        assert_int_equal(e->count, visits.groups[visits.visits[e->first].group].count);
    }
    assert_non_null(strstr(visits.lacks, "left out because lines are missing"));
    iwi_visits_release(&visits);
    iwt_kineto_release(&run);
}

static iw_status read_text(const iw_log *log, const char *text, size_t size, struct iwi_visits *visits)
{
    struct iwi_inspector all;
    iw_status status;

    iwi_inspector_init(&all, log);
    iwi_visits_init(visits, log, "NCCL Inspector");
    status = iwi_inspector_read(&all, NULL, "a.log", text, size);
    if (status == IW_OK) {
        status = iwi_inspector_fill(&all, visits);
    }
    iwi_inspector_release(&all);
    return status;
}

/* A file alone, cut anywhere: what is whole is read. */
static void cut_anywhere_the_rest_is_read(void **state)
{
    const struct iwt_inspector kind = {.is_verbose = true};
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    size_t size;
    char *text;

    (void)state;
    made.steps = 1;
    made.layers = 1;
    made.microbatches = 1;
    made.pp = 1;
    iwt_kineto_run(&made, &run);
    text = iwt_inspector_text(&run, &kind, 0, &size);
    for (size_t cut = 0; cut <= size; cut++) {
        char *copy = malloc(cut + 1);
        struct iwt_log log;
        struct iwi_visits visits;

        memcpy(copy, text, cut);
        iwt_log_init(&log);
        if (read_text(&log.log, copy, cut, &visits) == IW_OK) {
            assert_int_equal(log.errors, 0);
            assert_true(visits.visit_count > 0);
        } else {
            iwt_assert_logged(&log, "no line of NCCL's Inspector");
            assert_int_equal(log.errors, 1);
            assert_int_equal(visits.visit_count, 0);
        }
        iwi_visits_release(&visits);
        free(copy);
    }
    free(text);
    iwt_kineto_release(&run);
}

static void mistakes_are_told(void **state)
{
#define META "\"metadata\":{\"hostname\":\"a\",\"pid\":1},"
#define PERF                                                                                             \
    "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":1,\"coll_msg_size_bytes\":8192,\"coll_exec_time_" \
    "us\":5}"
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"{\"a\":1}\n", "no 'coll_perf', 'p2p_perf' or 'dump_stats': this version of NCCL's Inspector is"},
        {"{" PERF "}", "no earlier line with 'dump_stats' has one"},
        {"{\"header\":{\"id\":\"0x1\",\"n_ranks\":2}," META PERF "}",
         "'a.log', byte 0: the line has no number 'rank'"},
        {"{\"header\":{\"id\":\"0x1\",\"rank\":2,\"n_ranks\":2}," META PERF "}", "rank 2 of 2"},
        {"{\"header\":{\"rank\":0,\"n_ranks\":2}," META PERF "}", "does not name its communicator"},
        {"{\"header\":{\"id\":\"0x1\",\"rank\":0,\"n_ranks\":2}," PERF "}", "no number 'pid'"},
        {"{\"header\":{\"id\":\"0x1\",\"rank\":0,\"n_ranks\":2}," META
         "\"coll_perf\":{\"coll\":\"AllReduce\"}}",
         "no number 'coll_sn'"},
        {"{\"header\":{\"id\":\"0x1\",\"rank\":0,\"n_ranks\":2}," META PERF "}\n"
         "{\"header\":{\"id\":\"0x1\",\"rank\":0,\"n_ranks\":3}," META PERF "}",
         "give files of one run"},
        {"{\"header\":{\"id\":\"0x1\",\"rank\":0,\"n_ranks\":2}," META PERF "}\n"
         "{\"header\":{\"id\":\"0x1\",\"rank\":0,\"n_ranks\":2}," META PERF "}",
         "twice"},
        {"{\"header\":tru}", "'a.log', byte 13: invalid JSON"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct iwt_log log;
        struct iwi_visits visits;

        iwt_log_init(&log);
        assert_true(read_text(&log.log, cases[i].text, strlen(cases[i].text), &visits) != IW_OK);
        iwt_assert_logged(&log, cases[i].said);
        assert_int_equal(log.errors, 1);
        iwi_visits_release(&visits);
    }
}

/* A gather is counted by what a rank gives: the whole is as many times that. */
static void bytes_are_of_the_whole(void **state)
{
    static const char text[] =
        "{\"header\":{\"id\":\"0x1\",\"comm_name\":\"DP 0\",\"rank\":1,\"n_ranks\":4}," META
        "\"coll_perf\":{\"coll\":\"AllGather\",\"coll_sn\":7,\"coll_msg_size_bytes\":8192,\"coll_exec_time_"
        "us\":5}}\n"
        "{\"header\":{\"id\":\"0x1\",\"comm_name\":\"DP 0\",\"rank\":1,\"n_ranks\":4}," META
        "\"coll_perf\":{\"coll\":\"Broadcast\",\"coll_sn\":8,\"coll_msg_size_bytes\":8192,\"coll_exec_time_"
        "us\":5}}\n";
    struct iwi_visits visits;

    (void)state;
    assert_ok(read_text(NULL, text, sizeof text - 1, &visits));
    assert_int_equal(visits.visit_count, 2);
    assert_int_equal(visits.visits[0].bytes, 32768);
    assert_int_equal(visits.visits[1].bytes, 8192);
    assert_int_equal(visits.groups[0].size, 4);
    assert_int_equal(visits.groups[0].count, 1);
    assert_string_equal(visits.groups[0].name, "DP 0 0x1");
    iwi_visits_release(&visits);
}

/* NCCL numbers each kind of operation by itself. */
static void kinds_have_numbers_of_their_own(void **state)
{
#define LINE(RANK, PID, OP)                                                                           \
    "{\"header\":{\"id\":\"0x1\",\"rank\":" RANK                                                      \
    ",\"n_ranks\":2},\"metadata\":{\"hostname\":\"a\",\"pid\":" PID "},\"coll_perf\":{\"coll\":\"" OP \
    "\",\"coll_sn\":5,\"coll_msg_size_bytes\":1,\"coll_exec_time_us\":5}}\n"
    static const char text[] = LINE("0", "1", "AllGather") LINE("0", "1", "ReduceScatter")
        LINE("1", "2", "AllGather") LINE("1", "2", "ReduceScatter");
    struct iwi_visits visits;

    (void)state;
    assert_ok(read_text(NULL, text, sizeof text - 1, &visits));
    assert_int_equal(visits.encounter_count, 2);
    assert_int_equal(visits.encounters[0].count, 2);
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_come_back),
        cmocka_unit_test(processes_with_several_gpus),
        cmocka_unit_test(ranks_and_nodes_are_known),
        cmocka_unit_test(waits_follow_from_durations),
        cmocka_unit_test(lost_lines_are_told),
        cmocka_unit_test(cut_anywhere_the_rest_is_read),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(bytes_are_of_the_whole),
        cmocka_unit_test(kinds_have_numbers_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
