/* Recordings of several nodes as noise: which simulated node meets which of them, on which CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

#include "support/made_recording.h"

enum { LENGTH_NS = 1000, MOST_NODES = 64, MARK_NS = 8, SEEDS = 40 };

/* CPU c of node k loses k * MARK_NS + c + 1 of LENGTH_NS, so what is lost tells both; k + 1 CPUs at most 3.
 */
static iw_recording *marked_node(size_t node)
{
    const size_t cpu_count = 1 + node % 3;
    iw_recording *recording = iwt_recording(cpu_count, LENGTH_NS);
    const uint32_t own = iwt_source(recording, IW_CLASS_THREAD, node % 2 == 0 ? "even" : "odd");

    for (size_t cpu = 0; cpu < cpu_count; cpu++) {
        iwt_detour(recording, cpu, 100, (int64_t)(node * MARK_NS + cpu + 1), own);
    }
    return recording;
}

static iw_noise *fleet_noise(size_t count)
{
    iw_recording *nodes[MOST_NODES];
    iw_noise *noise = new_noise();

    for (size_t i = 0; i < count; i++) {
        nodes[i] = marked_node(i);
    }
    assert_ok(iw_noise_add_recordings(NULL, noise, (const iw_recording *const *)nodes, count));
    for (size_t i = 0; i < count; i++) {
        iw_recording_free(nodes[i]);
    }
    return noise;
}

static bool add_busy(void *arg, uint32_t source, iw_time start, iw_time end)
{
    (void)source;
    *(iw_time *)arg += end - start;
    return true;
}

struct met {
    size_t node, cpu;
};

/* Any stretch of one length meets the detour once, whole or in two. */
static struct met met_by(const iw_noise *noise, struct iwi_stream_id id)
{
    iw_time busy_ps = 0;
    size_t mark;

    iwi_noise_walk(noise, id, LENGTH_NS * IW_PS_PER_NS, add_busy, &busy_ps);
    assert_int_equal(busy_ps % IW_PS_PER_NS, 0);
    mark = (size_t)(busy_ps / IW_PS_PER_NS) - 1;
    return (struct met){mark / MARK_NS, mark % MARK_NS};
}

/* Every round of as many nodes as were recorded meets each of them once, in all ways of alignment. */
static void every_round_meets_each_recorded_node_once(void **unused)
{
    static const size_t counts[] = {1, 2, 3, 5, 8, 17, 64};
    static const uint32_t ranks_per_node[] = {1, 2, 4};

    (void)unused;
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        iw_noise *noise = fleet_noise(counts[k]);

        for (uint32_t i = 0; i < 3 * 3 * 4; i++) {
            const uint32_t per_node = ranks_per_node[i / 3 % 3], round = i / 9;
            const struct iwi_stream_id id = {i, i % 5, 0};
            bool is_met[MOST_NODES] = {false};

            iw_noise_align(noise, (iw_sync)(i % 3), i % 3 == 0 ? 0 : 77777, per_node);
            for (uint32_t node = 0; node < counts[k]; node++) {
                const uint32_t rank = (round * (uint32_t)counts[k] + node) * per_node;
                const struct met first = met_by(noise, (struct iwi_stream_id){id.seed, id.trial, rank});

                assert_false(is_met[first.node]);
                is_met[first.node] = true;
                for (uint32_t seat = 0; seat < per_node; seat++) { /* seats share a node, CPUs by turns */
                    const struct met met =
                        met_by(noise, (struct iwi_stream_id){id.seed, id.trial, rank + seat});

                    assert_int_equal(met.node, first.node);
                    assert_int_equal(met.cpu, seat % (1 + met.node % 3));
                }
            }
        }
        iw_noise_free(noise);
    }
}

/* Pairs of neighbours too: each ordered pair of different nodes comes as often as others. */
static void trials_and_rounds_draw_anew(void **unused)
{
    enum { NODES = 6, TRIALS = 6000, PAIRS = NODES * (NODES - 1) };
    iw_noise *noise = fleet_noise(NODES);
    int seen[NODES][NODES] = {{0}}, equal_rounds = 0;
    double chi2 = 0;

    (void)unused;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        size_t met[2 * NODES];

        for (uint32_t node = 0; node < 2 * NODES; node++) {
            met[node] = met_by(noise, (struct iwi_stream_id){7, trial, node}).node;
        }
        seen[met[2]][met[3]]++;
        equal_rounds += memcmp(met, met + NODES, sizeof met / 2) == 0;
    }
    for (int a = 0; a < NODES; a++) {
        for (int b = 0; b < NODES; b++) {
            const double expected = (double)TRIALS / PAIRS;

            chi2 += a == b ? 0 : (seen[a][b] - expected) * (seen[a][b] - expected) / expected;
            assert_true(a != b || seen[a][b] == 0);
        }
    }
    assert_true(chi2 < 2.5 * (PAIRS - 1)); /* loose: what is wanted is that no pair is rare or common */
    assert_true(equal_rounds < TRIALS / 50);
    iw_noise_free(noise);
}

static void phases_do_not_change_the_node(void **unused)
{
    iw_noise *noise = fleet_noise(5);

    (void)unused;
    iw_noise_align(noise, IW_SYNC_PHASE, 0, 2);
    for (uint32_t rank = 0; rank < 30; rank++) {
        const struct iwi_stream_id id = {3, 4, rank};
        const struct met met = met_by(noise, id);
        const iw_time lost_ps = (iw_time)(met.node * MARK_NS + met.cpu + 1) * IW_PS_PER_NS;
        struct stream s = open_stream(noise, id);
        iw_time t = 0;

        for (uint64_t phase = 0; phase < 20; phase++) {
            const iw_time work_ps = 3 * (LENGTH_NS * IW_PS_PER_NS - lost_ps);

            assert_int_equal(iwi_noise_phase(noise, id, s.state, &s.next, phase, t, work_ps, NULL), 0);
            t = stream_finish(&s, t, work_ps, NULL); /* three lengths, less what is before the first detour */
            assert_in_range(t, (phase + 1) * (uint64_t)(3 * LENGTH_NS * IW_PS_PER_NS - lost_ps),
                            (phase + 1) * (uint64_t)(3 * LENGTH_NS * IW_PS_PER_NS + lost_ps));
        }
    }
    iw_noise_free(noise);
}

static void one_node_is_what_a_recording_is(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct picker picker = {.seed = seed};
        iw_recording *recording = marked_node(seed % 3 + 1);
        iw_noise *one = new_noise(), *fleet = new_noise();
        const iw_recording *const list[] = {recording};

        assert_ok(iw_noise_add_recording(NULL, one, recording));
        assert_ok(iw_noise_add_recordings(NULL, fleet, list, 1));
        iw_noise_align(one, (iw_sync)(seed % 3), 5000, 3);
        iw_noise_align(fleet, (iw_sync)(seed % 3), 5000, 3);
        assert_true(iw_noise_source_share(one, 0) == iw_noise_source_share(fleet, 0));
        for (uint32_t rank = 0; rank < 10; rank++) {
            struct stream a = open_stream(one, (struct iwi_stream_id){seed, 1, rank}),
                          b = open_stream(fleet, (struct iwi_stream_id){seed, 1, rank});
            const iw_time d = pick(&picker, 1, 9999999);

            assert_int_equal(stream_finish(&a, 5, d, NULL), stream_finish(&b, 5, d, NULL));
        }
        iw_noise_free(one);
        iw_noise_free(fleet);
        iw_recording_free(recording);
    }
}

/* Three nodes of 1, 2 and 3 CPUs that lose 1 | 9, 10 | 17, 18, 19 of 1000. */
static void sources_are_told_apart_over_all_nodes_and_shares_are_means_over_nodes(void **unused)
{
    iw_noise *noise = fleet_noise(3);

    (void)unused;
    assert_int_equal(iw_noise_source_count(noise), 2);
    assert_string_equal(iw_noise_source_name(noise, 0), "thread even"); /* 55 ns, odd 19 */
    assert_string_equal(iw_noise_source_name(noise, 1), "thread odd");
    iw_noise_align(noise, IW_SYNC_NONE, 0, 1);
    assert_true(fabs(iw_noise_source_share(noise, 0) - (1 + 17) / 3000.0) < 1e-12);
    assert_true(fabs(iw_noise_source_share(noise, 1) - 9 / 3000.0) < 1e-12);
    iw_noise_align(noise, IW_SYNC_NONE, 0, 2);
    assert_true(fabs(iw_noise_source_share(noise, 0) - (1 + 17.5) / 3000.0) < 1e-12);
    assert_true(fabs(iw_noise_source_share(noise, 1) - 9.5 / 3000.0) < 1e-12);
    iw_noise_free(noise);
}

static void all_are_cut_to_the_shortest_with_a_warning(void **unused)
{
    iw_recording *nodes[] = {iwt_recording(1, 100), iwt_recording(1, 1000)};
    iw_noise *noise = new_noise();
    struct iwt_log l;

    (void)unused;
    iwt_log_init(&l);
    iwt_attribute(nodes[0], "host", "n0");
    for (int i = 0; i < 2; i++) {
        iwt_detour(nodes[i], 0, 50, 10, 0);
    }
    iwt_detour(nodes[1], 0, 500, 400, 0);
    assert_ok(iw_noise_add_recordings(&l.log, noise, (const iw_recording *const *)nodes, 2));
    iwt_assert_logged(&l, "'n0' was recorded for 1e-07 s only");
    assert_true(fabs(iw_noise_source_share(noise, 0) - 0.1) < 1e-12);
    iw_noise_free(noise);
    iw_recording_free(nodes[0]);
    iw_recording_free(nodes[1]);
}

static void expect_refused(iw_recording *second, size_t count, iw_status status, const char *text)
{
    iw_recording *nodes[] = {marked_node(1), second};
    iw_noise *noise = new_noise();
    struct iwt_log l;

    iwt_log_init(&l);
    iwt_attribute(second, "host", "n2");
    assert_status(iw_noise_add_recordings(&l.log, noise, (const iw_recording *const *)nodes, count), status);
    iwt_assert_logged(&l, text);
    assert_int_equal(iw_noise_source_count(noise), 0);
    iw_noise_free(noise);
    iw_recording_free(nodes[0]);
    iw_recording_free(second);
}

static void what_cannot_be_used_is_refused_by_name(void **unused)
{
    iw_recording *ftq = marked_node(2), *full = iwt_recording(1, LENGTH_NS);

    (void)unused;
    ftq->probe = IW_PROBE_FTQ;
    iwt_detour(full, 0, 0, LENGTH_NS, 0);
    expect_refused(marked_node(2), 0, IW_ERR_RANGE, "holds no recording");
    expect_refused(ftq, 2, IW_ERR_UNSUPPORTED, "'n2' was recorded with FTQ");
    expect_refused(iwt_recording(1, 0), 2, IW_ERR_RANGE, "'n2' has no recorded time");
    expect_refused(full, 2, IW_ERR_RANGE, "'n2': the detours of CPU 0 fill the whole length");
}

static void a_cpu_that_was_not_watched_is_told_from_a_quiet_node(void **unused)
{
    iw_recording *node = iwt_recording(2, LENGTH_NS);
    iw_noise *noise = new_noise();
    struct iwt_log l;

    (void)unused;
    iwt_detour(node, 0, 10, 5, 0);
    node->cpus[1].length_ns = 0;
    iwt_log_init(&l);
    assert_ok(iw_noise_add_recording(&l.log, noise, node));
    iwt_assert_logged(&l, "time on one of its CPUs, so it adds no noise; record again,");
    iw_noise_free(noise);
    iw_recording_free(node);
}

static void nodes_without_detours_count(void **unused)
{
    iw_recording *nodes[] = {marked_node(1), iwt_recording(2, LENGTH_NS)};
    iw_noise *noise = new_noise();
    int quiet = 0;

    (void)unused;
    assert_ok(iw_noise_add_recordings(NULL, noise, (const iw_recording *const *)nodes, 2));
    for (uint32_t node = 0; node < 20; node++) {
        quiet += open_stream(noise, (struct iwi_stream_id){1, 1, node}).next == IWI_NEVER;
    }
    assert_int_equal(quiet, 10);
    iw_noise_free(noise);
    iw_recording_free(nodes[0]);
    iw_recording_free(nodes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_round_meets_each_recorded_node_once),
        cmocka_unit_test(trials_and_rounds_draw_anew),
        cmocka_unit_test(phases_do_not_change_the_node),
        cmocka_unit_test(one_node_is_what_a_recording_is),
        cmocka_unit_test(sources_are_told_apart_over_all_nodes_and_shares_are_means_over_nodes),
        cmocka_unit_test(all_are_cut_to_the_shortest_with_a_warning),
        cmocka_unit_test(what_cannot_be_used_is_refused_by_name),
        cmocka_unit_test(a_cpu_that_was_not_watched_is_told_from_a_quiet_node),
        cmocka_unit_test(nodes_without_detours_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
