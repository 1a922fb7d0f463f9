/* What `waits` says of runs of different kinds, and its map at a terminal.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/waits.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { RANKS = 4, COLUMNS = 2 };

/* 4 ranks on two nodes, 10 s; they wait for 4 of 40 s. */
struct sample {
    iw_waits waits;
    iw_waits_rank ranks[RANKS];
    iw_waits_group nodes[2];
    iw_waits_change changes[1];
    double waiting[RANKS][COLUMNS], caused[RANKS][COLUMNS], times_ns[COLUMNS];
    iw_waits_row map[RANKS];
};

static void init(struct sample *s)
{
    static char name[] = "run", lacks[] = "";

    memset(s, 0, sizeof *s);
    for (uint32_t r = 0; r < RANKS; r++) {
        s->ranks[r] = (iw_waits_rank){.rank = 3 - r,
                                      .stage = -1,
                                      .caused_ns = r == 0 ? 3e9 : 0.3e9,
                                      .peers = 3,
                                      .longer_ns = r == 0 ? 0.75e9 : 0.075e9,
                                      .met = 400,
                                      .last = r == 0 ? 364 : 12,
                                      .usual_late_ns = r == 0 ? 1e6 : 0.0,
                                      .chance = r == 0 ? 1e-9 : 1.0,
                                      .to_ns = 10e9};
        (void)snprintf(s->ranks[r].node, sizeof s->ranks[r].node, "node%u", (3 - r) / 2);
        s->map[r] = (iw_waits_row){r, 1, COLUMNS, s->waiting[r], s->caused[r]};
        s->waiting[r][0] = r == 3 ? 0.0 : 0.2;
    }
    s->caused[3][0] = 0.2;
    s->waits = (iw_waits){.name = name,
                          .origin = "OTF2",
                          .lacks = lacks,
                          .rank_count = RANKS,
                          .collectives = 400,
                          .run_ns = 10e9,
                          .waiting_ns = 4e9,
                          .clock_ns = 2e3,
                          .block_count = 40,
                          .least_share = 0.01,
                          .top = 10,
                          .iterations = COLUMNS,
                          .iterated = "steps",
                          .iteration_ns = 5e9,
                          .ranks_count = RANKS,
                          .node_count = 2,
                          .time_count = COLUMNS,
                          .row_count = RANKS,
                          .ranks = s->ranks,
                          .nodes = s->nodes,
                          .changes = s->changes,
                          .times_ns = s->times_ns,
                          .iterations_per_column = 1,
                          .iterations_per_time = 1,
                          .map = s->map};
}

static char *written(const struct sample *s, iw_doc_format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_waits_doc(&s->waits), format, NULL, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_says(const struct sample *s, const char *phrase)
{
    char *text = written(s, IW_DOC_TEXT);
    size_t kept = 0;

    for (size_t i = 0; text[i] != '\0'; i++) { /* lines of items are indented by two */
        const bool is_item = text[i] == '\n' && strncmp(&text[i + 1], "  ", 2) == 0 && text[i + 3] != ' ';

        text[kept++] = (char)(text[i] == '\n' ? ' ' : text[i]);
        i += is_item ? 2 : 0;
    }
    text[kept] = '\0';
    if (strstr(text, phrase) == NULL) {
        fail_msg("'%s' is not in: %s", phrase, text);
    }
    free(text);
}

static void the_culprit_is_named_with_its_node(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    s.ranks[0].pattern = IW_WAITS_PERSISTENT;
    s.waits.named = 1;
    assert_says(&s, "Rank 3 on node1 makes the others wait: it is busy longer than the median of its 3 "
                    "peers, by 7.50 % of the run, and comes last to 91.0 % of 400 collectives. Remedy: give "
                    "it less work, or check its node ('idlewave check').");
}

static void a_period_is_told_with_its_time(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    s.ranks[0].pattern = IW_WAITS_PERIOD;
    s.ranks[0].from_ns = 2e9;
    s.ranks[0].to_ns = 5e9;
    s.waits.named = 1;
    s.waits.change_count = 1;
    s.changes[0] = (iw_waits_change){213, 10.3e6, 12.1e6, 1e-9};
    assert_says(&s, "From 2 s to 5 s of the run, rank 3 on node1 makes the others wait: it is busy longer");
    assert_says(&s, "From iteration 213 on, iterations take 12.1 ms instead of 10.3 ms.");
}

static void several_on_one_node_are_that_node(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    s.ranks[0].pattern = s.ranks[1].pattern = IW_WAITS_PERSISTENT;
    s.waits.named = 2;
    assert_says(&s, "2 ranks on node1 make the others wait: they are busy longer than their peers (rank 3 by "
                    "7.50 % of the run, rank 2 by 0.75 %). Remedy: give them less work, or check their node");
    s.ranks[2].pattern = IW_WAITS_PERSISTENT;
    s.waits.named = 3;
    assert_says(&s, "3 ranks make the others wait: they are busy longer than their peers (rank 3 by 7.50 % "
                    "of the run, rank 2 by 0.75 %, rank 1 by 0.75 %). Remedy: give them less work, or check "
                    "their nodes ('idlewave check').  Who waits");
}

static void nobody_is_named_without_need(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    assert_says(&s, "no rank stands out: rank 3 on node1 is busy longer than its peers by only 7.50 % of the "
                    "run (limit 1.00 %).");
    s.ranks[0].chance = 0.3;
    assert_says(&s, "Ranks wait for each other 10.0 % of their time, but no rank stands out");
    s.waits.waiting_ns = 1e8;
    assert_says(&s, "Ranks hardly wait for each other (0.25 % of their time).");
}

/* Of 40 s: two groups alike, of which one transfers for 8 s, the other for 1. */
static void a_slow_link_is_no_change_of_ranks(void **state)
{
    iw_waits_group groups[] = {{.name = "dp 0", .ranks = 2, .encounters = 40, .transfer_ns = 1e9},
                               {.name = "dp 1", .ranks = 2, .encounters = 40, .transfer_ns = 8e9},
                               {.name = "world", .ranks = 4, .encounters = 40, .transfer_ns = 5e9}};
    struct sample s;

    (void)state;
    init(&s);
    s.ranks[0].chance = 0.3;
    s.waits.imbalance_ns = 3.8e9;
    s.waits.noise_ns = 0.2e9;
    assert_says(&s, "Ranks wait for each other 10.0 % of their time, mostly the same ones every time, but no "
                    "rank is busy longer than its peers. The layout makes them wait, or longer transfers in "
                    "some groups.  Who waits");
    s.waits.groups = groups;
    s.waits.group_count = 3;
    assert_says(&s, "busy longer than its peers. Transfers of group 'dp 1' take 20.0 % of all ranks' time "
                    "(similar groups: at most 2.50 "
                    "%); check its links.");
    s.waits.imbalance_ns = 0.1e9;
    assert_says(&s, "no rank stands out: different ranks arrive last.  Who waits");
    s.waits.unsplit_ns = 1e9;
    assert_says(&s,
                "no rank stands out; trace more iterations to see whether the same ones wait every time.");
}

static void missing_ranks_are_told_first(void **state)
{
    struct sample s;
    char *text;

    (void)state;
    init(&s);
    s.waits.waiting_ns = 1e8;
    s.waits.transfer_ns = 3.2e9;
    s.waits.run_ranks = 5;
    text = written(&s, IW_DOC_TEXT);
    assert_ptr_equal(strstr(text, "Only 4 of 5 ranks were traced:"), text);
    free(text);
    assert_says(&s, "up to 8.00 % of their time, counted as transfer, may be waiting for the missing one. "
                    "The traced ranks hardly wait for each other (0.25 % of their time).");
}

static void pauses_that_cost_much_are_in_the_verdict(void **state)
{
    iw_waits_cause causes[] = {{"data loading", 1, 1e8, 1e8}, {"garbage collection", 6, 5e8, 2e9}};
    iw_waits_cost cost = {
        .cause = "garbage collection", .where = "everywhere", .ranks = 1, .share = {0.01, NAN, NAN}};
    struct sample s;

    (void)state;
    init(&s);
    s.waits.causes = causes;
    s.waits.cause_count = 2;
    assert_says(&s, "Ranks lost 5.00 % of their time to garbage collection; remedy: collect garbage on all "
                    "ranks in the same step.  Who waits");
    s.waits.costs = &cost;
    s.waits.cost_count = 1;
    assert_says(
        &s, "to garbage collection, but without these pauses steps would be only 1.00 % shorter.  Who waits");
    cost.share.value = 0.04;
    assert_says(&s, "to garbage collection; remedy:");
}

static void one_rank_has_bounds(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    s.waits.has_bounds_only = true;
    s.waits.rank_count = 1;
    s.waits.waiting_least_ns = 1e9;
    s.waits.waiting_most_ns = 3e9;
    assert_says(&s, "The traced rank spent between 10.0 % and 30.0 % of 10 s waiting in collectives.");
    s.waits.waiting_least_ns = 0.0;
    assert_says(&s, "The traced rank spent at most 30.0 % of 10 s waiting in collectives. Trace the other "
                    "ranks, too, to see who made it wait.");
}

static void wrong_clocks_are_told(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    s.ranks[0].pattern = IW_WAITS_PERSISTENT;
    s.waits.named = 1;
    s.waits.clock_ns = 3e6;
    assert_says(&s, "Rank 3 is usually less late than that at collectives (1.00 ms)");
    s.waits.clock_ns = 30e6;
    assert_says(&s, "Waits are shorter than that on average, and may be errors of the clocks.");
    s.waits.clock_ns = NAN;
    assert_says(&s, "they are taken as right");
}

static void the_map_shows_who_waits_for_whom(void **state)
{
    struct sample s;

    (void)state;
    init(&s);
    assert_says(&s, "   3 ┤DDDD");
    assert_says(&s, "   0 ┤####");
}

static void pages_have_both_pictures(void **state)
{
    struct sample s;
    char *page;

    (void)state;
    init(&s);
    page = written(&s, IW_DOC_HTML);
    assert_non_null(strstr(page, "Who waits, and for whom"));
    assert_non_null(strstr(page, "Time of an iteration"));
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_culprit_is_named_with_its_node),
        cmocka_unit_test(a_period_is_told_with_its_time),
        cmocka_unit_test(several_on_one_node_are_that_node),
        cmocka_unit_test(nobody_is_named_without_need),
        cmocka_unit_test(a_slow_link_is_no_change_of_ranks),
        cmocka_unit_test(missing_ranks_are_told_first),
        cmocka_unit_test(pauses_that_cost_much_are_in_the_verdict),
        cmocka_unit_test(one_rank_has_bounds),
        cmocka_unit_test(wrong_clocks_are_told),
        cmocka_unit_test(the_map_shows_who_waits_for_whom),
        cmocka_unit_test(pages_have_both_pictures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
