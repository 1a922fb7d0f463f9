/* Execution traces of Chakra: made runs come back as they were, with and without start times.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "chakra_testing.h"

#include <string.h>

#include "core/base/order.h"
#include "inspector_testing.h"
#include "support/made_kineto_parts.h"

static const struct iwt_chakra full = {.has_times = true, .has_groups = true, .has_peers = true};

static bool is_comm(const struct iwt_kineto_event *event)
{
    return event->kind == IWT_ALLREDUCE || event->kind == IWT_SEND || event->kind == IWT_RECV;
}

static int64_t first_us(const struct iwt_kineto_run *run)
{
    int64_t first_ns = INT64_MAX;

    for (uint32_t r = 0; r < run->ranks; r++) {
        for (size_t i = 0; i < run->of[r].count; i++) {
            if (run->of[r].events[i].kind <= IWT_RECV) {
                first_ns = iwi_min(first_ns, run->of[r].events[i].begin_ns);
            }
        }
    }
    return first_ns / 1000;
}

static const struct iwi_visit *visit_of(const struct iwi_visits *visits, uint32_t rank, int64_t enter_us,
                                        const struct iwt_kineto_event *event)
{
    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        if (visits->ranks[visit->rank].number == rank && visit->enter_ps == enter_us * IW_PS_PER_US &&
            visit->bytes == event->elements * 4 &&
            (visit->op == IWI_VISIT_MESSAGE) == (event->kind != IWT_ALLREDUCE)) {
            return visit;
        }
    }
    return NULL;
}

static void check_visit(const struct iwt_kineto_run *run, const struct iwi_visits *visits, uint32_t rank,
                        const struct iwt_kineto_event *event, int64_t zero_us)
{
    const struct iwi_visit *visit = visit_of(visits, rank, event->begin_ns / 1000 - zero_us, event);
    uint32_t members[64];
    const uint32_t size = iwt_kineto_members(&run->made, event->group, rank, members);

    assert_non_null(visit);
    assert_int_equal(visit->leave_ps, (event->end_ns / 1000 - zero_us) * IW_PS_PER_US);
    if (event->kind != IWT_ALLREDUCE) {
        assert_int_equal(visits->ranks[visit->root].number, event->kind == IWT_SEND ? rank : event->peer);
        return;
    }
    assert_int_equal(visit->sequence, event->sequence);
    assert_int_equal(visits->groups[visit->group].count, size);
    assert_int_equal(visits->groups[visit->group].size, size);
    for (uint32_t m = 0; m < size; m++) {
        assert_int_equal(visits->ranks[visits->groups[visit->group].members[m]].number, members[m]);
    }
}

static void runs_come_back(void **state)
{
    static const uint32_t shapes[][3] = {{2, 2, 2}, {1, 4, 1}, {4, 2, 1}, {2, 3, 4}};

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        const bool is_converted = i % 2 == 1 && i < 4; /* MLCommons' converter leaves partners to the host */
        const struct iwt_chakra kind = {
            .has_times = true, .has_groups = i < 4, .has_peers = !is_converted, .has_records = is_converted};
        struct iwt_kineto made = iwt_kineto_default();
        struct iwt_kineto_run run;
        struct iwi_visits visits;
        size_t comms = 0;

        made.seed = i + 1;
        made.steps = 2;
        made.tp = shapes[i % 4][0];
        made.dp = shapes[i % 4][1];
        made.pp = shapes[i % 4][2];
        iwt_kineto_run(&made, &run);
        assert_ok(read_chakra(NULL, &run, &kind, &visits));
        assert_int_equal(visits.rank_count, run.ranks);
        for (uint32_t r = 0; r < run.ranks; r++) {
            for (size_t k = 0; k < run.of[r].count; k++) {
                if (is_comm(&run.of[r].events[k])) {
                    check_visit(&run, &visits, r, &run.of[r].events[k], first_us(&run));
                    comms++;
                }
            }
        }
        assert_int_equal(visits.visit_count, comms);
        assert_int_equal(visits.unmatched, 0);
        assert_null(strstr(visits.lacks, "start times"));
        iwi_visits_release(&visits);
        iwt_kineto_release(&run);
    }
}

/* Kernels that follow each other are one stretch: all of them together are as long as the run has them. */
static void computation_is_there(void **state)
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits visits;
    int64_t true_us = 0, read_us = 0;

    (void)state;
    iwt_kineto_run(&made, &run);
    assert_ok(read_chakra(NULL, &run, &full, &visits));
    for (size_t i = 0; i < run.of[0].count; i++) {
        const struct iwt_kineto_event *event = &run.of[0].events[i];

        true_us += event->kind == IWT_KERNEL ? event->end_ns / 1000 - event->begin_ns / 1000 : 0;
    }
    for (size_t i = 0; i < visits.stretch_count; i++) {
        if (visits.ranks[visits.stretches[i].rank].number == 0) {
            read_us += (visits.stretches[i].end_ps - visits.stretches[i].begin_ps) / IW_PS_PER_US;
        }
    }
    assert_in_range(read_us, true_us, true_us + (int64_t)run.of[0].count);
    iwi_visits_release(&visits);
    iwt_kineto_release(&run);
}

/* Durations alone: a rank waited as much as it took longer than the shortest. Nobody goes back in time. */
static void waits_follow_from_durations(void **state)
{
    const struct iwt_chakra brief = {.has_groups = true, .has_peers = true};
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits with, without;

    (void)state;
    made.pauses = late;
    made.pause_count = 1;
    iwt_kineto_run(&made, &run);
    assert_ok(read_chakra(NULL, &run, &full, &with));
    assert_ok(read_chakra(NULL, &run, &brief, &without));
    assert_same_waits(&with, &without);
    for (size_t i = 0; i < without.visit_count; i++) {
        assert_true(without.visits[i].enter_ps >= 0);
    }
    assert_non_null(strstr(without.lacks, "Start times are missing and were computed"));
    iwi_visits_release(&with);
    iwi_visits_release(&without);
    iwt_kineto_release(&run);
}

/* Start times from durations and dependences: near what was, all through the run. */
static void times_are_replayed(void **state)
{
    const struct iwt_chakra brief = {.has_groups = true, .has_peers = true};
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    struct iwi_visits with, without;
    iw_time apart_ps, worst_ps = 0, last_ps = 0, computed_ps[2] = {0, 0};

    (void)state;
    made.pauses = late;
    made.pause_count = 1;
    made.dp = 4;
    iwt_kineto_run(&made, &run);
    assert_ok(read_chakra(NULL, &run, &full, &with));
    assert_ok(read_chakra(NULL, &run, &brief, &without));
    apart_ps = with.visits[0].enter_ps - without.visits[0].enter_ps;
    for (size_t i = 0; i < with.visit_count; i++) {
        const iw_time off_ps = with.visits[i].enter_ps - without.visits[i].enter_ps - apart_ps;

        worst_ps = iwi_max(worst_ps, iwi_max(off_ps, -off_ps));
        last_ps = iwi_max(last_ps, with.visits[i].leave_ps);
    }
    assert_true(worst_ps < last_ps / 100);
    for (size_t i = 0; i < with.stretch_count; i++) {
        computed_ps[0] += with.stretches[i].end_ps - with.stretches[i].begin_ps;
    }
    for (size_t i = 0; i < without.stretch_count; i++) {
        computed_ps[1] += without.stretches[i].end_ps - without.stretches[i].begin_ps;
    }
    assert_true(iwi_max(computed_ps[0] - computed_ps[1], computed_ps[1] - computed_ps[0]) <
                computed_ps[0] / 100);
    iwi_visits_release(&with);
    iwi_visits_release(&without);
    iwt_kineto_release(&run);
}

/* ---- two doors ---- */

IWI_COMPARE(compare_visits, struct iwi_visit, IWI_RISING(enter_ps), IWI_RISING(rank), IWI_RISING(bytes))

/* The same run as Chakra's nodes and as Inspector's lines: the same visits, but for where times begin. */
static void both_doors_lead_to_the_same(void **state)
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    const struct iwt_inspector verbose = {.is_verbose = true, .has_small = true};
    struct iwi_visits chakra, inspector;
    iw_time apart_ps;

    (void)state;
    made.dp = 4;
    made.clock_us = 300;
    made.pauses = late;
    made.pause_count = 1;
    iwt_kineto_run(&made, &run);
    assert_ok(read_chakra(NULL, &run, &full, &chakra));
    assert_ok(read_inspector(NULL, &run, &verbose, &inspector));
    assert_int_equal(chakra.visit_count, inspector.visit_count);
    assert_int_equal(chakra.encounter_count, inspector.encounter_count);
    iwi_sort(chakra.visits, chakra.visit_count, compare_visits);
    iwi_sort(inspector.visits, inspector.visit_count, compare_visits);
    apart_ps = chakra.visits[0].enter_ps - inspector.visits[0].enter_ps;
    for (size_t i = 0; i < chakra.visit_count; i++) {
        const struct iwi_visit *a = &chakra.visits[i], *b = &inspector.visits[i];

        assert_int_equal(chakra.ranks[a->rank].number, inspector.ranks[b->rank].number);
        assert_int_equal(a->op, b->op);
        assert_int_equal(a->bytes, b->bytes);
        assert_int_equal(a->enter_ps - b->enter_ps, apart_ps);
        assert_int_equal(a->leave_ps - b->leave_ps, apart_ps);
        assert_int_equal(chakra.groups[a->group].count, inspector.groups[b->group].count);
    }
    iwi_visits_release(&chakra);
    iwi_visits_release(&inspector);
    iwt_kineto_release(&run);
}

/* ---- mistakes ---- */

static iw_status read_text(const iw_log *log, const char *name, const char *text, size_t size,
                           struct iwi_visits *visits)
{
    struct iwi_chakra all;
    iw_status status;

    iwi_chakra_init(&all, log);
    iwi_visits_init(visits, log, "Chakra");
    status = iwi_chakra_read(&all, NULL, name, text, size);
    if (status == IW_OK) {
        status = iwi_chakra_fill(&all, visits);
    }
    iwi_chakra_release(&all);
    return status;
}

/* Cut between two nodes it is a shorter trace, anywhere else it is refused. */
static void cut_anywhere_it_is_refused(void **state)
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    size_t size, whole = 0;
    char *text;

    (void)state;
    made.steps = made.layers = made.microbatches = 1;
    iwt_kineto_run(&made, &run);
    text = iwt_chakra_text(&run, &full, 0, &size);
    for (size_t cut = 0; cut <= size; cut++) {
        char *copy = malloc(cut + 1);
        struct iwi_visits visits;
        struct iwt_log log;

        memcpy(copy, text, cut);
        iwt_log_init(&log);
        if (read_text(&log.log, "a.0.et", copy, cut, &visits) == IW_OK) {
            assert_int_equal(log.errors, 0);
            whole++;
        } else {
            assert_int_equal(log.errors, 1);
        }
        iwi_visits_release(&visits);
        free(copy);
    }
    assert_in_range(whole, 10, run.of[0].count * 2 + 2);
    free(text);
    iwt_kineto_release(&run);
}

static void mistakes_are_told(void **state)
{
    static const struct {
        const char *text;
        size_t size;
        const char *said;
        iw_status status;
    } cases[] = {
        {"", 0, "'a.0.et', byte 0: the file is empty", IW_ERR_TRUNCATED},
        {"\xff\xff\xff\xff\xff", 5, "no message length", IW_ERR_FORMAT},
        {"\xff\xff\xff\xff\x0f", 5, "is too long", IW_ERR_RANGE},
        {"\x07\x0a\x05\x30", 4, "the file ends within a message of 7 bytes", IW_ERR_TRUNCATED},
        {"\x02\x08\x01", 3, "before 0.0.4 (2023) again", IW_ERR_FORMAT}, /* a node first */
        {"\x08\x0a\x06\x0a\x02rf\x10\x03", 9, "a Chakra version before 0.0.4", IW_ERR_UNSUPPORTED},
        {"\x07\x0a\x05"
         "1.0.0"
         "\x04\x12\x07"
         "ab",
         13, "'a.0.et', byte 8: a message does not follow Chakra's schema", IW_ERR_FORMAT},
        {"\x07\x0a\x05"
         "1.0.0"
         "\x02\x18\x04",
         11, "1 nodes, but no collective", IW_ERR_FORMAT},
        {"\x07\x0a\x05"
         "1.0.0"
         "\x0b\x30\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
         20, "has an invalid time", IW_ERR_RANGE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct iwi_visits visits;
        struct iwt_log log;

        iwt_log_init(&log);
        assert_status(read_text(&log.log, "a.0.et", cases[i].text, cases[i].size, &visits), cases[i].status);
        iwt_assert_logged(&log, cases[i].said);
        assert_int_equal(log.errors, 1);
        iwi_visits_release(&visits);
    }
}

/* A collective and a kernel that each depend on the other: durations alone are left. */
static void dependences_that_do_not_go_together(void **state)
{
    static const char text[] = "\x07\x0a\x05"
                               "1.0.0"
                               "\x09\x08\x01\x18\x07\x2a\x01\x02\x38\x05"
                               "\x09\x08\x02\x18\x04\x2a\x01\x01\x38\x09";
    struct iwi_visits visits;

    (void)state;
    assert_ok(read_text(NULL, "a.0.et", text, sizeof text - 1, &visits));
    assert_int_equal(visits.visit_count, 1);
    assert_int_equal(visits.visits[0].leave_ps, 5 * IW_PS_PER_US);
    assert_int_equal(visits.stretch_count, 0);
    assert_non_null(strstr(visits.lacks, "dependencies contradict each other"));
    iwi_visits_release(&visits);
}

/* Empty submessages of two bytes take many times that: a message has a bound of memory. */
static void small_messages_do_not_take_all_memory(void **state)
{
    const size_t count = 4 << 20;
    char *text = malloc(2 * count + 16);
    struct iwi_visits visits;
    struct iwt_log log;

    (void)state;
    memcpy(text, "\x02\x0a\x00\x80\x80\x80\x04", 7); /* 2^23 bytes */
    for (size_t i = 0; i < count; i++) {
        memcpy(text + 7 + 2 * i, "\x52\x00", 2);
    }
    iwt_log_init(&log);
    assert_status(read_text(&log.log, "a.0.et", text, 7 + 2 * count, &visits), IW_ERR_FORMAT);
    iwt_assert_logged(&log, "does not follow Chakra's schema");
    iwi_visits_release(&visits);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_come_back),
        cmocka_unit_test(computation_is_there),
        cmocka_unit_test(waits_follow_from_durations),
        cmocka_unit_test(times_are_replayed),
        cmocka_unit_test(both_doors_lead_to_the_same),
        cmocka_unit_test(cut_anywhere_it_is_refused),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(dependences_that_do_not_go_together),
        cmocka_unit_test(small_messages_do_not_take_all_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
