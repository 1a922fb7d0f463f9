/* What barriers and allreduces pay for recorded noise: numbers that can be told without a simulation, and
 * words. That `simulate` says the same is in src/features/simulate/tests/steady_test.c.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

#include "features/recordings/noise_report.h"

static const int64_t SECOND_NS = 1000000000;

/* So many detours a second of one length on each CPU, at places that do not coincide. */
static iw_recording *ticking(size_t cpus, int64_t seconds, int64_t per_s, int64_t duration_ns)
{
    iw_recording *recording = iwt_recording(cpus, seconds * SECOND_NS);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "tick");

    for (size_t cpu = 0; cpu < cpus; cpu++) {
        for (int64_t i = 0; i < seconds * per_s; i++) {
            iwt_detour(recording, cpu, i * SECOND_NS / per_s + (int64_t)cpu * 123457, duration_ns, tick);
        }
    }
    return recording;
}

static iw_noise_cost cost_of(const iw_recording *recording)
{
    iw_noise_cost cost;

    assert_ok(iwi_noise_cost_find(recording, &cost));
    return cost;
}

/* ---- numbers ---- */

/* Short runs in which detours hardly meet: P ranks lose P times what one of them loses. 0.1 % is 5 % of 50
 * ranks, so that barriers are slow on 64 and not on 32. */
static void few_ranks_lose_what_each_of_them_loses(void **state)
{
    iw_recording *recording = ticking(1, 100, 50, 20000);
    const iw_noise_cost cost = cost_of(recording);

    (void)state;
    assert_string_equal(cost.network, "hdr-fat-tree");
    assert_int_equal(cost.ranks, 1024);
    assert_int_equal(cost.from_ranks, 64);
    assert_false(cost.is_bound || cost.is_rare);
    assert_true(cost.used_ns == 100e9);
    assert_int_equal(cost.repeat, 100);
    /* on 1,024 ranks they meet: one of 20 us each 20 us */
    assert_true(cost.barrier_slowdown.value > 0.5 && cost.barrier_slowdown.value < 1.1);
    assert_true(cost.barrier_slowdown.low < cost.barrier_slowdown.value);
    assert_true(cost.barrier_slowdown.value < cost.barrier_slowdown.high);
    iw_recording_free(recording);
}

static void much_noise_slows_two_ranks(void **state)
{
    iw_recording *recording = ticking(1, 10, 1000, 60000);

    (void)state;
    assert_int_equal(cost_of(recording).from_ranks, 2);
    iw_recording_free(recording);
}

/* 60 %: ten barriers meet as much as a hundred elsewhere, and take as long to simulate. */
static void of_very_noisy_nodes_few_collectives_tell(void **state)
{
    iw_recording *recording = ticking(1, 10, 1000, 600000);
    const iw_noise_cost cost = cost_of(recording);

    (void)state;
    assert_int_equal(cost.repeat, 10);
    assert_true(cost.barrier_slowdown.value > 100.0);
    iw_recording_free(recording);
}

/* 4.2 million detours in 1,000 s. */
static void of_huge_recordings_the_beginning_counts(void **state)
{
    iw_recording *recording = ticking(2, 1000, 2100, 100);
    const iw_noise_cost cost = cost_of(recording);

    (void)state;
    assert_true(cost.used_ns > 952e9 && cost.used_ns < 953e9);
    iw_recording_free(recording);
}

static void little_noise_slows_nobody(void **state)
{
    iw_recording *recording = ticking(2, 100, 10, 100); /* 10^-6 */
    const iw_noise_cost cost = cost_of(recording);

    (void)state;
    assert_int_equal(cost.from_ranks, 0);
    assert_int_equal(cost.most_ranks, 16384);
    assert_true(cost.barrier_slowdown.value < 0.01);
    iw_recording_free(recording);
}

/* 5 ms once in 10 s, on a job that meets 10 s of noise in 10 ms: the next recording may have any. */
static void a_short_recording_gives_lower_bounds(void **state)
{
    iw_recording *recording = ticking(1, 10, 100, 20000);
    iw_noise_cost cost;

    (void)state;
    iwt_detour(recording, 0, 9995000000, 4000000, 0);
    cost = cost_of(recording);
    assert_true(cost.is_bound);
    assert_true(isinf(cost.barrier_slowdown.high) && isinf(cost.allreduce_slowdown.high));
    assert_true(cost.barrier_slowdown.low >= 0.0);
    assert_true(cost.barrier_slowdown.low < cost.barrier_slowdown.value);
    iw_recording_free(recording);
}

/* 5 ms each 3 s: 1,024 ranks are always in some, and a quick simulation meets a few of them at best. */
static void rare_detours_give_lower_bounds(void **state)
{
    iw_recording *recording = iwt_recording(1, 600 * SECOND_NS);
    iw_noise_cost cost;

    (void)state;
    for (int64_t i = 0; i < 200; i++) {
        iwt_detour(recording, 0, i * 3 * SECOND_NS, 5000000, 0);
    }
    cost = cost_of(recording);
    assert_true(cost.is_rare);
    assert_true(isinf(cost.barrier_slowdown.high) && cost.barrier_slowdown.low >= 0.0);
    assert_int_equal(cost.from_ranks, 32); /* 32 x 5 ms / 3 s is 5.3 % */
    iw_recording_free(recording);
}

static void what_cannot_be_simulated_has_no_costs(void **state)
{
    iw_recording *quiet = iwt_recording(1, SECOND_NS), *ftq = iwt_recording(1, SECOND_NS);
    iw_recording *full = iwt_recording(1, SECOND_NS);

    (void)state;
    assert_null(cost_of(quiet).network);
    ftq->probe = IW_PROBE_FTQ;
    ftq->quantum_ns = 1000000;
    iwt_sample(ftq, 0, 0, 500.0);
    iwt_sample(ftq, 0, 1000000, 400.0);
    assert_null(cost_of(ftq).network);
    iwt_detour(full, 0, 0, SECOND_NS, 0); /* no time is left to work */
    assert_null(cost_of(full).network);
    iw_recording_free(quiet);
    iw_recording_free(ftq);
    iw_recording_free(full);
}

static void load_has_no_costs(void **state)
{
    iw_recording *recording = ticking(1, 10, 100, 20000);
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;

    (void)state;
    opts.has_cost = true;
    for (int is_busy = 0; is_busy < 2; is_busy++) {
        assert_ok(iw_noise_report_init(NULL, recording, &opts, &report));
        assert_true((report.cost.network == NULL) == (is_busy == 1));
        iw_noise_report_release(&report);
        iwt_attribute(recording, "load_cpus", "1");
        iwt_attribute(recording, "load_elapsed_ms", "10000");
        iwt_attribute(recording, "load_users_ms", "9000");
        iwt_attribute(recording, "load_services_ms", "0");
        iwt_attribute(recording, "load_kernel_ms", "0");
    }
    iw_recording_free(recording);
}

/* ---- words ---- */

static char *said(iw_probe probe, const iw_noise_cost *cost)
{
    const iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_recording *recording = ticking(1, 10, 100, 20000);
    iw_noise_report report;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_noise_report_init(NULL, recording, &opts, &report));
    report.facts.probe = probe;
    report.cost = *cost;
    assert_ok(iw_doc_write(NULL, iw_noise_doc(&report), IW_DOC_TEXT, NULL, out));
    iw_noise_report_release(&report);
    assert_int_equal(fclose(out), 0);
    iw_recording_free(recording);
    for (char *at = text; *at != '\0'; at++) {
        *at = (char)(*at == '\n' ? ' ' : *at);
    }
    return text;
}

static void assert_said(const iw_noise_cost *cost, const char *part)
{
    char *text = said(IW_PROBE_SELFISH, cost);

    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
    free(text);
}

static iw_noise_cost of(double barrier, double allreduce)
{
    return (iw_noise_cost){.network = "hdr-fat-tree",
                           .ranks = 1024,
                           .repeat = 100,
                           .trials = 10,
                           .used_ns = 10e9,
                           .barrier_slowdown = {barrier, 0.9 * barrier, 1.1 * barrier},
                           .allreduce_slowdown = {allreduce, 0.9 * allreduce, 1.1 * allreduce},
                           .from_ranks = 8,
                           .most_ranks = 16384};
}

static iw_noise_cost bound_of(double barrier, double allreduce)
{
    iw_noise_cost cost = of(barrier, allreduce);

    cost.is_bound = true;
    cost.barrier_slowdown.high = cost.allreduce_slowdown.high = INFINITY;
    return cost;
}

static void costs_are_said_with_two_digits(void **state)
{
    static const struct {
        double barrier, allreduce;
        const char *part;
    } cases[] = {
        {1.437, 1.612,
         "a barrier takes about 2.4x as long, an allreduce of 8 B 2.6x; barriers slow down by 5 % from about "
         "8 ranks."},
        {0.4123, 0.3849, "a barrier is about 41 % slower, an allreduce of 8 B 38 %; barriers"},
        {0.9, 1.1, "a barrier is about 90 % slower, an allreduce of 8 B 110 %; barriers"},
        {8.94, 8.96, "a barrier takes about 9.9x as long, an allreduce of 8 B 10x;"},
        {480.4, 12344.0, "a barrier takes about 480x as long, an allreduce of 8 B 12,000x;"},
        {1.3e6, 2.5e7,
         "a barrier takes about 1.3 million times as long, an allreduce of 8 B 25 million times;"},
        {0.0001, 0.0002,
         "On 1,024 ranks of hdr-fat-tree neither a barrier nor an allreduce of 8 B is noticeably slower;"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const iw_noise_cost cost = of(cases[i].barrier, cases[i].allreduce);

        assert_said(&cost, cases[i].part);
    }
}

static void bounds_are_said_to_be_some(void **state)
{
    const iw_noise_cost large = bound_of(2.0, 3.0), small = bound_of(0.2, 0.3), none = bound_of(0.0, 0.0);

    (void)state;
    assert_said(&large, "On 1,024 ranks of hdr-fat-tree a barrier takes at least 2.8x as long, an allreduce "
                        "of 8 B at least 3.7x;");
    assert_said(&large, "10 simulations of 100 collectives back to back; a longer recording may show more.");
    assert_said(&small, "a barrier is at least 18 % slower, an allreduce of 8 B at least 27 %;");
    assert_said(&none,
                "The recording is too short to predict a barrier on 1,024 ranks of hdr-fat-tree; barriers");
}

static void rare_detours_are_said_to_be_too_rare(void **state)
{
    iw_noise_cost large = of(2.0, 3.0), none = of(0.0, 0.0);

    (void)state;
    large.is_rare = none.is_rare = true;
    assert_said(&large, "a barrier takes at least 2.8x as long, an allreduce of 8 B at least 3.7x;");
    assert_said(&large, "back to back, too few for rare detours: simulate more.");
    assert_said(&none, "Its long detours are too rare for a quick simulation of a barrier on 1,024 ranks of "
                       "hdr-fat-tree; barriers slow down by 5 % from about 8 ranks.");
}

static void ranks_that_do_not_slow_down_are_told(void **state)
{
    iw_noise_cost quick = of(0.01, 0.01), bound = bound_of(0.01, 0.01);

    (void)state;
    quick.from_ranks = bound.from_ranks = 0;
    assert_said(&quick, "; barriers slow down by less than 5 % on up to 16,384 ranks.");
    assert_said(
        &bound,
        "; counting recorded events only, barriers slow down by less than 5 % on up to 16,384 ranks.");
}

static void how_they_were_found_is_told(void **state)
{
    iw_noise_cost cost = of(1.0, 1.0);

    (void)state;
    assert_said(&cost, "Slowdowns are means of 10 simulations of 100 collectives back to back (barrier: 95 % "
                       "CI 1.900 to 2.100x).");
    cost.used_ns = 2e9;
    assert_said(&cost, "back to back with the first 2 s (barrier:");
}

static void of_ftq_nobody_knows(void **state)
{
    const iw_noise_cost nothing = {.network = NULL};
    char *text = said(IW_PROBE_FTQ, &nothing);

    (void)state;
    assert_non_null(
        strstr(text, "FTQ does not record when detours begin, so the cost of a barrier is unknown."));
    assert_null(strstr(text, "hdr-fat-tree"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_ranks_lose_what_each_of_them_loses),
        cmocka_unit_test(much_noise_slows_two_ranks),
        cmocka_unit_test(of_very_noisy_nodes_few_collectives_tell),
        cmocka_unit_test(of_huge_recordings_the_beginning_counts),
        cmocka_unit_test(little_noise_slows_nobody),
        cmocka_unit_test(a_short_recording_gives_lower_bounds),
        cmocka_unit_test(rare_detours_give_lower_bounds),
        cmocka_unit_test(what_cannot_be_simulated_has_no_costs),
        cmocka_unit_test(load_has_no_costs),
        cmocka_unit_test(costs_are_said_with_two_digits),
        cmocka_unit_test(bounds_are_said_to_be_some),
        cmocka_unit_test(rare_detours_are_said_to_be_too_rare),
        cmocka_unit_test(ranks_that_do_not_slow_down_are_told),
        cmocka_unit_test(how_they_were_found_is_told),
        cmocka_unit_test(of_ftq_nobody_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
