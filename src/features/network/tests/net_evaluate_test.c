/* Tests of iw_net_evaluate(): samples of a network whose parameters are known must give these back.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/net/cost.h"
#include "support/support.h"

enum { ROUNDS = 20, SEND_N = 8, RECV_N = 4 };

/* What a network does, and how noisy its measurement is. */
struct lab {
    iw_net net;
    double noise;
    iw_net_samples *samples;
};

static double ns_of(iw_time ps)
{
    return (double)ps / 1e3;
}

/* Rounds never fall below the truth, as noise in real times does not: the median is a little above it. */
static void add_series(struct lab *lab, iw_net_quantity quantity, uint64_t bytes, uint32_t n, double true_ns)
{
    iw_net_level_samples *level = &lab->samples->levels[0];
    iw_net_series *series = &level->series[level->series_count++];

    *series = (iw_net_series){
        .quantity = quantity, .bytes = bytes, .n = n, .samples = 10 * ROUNDS, .count = ROUNDS};
    series->values_ns = calloc(ROUNDS, sizeof(double));
    assert_non_null(series->values_ns);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        const struct iwi_draw_id id = {3, bytes * 8 + quantity, IWI_DRAW_BOOTSTRAP, 0, 0};

        series->values_ns[i] = true_ns * (1 + lab->noise * (iwi_draw_unit(id, i) - 0.5));
    }
}

/* PRTT as docs/how-to/machines.md has it. */
static void add_size(struct lab *lab, uint64_t bytes)
{
    const struct iwi_cost cost = iwi_cost_of(&lab->net, bytes);
    const double o_s = ns_of(cost.send_cpu), o_r = ns_of(cost.recv_cpu);
    const double trip = 2 * (o_s + ns_of(cost.wire) + o_r), gap = fmax(fmax(o_s, o_r), ns_of(cost.gap));
    const bool is_eager = bytes <= lab->net.S_bytes;

    add_series(lab, IW_NET_ROUND_TRIP, bytes, 1, trip);
    add_series(lab, IW_NET_TRAIN, bytes, 10, trip + 9 * gap);
    add_series(lab, IW_NET_SEND, bytes, is_eager ? SEND_N : 0, is_eager ? trip + (SEND_N - 1) * o_s : o_s);
    add_series(lab, IW_NET_RECV, bytes, is_eager ? RECV_N : 0, is_eager ? RECV_N * (o_s + o_r) : o_r);
}

static void lab_init(struct lab *lab, const iw_net *net, double noise)
{
    *lab = (struct lab){.net = *net, .noise = noise};
    lab->samples = calloc(1, sizeof *lab->samples);
    assert_non_null(lab->samples);
    lab->samples->levels = calloc(1, sizeof *lab->samples->levels);
    lab->samples->level_count = 1;
    assert_non_null(lab->samples->levels);
    lab->samples->levels[0].series = calloc(256, sizeof(iw_net_series));
    assert_non_null(lab->samples->levels[0].series);
    lab->samples->levels[0].eager_computing = (iw_net_eager){net->S_bytes, true, 5};
    lab->samples->levels[0].eager_inside = (iw_net_eager){net->S_bytes, true, 5};
    for (uint64_t bytes = 1; bytes <= 1 << 22; bytes *= 2) {
        add_size(lab, bytes);
    }
}

static iw_net_measured *evaluated(const struct lab *lab)
{
    iw_net_measured *measured = NULL;

    assert_ok(iw_net_evaluate(NULL, lab->samples, &measured));
    assert_ok(iw_net_check(NULL, &measured->levels[0].net));
    return measured;
}

static void lab_release(struct lab *lab, iw_net_measured *measured)
{
    iw_net_measured_free(measured);
    iw_net_samples_free(lab->samples);
}

#define assert_near(value, expected, share) \
    assert_true(fabs((double)(value) / (double)(expected)-1) <= (share))

static const iw_net plain = {.name = "plain",
                             .L_ps = 1200000,
                             .o_send_ps = 300000,
                             .o_recv_ps = 450000,
                             .g_ps = 800000,
                             .G = 100000,
                             .O = 20000,
                             .S_bytes = UINT64_C(1) << 23};

static void parameters_without_noise_come_back(void **state)
{
    struct lab lab;
    iw_net_measured *measured;
    const iw_net_level *level;

    (void)state;
    lab_init(&lab, &plain, 0);
    measured = evaluated(&lab);
    level = &measured->levels[0];
    assert_int_equal(level->net.segment_count, 0);
    assert_near(level->net.L_ps, 1200000, 0.01);
    assert_near(level->net.o_send_ps, 300000, 0.01);
    assert_near(level->net.o_recv_ps, 450000, 0.01);
    assert_near(level->net.G, 100000, 0.01);
    assert_near(level->net.O, 20000, 0.01);
    assert_near(level->net.g_ps, 800000, 0.01);
    assert_near(level->L.value, 1200, 0.001);
    assert_near(level->half_round_trip.value, 1950, 0.001);
    assert_true(level->fit_error < 0.001);
    assert_int_equal(level->overlapped_from_bytes, 0);
    assert_int_equal(level->capped_from_bytes, 0);
    lab_release(&lab, measured);
}

static void parameters_come_back_from_noisy_samples(void **state)
{
    struct lab lab;
    iw_net_measured *measured;
    const iw_net_level *level;

    (void)state;
    lab_init(&lab, &plain, 0.05);
    measured = evaluated(&lab);
    level = &measured->levels[0];
    assert_near(level->half_round_trip.value, 1950, 0.02);
    assert_in_range(level->L.value, level->L.low, level->L.high);
    assert_true(level->L.low <= 1200 && level->L.high >= 1200);
    assert_true(level->fit_error < 0.05);
    assert_int_equal(level->wide_points, 0);
    lab_release(&lab, measured);
}

/* Up to 4 KiB messages are copied; above they wait for a handshake and move without the CPU. */
static iw_net with_protocols(void)
{
    iw_net net = plain;

    net.S_bytes = 4096;
    net.segment_count = 1;
    net.segments[0] = (iw_net_segment){.from_bytes = 4097,
                                       .L_ps = 6000000,
                                       .o_send_ps = 350000,
                                       .o_recv_ps = 500000,
                                       .g_ps = 1500000,
                                       .G = 90000,
                                       .O = 0};
    return net;
}

static void a_protocol_change_becomes_a_segment_at_the_eager_limit(void **state)
{
    const iw_net net = with_protocols();
    struct lab lab;
    iw_net_measured *measured;
    const iw_net *found;

    (void)state;
    lab_init(&lab, &net, 0.005);
    measured = evaluated(&lab);
    found = &measured->levels[0].net;
    assert_int_equal(found->S_bytes, 4096);
    assert_int_equal(found->segment_count, 1);
    assert_int_equal(found->segments[0].from_bytes, 4097);
    assert_near(found->segments[0].L_ps, 6000000, 0.05);
    assert_near(found->segments[0].G, 90000, 0.05);
    for (uint64_t bytes = 1; bytes <= 1 << 22;
         bytes = bytes * 3 / 2 + 1) { /* also between the sizes measured */
        const struct iwi_cost truth = iwi_cost_of(&net, bytes), cost = iwi_cost_of(found, bytes);

        assert_near(cost.send_cpu + cost.wire + cost.recv_cpu, truth.send_cpu + truth.wire + truth.recv_cpu,
                    0.03);
    }
    lab_release(&lab, measured);
}

/* As Open MPI is over shared memory: what lies just below the eager limit is on no line with smaller sizes,
 * and two sizes a byte apart say nothing about a slope. */
static double jumping_ns(uint64_t bytes)
{
    return bytes < 256 ? 520 + (double)bytes : bytes == 256 ? 714 : 920 + 0.35 * ((double)bytes - 257);
}

static void a_jump_between_neighbouring_sizes_does_not_become_a_slope(void **state)
{
    iw_net net = plain;
    struct lab lab;
    iw_net_measured *measured;

    (void)state;
    net.S_bytes = 256;
    net.o_send_ps = net.o_recv_ps = 100000;
    net.O = 0;
    lab_init(&lab, &net, 0);
    add_size(&lab, 257);
    for (size_t i = 0; i < lab.samples->levels[0].series_count; i++) {
        iw_net_series *series = &lab.samples->levels[0].series[i];

        for (size_t k = 0; series->quantity == IW_NET_ROUND_TRIP && k < series->count; k++) {
            series->values_ns[k] = 2 * jumping_ns(series->bytes);
        }
    }
    measured = evaluated(&lab);
    for (uint64_t bytes = 1; bytes <= 1 << 22; bytes = bytes * 3 / 2 + 1) {
        const struct iwi_cost cost = iwi_cost_of(&measured->levels[0].net, bytes);

        assert_near(cost.send_cpu + cost.wire + cost.recv_cpu, 1e3 * jumping_ns(bytes), 0.1);
    }
    lab_release(&lab, measured);
}

/* Both ways at once a message takes 40 % longer than to and fro: the overheads have room. */
static void exchanges_count_instead_of_half_round_trips_if_they_were_measured(void **state)
{
    enum { EXCHANGES = 4 };
    iw_net net = plain;
    struct lab lab;
    iw_net_measured *measured;
    const iw_net_level *level;

    (void)state;
    net.L_ps = 0;
    lab_init(&lab, &net, 0);
    for (uint64_t bytes = 1; bytes <= 1 << 22; bytes *= 2) {
        const struct iwi_cost cost = iwi_cost_of(&net, bytes);
        const double half_ns = ns_of(cost.send_cpu + cost.wire + cost.recv_cpu);

        add_series(&lab, IW_NET_EXCHANGE, bytes, EXCHANGES, EXCHANGES * 1.4 * half_ns);
    }
    measured = evaluated(&lab);
    level = &measured->levels[0];
    assert_near(level->half_round_trip.value, 750, 0.001);
    assert_near(level->exchange.value, 1050, 0.001);
    assert_near(level->L.value, 300, 0.001);
    assert_near(level->net.o_send_ps, 300000, 0.01);
    assert_near(level->net.L_ps, 300000, 0.02);
    assert_near(level->net.G + 2 * level->net.O, 1.4 * 140000, 0.01);
    assert_true(level->fit_error < 0.01);
    lab_release(&lab, measured);
}

/* Overheads that together take longer than the message: they overlap on a real machine. */
static void overheads_that_overlap_are_cut_and_told(void **state)
{
    struct lab lab;
    iw_net_measured *measured;
    const iw_net_level *level;

    (void)state;
    lab_init(&lab, &plain, 0);
    for (size_t i = 0; i < lab.samples->levels[0].series_count; i++) {
        iw_net_series *series = &lab.samples->levels[0].series[i];

        if (series->quantity == IW_NET_RECV) {
            for (size_t k = 0; k < series->count; k++) {
                series->values_ns[k] *= 4; /* o_s + o_r = 3000 ns of a half round trip of 1950 ns */
            }
        }
    }
    measured = evaluated(&lab);
    level = &measured->levels[0];
    assert_int_equal(level->overlapped_from_bytes, 1);
    assert_near(level->least_overlap, 0.65, 0.01);
    assert_near(level->net.o_send_ps + level->net.L_ps + level->net.o_recv_ps, 1950000, 0.01);
    assert_true(level->fit_error < 0.01);
    lab_release(&lab, measured);
}

/* A protocol that is faster than the one before: costs stay level until it has caught up. */
static void costs_never_fall_with_the_size(void **state)
{
    iw_net net = plain;
    struct lab lab;
    iw_net_measured *measured;
    iw_time before = 0, gap_before = 0;

    (void)state;
    lab_init(&lab, &net, 0.02);
    for (size_t i = 0; i < lab.samples->levels[0].series_count; i++) {
        iw_net_series *series = &lab.samples->levels[0].series[i];

        for (size_t k = 0; series->bytes > 1024 && series->bytes < 100000 && k < series->count; k++) {
            series->values_ns[k] *= 0.4;
        }
    }
    measured = evaluated(&lab);
    for (uint64_t bytes = 1; bytes <= 1 << 20; bytes += 1 + bytes / 64) {
        const struct iwi_cost cost = iwi_cost_of(&measured->levels[0].net, bytes);

        assert_true(cost.send_cpu + cost.wire + cost.recv_cpu >= before);
        assert_true(cost.gap >= gap_before);
        before = cost.send_cpu + cost.wire + cost.recv_cpu;
        gap_before = cost.gap;
    }
    lab_release(&lab, measured);
}

static void links_that_stay_slow_alone_are_told_the_slowest_first(void **state)
{
    struct lab lab;
    iw_net_measured *measured;

    (void)state;
    lab_init(&lab, &plain, 0);
    lab.samples->links = calloc(6, sizeof *lab.samples->links);
    assert_non_null(lab.samples->links);
    lab.samples->link_count = 6;
    for (uint32_t i = 0; i < 6; i++) {
        lab.samples->links[i] = (iw_net_link){.ranks = {0, i + 1}, .small_ns = 1000, .large_ns = 9000};
    }
    lab.samples->links[2].small_ns = 5000; /* slow among others, not alone */
    lab.samples->links[2].alone_small_ns = 1100;
    lab.samples->links[2].alone_large_ns = 9000;
    lab.samples->links[3].large_ns = lab.samples->links[3].alone_large_ns = 18000;
    lab.samples->links[3].alone_small_ns = 1000;
    lab.samples->links[4].small_ns = lab.samples->links[4].alone_small_ns = 3000;
    lab.samples->links[4].alone_large_ns = 9900;
    measured = evaluated(&lab);
    assert_int_equal(measured->slow_count, 2);
    assert_int_equal(measured->slow[0].ranks[1], 5);
    assert_near(measured->slow[0].small_factor, 3, 0.001);
    assert_int_equal(measured->slow[1].ranks[1], 4);
    assert_near(measured->slow[1].large_factor, 2, 0.001);
    lab_release(&lab, measured);
}

/* A machine that is busy with other things: no rhyme or reason from size to size, over five decades. */
static void what_comes_of_chaos_is_still_a_network(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 200; trial++) {
        struct lab lab;

        lab_init(&lab, &plain, 0);
        for (size_t i = 0; i < lab.samples->levels[0].series_count; i++) {
            iw_net_series *series = &lab.samples->levels[0].series[i];

            for (size_t k = 0; k < series->count; k++) {
                const struct iwi_draw_id id = {trial, i, IWI_DRAW_BOOTSTRAP, 0, 0};

                series->values_ns[k] = 100 * pow(10, 5 * iwi_draw_unit(id, trial % 2 == 0 ? k : 0));
            }
        }
        lab_release(&lab, evaluated(&lab)); /* which checks the network */
    }
}

static void a_level_without_round_trips_is_refused(void **state)
{
    struct lab lab;
    struct iwt_log l;
    iw_net_measured *measured = NULL;

    (void)state;
    lab_init(&lab, &plain, 0);
    for (size_t i = 0; i < lab.samples->levels[0].series_count; i++) {
        lab.samples->levels[0].series[i].count = 0;
    }
    iwt_log_init(&l);
    assert_status(iw_net_evaluate(&l.log, lab.samples, &measured), IW_ERR_RANGE);
    assert_int_equal(l.errors, 1);
    assert_null(measured);
    lab_release(&lab, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_without_noise_come_back),
        cmocka_unit_test(parameters_come_back_from_noisy_samples),
        cmocka_unit_test(a_protocol_change_becomes_a_segment_at_the_eager_limit),
        cmocka_unit_test(a_jump_between_neighbouring_sizes_does_not_become_a_slope),
        cmocka_unit_test(exchanges_count_instead_of_half_round_trips_if_they_were_measured),
        cmocka_unit_test(overheads_that_overlap_are_cut_and_told),
        cmocka_unit_test(costs_never_fall_with_the_size),
        cmocka_unit_test(links_that_stay_slow_alone_are_told_the_slowest_first),
        cmocka_unit_test(what_comes_of_chaos_is_still_a_network),
        cmocka_unit_test(a_level_without_round_trips_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
