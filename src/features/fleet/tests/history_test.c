/* Histories of fleets: what changed is told, and what did not rarely is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/history.h>

#include "features/fleet/node_digest.h"
#include "support/draws.h"
#include "support/support.h"

static const int64_t WEEK_NS = INT64_C(604800) * 1000000000, FIRST_NS = INT64_C(1788739200) * 1000000000;
enum { SOURCES = 4 };

/* Logarithms: what nodes, weeks, and nodes from week to week differ by; the last week's change of source 0 on
 * all nodes, and of source 1 on node 3. */
struct made {
    size_t nodes, weeks;
    double of_nodes, of_weeks, of_both;
    double fleet_factor, node_factor;
    uint64_t seed;
};

/* One value for each (a, b, source). */
static double drawn(const struct made *m, size_t a, size_t b, size_t source)
{
    uint64_t state = m->seed * 1000003 + a * 7919 + b * 104729 + source * 1299709;

    (void)iwt_unit(&state);
    return iwt_normal(&state);
}

static void add_digest(iw_history *history, const struct made *m, size_t node, size_t week)
{
    const bool is_last = week + 1 == m->weeks;
    struct iwi_digest_counter all = {.by_length = {0}};
    iw_digest *digest = NULL;
    char name[32];

    snprintf(name, sizeof name, "n%02zu", node);
    assert_ok(iwi_digest_new(NULL, name, &digest));
    digest->start_ns = FIRST_NS + (int64_t)week * WEEK_NS + (int64_t)node * 1000000000;
    assert_ok(iwi_digest_add_cpu(NULL, digest, 0, INT64_C(60000000000)));
    for (size_t s = 0; s < SOURCES; s++) {
        const double log_share = log(0.002) + m->of_nodes * drawn(m, node, 1000, s) +
                                 m->of_weeks * drawn(m, 2000, week, s) + m->of_both * drawn(m, node, week, s);
        const double factor = is_last && s == 0                ? m->fleet_factor
                              : is_last && s == 1 && node == 3 ? m->node_factor
                                                               : 1.0;
        struct iwi_digest_counter counter = {.by_length = {0}};
        iw_source source = {.kind = IW_CLASS_THREAD};

        snprintf(source.name, sizeof source.name, "source %c", (char)('a' + s));
        assert_ok(iwi_digest_add_source(NULL, digest, &source));
        for (int i = 0; i < 40; i++) {
            iwi_digest_count(&counter, i / 40.0, factor * exp(log_share) * 60e9 / 40.0);
            iwi_digest_count(&all, i / 40.0, factor * exp(log_share) * 60e9 / 40.0);
        }
        assert_ok(iwi_digest_put(NULL, digest, s + 1, &counter));
    }
    assert_ok(iwi_digest_put(NULL, digest, 0, &all));
    assert_ok(iw_history_add(NULL, history, digest));
    iw_digest_free(digest);
}

static iw_history *made(const struct made *m, int64_t change_ns)
{
    iw_history_opts opts = IW_HISTORY_OPTS_INIT;
    iw_history *history = NULL;

    opts.change_ns = change_ns;
    assert_ok(iw_history_new(NULL, "some", &history));
    for (size_t week = m->weeks; week-- > 0;) {
        for (size_t node = 0; node < m->nodes; node++) {
            add_digest(history, m, node, week);
        }
    }
    assert_ok(iw_history_judge(NULL, history, &opts));
    return history;
}

static void a_change_of_the_fleet_is_told_with_its_size(void **state)
{
    const struct made m = {20, 6, 0.3, 0.05, 0.1, 2.0, 1.0, 5};
    iw_history *history = made(&m, 0);
    const iw_history_change *c;

    (void)state;
    assert_int_equal(history->period_count, 6);
    assert_int_equal(history->node_count, 20);
    assert_int_equal(history->before_count, 5);
    assert_true(history->change_ns == FIRST_NS + 5 * WEEK_NS);
    assert_int_equal(history->change_count, 1);
    c = &history->changes[0];
    assert_string_equal(c->source.name, "source a");
    assert_true(c->factor.low < 2.0 && c->factor.high > 2.0 && c->factor.low > 1.4);
    assert_true(c->after > 1.5 * c->before);
    assert_int_equal(history->changed_node_count, 0);
    iw_history_free(history);
}

static void a_node_that_changed_alone_is_told(void **state)
{
    const struct made m = {20, 4, 0.3, 0.05, 0.1, 1.0, 6.0, 6};
    iw_history *history = made(&m, 0);

    (void)state;
    assert_int_equal(history->change_count, 0);
    assert_int_equal(history->changed_node_count, 1);
    assert_string_equal(history->changed_nodes[0].name, "n03");
    assert_string_equal(history->changed_nodes[0].source.name, "source b");
    assert_true(history->changed_nodes[0].factor > 4.0 && history->changed_nodes[0].factor < 9.0);
    iw_history_free(history);
}

static void periods_are_counted_from_the_change(void **state)
{
    const struct made m = {12, 4, 0.3, 0.05, 0.1, 1.0, 1.0, 7};
    const int64_t change_ns = FIRST_NS + WEEK_NS + WEEK_NS / 2;
    iw_history *history = made(&m, change_ns);

    (void)state;
    assert_int_equal(history->before_count, 2);
    assert_int_equal(history->after_count, 2);
    for (size_t i = 0; i < history->period_count; i++) {
        assert_true((history->periods[i].start_ns - change_ns) % WEEK_NS == 0);
        assert_int_equal(history->periods[i].node_count, 12);
    }
    iw_history_free(history);
    history = made(&m, FIRST_NS - WEEK_NS); /* nothing is before */
    assert_int_equal(history->paired_count, 0);
    assert_int_equal(history->change_count, 0);
    iw_history_free(history);
}

/* Nodes and weeks that differ little and much; the last two were not looked at while the rule was written. */
static void histories_without_a_change_get_few_alarms(void **state)
{
    static const struct made kinds[] = {{20, 4, 0.3, 0.05, 0.1, 1.0, 1.0, 1000},
                                        {6, 2, 0.5, 0.1, 0.2, 1.0, 1.0, 2000},
                                        {40, 8, 0.2, 0.15, 0.05, 1.0, 1.0, 3000},
                                        {13, 3, 0.4, 0.12, 0.3, 1.0, 1.0, 4000},
                                        {3, 5, 0.1, 0.08, 0.02, 1.0, 1.0, 5000}};
    const size_t each = *state != NULL ? *(const size_t *)*state : 60;
    double expected = 0.0;
    int alarmed = 0;

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        int of_kind = 0;

        for (uint64_t i = 0; i < each; i++) {
            struct made m = kinds[k];
            iw_history *history;

            m.seed += i;
            history = made(&m, 0);
            of_kind += history->change_count > 0 || history->changed_node_count > 0;
            iw_history_free(history);
            expected += 0.01;
        }
        print_message("%zu nodes, %zu weeks that differ by %.0f %%: %d of %zu\n", kinds[k].nodes,
                      kinds[k].weeks, 100.0 * kinds[k].of_weeks, of_kind, each);
        alarmed += of_kind;
    }
    assert_true(alarmed <= expected + 3.3 * sqrt(expected));
}

static void what_cannot_be_judged_is_refused(void **state)
{
    iw_history_opts opts = IW_HISTORY_OPTS_INIT;
    iw_history *history = NULL;
    iw_digest *digest = NULL;

    (void)state;
    assert_ok(iw_history_new(NULL, "some", &history));
    assert_ok(iwi_digest_new(NULL, "n0", &digest)); /* without a date */
    assert_ok(iwi_digest_add_cpu(NULL, digest, 0, 1000));
    assert_ok(iw_history_add(NULL, history, digest));
    assert_int_equal(history->undated_count, 1);
    assert_status(iw_history_judge(NULL, history, NULL), IW_ERR_RANGE);
    digest->start_ns = 5;
    assert_ok(iw_history_add(NULL, history, digest));
    digest->start_ns = INT64_MAX;
    assert_ok(iw_history_add(NULL, history, digest));
    opts.period_ns = 0;
    assert_status(iw_history_judge(NULL, history, &opts), IW_ERR_RANGE);
    opts.period_ns = 1;
    assert_status(iw_history_judge(NULL, history, &opts), IW_ERR_RANGE);
    iw_digest_free(digest);
    iw_history_free(history);
}

int main(int argc, char **argv)
{
    size_t each = argc > 1 ? strtoull(argv[1], NULL, 10) : 60;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_the_fleet_is_told_with_its_size),
        cmocka_unit_test(a_node_that_changed_alone_is_told),
        cmocka_unit_test(periods_are_counted_from_the_change),
        cmocka_unit_test_prestate(histories_without_a_change_get_few_alarms, &each),
        cmocka_unit_test(what_cannot_be_judged_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
