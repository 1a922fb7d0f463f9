/* Recordings of several nodes on the time of their wall clocks, and noise that keeps it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

#include <stdio.h>

#include <idlewave/fleet.h>

#include "support/made_recording.h"

static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

/* Begins at so many ns by its wall clock; detours of 10 ns at these times of the wall clock. */
static iw_recording *node(int64_t start_ns, int64_t length_ns, const int64_t *at_ns, size_t count)
{
    iw_recording *recording = iwt_recording(1, length_ns);
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)start_ns);
    iwt_attribute(recording, "start_wall_ns", text);
    iwt_attribute(recording, "wall_synchronised", "yes");
    iwt_attribute(recording, "wall_error_ns", "50");
    for (size_t i = 0; i < count; i++) {
        iwt_detour(recording, 0, at_ns[i] - start_ns, 10, 0);
    }
    return recording;
}

static void recordings_are_cut_to_what_all_watched(void **state)
{
    const int64_t at_ns[] = {1400, 1700};
    iw_recording *nodes[] = {node(1000, 1000, at_ns, 2), node(1300, 500, at_ns, 2)};
    iw_wall_window window;

    (void)state;
    assert_ok(iw_recordings_cut_to_wall(NULL, names, nodes, 2, &window));
    assert_int_equal(window.from_wall_ns, 1300);
    assert_int_equal(window.length_ns, 500);
    assert_true(window.error_ns == 50.0);
    assert_int_equal(window.unsynchronised, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(nodes[i]->cpus[0].length_ns, 500);
        assert_int_equal(nodes[i]->cpus[0].count, 2);
        assert_int_equal(nodes[i]->cpus[0].start_ns[0], 100);
        assert_int_equal(nodes[i]->cpus[0].start_ns[1], 400);
        assert_string_equal(iw_recording_get(nodes[i], "start_wall_ns"), "1300");
        iw_recording_free(nodes[i]);
    }
}

/* Its own clock is 100 ppm slower than the wall clock: after 1 s of its own 100 us more have passed there. */
static void a_clock_that_drifts_is_followed(void **state)
{
    const int64_t s = INT64_C(1000000000);
    iw_recording *nodes[] = {node(10 * s, 3 * s, NULL, 0), node(9 * s, 4 * s, NULL, 0)};
    iw_wall_window window;

    (void)state;
    iwt_attribute(nodes[1], "wall_drift_ppb", "100000");
    iwt_detour(nodes[1], 0, 3 * s, 10, 0);
    assert_ok(iw_recordings_cut_to_wall(NULL, names, nodes, 2, &window));
    assert_int_equal(window.from_wall_ns, 10 * s);
    assert_int_equal(nodes[1]->cpus[0].count, 1);
    /* 9 s + 3 s + 300 us of the wall clock are 2.0003 s from 10 s on, to the ns that rounding may cost */
    assert_in_range(nodes[1]->cpus[0].start_ns[0], 2000299999, 2000300001);
    iw_recording_free(nodes[0]);
    iw_recording_free(nodes[1]);
}

static void what_cannot_be_aligned_is_refused(void **state)
{
    iw_recording *nodes[] = {node(1000, 100, NULL, 0), node(1200, 100, NULL, 0)};
    struct iwt_log l;
    iw_wall_window window;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_recordings_cut_to_wall(&l.log, names, nodes, 2, &window), IW_ERR_RANGE);
    iwt_assert_logged(&l, "have no time in common: 'a' ended");
    iw_recording_free(nodes[1]);
    nodes[1] = iwt_recording(1, 100);
    iwt_log_init(&l);
    assert_status(iw_recordings_cut_to_wall(&l.log, names, nodes, 2, &window), IW_ERR_RANGE);
    iwt_assert_logged(&l, "'b' has no wall-clock time");
    iwt_attribute(nodes[1], "start_wall_ns", "12x");
    assert_status(iw_recordings_cut_to_wall(NULL, names, nodes, 2, &window), IW_ERR_RANGE);
    iw_recording_free(nodes[0]);
    iw_recording_free(nodes[1]);
}

static void a_part_of_a_recording_knows_when_it_began(void **state)
{
    iw_recording *whole = node(1000, 1000, (const int64_t[]){1500}, 1), *cut;
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    iw_edit edit;

    (void)state;
    opts.from_ns = 300;
    assert_ok(iw_recording_cut(NULL, "a", whole, &opts, &cut, &edit));
    assert_string_equal(iw_recording_get(cut, "start_wall_ns"), "1300");
    iw_recording_free(cut);
    iw_recording_free(whole);
}

/* ---- noise ---- */

static bool keep_first(void *arg, uint32_t source, iw_time start, iw_time end)
{
    (void)source;
    (void)end;
    *(iw_time *)arg = start;
    return false;
}

/* Four nodes with one detour each at the same time: what is aligned meets it at one instant, but each four
 * nodes at another. */
static void as_many_nodes_as_were_recorded_share_an_instant(void **state)
{
    enum { NODES = 4, LENGTH_NS = 100000 };
    iw_recording *nodes[NODES];
    iw_noise *noise = new_noise();
    iw_time first[2 * NODES] = {0};

    (void)state;
    for (size_t i = 0; i < NODES; i++) {
        nodes[i] = node(1000, LENGTH_NS, (const int64_t[]){6000}, 1);
    }
    iw_noise_align_nodes(noise, IW_ALIGN_WALL);
    assert_ok(iw_noise_add_recordings(NULL, noise, (const iw_recording *const *)nodes, NODES));
    for (uint32_t rank = 0; rank < 2 * NODES; rank++) {
        iwi_noise_walk(noise, (struct iwi_stream_id){5, 3, rank}, LENGTH_NS * IW_PS_PER_NS, keep_first,
                       &first[rank]);
        assert_int_equal(first[rank], first[rank / NODES * NODES]);
    }
    assert_int_not_equal(first[0], first[NODES]);
    iw_noise_align(noise, IW_SYNC_START, 0, 1);
    iwi_noise_walk(noise, (struct iwi_stream_id){5, 3, NODES}, LENGTH_NS * IW_PS_PER_NS, keep_first,
                   &first[NODES]);
    assert_int_equal(first[NODES], first[0]); /* with sync all do; node 0's draws are the same */
    for (size_t i = 0; i < NODES; i++) {
        iw_recording_free(nodes[i]);
    }
    iw_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_are_cut_to_what_all_watched),
        cmocka_unit_test(a_clock_that_drifts_is_followed),
        cmocka_unit_test(what_cannot_be_aligned_is_refused),
        cmocka_unit_test(a_part_of_a_recording_knows_when_it_began),
        cmocka_unit_test(as_many_nodes_as_were_recorded_share_an_instant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
