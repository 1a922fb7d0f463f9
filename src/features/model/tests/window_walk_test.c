/* Losses of phases of work, against finish() written down as the rule says it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/model/window_law.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "support/support.h"

enum { LENGTH = 240, DETOURS = 40 };

/* The loss by the piece that holds each instant; -1: no piece, -2: several. */
struct losses {
    int64_t at[LENGTH];
    int64_t length_ns;
};

static void note(void *arg, const struct iwi_window_piece *piece)
{
    struct losses *losses = arg;

    assert_true(piece->length_ns > 0);
    for (int64_t i = 0; i < piece->length_ns; i++) {
        int64_t *at = &losses->at[piece->start_ns + i];

        assert_in_range(piece->start_ns + i, 0, losses->length_ns - 1);
        *at = *at == -1 ? piece->loss_ns - (piece->is_ramp ? i : 0) : -2;
    }
}

static struct losses walk(const struct iwi_window_cpu *cpu, int64_t work_ns)
{
    struct losses losses = {.length_ns = cpu->length_ns};

    memset(losses.at, 0xff, sizeof losses.at);
    iwi_window_walk(cpu, work_ns, note, &losses);
    return losses;
}

/* Instant by instant: work is done where there is no detour. */
static int64_t loss_by_rule(const struct iwi_window_cpu *cpu, int64_t start_ns, int64_t work_ns)
{
    bool is_busy[LENGTH] = {false};
    int64_t now_ns = start_ns;

    for (size_t i = 0; i < cpu->count; i++) {
        memset(&is_busy[cpu->start_ns[i]], 1, (size_t)cpu->duration_ns[i]);
    }
    for (int64_t left = work_ns; left > 0; now_ns++) {
        left -= is_busy[now_ns % cpu->length_ns] ? 0 : 1;
    }
    return now_ns - start_ns - work_ns;
}

/* All times doubled and odd begins: pieces meet at even ones, where what belongs to which is open. */
static void check(const struct iwi_window_cpu *cpu, int64_t work_ns)
{
    int64_t start_ns[DETOURS], duration_ns[DETOURS];
    const struct iwi_window_cpu twice = {cpu->count, start_ns, duration_ns, 2 * cpu->length_ns};
    struct losses losses;

    for (size_t i = 0; i < cpu->count; i++) {
        start_ns[i] = 2 * cpu->start_ns[i];
        duration_ns[i] = 2 * cpu->duration_ns[i];
    }
    assert_true(iwi_window_fits(&twice, 2 * work_ns));
    losses = walk(&twice, 2 * work_ns);
    for (int64_t t = 1; t < twice.length_ns; t += 2) {
        assert_int_equal(losses.at[t], loss_by_rule(&twice, t, 2 * work_ns));
    }
}

/* docs/explanation/semantics.md, rule 6, "in stretched time": done 4, lost 6, done 2, lost 3, done 4. */
static void detours_that_begin_while_work_is_stretched_count(void **state)
{
    const int64_t start_ns[] = {4, 12}, duration_ns[] = {6, 3};
    const struct iwi_window_cpu cpu = {2, start_ns, duration_ns, 60};
    const struct losses losses = walk(&cpu, 10);

    (void)state;
    assert_int_equal(losses.at[0], 9);
    assert_int_equal(losses.at[4], 9); /* the detour under way must end first */
    assert_int_equal(losses.at[9], 4);
    assert_int_equal(losses.at[10], 3);
    assert_int_equal(losses.at[20], 0);
    check(&cpu, 10);
}

static void phases_without_detours_lose_nothing(void **state)
{
    const struct iwi_window_cpu cpu = {0, NULL, NULL, 100};

    (void)state;
    assert_int_equal(walk(&cpu, 10).at[99], 0);
    assert_int_equal(walk(&cpu, 10).at[0], 0);
}

static void the_recording_repeats_behind_its_end(void **state)
{
    const int64_t start_ns[] = {0, 57}, duration_ns[] = {5, 3};
    const struct iwi_window_cpu cpu = {2, start_ns, duration_ns, 60};

    (void)state;
    assert_int_equal(walk(&cpu, 10).at[55], 8);
    check(&cpu, 10);
    check(&cpu, 52); /* all undisturbed time there is */
    assert_false(iwi_window_fits(&cpu, 53));
}

/* Touching detours, detours at both ends, phases from very short to all of the recording. */
static void any_trace_gives_the_losses_of_the_rule(void **state)
{
    const struct iwi_draw_id id = {7, 0, IWI_DRAW_TEST, 0, 0};
    uint64_t drawn = 0;

    (void)state;
    for (int trace = 0; trace < 300; trace++) {
        int64_t start_ns[DETOURS], duration_ns[DETOURS], now_ns = 0, busy_ns = 0;
        struct iwi_window_cpu cpu = {0, start_ns, duration_ns, 0};

        while (cpu.count < DETOURS && now_ns < LENGTH / 2 - 30) {
            now_ns += (int64_t)iwi_draw_below(id, drawn++, 12);
            start_ns[cpu.count] = now_ns;
            duration_ns[cpu.count] = 1 + (int64_t)iwi_draw_below(id, drawn++, 8);
            now_ns += duration_ns[cpu.count];
            busy_ns += duration_ns[cpu.count++];
        }
        cpu.length_ns = now_ns + (int64_t)iwi_draw_below(id, drawn++, 3);
        if (cpu.length_ns > busy_ns) {
            check(&cpu, 1 + (int64_t)iwi_draw_below(id, drawn++, (uint64_t)(cpu.length_ns - busy_ns)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detours_that_begin_while_work_is_stretched_count),
        cmocka_unit_test(phases_without_detours_lose_nothing),
        cmocka_unit_test(the_recording_repeats_behind_its_end),
        cmocka_unit_test(any_trace_gives_the_losses_of_the_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
