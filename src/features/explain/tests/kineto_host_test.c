/* Profiles of PyTorch on CPUs: collectives of gloo, when the main thread waits for them, pauses; files of a
 * real PyTorch (tests/data/kineto).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/explain/kineto/kineto.h"
#include "support/support.h"

enum { MAIN = 7, FIRST = 8, SECOND = 9 }; /* threads */

struct text {
    char of[8192];
    size_t size;
};

static void begin(struct text *text, unsigned rank, const char *groups)
{
    text->size = (size_t)snprintf(
        text->of, sizeof text->of,
        "{\"host_name\": \"nid%02u\", \"distributedInfo\": {\"backend\": \"gloo\", \"rank\": %u, "
        "\"world_size\": 2, \"pg_config\": [%s]}, \"traceEvents\": [",
        rank + 4, rank, groups);
}

/* `args`: of the event, may be "". */
static void event_with(struct text *text, const char *cat, const char *name, int thread, int from_us,
                       int to_us, const char *args)
{
    text->size +=
        (size_t)snprintf(text->of + text->size, sizeof text->of - text->size,
                         "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 7, \"tid\": %d, "
                         "\"ts\": %d.000, \"dur\": %d.000, \"args\": {%s}},",
                         cat, name, thread, from_us, to_us - from_us, args);
    assert_true(text->size < sizeof text->of);
}

static void event(struct text *text, const char *cat, const char *name, int thread, int from_us, int to_us)
{
    event_with(text, cat, name, thread, from_us, to_us, "");
}

static void end(struct text *text)
{
    text->size--; /* the last comma */
    text->size += (size_t)snprintf(text->of + text->size, sizeof text->of - text->size, "]}");
}

#define ONE_GROUP "{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"pg_size\": 2, \"ranks\": [0, 1]}"

static iw_status read_texts(struct iwt_log *l, const struct text *texts, size_t count,
                            struct iwi_visits *visits)
{
    const struct iwi_kineto_text both[2] = {{"rank0.json", texts[0].of, texts[0].size},
                                            {"rank1.json", texts[1].of, texts[1].size}};

    iwt_log_init(l);
    iwi_visits_init(visits, &l->log, "Kineto");
    return iwi_kineto_read_memory(&l->log, both, count, visits);
}

static void read_ok(const struct text *texts, struct iwi_visits *visits)
{
    struct iwt_log l;
    const iw_status status = read_texts(&l, texts, 2, visits);

    if (status != IW_OK) {
        print_message("%s", l.text);
    }
    assert_ok(status);
}

static void expect_refused(const struct text *texts, iw_status expected, const char *message)
{
    struct iwi_visits visits;
    struct iwt_log l;

    assert_int_equal(read_texts(&l, texts, 1, &visits), expected);
    if (strstr(l.text, message) == NULL) {
        fail_msg("'%s' does not say '%s'", l.text, message);
    }
    iwi_visits_release(&visits);
}

/* Rank 0 asks at 200 us, goes on until 300, and waits until rank 1 has come at 620 and 80 us have passed. */
static void make_step(struct text texts[2], const char *shapes)
{
    for (unsigned rank = 0; rank < 2; rank++) {
        struct text *text = &texts[rank];
        const int computed = rank == 0 ? 200 : 600;

        begin(text, rank, ONE_GROUP);
        event_with(text, "user_annotation", "gloo:all_reduce", SECOND, computed + 20, 700, shapes);
        event(text, "user_annotation", "ProfilerStep#3", MAIN, 0, 1000);
        event(text, "user_annotation", "## backward ##", MAIN, 100, 900);
        event(text, "cpu_op", "aten::mm", MAIN, 100, computed);
        event(text, "cpu_op", "c10d::allreduce_", MAIN, computed, computed + 10);
        if (rank == 0) {
            event(text, "cpu_op", "autograd::engine::evaluate_function: AddBackward0", MAIN, 240, 305);
            event(text, "cpu_op", "aten::add", MAIN, 250, 300);
        }
        event(text, "cpu_op", "aten::copy_", MAIN, 720, 800);
        end(text);
    }
}

static void check_stretch(const struct iwi_visits *visits, size_t index, uint32_t rank, iw_time begin_us,
                          iw_time end_us)
{
    const struct iwi_stretch *stretch = &visits->stretches[index];

    assert_int_equal(stretch->rank, rank);
    assert_int_equal(stretch->step, 3);
    assert_int_equal(stretch->begin_ps, begin_us * IW_PS_PER_US);
    assert_int_equal(stretch->end_ps, end_us * IW_PS_PER_US);
}

static void a_thread_that_is_in_no_operator_when_a_collective_ends_waited_for_it(void **state)
{
    struct text texts[2];
    struct iwi_visits visits;

    (void)state;
    make_step(texts, "");
    read_ok(texts, &visits);
    assert_int_equal(visits.encounter_count, 1);
    assert_int_equal(visits.encounters[0].count, 2);
    assert_int_equal(visits.visits[visits.encounters[0].last].rank, 1);
    assert_string_equal(visits.groups[0].name, "0 (default_pg)");
    assert_string_equal(visits.ranks[1].node, "nid05");
    for (uint32_t rank = 0; rank < 2; rank++) {
        const struct iwi_visit *visit = &visits.visits[rank];

        assert_int_equal(visit->op, IWI_VISIT_ALLREDUCE);
        assert_int_equal(visit->step, 3);
        assert_int_equal(visit->enter_ps, (rank == 0 ? 220 : 620) * IW_PS_PER_US);
        assert_int_equal(visit->leave_ps, 700 * IW_PS_PER_US);
        assert_int_equal(visit->ready_ps, 20 * IW_PS_PER_US);
        assert_int_equal(visit->queued_ps, 0);
        assert_int_equal(visit->bytes, 0);
    }
    assert_int_equal(visits.stretch_count, 4);
    check_stretch(&visits, 0, 0, 0, 305);
    check_stretch(&visits, 1, 0, 700, 1000);
    check_stretch(&visits, 2, 1, 0, 620); /* it waits from when its own part has begun */
    check_stretch(&visits, 3, 1, 700, 1000);
    assert_non_null(strstr(visits.lacks, "No GPU"));
    assert_non_null(strstr(visits.lacks, "record_shapes=True"));
    assert_null(strstr(visits.lacks, "No launches"));
    iwi_visits_release(&visits);
}

/* 3 x 5 floats and 2 doubles: 60 + 16 bytes. */
static void shapes_tell_sizes(void **state)
{
    struct text texts[2];
    struct iwi_visits visits;

    (void)state;
    make_step(texts, "\"Input Dims\": [[3, 5], [2]], \"Input type\": [\"float\", \"double\"]");
    read_ok(texts, &visits);
    assert_int_equal(visits.visits[0].bytes, 76);
    assert_null(strstr(visits.lacks, "record_shapes"));
    iwi_visits_release(&visits);
}

/* Two threads of gloo take an all-reduce and a broadcast at about the same time: on rank 1 the second begins
 * first. A reduce-scatter is carried out as an all-reduce. */
static void collectives_keep_the_order_of_their_calls(void **state)
{
    struct text texts[2];
    struct iwi_visits visits;

    (void)state;
    for (unsigned rank = 0; rank < 2; rank++) {
        struct text *text = &texts[rank];

        begin(text, rank, ONE_GROUP);
        event(text, "user_annotation", "ProfilerStep#3", MAIN, 0, 1000);
        event(text, "cpu_op", "c10d::allreduce_", MAIN, 400, 403);
        event(text, "cpu_op", "c10d::broadcast_", MAIN, 405, 408);
        event(text, "user_annotation", "gloo:all_reduce", FIRST, rank == 0 ? 420 : 425, 500);
        event(text, "user_annotation", "gloo:broadcast", SECOND, rank == 0 ? 422 : 421, 480);
        event(text, "cpu_op", "c10d::_reduce_scatter_base_", MAIN, 600, 605);
        event(text, "user_annotation", "gloo:all_reduce", FIRST, 610, 700);
        end(text);
    }
    read_ok(texts, &visits);
    assert_int_equal(visits.encounter_count, 3);
    for (size_t i = 0; i < 3; i++) {
        static const uint8_t ops[] = {IWI_VISIT_ALLREDUCE, IWI_VISIT_BROADCAST, IWI_VISIT_REDUCE_SCATTER};

        assert_int_equal(visits.encounters[i].count, 2);
        assert_int_equal(visits.visits[visits.encounters[i].first].op, ops[i]);
    }
    assert_int_equal(visits.visits[3].enter_ps, 425 * IW_PS_PER_US + IW_PS_PER_NS);
    iwi_visits_release(&visits);
}

/* A functional collective waits in an operator of its own; garbage collection is no waiting. */
static void operators_that_wait_are_told_from_those_that_work(void **state)
{
    struct text texts[2];
    struct iwi_visits visits;

    (void)state;
    for (unsigned rank = 0; rank < 2; rank++) {
        struct text *text = &texts[rank];

        begin(text, rank, ONE_GROUP);
        event(text, "user_annotation", "ProfilerStep#3", MAIN, 0, 1000);
        event(text, "cpu_op", "c10d::allreduce_", MAIN, 100, 110);
        event(text, "user_annotation", "gloo:all_reduce", FIRST, 120, 600);
        event(text, rank == 0 ? "cpu_op" : "user_annotation",
              rank == 0 ? "_c10d_functional::wait_tensor" : "gc", MAIN, 300, 800);
        end(text);
    }
    read_ok(texts, &visits);
    assert_int_equal(visits.stretch_count, 3);
    check_stretch(&visits, 0, 0, 0, 300);
    check_stretch(&visits, 1, 0, 600, 1000);
    check_stretch(&visits, 2, 1, 0, 1000);
    assert_int_equal(visits.pause_count, 1);
    assert_int_equal(visits.pauses[0].rank, 1);
    assert_int_equal(visits.pauses[0].cause, IWI_PAUSE_GC);
    iwi_visits_release(&visits);
}

static void what_cannot_be_told_is_refused(void **state)
{
    struct text texts[2];

    (void)state;
    begin(&texts[0], 0, ONE_GROUP ", {\"pg_name\": \"1\", \"pg_size\": 2, \"ranks\": [0, 1]}");
    event(&texts[0], "user_annotation", "gloo:all_reduce", FIRST, 10, 20);
    end(&texts[0]);
    expect_refused(texts, IW_ERR_FORMAT, "do not name which of 2 process groups they belong to");

    begin(&texts[0], 0, ONE_GROUP);
    event(&texts[0], "user_annotation", "nccl:all_reduce", MAIN, 10, 20);
    end(&texts[0]);
    expect_refused(texts, IW_ERR_FORMAT, "has NCCL collectives, but no kernels");

    begin(&texts[0], 0, ONE_GROUP);
    event(&texts[0], "user_annotation", "ProfilerStep#3", MAIN, 10, 20);
    end(&texts[0]);
    expect_refused(texts, IW_ERR_FORMAT, "neither GPU kernels nor CPU collectives");

    /* as PyTorch 1.13.1 of Debian 12 writes it */
    texts[0].size = (size_t)snprintf(texts[0].of, sizeof texts[0].of,
                                     "[{\"name\": \"aten::ones\", \"ph\": \"X\", \"ts\": 132, \"dur\": 4, "
                                     "\"tid\": 1, \"pid\": \"CPU functions\", \"args\": {}}]");
    expect_refused(texts, IW_ERR_UNSUPPORTED, "without Kineto");
}

/* ---- files of a real PyTorch ---- */

static void read_real(const char *folder, struct iwi_visits *visits)
{
    char paths[2][256];
    const char *both[2] = {paths[0], paths[1]};
    struct iwt_log l;
    iw_status status;

    for (unsigned rank = 0; rank < 2; rank++) {
        (void)snprintf(paths[rank], sizeof paths[rank], IW_TEST_DATA "/kineto/%s/rank%u.pt.trace.json.gz",
                       folder, rank);
    }
    iwt_log_init(&l);
    iwi_visits_init(visits, &l.log, "Kineto");
    status = iwi_kineto_read(&l.log, both, 2, visits);
    if (status != IW_OK) {
        print_message("%s", l.text);
    }
    assert_ok(status);
}

/* Pauses of a cause on a rank, and their length together. */
static size_t count_pauses(const struct iwi_visits *visits, uint8_t cause, uint32_t rank, iw_time *sum_ps_p)
{
    size_t count = 0;

    *sum_ps_p = 0;
    for (size_t i = 0; i < visits->pause_count; i++) {
        const struct iwi_pause *pause = &visits->pauses[i];

        if (pause->cause == cause && pause->rank == rank) {
            count++;
            *sum_ps_p += pause->end_ps - pause->begin_ps;
        }
    }
    return count;
}

/* One all-reduce in each of 12 steps, which both ranks leave within a millisecond. */
static void check_real(const struct iwi_visits *visits)
{
    assert_int_equal(visits->rank_count, 2);
    assert_int_equal(visits->step_count, 24);
    assert_int_equal(visits->encounter_count, 12);
    assert_int_equal(visits->unmatched, 0);
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_visit *both = &visits->visits[visits->encounters[i].first];

        assert_int_equal(visits->encounters[i].count, 2);
        assert_int_equal(both[0].step, both[1].step);
        assert_int_equal(both[0].op, IWI_VISIT_ALLREDUCE);
    }
}

static void collections_of_a_real_run_are_named(void **state)
{
    struct iwi_visits visits;
    iw_time sum_ps;

    (void)state;
    read_real("gc", &visits);
    check_real(&visits);
    assert_int_equal(count_pauses(&visits, IWI_PAUSE_GC, 1, &sum_ps), 4);
    assert_int_equal(count_pauses(&visits, IWI_PAUSE_GC, 0, &sum_ps), 0);
    iwi_visits_release(&visits);
}

static void late_batches_of_a_real_run_are_named(void **state)
{
    struct iwi_visits visits;
    iw_time late_ps, sum_ps;

    (void)state;
    read_real("loader", &visits);
    check_real(&visits);
    assert_int_equal(count_pauses(&visits, IWI_PAUSE_LOADER, 1, &late_ps), 12);
    (void)count_pauses(&visits, IWI_PAUSE_LOADER, 0, &sum_ps);
    assert_true(late_ps > 5 * sum_ps);
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_is_in_no_operator_when_a_collective_ends_waited_for_it),
        cmocka_unit_test(shapes_tell_sizes),
        cmocka_unit_test(collectives_keep_the_order_of_their_calls),
        cmocka_unit_test(operators_that_wait_are_told_from_those_that_work),
        cmocka_unit_test(what_cannot_be_told_is_refused),
        cmocka_unit_test(collections_of_a_real_run_are_named),
        cmocka_unit_test(late_batches_of_a_real_run_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
