/* Fleets: what stands out and what does not, the evidence, what is merely different.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/fleet.h>

#include "features/fleet/fleet_cells.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { NODES = 40, CPUS = 2 };
static const int64_t LENGTH_NS = 10000000000;

/* Each `every_ns` from `from_ns` on. */
static void add_source(iw_recording *recording, size_t cpu, const char *name, int64_t every_ns,
                       int64_t duration_ns)
{
    const uint32_t source = iwt_source(recording, IW_CLASS_THREAD, name);
    iw_detours *d = &recording->cpus[cpu];

    for (int64_t at_ns = every_ns / 3; at_ns + duration_ns < d->length_ns; at_ns += every_ns) {
        iwt_detour(recording, cpu, at_ns, duration_ns, source);
    }
}

/* Detours of one CPU were appended source by source. */
static void sort_detours(iw_recording *recording)
{
    for (size_t c = 0; c < recording->cpu_count; c++) {
        iw_detours *d = &recording->cpus[c];

        for (size_t i = 1; i < d->count; i++) {
            for (size_t k = i; k > 0 && d->start_ns[k] < d->start_ns[k - 1]; k--) {
                const int64_t start_ns = d->start_ns[k], duration_ns = d->duration_ns[k];
                const uint32_t source = d->source[k];

                d->start_ns[k] = d->start_ns[k - 1];
                d->duration_ns[k] = d->duration_ns[k - 1];
                d->source[k] = d->source[k - 1];
                d->start_ns[k - 1] = start_ns;
                d->duration_ns[k - 1] = duration_ns;
                d->source[k - 1] = source;
            }
        }
    }
}

/* A tick of 100 Hz on both CPUs, a bit different on each node, and a worker. */
static iw_recording *good_node(size_t node)
{
    iw_recording *recording = iwt_recording(CPUS, LENGTH_NS);

    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        char worker[32];

        snprintf(worker, sizeof worker, "kworker/%zu:%zu", cpu, node % 3);
        add_source(recording, cpu, "tick", 10000000, 5000 + (int64_t)(node * 7 % 11) * 20);
        add_source(recording, cpu, worker, 43000000 + (int64_t)(node * 5 % 13) * 300000, 8000);
    }
    iwt_attribute(recording, "kernel", "6.1");
    return recording;
}

static void add(iw_fleet *fleet, size_t node, iw_recording *recording)
{
    char path[64];

    snprintf(path, sizeof path, "some/folder/n%02zu.h5", node);
    sort_detours(recording);
    assert_ok(iw_fleet_add(NULL, fleet, path, recording));
    iw_recording_free(recording);
}

/* Number 17 is what `make` makes, others are good. */
static iw_fleet *fleet_with(iw_recording *odd_one, size_t nodes)
{
    iw_fleet *fleet = NULL;

    assert_ok(iw_fleet_new(NULL, "some/folder", &fleet));
    for (size_t node = 0; node < nodes; node++) {
        add(fleet, node, node == 17 ? odd_one : good_node(node));
    }
    return fleet;
}

static void judge(iw_fleet *fleet)
{
    const iw_fleet_opts opts = IW_FLEET_OPTS_INIT;

    assert_ok(iw_fleet_judge(NULL, fleet, &opts));
}

static const iw_fleet_finding *only_finding(const iw_fleet *fleet)
{
    assert_int_equal(fleet->finding_count, 1);
    assert_int_equal(fleet->outlier_count, 1);
    assert_string_equal(fleet->findings[0].node, "n17");
    assert_string_equal(fleet->nodes[0].name, "n17"); /* what stands out comes first */
    assert_int_equal(fleet->nodes[0].finding_count, 1);
    return &fleet->findings[0];
}

static void nodes_that_are_alike_do_not_stand_out(void **state)
{
    iw_fleet *fleet = fleet_with(good_node(17), NODES);

    (void)state;
    judge(fleet);
    assert_int_equal(fleet->finding_count, 0);
    assert_int_equal(fleet->difference_count, 0);
    assert_int_equal(fleet->group_count, 0);
    assert_int_equal(fleet->node_count, NODES);
    for (size_t i = 0; i < NODES; i++) {
        assert_int_equal(fleet->nodes[i].cpu_count, CPUS);
        assert_string_equal(fleet->nodes[i].largest, "");
        assert_true(i == 0 ||
                    fleet->nodes[i].value[IW_FLEET_SHARE] <= fleet->nodes[i - 1].value[IW_FLEET_SHARE]);
    }
    assert_int_equal(fleet->source_count, 2);
    assert_string_equal(fleet->sources[0].source.name, "tick"); /* the larger one first */
    assert_string_equal(fleet->sources[1].source.name, "kworker/*:*");
    assert_int_equal(fleet->sources[1].node_count, NODES);
    assert_true(fabs(fleet->spread[IW_FLEET_RATE].median - 100.0 - 22.3) < 2.0);
    assert_true(fabs(fleet->spread[IW_FLEET_LONGEST].max - 8000.0) < 1.0);
    iw_fleet_free(fleet);
}

static void a_daemon_that_only_one_node_has_is_found(void **state)
{
    iw_recording *odd = good_node(17);
    const iw_fleet_finding *f;
    iw_fleet *fleet;

    (void)state;
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        add_source(odd, cpu, "collectd", 100000000, 100000);
    }
    fleet = fleet_with(odd, NODES);
    judge(fleet);
    f = only_finding(fleet);
    assert_string_equal(f->source.name, "collectd");
    assert_false(f->has_cpu);
    assert_int_equal(f->metric, IW_FLEET_SHARE);
    assert_true(fabs(f->value - 0.001) < 2e-5);
    assert_true(f->median == 0.0 && f->others_max == 0.0);
    assert_int_equal(f->having_count, 1);
    assert_int_equal(f->others_count, NODES - 1);
    assert_true(isnan(f->limit));
    iw_fleet_free(fleet);
}

static void one_cpu_with_too_much_is_named(void **state)
{
    iw_recording *odd = iwt_recording(CPUS, LENGTH_NS);
    const iw_fleet_finding *f;
    iw_fleet *fleet;

    (void)state;
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        add_source(odd, cpu, "tick", 10000000, 5100);
        add_source(odd, cpu, "kworker/0:1", 45000000, cpu == 1 ? 300000 : 8000);
    }
    iwt_attribute(odd, "kernel", "6.1");
    fleet = fleet_with(odd, NODES);
    judge(fleet);
    f = only_finding(fleet);
    assert_string_equal(f->source.name, "kworker/0:1");
    assert_true(f->has_cpu);
    assert_int_equal(f->cpu, 1);
    assert_true(f->value > 0.006 && f->median > 0.0001 && f->median < 0.0003);
    assert_true(f->limit > f->median && f->limit < f->value);
    iw_fleet_free(fleet);
}

static void a_tick_of_twice_the_rate_is_found(void **state)
{
    iw_recording *odd = iwt_recording(CPUS, LENGTH_NS);
    iw_fleet *fleet;

    (void)state;
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        add_source(odd, cpu, "tick", 5000000, 5100);
        add_source(odd, cpu, "kworker/0:1", 45000000, 8000);
    }
    iwt_attribute(odd, "kernel", "6.1");
    fleet = fleet_with(odd, NODES);
    judge(fleet);
    assert_string_equal(only_finding(fleet)->source.name, "tick");
    iw_fleet_free(fleet);
}

/* One second of a job on one node, and one detour of 200 ms on another. */
static void bursts_and_single_events_do_not_count(void **state)
{
    iw_recording *odd = good_node(17), *other = good_node(18);
    const uint32_t job = iwt_source(odd, IW_CLASS_THREAD, "cron");
    iw_fleet *fleet = NULL;

    (void)state;
    for (int i = 0; i < 500; i++) {
        iwt_detour(odd, 0, 4000001000 + i * 1000000, 300000, job);
    }
    iwt_detour(other, 1, 7000001000, 200000000, iwt_source(other, IW_CLASS_HARDWARE, "stall"));
    assert_ok(iw_fleet_new(NULL, "some/folder", &fleet));
    for (size_t node = 0; node < NODES; node++) {
        add(fleet, node, node == 17 ? odd : (node == 18 ? other : good_node(node)));
    }
    judge(fleet);
    assert_int_equal(fleet->finding_count, 0);
    assert_true(fleet->spread[IW_FLEET_LONGEST].max > 1e8); /* but they are shown */
    iw_fleet_free(fleet);
}

/* An interrupt that each node has on another CPU has no place to be wrong at; one that all but one have on
 * CPU 0 does. */
static void places_count_where_a_source_has_its_place(void **state)
{
    (void)state;
    for (int is_placed = 0; is_placed < 2; is_placed++) {
        iw_fleet *fleet = NULL;

        assert_ok(iw_fleet_new(NULL, "some/folder", &fleet));
        for (size_t node = 0; node < NODES; node++) {
            iw_recording *recording = good_node(node);

            add_source(recording, is_placed ? node == 17 : node % 2, "eno1", 20000000, 30000);
            add(fleet, node, recording);
        }
        judge(fleet);
        if (is_placed) {
            assert_string_equal(only_finding(fleet)->source.name, "eno1");
            assert_string_equal(fleet->nodes[0].largest, "thread/eno1");
            assert_true(fleet->findings[0].has_cpu);
            assert_int_equal(fleet->findings[0].cpu, 1);
        } else {
            assert_int_equal(fleet->finding_count, 0);
        }
        iw_fleet_free(fleet);
    }
}

static void less_noise_is_a_difference_and_no_finding(void **state)
{
    iw_recording *odd = iwt_recording(CPUS, LENGTH_NS);
    iw_fleet *fleet;

    (void)state;
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        add_source(odd, cpu, "kworker/0:1", 45000000, 8000);
    }
    iwt_attribute(odd, "kernel", "6.6");
    fleet = fleet_with(odd, NODES);
    judge(fleet);
    assert_int_equal(fleet->finding_count, 0);
    assert_int_equal(fleet->difference_count, 2);
    assert_int_equal(fleet->differences[0].kind, IW_FLEET_QUIETER);
    assert_int_equal(fleet->differences[1].kind, IW_FLEET_MISSING);
    assert_string_equal(fleet->differences[1].source.name, "tick");
    assert_string_equal(fleet->differences[1].node, "n17");
    assert_int_equal(fleet->group_count, 2); /* kernels */
    assert_string_equal(fleet->groups[0].fact, "kernel");
    assert_string_equal(fleet->groups[0].value, "6.1");
    assert_int_equal(fleet->groups[0].node_count, NODES - 1);
    assert_string_equal(fleet->groups[1].value, "6.6");
    assert_int_equal(fleet->groups[1].first_count, 1);
    assert_string_equal(fleet->groups[1].first[0], "n17");
    iw_fleet_free(fleet);
}

/* Nodes 0 to `nodes` - 1; the last one with a daemon of so many ns each 100 ms. */
static iw_fleet *few_nodes(size_t nodes, int64_t daemon_ns)
{
    iw_fleet *fleet = NULL;

    assert_ok(iw_fleet_new(NULL, "some/folder", &fleet));
    for (size_t node = 0; node < nodes; node++) {
        iw_recording *recording = good_node(node);

        if (node + 1 == nodes && daemon_ns > 0) {
            add_source(recording, 1, "collectd", 100000000, daemon_ns);
        }
        add(fleet, node, recording);
    }
    judge(fleet);
    return fleet;
}

static void each_of_a_few_nodes_is_compared_with_the_others(void **state)
{
    (void)state;
    for (size_t nodes = 1; nodes < IW_FLEET_LEAST_NODES; nodes++) {
        iw_fleet *alike = few_nodes(nodes, 0), *odd = few_nodes(nodes, 1000000);

        assert_int_equal(alike->finding_count, 0);
        assert_true(alike->spread[IW_FLEET_SHARE].median > 0.0);
        assert_int_equal(isnan(odd->few_factor) != 0, nodes < IW_FLEET_FEW_NODES);
        if (nodes < IW_FLEET_FEW_NODES) {
            assert_int_equal(odd->finding_count, 0);
        } else {
            assert_true(odd->few_factor > 3.0 && odd->few_factor < 30.0);
            assert_int_equal(odd->outlier_count, 1);
            assert_string_equal(odd->findings[0].source.name, "collectd");
            assert_true(odd->findings[0].has_cpu && odd->findings[0].cpu == 1);
        }
        iw_fleet_free(alike);
        iw_fleet_free(odd);
    }
}

/* Compilers: on two nodes all at once, on the third one after the other and some more of them. */
static void who_has_hardly_more_than_others_have_in_bursts_does_not_stand_out(void **state)
{
    iw_fleet *fleet = NULL;

    (void)state;
    assert_ok(iw_fleet_new(NULL, "some/folder", &fleet));
    for (size_t node = 0; node < 3; node++) {
        iw_recording *recording = good_node(node);
        const uint32_t job = iwt_source(recording, IW_CLASS_THREAD, "cc1");
        const int count = node == 2 ? 390 : 300;

        for (int i = 0; i < count; i++) {
            iwt_detour(recording, 0, 1000500 + (node == 2 ? LENGTH_NS / 400 : 4000000) * i, 2000000, job);
        }
        add(fleet, node, recording);
    }
    judge(fleet);
    for (size_t i = 0; i < fleet->finding_count; i++) {
        const iw_fleet_finding *f = &fleet->findings[i];

        fail_msg("%s: %s: %g, median %g", f->node, f->source.name, f->value, f->median);
    }
    iw_fleet_free(fleet);
}

static void empty_recordings_and_unreadable_files_are_no_trouble(void **state)
{
    iw_fleet *fleet = fleet_with(iwt_recording(1, 0), NODES);

    (void)state;
    assert_ok(iw_fleet_add_unreadable(NULL, fleet, "x/y.h5", "'x/y.h5' is cut off"));
    judge(fleet);
    assert_int_equal(fleet->finding_count, 0);
    assert_int_equal(fleet->unreadable_count, 1);
    assert_string_equal(fleet->unreadable[0].name, "y");
    iw_fleet_free(fleet);
}

/* ---- from digests ---- */

/* Two digests of each node, the later ones first; of node 17 only the later one is odd. */
struct stream {
    size_t at, readings;
};

static iw_status rewind_stream(const iw_log *log, void *arg)
{
    struct stream *s = arg;

    (void)log;
    s->at = 0;
    s->readings++;
    return IW_OK;
}

static iw_status next_digest(const iw_log *log, void *arg, iw_digest **digest_p)
{
    struct stream *s = arg;
    const size_t node = s->at % NODES;
    const bool is_later = s->at < NODES;
    iw_recording *recording = good_node(node);
    char name[32];

    (void)log;
    *digest_p = NULL;
    if (s->at++ < (size_t)2 * NODES) {
        if (node == 17 && is_later) {
            add_source(recording, 1, "collectd", 100000000, 300000);
        }
        snprintf(name, sizeof name, "n%02zu", node);
        sort_detours(recording);
        assert_ok(iw_digest_make(NULL, name, recording, digest_p));
        (*digest_p)->start_ns = is_later ? 2 : 1;
    }
    iw_recording_free(recording);
    return IW_OK;
}

/* Whether all columns fit or have to be read one by one, the answer is the same. */
static void the_latest_digest_of_a_node_counts_and_columns_may_come_in_parts(void **state)
{
    double value[2] = {0.0};

    (void)state;
    for (int is_in_parts = 0; is_in_parts < 2; is_in_parts++) {
        struct stream stream = {0, 0};
        const iw_digest_stream calls = {.arg = &stream, .rewind = rewind_stream, .next = next_digest};
        const iw_fleet_finding *f;
        iw_fleet *fleet = NULL;

        assert_ok(iw_fleet_new(NULL, "some/folder", &fleet));
        assert_ok(iw_fleet_read(NULL, fleet, &calls));
        assert_int_equal(fleet->node_count, NODES);
        if (is_in_parts) { /* as if there were no room for more than one */
            fleet->cells->most_bytes = 1;
            iwi_fleet_drop_columns(fleet->cells, 0);
            assert_ok(iwi_fleet_read_columns(NULL, fleet, 0));
            assert_int_equal(fleet->cells->column_count, 1);
        }
        judge(fleet);
        f = only_finding(fleet);
        assert_string_equal(f->source.name, "collectd");
        assert_true(f->has_cpu && f->cpu == 1);
        assert_true(stream.readings == (is_in_parts ? 4 : 2));
        value[is_in_parts] = f->value;
        iw_fleet_free(fleet);
    }
    assert_true(value[0] == value[1]);
}

static void options_out_of_range_are_refused(void **state)
{
    iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    iw_fleet *fleet = NULL;

    (void)state;
    assert_ok(iw_fleet_new(NULL, "some/folder", &fleet));
    assert_status(iw_fleet_judge(NULL, fleet, &opts), IW_ERR_RANGE);
    add(fleet, 0, good_node(0));
    opts.false_alarms = 0.0;
    assert_status(iw_fleet_judge(NULL, fleet, &opts), IW_ERR_RANGE);
    opts.false_alarms = 0.01;
    opts.matters = -1.0;
    assert_status(iw_fleet_judge(NULL, fleet, &opts), IW_ERR_RANGE);
    iw_fleet_free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_are_alike_do_not_stand_out),
        cmocka_unit_test(a_daemon_that_only_one_node_has_is_found),
        cmocka_unit_test(one_cpu_with_too_much_is_named),
        cmocka_unit_test(a_tick_of_twice_the_rate_is_found),
        cmocka_unit_test(bursts_and_single_events_do_not_count),
        cmocka_unit_test(places_count_where_a_source_has_its_place),
        cmocka_unit_test(less_noise_is_a_difference_and_no_finding),
        cmocka_unit_test(each_of_a_few_nodes_is_compared_with_the_others),
        cmocka_unit_test(who_has_hardly_more_than_others_have_in_bursts_does_not_stand_out),
        cmocka_unit_test(empty_recordings_and_unreadable_files_are_no_trouble),
        cmocka_unit_test(the_latest_digest_of_a_node_counts_and_columns_may_come_in_parts),
        cmocka_unit_test(options_out_of_range_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
