/* What `explain` says of runs of different kinds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/blame.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* 4 ranks, 10 ms, of which a daemon costs 2 ms. */
struct sample {
    iw_blame blame;
    iw_blame_source sources[2];
    iw_blame_call calls[2];
    iw_blame_hit hits[2];
    iw_remedy remedy;
};

static void init(struct sample *s)
{
    static char name[] = "run";

    memset(s, 0, sizeof *s);
    s->remedy = (iw_remedy){.name = "housekeeping", .how = "a CPU for it"};
    s->sources[0] = (iw_blame_source){.name = "thread/cron",
                                      .detours = 7,
                                      .lost_ns = 3e6,
                                      .path_ns = 2.5e6,
                                      .saving_ns = {2e6, 1.5e6, 2.4e6},
                                      .remedy = &s->remedy};
    s->sources[1] = (iw_blame_source){
        .name = "irq/timer", .detours = 9, .lost_ns = 4e5, .path_ns = 1e5, .saving_ns = {-2e3, NAN, NAN}};
    s->calls[0] = (iw_blame_call){.name = "MPI_Allreduce",
                                  .comm_size = 4,
                                  .comm_name = "world",
                                  .delays = 5,
                                  .lost_ns = 2.4e6,
                                  .largest = "thread/cron"};
    s->calls[1] = (iw_blame_call){.name = "MPI_Bcast",
                                  .comm = 3,
                                  .comm_size = 2,
                                  .comm_name = "rows",
                                  .delays = 1,
                                  .lost_ns = 2e5,
                                  .largest = "irq/timer"};
    s->hits[0] = (iw_blame_hit){.source = "thread/cron",
                                .rank = 1,
                                .at_ns = 3e6,
                                .lost_ns = 9e5,
                                .call = "MPI_Allreduce",
                                .iteration = 12,
                                .waiter = 2,
                                .waited_in = "MPI_Recv",
                                .waiter_iteration = 8};
    s->hits[1] = (iw_blame_hit){.source = "irq/timer",
                                .rank = 3,
                                .at_ns = 5e6,
                                .lost_ns = 2e5,
                                .is_in_call = true,
                                .call = "MPI_Bcast",
                                .iteration = 1,
                                .waiter = 3};
    s->blame = (iw_blame){.name = name,
                          .ranks = 4,
                          .watched_ranks = 4,
                          .run_ns = 1e7,
                          .path_computing_ns = 6e6,
                          .path_calls_ns = 1.4e6,
                          .path_lost_ns = 2.6e6,
                          .path_jumps = 11,
                          .last_rank = 2,
                          .without_all_ns = {7.5e6, NAN, NAN},
                          .unexplained_share = 0.03,
                          .attribution = "tracefs",
                          .clock_error_ns = 40,
                          .source_count = 2,
                          .call_count = 2,
                          .hit_count = 2,
                          .sources = s->sources,
                          .by_call = s->calls,
                          .hits = s->hits};
}

/* Lines as one, gaps as one blank. */
static char *said(const struct sample *s)
{
    char *text = NULL;
    size_t size = 0, kept = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_blame_doc(&s->blame), IW_DOC_TEXT, NULL, out));
    assert_int_equal(fclose(out), 0);
    for (size_t i = 0; text[i] != '\0'; i++) {
        const char c = text[i] == '\n' ? ' ' : text[i];

        if (c != ' ' || kept == 0 || text[kept - 1] != ' ') {
            text[kept++] = c;
        }
    }
    text[kept] = '\0';
    return text;
}

static void assert_says(const struct sample *s, const char *phrase)
{
    char *text = said(s);

    if (strstr(text, phrase) == NULL) {
        fail_msg("'%s' is not in: %s", phrase, text);
    }
    free(text);
}

static void assert_is_silent_of(const struct sample *s, const char *phrase)
{
    char *text = said(s);

    assert_null(strstr(text, phrase));
    free(text);
}

static void the_dearest_source_is_named_with_its_remedy(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    assert_says(&s, "The run took 10 ms; without thread/cron it would have taken 2 ms less (20.0 %; 95 % CI "
                    "for another run: 1.5 ms to 2.4 ms). Remedy: housekeeping.");
    assert_says(
        &s, "The critical path ends on rank 2 and changes ranks 11 times. It consists of 6 ms computing, 1.4 "
            "ms in calls, and 2.6 ms lost to detours. Without any detour the run would have taken 7.5 ms.");
    assert_says(&s, "Remedy against thread/cron: a CPU for it.");
}

static void a_saving_within_chance_is_said_to_be(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    s.sources[0].saving_ns.low = 0.0;
    assert_says(&s, "2 ms less (20.0 %), which is not significant: runs differ by more than that.");
    assert_is_silent_of(&s, "Remedy");
}

static void a_run_that_nothing_delayed_is_said_to_be(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    s.sources[0].saving_ns.value = 0.0;
    assert_says(&s, "The run took 10 ms; no kernel event delayed it.");
    s.blame.source_count = s.blame.call_count = s.blame.hit_count = 0;
    assert_says(&s, "The run took 10 ms; no kernel event delayed it.");
    assert_is_silent_of(&s, "Sources");
    assert_is_silent_of(&s, "Calls that were delayed");
    assert_is_silent_of(&s, "The worst detours");
}

static void sources_calls_and_hits_have_a_row_each(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    assert_says(
        &s, "thread/cron 2.00 ms 1.50 to 2.40 ms 2.50 ms 3.00 ms 7 irq/timer -2.00 us - 100 us 400 us 9 ");
    assert_says(&s, "MPI_Allreduce world 5 2.40 ms thread/cron MPI_Bcast rows (2 ranks) 1 200 us irq/timer ");
    assert_says(&s, "3.00 ms 900 us thread/cron 1 before MPI_Allreduce 12 rank 2 in MPI_Recv 8 "
                    "5.00 ms 200 us irq/timer 3 in MPI_Bcast 1 itself ");
}

static void how_sure_it_is_follows_from_what_was_seen(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    assert_says(&s, "share a clock (CLOCK_MONOTONIC) to within 40 ns; kernel events come from tracefs.");
    assert_says(&s, "computing was 3.00 % slower than the same computation at its best");
    assert_is_silent_of(&s, "were watched");
    assert_is_silent_of(&s, "kernel events were lost");
    assert_is_silent_of(&s, "were not followed");
    s.blame.unexplained_share = NAN;
    s.blame.watched_ranks = 3;
    s.blame.events_lost = 1;
    s.blame.unordered = 6;
    assert_says(&s, "variation of computing itself, which is unknown because no computation was repeated.");
    assert_says(&s, "Only 3 of 4 ranks were watched; what the others lost counts as computing.");
    assert_says(&s, "1 kernel event was lost, so some detours are missing.");
    assert_says(&s, "By the clocks, 6 waits ended before the awaited event began; they were not followed.");
    s.blame.unordered = 1;
    assert_says(&s, "By the clocks, 1 wait ended before the awaited event began; it was not followed.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dearest_source_is_named_with_its_remedy),
        cmocka_unit_test(a_saving_within_chance_is_said_to_be),
        cmocka_unit_test(a_run_that_nothing_delayed_is_said_to_be),
        cmocka_unit_test(sources_calls_and_hits_have_a_row_each),
        cmocka_unit_test(how_sure_it_is_follows_from_what_was_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
