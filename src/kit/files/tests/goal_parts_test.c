/* Large GOAL texts are read in parts side by side: schedule, messages and lines are those of one reader.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "goal_testing.h"

#include <stdarg.h>

enum { RANKS = 60, OPERATIONS = 4000, PART_BYTES = 4 << 20 };

struct writer {
    char *text;
    size_t used, room;
    uint64_t line; /* of what comes next */
};

static void put(struct writer *w, const char *format, ...) IW_PRINTF(2, 3);

static void put(struct writer *w, const char *format, ...)
{
    va_list args;

    if (w->room - w->used < 256) {
        w->room = 2 * w->room + 4096;
        w->text = realloc(w->text, w->room);
        assert_non_null(w->text);
    }
    va_start(args, format);
    const int length = vsnprintf(w->text + w->used, w->room - w->used, format, args);
    va_end(args);
    for (int k = 0; k < length; k++) {
        w->line += w->text[w->used + (size_t)k] == '\n';
    }
    w->used += (size_t)length;
}

/* A chain, of calcs of different length. */
static void put_block(struct writer *w, uint32_t rank)
{
    put(w, "rank %u {\n", rank);
    for (uint32_t n = 0; n < OPERATIONS; n++) {
        put(w, "label%u: calc %u\n", n, 1 + rank * OPERATIONS + n);
        if (n > 0) {
            put(w, "label%u requires label%u\n", n, n - 1);
        }
    }
    put(w, "}\n");
}

static struct writer begin(void)
{
    struct writer w = {.line = 1};

    put(&w, "num_ranks %d\n", RANKS);
    return w;
}

static struct writer whole(void)
{
    struct writer w = begin();

    for (uint32_t rank = 0; rank < RANKS; rank++) {
        put_block(&w, rank);
    }
    assert_true(w.used > 2 * PART_BYTES);
    return w;
}

static void assert_chains(const struct iwi_schedule *schedule)
{
    assert_int_equal(schedule->ranks, RANKS);
    assert_int_equal(schedule->first_node[RANKS], RANKS * OPERATIONS);
    for (uint64_t node = 0; node < RANKS * OPERATIONS; node++) {
        const uint64_t local = node % OPERATIONS,
                       deps = schedule->first_dep[node + 1] - schedule->first_dep[node];

        assert_int_equal(schedule->nodes[node].amount, (node + 1) * IW_PS_PER_NS);
        assert_int_equal(deps, local > 0);
        if (deps > 0) {
            assert_int_equal(schedule->deps[schedule->first_dep[node]].node, local - 1);
        }
    }
    assert_true(schedule->facts.are_known && schedule->facts.has_phases);
    assert_int_equal(schedule->facts.sends, 0);
}

static void a_large_text_is_read_as_a_small_one(void **state)
{
    struct writer w = whole();
    struct iwi_schedule *schedule;
    struct iwt_log l;

    (void)state;
    assert_ok(read_blob(&l, w.text, w.used, &schedule));
    assert_chains(schedule);
    iwi_schedule_free(schedule);
    free(w.text);
}

/* So the part that begins there is none. */
static void lines_in_comments_begin_no_block(void **state)
{
    struct writer w = begin();
    struct iwi_schedule *schedule;
    struct iwt_log l;

    (void)state;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        put(&w, "/*\n");
        put_block(&w, rank);
        put(&w, "*/\n");
        put_block(&w, rank);
    }
    assert_ok(read_blob(&l, w.text, w.used, &schedule));
    assert_chains(schedule);
    iwi_schedule_free(schedule);
    free(w.text);
}

/* One more line behind all blocks but the last: a place in the last part. */
static void lines_of_messages_are_those_of_the_file(void **state)
{
    static const struct {
        const char *statement, *message;
        iw_status status;
    } faults[] = {
        {"label0: calc 1\nnonsense\n", "expected ':', 'requires' or 'irequires' after a label",
         IW_ERR_FORMAT},
        {"send 1b to 99\n", "peer 99 is not a rank below num_ranks 60", IW_ERR_FORMAT},
        {"label0: calc 1\nlabel0 requires label1\n", "label 'label1' is not defined", IW_ERR_FORMAT},
        {"label0: calc 1\nlabel0: calc 2\n", "label 'label0' is defined", IW_OK}};

    (void)state;
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        struct writer w = begin();
        struct iwi_schedule *schedule = NULL;
        char expected[160];
        struct iwt_log l;

        for (uint32_t rank = 0; rank + 1 < RANKS; rank++) {
            put_block(&w, rank);
        }
        put(&w, "rank %d {\n", RANKS - 1);
        (void)snprintf(expected, sizeof expected, "'t.goal:%llu': %s",
                       (unsigned long long)(w.line + (strchr(faults[k].statement, '\n')[1] != '\0')),
                       k == 0 ? faults[k].message : "rank 59");
        put(&w, "%s}\n", faults[k].statement);
        assert_status(read_blob(&l, w.text, w.used, &schedule), faults[k].status);
        iwt_assert_logged(&l, expected);
        iwt_assert_logged(&l, faults[k].message);
        iwi_schedule_free(schedule);
        free(w.text);
    }
}

static void a_second_block_and_too_many_blocks_are_told(void **state)
{
    struct writer w = whole();
    struct iwi_schedule *schedule = NULL;
    char expected[160];
    struct iwt_log l;

    (void)state;
    (void)snprintf(expected, sizeof expected, "'t.goal:%llu': ignoring text after the last rank's block",
                   (unsigned long long)w.line);
    put_block(&w, 3);
    assert_ok(read_blob(&l, w.text, w.used, &schedule));
    assert_chains(schedule);
    iwt_assert_logged(&l, expected);
    iwi_schedule_free(schedule);
    free(w.text);

    w = begin();
    for (uint32_t rank = 0; rank + 1 < RANKS; rank++) {
        put_block(&w, rank);
    }
    (void)snprintf(expected, sizeof expected, "'t.goal:%llu': rank 3 has a second block",
                   (unsigned long long)w.line);
    put_block(&w, 3);
    assert_status(read_blob(&l, w.text, w.used, &schedule), IW_ERR_FORMAT);
    iwt_assert_logged(&l, expected);
    free(w.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_text_is_read_as_a_small_one),
        cmocka_unit_test(lines_in_comments_begin_no_block),
        cmocka_unit_test(lines_of_messages_are_those_of_the_file),
        cmocka_unit_test(a_second_block_and_too_many_blocks_are_told),
    };

    return cmocka_run_group_tests_name("goal_parts", tests, NULL, NULL);
}
