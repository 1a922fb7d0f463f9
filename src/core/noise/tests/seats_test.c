/* More ranks on a node than recorded CPUs: copies with offsets of their own, and sources that hit all of a
 * node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include "timeline.h"

#include "core/base/base.h"
#include "core/noise/source.h"
#include "support/made_recording.h"

enum { LENGTH_NS = 10000000, TICKS = 20, TICK_NS = 500000 };

static const iw_time LENGTH_PS = LENGTH_NS * IW_PS_PER_NS;

static iw_noise *noise_of(iw_recording *recording, uint32_t ranks_per_node)
{
    iw_noise *noise = new_noise();

    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iw_noise_align(noise, IW_SYNC_NONE, 0, ranks_per_node);
    iw_recording_free(recording);
    return noise;
}

/* CPU 0 is hit at 100 us, CPU 1 at 400 us of 10 ms. */
static iw_recording *apart(void)
{
    iw_recording *recording = iwt_recording(2, LENGTH_NS);

    iwt_detour(recording, 0, 100000, 10000, 0);
    iwt_detour(recording, 1, 400000, 10000, 0);
    return recording;
}

static iw_time first_hit(const iw_noise *noise, uint32_t rank)
{
    return open_stream(noise, (struct iwi_stream_id){1, 2, rank}).next;
}

/* a - b in one repetition. */
static iw_time apart_by(iw_time a, iw_time b)
{
    return ((a - b) % LENGTH_PS + LENGTH_PS) % LENGTH_PS;
}

static void as_many_ranks_as_cpus_meet_copy_0(void **unused)
{
    iw_noise *two = noise_of(apart(), 2), *six = noise_of(apart(), 6);

    (void)unused;
    for (uint32_t node = 0; node < 20; node++) {
        for (uint32_t seat = 0; seat < 2; seat++) {
            assert_int_equal(first_hit(six, 6 * node + seat), first_hit(two, 2 * node + seat));
        }
    }
    iw_noise_free(two);
    iw_noise_free(six);
}

/* A detour that is under way has begun before 0, so only places in the recording can be compared. */
static void cpus_of_a_copy_keep_their_distance_and_copies_differ(void **unused)
{
    iw_noise *noise = noise_of(apart(), 6);

    (void)unused;
    for (uint32_t node = 0; node < 20; node++) {
        for (uint32_t copy = 0; copy < 3; copy++) {
            const uint32_t rank = 6 * node + 2 * copy;

            assert_int_equal(apart_by(first_hit(noise, rank + 1), first_hit(noise, rank)),
                             300 * IW_PS_PER_US);
            assert_true(copy == 0 || apart_by(first_hit(noise, rank), first_hit(noise, rank - 2)) != 0);
        }
    }
    iw_noise_free(noise);
}

/* By hand: what is drawn for (seed, trial, input, node, copy) is where the copy begins. */
static void the_offset_of_a_copy_is_drawn_for_it(void **unused)
{
    iw_noise *noise = noise_of(apart(), 6);
    const struct iwi_draw_id draw = {.seed = 1, .trial = 2, .purpose = IWI_DRAW_COPY, .rank = 3};
    const iw_time offset = (iw_time)iwi_draw_below(draw, 2, (uint64_t)LENGTH_PS);

    (void)unused;
    assert_int_equal(apart_by(first_hit(noise, 6 * 3 + 4), 100 * IW_PS_PER_US - offset), 0);
    iw_noise_free(noise);
}

static void synchronised_and_joined_copies_share_an_offset(void **unused)
{
    iw_noise *start = noise_of(apart(), 6), *joined = noise_of(apart(), 6);

    (void)unused;
    iw_noise_align(start, IW_SYNC_START, 0, 6);
    iwi_noise_join_copies(joined);
    for (uint32_t rank = 0; rank < 12; rank++) {
        assert_int_equal(first_hit(start, rank), first_hit(start, rank % 2));
        assert_int_equal(first_hit(joined, rank), first_hit(joined, rank / 6 * 6 + rank % 2));
    }
    assert_true(first_hit(joined, 0) != first_hit(joined, 6));
    iw_noise_free(start);
    iw_noise_free(joined);
}

static void aligned_nodes_share_the_offset_of_each_copy(void **unused)
{
    iw_recording *one = apart(), *two = apart();
    const iw_recording *const both[] = {one, two};
    iw_noise *noise = new_noise();

    (void)unused;
    iw_noise_align_nodes(noise, IW_ALIGN_WALL);
    assert_ok(iw_noise_add_recordings(NULL, noise, both, 2));
    iw_noise_align(noise, IW_SYNC_NONE, 0, 4);
    for (uint32_t seat = 0; seat < 4; seat++) {
        assert_int_equal(first_hit(noise, seat), first_hit(noise, 4 + seat));
        assert_true(first_hit(noise, seat) != first_hit(noise, 8 + seat));
    }
    assert_true(apart_by(first_hit(noise, 2), first_hit(noise, 0)) != 0);
    iw_noise_free(noise);
    iw_recording_free(one);
    iw_recording_free(two);
}

/* It has one CPU, so each seat is a copy. */
static void ranks_on_a_text_trace_meet_copies(void **unused)
{
    const iw_time start = 100, duration = 10;
    iw_noise *noise = new_noise();

    (void)unused;
    assert_ok(iw_noise_add_trace(NULL, noise, "text", &start, &duration, 1, LENGTH_PS));
    iw_noise_align(noise, IW_SYNC_NONE, 0, 4);
    for (uint32_t rank = 1; rank < 8; rank++) {
        assert_true(apart_by(first_hit(noise, rank), first_hit(noise, rank - 1)) != 0);
    }
    iw_noise_free(noise);
}

/* ---- node-wide sources ---- */

/* A tick each 500 us on all CPUs, 1 us later on each further one, and a daemon that comes to CPU k at
 * 70 us + 1300 k us. */
static iw_recording *mixed(size_t cpu_count)
{
    iw_recording *recording = iwt_recording(cpu_count, LENGTH_NS);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "tick");
    const uint32_t daemon = iwt_source(recording, IW_CLASS_THREAD, "daemon");

    for (size_t cpu = 0; cpu < cpu_count; cpu++) {
        for (int64_t i = 0; i < TICKS; i++) {
            const int64_t tick_ns = TICK_NS * i + 1000 * (int64_t)cpu;
            const int64_t daemon_ns = 70000 + 1300000 * (int64_t)cpu;

            iwt_detour(recording, cpu, tick_ns, 2000, tick);
            if (daemon_ns > tick_ns && daemon_ns < tick_ns + TICK_NS) {
                iwt_detour(recording, cpu, daemon_ns, 9000, daemon);
            }
        }
    }
    return recording;
}

/* What each source takes of a stream in its first instants, as pairs (source, start). */
struct seen {
    iw_time start[2][4 * TICKS];
    size_t count[2];
};

static bool see(void *arg, uint32_t source, iw_time start, iw_time end)
{
    struct seen *seen = arg;

    (void)end;
    seen->start[source][seen->count[source]++] = start;
    return seen->count[source] < 4 * TICKS;
}

static struct seen seen_by(const iw_noise *noise, uint32_t rank)
{
    struct seen seen = {.count = {0, 0}};

    iwi_noise_walk(noise, (struct iwi_stream_id){1, 2, rank}, LENGTH_PS, see, &seen);
    return seen;
}

/* Seats of one CPU see the ticks where copy 0 has them, but for one that overlaps the daemon. */
static void a_node_wide_source_hits_all_copies_together(void **unused)
{
    iw_noise *noise = noise_of(mixed(2), 8);
    size_t tick, together = 0, all = 0, moved = 0;

    (void)unused;
    assert_int_equal(iw_noise_source_count(noise), 2);
    tick = strcmp(iw_noise_source_name(noise, 0), "irq tick") == 0 ? 0 : 1;
    for (uint32_t rank = 2; rank < 8; rank++) {
        const struct seen first = seen_by(noise, rank % 2), copy = seen_by(noise, rank);

        for (size_t i = 1; i < TICKS; i++) {
            all++;
            for (size_t j = 0; j < copy.count[tick]; j++) {
                together += copy.start[tick][j] == first.start[tick][i];
            }
        }
        moved += copy.start[1 - tick][0] != first.start[1 - tick][0];
    }
    assert_in_range(together, all - 6 * 2, all);
    assert_int_equal(moved, 6);
    iw_noise_free(noise);
}

/* With a tick, or with the daemon. The first detour is a tick. */
static bool is_busy(const iw_detours *cpu, bool is_tick, int64_t position)
{
    for (size_t i = 0; i < cpu->count; i++) {
        if ((cpu->source[i] == cpu->source[0]) == is_tick && position >= cpu->start_ns[i] &&
            position < cpu->start_ns[i] + cpu->duration_ns[i]) {
            return true;
        }
    }
    return false;
}

/* Goes from one instant at which a ns of either timeline begins to the next. */
static iw_time slow_finish(const iw_detours *cpu, iw_time of_node, iw_time of_copy, iw_time t, iw_time d)
{
    while (d > 0) {
        const int64_t by_node = (t + of_node) % LENGTH_PS, by_copy = (t + of_copy) % LENGTH_PS;
        const iw_time left =
            iwi_min(IW_PS_PER_NS - by_node % IW_PS_PER_NS, IW_PS_PER_NS - by_copy % IW_PS_PER_NS);

        if (is_busy(cpu, true, by_node / IW_PS_PER_NS) || is_busy(cpu, false, by_copy / IW_PS_PER_NS)) {
            t += left;
        } else {
            t += iwi_min(left, d);
            d -= iwi_min(left, d);
        }
    }
    return t;
}

static void finish_in_a_copy_is_that_of_both_timelines(void **unused)
{
    iw_recording *recording = mixed(2);
    iw_noise *noise = new_noise();

    (void)unused;
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iw_noise_align(noise, IW_SYNC_NONE, 0, 8);
    for (uint32_t rank = 0; rank < 8; rank++) {
        struct stream s = open_stream(noise, (struct iwi_stream_id){5, 6, rank});
        struct iwi_draw_id draw = {.seed = 5, .trial = 6, .purpose = IWI_DRAW_OFFSET};
        const iw_time of_node = (iw_time)iwi_draw_below(draw, 0, (uint64_t)LENGTH_PS);
        iw_time of_copy = of_node, t = 0;

        if (rank >= 2) {
            draw.purpose = IWI_DRAW_COPY;
            of_copy = (iw_time)iwi_draw_below(draw, rank / 2, (uint64_t)LENGTH_PS);
        }
        for (int i = 0; i < 12; i++) {
            const iw_time d = 1 + 37000 * IW_PS_PER_NS * (i % 11);
            iw_time lost[2] = {0, 0};
            struct stream twin = s;
            const iw_time end = slow_finish(&recording->cpus[rank % 2], of_node, of_copy, t, d);

            assert_int_equal(stream_finish(&twin, t, d, lost), end);
            assert_int_equal(stream_finish(&s, t, d, NULL), end);
            assert_int_equal(lost[0] + lost[1], end - t - d);
            t = end + 110000 * IW_PS_PER_NS * (i % 3);
        }
    }
    iw_noise_free(noise);
    iw_recording_free(recording);
}

/* ---- what is found node-wide ---- */

enum { CASES = 1000, POISSON, SAME_PERIOD, TOGETHER };

/* 2 CPUs that are hit independently, or together within 1 us. */
static bool is_found(int kind, uint64_t number)
{
    const struct iwi_draw_id draw = {.seed = number, .purpose = IWI_DRAW_TEST, .source = (uint32_t)kind};
    iw_recording *recording = iwt_recording(2, 100000000);
    uint64_t drawn = 0;
    iw_noise *noise;
    bool is_wide;

    for (size_t cpu = 0; cpu < 2; cpu++) {
        int64_t at_ns = (int64_t)iwi_draw_below(draw, drawn++, kind == TOGETHER ? 1000 : 500000);

        while (at_ns < 99900000) {
            iwt_detour(recording, cpu, at_ns, 8000, 0);
            at_ns +=
                kind == POISSON ? 10000 + (int64_t)(-490000 * log(iwi_draw_unit(draw, drawn++))) : 500000;
        }
    }
    noise = noise_of(recording, 4);
    is_wide = noise->sources[0].u.recorded.recorded->has_node_wide;
    iw_noise_free(noise);
    return is_wide;
}

static int found_of(int kind)
{
    int found = 0;

    for (uint64_t i = 0; i < CASES; i++) {
        found += is_found(kind, i);
    }
    return found;
}

/* At most 1 % of CPUs that are hit independently: 10 of 1,000, and with less than 0.2 % chance over 20. */
static void independent_cpus_are_taken_for_node_wide_in_one_of_a_hundred(void **unused)
{
    const int poisson = found_of(POISSON), periodic = found_of(SAME_PERIOD);

    (void)unused;
    print_message("found node-wide of %d: Poisson %d, same period %d\n", CASES, poisson, periodic);
    assert_in_range(poisson, 0, 20);
    assert_in_range(periodic, 0, 20);
}

static void cpus_that_are_hit_together_are_found(void **unused)
{
    const int found = found_of(TOGETHER);

    (void)unused;
    print_message("found node-wide of %d: together %d\n", CASES, found);
    assert_true(found >= 990);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_ranks_as_cpus_meet_copy_0),
        cmocka_unit_test(cpus_of_a_copy_keep_their_distance_and_copies_differ),
        cmocka_unit_test(the_offset_of_a_copy_is_drawn_for_it),
        cmocka_unit_test(synchronised_and_joined_copies_share_an_offset),
        cmocka_unit_test(aligned_nodes_share_the_offset_of_each_copy),
        cmocka_unit_test(ranks_on_a_text_trace_meet_copies),
        cmocka_unit_test(a_node_wide_source_hits_all_copies_together),
        cmocka_unit_test(finish_in_a_copy_is_that_of_both_timelines),
        cmocka_unit_test(independent_cpus_are_taken_for_node_wide_in_one_of_a_hundred),
        cmocka_unit_test(cpus_that_are_hit_together_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
