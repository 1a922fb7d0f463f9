/* Random runs of training with pauses: each is found with its cause, rank, step and length, and none is
 * invented, whatever the clocks show and however the file is written.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "features/explain/kineto/kineto.h"
#include "support/made_kineto.h"
#include "support/support.h"

enum { RUNS = 100, PAUSES = 4, STEP_OFFSET = 10 };

static uint64_t below(uint64_t seed, uint64_t index, uint64_t n)
{
    return iwi_draw_below((struct iwi_draw_id){.seed = seed, .purpose = IWI_DRAW_TEST, .source = 77}, index,
                          n);
}

/* 8 to 32 ranks, 5 to 8 steps, a pause on each of four ranks. A pause of the host has 10 ms or more: what is
 * in the queue absorbs a part. */
static void make(uint64_t seed, struct iwt_kineto *made, struct iwt_kineto_pause *pauses)
{
    static const uint32_t layouts[][3] = {{2, 2, 2}, {4, 2, 1}, {2, 4, 2}, {2, 4, 4}, {1, 8, 1}, {4, 4, 2}};
    const uint32_t *layout = layouts[below(seed, 0, sizeof layouts / sizeof layouts[0])];
    uint32_t ranks;

    *made = iwt_kineto_default();
    made->seed = seed;
    made->tp = layout[0];
    made->dp = layout[1];
    made->pp = layout[2];
    made->steps = 5 + (uint32_t)below(seed, 1, 4);
    made->style = (enum iwt_kineto_style)below(seed, 2, 3);
    made->jitter = 0.01 * (double)below(seed, 3, 10);
    made->clock_us = (double)below(seed, 4, 1000);
    made->drift_ppm = (double)below(seed, 5, 30);
    made->is_batched = below(seed, 6, 2) == 1;
    made->pauses = pauses;
    made->pause_count = PAUSES;
    ranks = made->tp * made->dp * made->pp;
    for (uint32_t i = 0; i < PAUSES; i++) {
        pauses[i] = (struct iwt_kineto_pause){
            .rank = (uint32_t)((below(seed, 10, ranks) + i * (ranks / PAUSES)) % ranks),
            .step = (uint32_t)below(seed, 20 + i, made->steps),
            .cause = (enum iwt_kineto_cause)below(seed, 30 + i, 5),
            .length_ns = 10000000 + (int64_t)below(seed, 40 + i, 50000000),
        };
    }
}

static uint8_t cause_of(enum iwt_kineto_cause cause)
{
    static const uint8_t causes[] = {IWI_PAUSE_GC, IWI_PAUSE_LOADER, IWI_PAUSE_LAUNCH, IWI_PAUSE_SLOW,
                                     IWI_PAUSE_MEMORY};

    return causes[cause];
}

static void read_run(const struct iwt_kineto_run *run, struct iwi_visits *visits)
{
    struct iwi_kineto_text *texts = calloc(run->ranks, sizeof *texts);
    struct iwt_log l;

    for (uint32_t r = 0; r < run->ranks; r++) {
        texts[r].name = "f";
        texts[r].data = iwt_kineto_text(run, r, &texts[r].size);
    }
    iwt_log_init(&l);
    iwi_visits_init(visits, &l.log, "Kineto");
    assert_ok(iwi_kineto_read_memory(&l.log, texts, run->ranks, visits));
    assert_ok(iwi_visits_align(visits));
    visits->log = NULL;
    for (uint32_t r = 0; r < run->ranks; r++) {
        free((void *)texts[r].data);
    }
    free(texts);
}

/* What a pause cost: the run is longer by as much. */
static int64_t cost_ns(const struct iwt_kineto_run *run, unsigned left_out)
{
    struct iwt_kineto made = run->made;
    struct iwt_kineto_pause others[PAUSES];
    struct iwt_kineto_run without;
    int64_t cost;

    made.pauses = others;
    made.pause_count = 0;
    for (unsigned i = 0; i < PAUSES; i++) {
        if (i != left_out) {
            others[made.pause_count++] = run->made.pauses[i];
        }
    }
    iwt_kineto_run(&made, &without);
    cost = run->step_end_ns[made.steps - 1] - without.step_end_ns[made.steps - 1];
    iwt_kineto_release(&without);
    return cost;
}

/* Late launches are what the queue did not absorb. All else is found whole, within 200 us. */
static bool is_found(const struct iwi_visits *visits, const struct iwt_kineto_pause *pause)
{
    for (size_t i = 0; i < visits->pause_count; i++) {
        const struct iwi_pause *found = &visits->pauses[i];
        const int64_t length_ns = (found->end_ps - found->begin_ps) / IW_PS_PER_NS;
        const int64_t least_ns =
            pause->cause == IWT_KINETO_LAUNCH ? pause->length_ns / 4 : pause->length_ns - 200000;

        if (found->cause == cause_of(pause->cause) && visits->ranks[found->rank].number == pause->rank &&
            found->step == pause->step + STEP_OFFSET) {
            return length_ns >= least_ns && length_ns <= pause->length_ns + 200000;
        }
    }
    return false;
}

static void pauses_are_found_in_random_runs(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= RUNS / IWT_FEWER; seed++) {
        struct iwt_kineto made;
        struct iwt_kineto_pause pauses[PAUSES];
        struct iwt_kineto_run run;
        struct iwi_visits visits;
        bool is_right;

        make(seed, &made, pauses);
        iwt_kineto_run(&made, &run);
        read_run(&run, &visits);
        is_right = visits.pause_count <= PAUSES && visits.clock_sets == 1;
        for (unsigned i = 0; i < PAUSES; i++) {
            /* a late launch that cost little was hidden behind what others did */
            const bool is_hidden =
                pauses[i].cause == IWT_KINETO_LAUNCH && 4 * cost_ns(&run, i) < pauses[i].length_ns;

            if (!is_hidden && !is_found(&visits, &pauses[i])) {
                print_message("seed %u: pause %u, cause %u, rank %u, step %u: not found\n", (unsigned)seed, i,
                              (unsigned)pauses[i].cause, pauses[i].rank, pauses[i].step);
                is_right = false;
            }
        }
        if (visits.pause_count > PAUSES) {
            print_message("seed %u: %zu pauses\n", (unsigned)seed, visits.pause_count);
        }
        wrong += !is_right;
        iwi_visits_release(&visits);
        iwt_kineto_release(&run);
    }
    print_message("%u of %d runs are wrong\n", wrong, RUNS / IWT_FEWER);
    assert_true(20 * wrong <= RUNS / IWT_FEWER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pauses_are_found_in_random_runs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
