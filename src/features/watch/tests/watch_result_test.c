/* Sums of a watching: what is said of all of it is the sum of what is said of its sources, and of its CPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/watch_run.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { ALL_CPUS = 8, CPUS = 3, NAMES = 5, CASES = 50, MOST_DETOURS = 40 };
static const uint32_t numbers[CPUS] = {1, 4, 5};

/* What programs in the kernel would have counted. */
struct rig {
    struct iwi_bpf_cpu cpus[ALL_CPUS];
    struct iwi_bpf_sum sums[IWI_BPF_SOURCES];
    struct iwi_kernel_side side;
    struct iwi_detour_log detours;
    iw_watch_result result;
    uint64_t draws, seed;
};

static uint64_t draw(struct rig *rig, uint64_t below)
{
    const struct iwi_draw_id id = {.seed = rig->seed, .purpose = IWI_DRAW_TEST};

    return (uint64_t)((double)below * iwi_draw_unit(id, rig->draws++));
}

static void add(struct iwi_bpf_sum *sum, uint64_t ns)
{
    unsigned slot = 0;

    while (ns >> (slot + 1) > 0) {
        slot++;
    }
    sum->count++;
    sum->ns += ns;
    sum->slots[slot]++;
}

/* A detour with parts of several sources: those of fixed numbers are counted by CPU, those with names
 * together. */
static void add_detour(struct rig *rig, struct iwi_bpf_cpu *cpu)
{
    uint64_t whole_ns = 0;

    for (uint64_t part = 0, parts = 1 + draw(rig, 4); part < parts; part++) {
        const uint64_t ns = 1 + draw(rig, 1000000);

        if (draw(rig, 2) == 0) {
            add(&cpu->sums[draw(rig, IWI_BPF_FIXED)], ns);
        } else {
            add(&rig->sums[IWI_BPF_FIXED + draw(rig, NAMES)], ns);
        }
        whole_ns += ns;
    }
    add(&cpu->all, whole_ns);
    cpu->totals.wanted_ns += whole_ns;
}

static struct rig *new_rig(uint64_t seed)
{
    struct rig *rig = calloc(1, sizeof *rig);

    assert_non_null(rig);
    rig->seed = seed;
    rig->side = (struct iwi_kernel_side){.cpu_count = ALL_CPUS, .cpus = rig->cpus, .sums = rig->sums};
    rig->detours.side = &rig->side;
    rig->detours.recording = rig->result.recording = iwt_recording(CPUS, 1000000000);
    for (size_t i = 0; i < CPUS; i++) {
        rig->detours.recording->cpus[i].cpu = numbers[i];
    }
    for (size_t i = 0; i < NAMES; i++) {
        char name[16];

        snprintf(name, sizeof name, "thread%zu", i);
        rig->detours.source_of[IWI_BPF_FIXED + i] = iwt_source(rig->detours.recording, IW_CLASS_THREAD, name);
    }
    return rig;
}

static void free_rig(struct rig *rig)
{
    free(rig->result.cpus);
    free(rig->result.sources);
    iw_recording_free(rig->result.recording);
    free(rig);
}

static void assert_sums(const iw_watch_result *result)
{
    iw_watch_source sources = {.count = 0}, cpus = {.count = 0};
    uint64_t wanted_ns = 0, in_slots = 0;

    for (size_t i = 0; i < result->source_count; i++) {
        sources.time_ns += result->sources[i].time_ns;
        assert_true(result->sources[i].time_ns <= result->all.time_ns);
        assert_true(i == 0 || result->sources[i].time_ns <= result->sources[i - 1].time_ns);
    }
    for (size_t i = 0; i < result->cpu_count; i++) {
        cpus.time_ns += result->cpus[i].lost_ns;
        cpus.count += result->cpus[i].detours;
        wanted_ns += result->cpus[i].wanted_ns;
        assert_int_equal(result->cpus[i].cpu, numbers[i]);
    }
    for (size_t i = 0; i < IW_WATCH_SLOTS; i++) {
        in_slots += result->all.slots[i];
    }
    assert_int_equal(result->totals.lost_ns, result->all.time_ns);
    assert_int_equal(result->totals.lost_ns, sources.time_ns);
    assert_int_equal(result->totals.lost_ns, cpus.time_ns);
    assert_int_equal(result->totals.detours, result->all.count);
    assert_int_equal(result->totals.detours, cpus.count);
    assert_int_equal(result->totals.detours, in_slots);
    assert_int_equal(result->totals.wanted_ns, wanted_ns);
    assert_true(result->totals.lost_ns <= result->totals.wanted_ns);
}

static void the_total_is_the_sum_of_sources_and_the_sum_of_cpus(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct rig *rig = new_rig(seed);

        for (int snapshot = 0; snapshot < 2; snapshot++) { /* the same sums go on */
            for (uint64_t i = 0, count = 1 + draw(rig, MOST_DETOURS); i < count; i++) {
                struct iwi_bpf_cpu *cpu = &rig->cpus[numbers[draw(rig, CPUS)]];

                cpu->totals.wanted_ns += draw(rig, 5000000);
                add_detour(rig, cpu);
            }
            assert_ok(iwi_watch_result_add_up(&rig->detours, &rig->result));
            assert_true(rig->result.totals.lost_ns > 0);
            assert_sums(&rig->result);
        }
        free_rig(rig);
    }
}

/* Parts may leave some of a detour, and belong to other sources than its own. */
static void sums_of_events_are_those_of_their_recording(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct rig *rig = new_rig(seed);
        iw_recording *recording = rig->result.recording;

        for (size_t cpu = 0; cpu < CPUS; cpu++) {
            for (int64_t at_ns = 0; at_ns < 900000000; at_ns += 10000000) {
                int64_t left_ns = 1 + (int64_t)draw(rig, 5000000);

                iwt_detour(recording, cpu, at_ns, left_ns, 1 + (uint32_t)draw(rig, NAMES));
                for (uint64_t parts = draw(rig, 4); parts > 0 && left_ns > 1; parts--) {
                    const int64_t part_ns = 1 + (int64_t)draw(rig, (uint64_t)left_ns - 1);

                    iwt_part(recording, cpu, 1 + (uint32_t)draw(rig, NAMES), part_ns);
                    left_ns -= part_ns;
                }
            }
        }
        assert_ok(iwi_watch_events_add_up(NULL, &rig->result));
        assert_sums(&rig->result);
        free_rig(rig);
    }
}

static void no_cpu_is_wanted_for_longer_than_it_is_watched(void **state)
{
    struct rig *rig = new_rig(0);

    (void)state;
    rig->result.watched_ns = 999999999;
    assert_ok(iwi_watch_events_add_up(NULL, &rig->result));
    assert_int_equal(rig->result.watched_ns, 1000000000);
    free_rig(rig);
}

/* Simulations use no more of a recording than its shortest row has. */
static void rows_that_were_wanted_half_as_long_are_kept(void **state)
{
    struct rig *rig = new_rig(0);

    (void)state;
    rig->cpus[1].totals.wanted_ns = 1000;
    rig->cpus[4].totals.wanted_ns = 500;
    rig->cpus[5].totals.wanted_ns = 499;
    assert_ok(iwi_watch_result_add_up(&rig->detours, &rig->result));
    assert_ok(iwi_watch_keep_rows(NULL, &rig->result));
    assert_true(rig->result.cpus[0].is_kept && rig->result.cpus[1].is_kept && !rig->result.cpus[2].is_kept);
    assert_int_equal(rig->result.recording->cpu_count, 2);
    assert_int_equal(rig->result.recording->cpus[1].cpu, 4);
    free_rig(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_total_is_the_sum_of_sources_and_the_sum_of_cpus),
        cmocka_unit_test(sums_of_events_are_those_of_their_recording),
        cmocka_unit_test(no_cpu_is_wanted_for_longer_than_it_is_watched),
        cmocka_unit_test(rows_that_were_wanted_half_as_long_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
