/* Sources that hit nodes together are found, with what they do; independent ones get no more findings than
 * stated. The laws and sizes here are others than those that the test was written with.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/coincidence.h>

#include "core/base/rng.h"
#include "support/made_recording.h"
#include "support/support.h"

/* Arguments change them: fleets of each kind, and the rate that is asked for. */
static uint64_t fleets_each = 12;
static double false_alarm_rate = 0.1;

enum { MOST_NODES = 64 };

static const double S = 1e9;

enum law { UNIFORM, WEIBULL_BURSTS, SAME_PERIOD, JITTERED_PERIOD, PAIRS, RARE, LAWS };

static const char *const law_names[LAWS] = {"uniform gaps",    "bursts",           "same period",
                                            "jittered period", "pairs of detours", "rare"};

struct stream {
    struct iwi_draw_id draw;
    uint64_t index;
};

static double unit(struct stream *s)
{
    return iwi_draw_unit(s->draw, s->index++);
}

/* The next detour of a source after `t`; each law comes about `rate` times a second. */
static double next_of(enum law law, struct stream *s, double t, double rate)
{
    switch (law) {
    case UNIFORM: return t + 2.0 * unit(s) * S / rate;
    case WEIBULL_BURSTS: return t + 0.11 * pow(-log(unit(s)), 3.0) * S / rate + 3000.0;
    case SAME_PERIOD: return t + S / rate;
    case JITTERED_PERIOD: return t + (0.9 + 0.2 * unit(s)) * S / rate;
    case PAIRS: return t + (unit(s) < 0.5 ? 0.01 : 1.99) * S / rate;
    default: return t - log(unit(s)) * 20.0 * S / rate;
    }
}

/* A fleet whose nodes have one or two sources of a law, each for itself. */
static size_t made_fleet(enum law law, size_t nodes, double seconds, double rate, uint64_t seed,
                         iw_recording **recordings)
{
    for (uint32_t node = 0; node < nodes; node++) {
        struct stream s = {{.seed = seed, .purpose = IWI_DRAW_TEST, .rank = node}, 0};
        const double start_s = 1e6 + 0.3 * unit(&s);
        char text[32];
        const int64_t length_ns = (int64_t)(seconds * S);

        recordings[node] = iwt_recording(2, length_ns);
        for (size_t cpu = 0; cpu < 2; cpu++) {
            const uint32_t source =
                iwt_source(recordings[node], IW_CLASS_THREAD, cpu == 0 ? "daemon" : "helper");
            double end = 0.0;

            /* long before the recording, or all nodes would begin with the same step */
            for (double t = next_of(law, &s, -(20.0 + 20.0 * unit(&s)) * S / rate, rate);
                 t < seconds * S - 1e6; t = next_of(law, &s, t, rate)) {
                if (t > end + 1.0) {
                    iwt_detour(recordings[node], cpu, (int64_t)t, 2000, source);
                    end = t + 2000.0;
                }
            }
        }
        snprintf(text, sizeof text, "%lld", (long long)(start_s * S));
        iwt_attribute(recordings[node], "start_wall_ns", text);
    }
    return nodes;
}

static const char *const *node_names(void)
{
    static const char *names[MOST_NODES];

    for (size_t i = 0; i < MOST_NODES; i++) {
        names[i] = "node";
    }
    return names;
}

static iw_coincidence *find(iw_recording **recordings, size_t count, double false_alarms, uint64_t seed)
{
    iw_coincidence_opts opts = IW_COINCIDENCE_OPTS_INIT;
    iw_coincidence *found = NULL;

    opts.false_alarms = false_alarms;
    opts.seed = seed;
    assert_ok(iw_coincidence_find(NULL, node_names(), recordings, count, &opts, &found));
    return found;
}

/* Of `fleets` at a rate of a, a fleets are expected at most, and 3.3 standard deviations more are one in two
 * thousand. */
static void independent_nodes_get_few_findings(void **state)
{
    static const size_t sizes[] = {2, 3, 17, 64};
    int found_in = 0, fleets = 0;

    (void)state;
    for (unsigned law = 0; law < LAWS; law++) {
        int own = 0;

        for (uint64_t i = 0; i < fleets_each; i++) {
            iw_recording *recordings[MOST_NODES];
            const size_t nodes = sizes[i % 4];
            const size_t count = made_fleet((enum law)law, nodes, nodes > 20 ? 61.0 : 95.0,
                                            nodes > 20 ? 3.7 : 7.3, 1000 * law + i, recordings);
            iw_coincidence *found = find(recordings, count, false_alarm_rate, 1 + i);

            own += found->found_count > 0;
            assert_int_equal(found->node_count, nodes);
            iw_coincidence_free(found);
        }
        print_message("%s: %d of %llu fleets\n", law_names[law], own, (unsigned long long)fleets_each);
        found_in += own;
        fleets += (int)fleets_each;
    }
    assert_true(found_in <= false_alarm_rate * fleets + 3.3 * sqrt(false_alarm_rate * fleets));
}

/* ---- what coincides ---- */

/* Appends to CPU 0 at an instant of the wall clock, if the node watched it; after all detours that it has. */
static void hit(iw_recording *recording, double wall_s, uint32_t source)
{
    const double start_s = strtod(iw_recording_get(recording, "start_wall_ns"), NULL) / S;
    const double t = (wall_s - start_s) * S;

    if (t > 0.0 && t + 100000.0 < (double)recording->cpus[2].length_ns) {
        iwt_detour(recording, 2, (int64_t)t, 50000, source);
    }
}

/* 9 nodes for 100 s, whose third CPU is for what coincides. */
static void made_quiet_fleet(iw_recording **recordings, size_t nodes)
{
    for (size_t node = 0; node < nodes; node++) {
        char text[32];

        recordings[node] = iwt_recording(3, INT64_C(100000000000));
        snprintf(text, sizeof text, "%lld", (long long)(1e6 * S + (double)node * 0.21 * S));
        iwt_attribute(recordings[node], "start_wall_ns", text);
    }
}

static void a_daemon_that_wakes_up_together_is_found(void **state)
{
    enum { NODES = 9, PART = 6 };
    iw_recording *recordings[NODES];
    iw_coincidence *found;
    const iw_coincidence_source *cron;

    (void)state;
    made_quiet_fleet(recordings, NODES);
    for (uint32_t node = 0; node < NODES; node++) {
        struct stream s = {{.seed = 77, .purpose = IWI_DRAW_TEST, .rank = node}, 0};
        char name[16];
        uint32_t cron_number;

        snprintf(name, sizeof name, "cron/%u", node);
        cron_number = iwt_source(recordings[node], IW_CLASS_THREAD, name);
        for (int k = 0; k < 14; k++) { /* every 7 s, within 4 ms, on six of the nodes */
            hit(recordings[node],
                1e6 + 2.5 + 7.0 * k + 0.004 * unit(&s) + (node < PART ? 0.0 : 6.0 * unit(&s)), cron_number);
        }
    }
    found = find(recordings, NODES, 0.01, 1);
    assert_int_equal(found->found_count, 1);
    cron = &found->sources[0];
    assert_string_equal(cron->source.name, "cron/*");
    assert_true(cron->is_coincident && cron->p < 0.005);
    assert_in_range(cron->period_ns, 6990000000, 7010000000);
    assert_int_equal(cron->nodes, NODES);
    assert_int_equal(cron->nodes_together, PART);
    assert_int_equal(cron->width_ns, 30000000);
    assert_in_range(cron->instant_count, 13, 14);
    assert_in_range((uint64_t)cron->instants[0].wall_ns, (uint64_t)((1e6 + 2.5) * S),
                    (uint64_t)((1e6 + 2.51) * S));
    assert_int_equal(cron->part_count, IW_COINCIDENCE_PARTS);
    /* 6 of 9 nodes: 15 of 36 pairs */
    assert_true(cron->together > 0.25 && cron->together < 0.55);
    iw_coincidence_free(found);
}

/* At instants without any order. */
static void instants_without_a_period_are_listed(void **state)
{
    static const double at_s[] = {4.1, 9.7, 31.2, 37.9, 66.6, 90.3};
    enum { NODES = 4 };
    iw_recording *recordings[NODES];
    iw_coincidence *found;

    (void)state;
    made_quiet_fleet(recordings, NODES);
    for (uint32_t node = 0; node < NODES; node++) {
        const uint32_t number = iwt_source(recordings[node], IW_CLASS_IRQ, "probe");

        for (size_t i = 0; i < 6; i++) {
            hit(recordings[node], 1e6 + at_s[i], number);
        }
    }
    found = find(recordings, NODES, 0.01, 1);
    assert_int_equal(found->found_count, 1);
    assert_int_equal(found->sources[0].period_ns, 0);
    assert_int_equal(found->sources[0].instant_count, 6);
    assert_int_equal(found->sources[0].instants[2].nodes, NODES);
    assert_true(found->sources[0].together > 0.9);
    iw_coincidence_free(found);
}

/* More of them, as two nodes say less than four. */
static void two_nodes_are_enough(void **state)
{
    iw_recording *recordings[2];
    iw_coincidence *found;

    (void)state;
    made_quiet_fleet(recordings, 2);
    for (uint32_t node = 0; node < 2; node++) {
        const uint32_t number = iwt_source(recordings[node], IW_CLASS_IRQ, "probe");

        for (uint64_t i = 0; i < 24; i++) {
            hit(recordings[node], 1e6 + 2.0 + 4.0 * (double)i + (double)(i * i % 7) * 0.3, number);
        }
    }
    found = find(recordings, 2, 0.01, 1);
    assert_int_equal(found->found_count, 1);
    assert_int_equal(found->sources[0].nodes, 2);
    iw_coincidence_free(found);
}

static void recordings_without_a_clock_are_left_out(void **state)
{
    iw_recording *recordings[3];
    iw_coincidence_opts opts = IW_COINCIDENCE_OPTS_INIT;
    iw_coincidence *found = NULL;
    struct iwt_log l;

    (void)state;
    (void)made_fleet(UNIFORM, 2, 61.0, 5.0, 3, recordings);
    recordings[2] = iwt_recording(1, 1000);
    found = find(recordings, 3, 0.01, 1);
    assert_int_equal(found->node_count, 2);
    assert_int_equal(found->clock_less, 1);
    assert_non_null(recordings[2]); /* it was not taken */
    assert_null(recordings[0]);
    iw_coincidence_free(found);
    iwt_log_init(&l);
    assert_status(iw_coincidence_find(&l.log, node_names(), &recordings[2], 1, &opts, &found), IW_ERR_RANGE);
    iwt_assert_logged(&l, "0 recordings have a");
    iw_recording_free(recordings[2]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_nodes_get_few_findings),
        cmocka_unit_test(a_daemon_that_wakes_up_together_is_found),
        cmocka_unit_test(instants_without_a_period_are_listed),
        cmocka_unit_test(two_nodes_are_enough),
        cmocka_unit_test(recordings_without_a_clock_are_left_out),
    };

    fleets_each = argc > 1 ? strtoull(argv[1], NULL, 10) : fleets_each;
    false_alarm_rate = argc > 2 ? strtod(argv[2], NULL) : false_alarm_rate;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
