/* A recording that is handed on piece by piece while it is measured: the pieces are the whole.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/measure.h>

#include "core/base/base.h"
#include "support/support.h"

static const int64_t DURATION_NS = 2200000000; /* with steps after one and two seconds, if not too busy */

enum { MOST_CPUS = 64, MOST_EVENTS = 1 << 20 };

/* Keeps what it gets of the first CPU, and counts the rest. */
struct taker {
    unsigned begun, appended, flushed, fails_from;
    size_t cpu_count, counts[MOST_CPUS], part_counts[MOST_CPUS];
    int64_t lengths_ns[MOST_CPUS];
    int64_t *start_ns, *duration_ns;
    uint32_t *source;
    uint64_t *part_detour;
};

static iw_status begin(void *arg, const iw_recording *head)
{
    struct taker *taker = arg;

    taker->begun++;
    taker->cpu_count = head->cpu_count;
    assert_true(head->cpu_count <= MOST_CPUS);
    assert_non_null(iw_recording_get(head, "host"));
    assert_string_equal(iw_recording_get(head, "command"), "as typed");
    for (size_t i = 0; i < head->cpu_count; i++) {
        assert_true(head->cpus[i].t_min_ns > 0.0);
    }
    return IW_OK;
}

static iw_status append(void *arg, const iw_recording *recording, size_t index, const iw_detours *batch)
{
    struct taker *taker = arg;
    const size_t first = taker->counts[index];

    assert_int_equal(taker->begun, 1);
    if (++taker->appended >= taker->fails_from) {
        return IW_ERR_IO;
    }
    assert_true(batch->length_ns >= taker->lengths_ns[index]);
    taker->lengths_ns[index] = batch->length_ns;
    for (size_t i = 0; i < batch->count; i++) {
        assert_true(batch->source[i] < recording->source_count);
    }
    if (index == 0 && batch->count > 0) {
        assert_true(first + batch->count <= MOST_EVENTS);
        memcpy(taker->start_ns + first, batch->start_ns, batch->count * sizeof *batch->start_ns);
        memcpy(taker->duration_ns + first, batch->duration_ns, batch->count * sizeof *batch->duration_ns);
        memcpy(taker->source + first, batch->source, batch->count * sizeof *batch->source);
        for (size_t i = 0; i < batch->part_count; i++) {
            assert_true(batch->part_detour[i] < batch->count);
            taker->part_detour[taker->part_counts[0] + i] = first + batch->part_detour[i];
        }
    }
    taker->counts[index] += batch->count + batch->sample_count;
    taker->part_counts[index] += batch->part_count;
    return IW_OK;
}

static iw_status flush(void *arg)
{
    ((struct taker *)arg)->flushed++;
    return IW_OK;
}

static void taker_init(struct taker *taker)
{
    *taker = (struct taker){.fails_from = UINT32_MAX};
    taker->start_ns = calloc(MOST_EVENTS, sizeof *taker->start_ns);
    taker->duration_ns = calloc(MOST_EVENTS, sizeof *taker->duration_ns);
    taker->source = calloc(MOST_EVENTS, sizeof *taker->source);
    taker->part_detour = calloc(MOST_EVENTS, sizeof *taker->part_detour);
}

static void taker_release(struct taker *taker)
{
    free(taker->start_ns);
    free(taker->duration_ns);
    free(taker->source);
    free(taker->part_detour);
}

static iw_recording *measured(iw_measure_opts *opts, struct taker *taker)
{
    const iw_measure_sink sink = {begin, append, flush, taker};
    iw_recording *recording = NULL;

    opts->sink = &sink;
    opts->command = "as typed";
    assert_ok(iw_measure(NULL, opts, &recording));
    return recording;
}

static void the_pieces_are_the_whole(void **state)
{
    iw_measure_opts opts = IW_MEASURE_OPTS_INIT;
    struct taker taker;
    iw_recording *recording;
    const iw_detours *cpu;

    (void)state;
    taker_init(&taker);
    opts.duration_ns = DURATION_NS;
    opts.max_events = MOST_EVENTS;
    recording = measured(&opts, &taker);
    cpu = &recording->cpus[0];
    assert_int_equal(taker.begun, 1);
    assert_true(taker.flushed >= 2);
    assert_int_equal(taker.cpu_count, recording->cpu_count);
    for (size_t i = 0; i < recording->cpu_count; i++) {
        assert_int_equal(taker.counts[i], recording->cpus[i].count);
        assert_int_equal(taker.part_counts[i], recording->cpus[i].part_count);
        assert_true(taker.lengths_ns[i] >= recording->cpus[i].length_ns);
    }
    assert_true(cpu->count > 0);
    assert_memory_equal(taker.start_ns, cpu->start_ns, cpu->count * sizeof *cpu->start_ns);
    assert_memory_equal(taker.duration_ns, cpu->duration_ns, cpu->count * sizeof *cpu->duration_ns);
    assert_memory_equal(taker.source, cpu->source, cpu->count * sizeof *cpu->source);
    for (size_t i = 0; i < cpu->part_count; i++) {
        assert_int_equal(taker.part_detour[i], cpu->part_detour[i]);
    }
    iw_recording_free(recording);
    taker_release(&taker);
}

static void samples_are_handed_on_too(void **state)
{
    iw_measure_opts opts = IW_MEASURE_OPTS_INIT;
    struct taker taker;
    iw_recording *recording;

    (void)state;
    taker_init(&taker);
    opts.probe = IW_PROBE_FTQ;
    opts.duration_ns = DURATION_NS;
    recording = measured(&opts, &taker);
    assert_true(taker.flushed >= 2);
    for (size_t i = 0; i < recording->cpu_count; i++) {
        assert_int_equal(taker.counts[i], recording->cpus[i].sample_count);
    }
    iw_recording_free(recording);
    taker_release(&taker);
}

static void a_sink_that_fails_does_not_end_the_recording(void **state)
{
    iw_measure_opts opts = IW_MEASURE_OPTS_INIT;
    struct taker taker;
    iw_recording *recording;

    (void)state;
    taker_init(&taker);
    taker.fails_from = 1;
    opts.duration_ns = DURATION_NS;
    recording = measured(&opts, &taker);
    assert_int_equal(taker.appended, 1);
    assert_int_equal(taker.flushed, 0);
    assert_true(recording->cpus[0].length_ns >= DURATION_NS / 2);
    iw_recording_free(recording);
    taker_release(&taker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pieces_are_the_whole),
        cmocka_unit_test(samples_are_handed_on_too),
        cmocka_unit_test(a_sink_that_fails_does_not_end_the_recording),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
