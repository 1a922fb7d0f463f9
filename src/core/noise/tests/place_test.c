/* "none" in place of a source leaves the detours of all others where they were.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/recording.h>

#include "core/noise/stream.h"
#include "support/made_recording.h"
#include "support/support.h"

/* A nanosecond of each stream is one cell. */
enum { INPUTS = 4, CELLS = 20000, RANKS = 6, TRIALS = 3, CELL_PS = 1000 };

static const char *const specs[INPUTS] = {"periodic:400kHz,400ns", "poisson:300kHz,fixed:300ns", "recording",
                                          "poisson:200kHz,exp:500ns"};

static iw_recording *made_recording(void)
{
    iw_recording *recording = iwt_recording(3, 7000);
    const uint32_t a = iwt_source(recording, IW_CLASS_IRQ, "a"), b = iwt_source(recording, IW_CLASS_IRQ, "b");

    for (size_t cpu = 0; cpu < 3; cpu++) {
        for (int64_t at_ns = 100 * (int64_t)cpu; at_ns < 6500; at_ns += 900) {
            iwt_detour(recording, cpu, at_ns, 350, at_ns % 200 == 0 ? a : b);
        }
    }
    return recording;
}

/* `is_there`: by input; what is not there is "none". */
static iw_noise *make_noise(const bool *is_there, iw_sync sync, uint32_t ranks_per_node)
{
    iw_recording *recording = made_recording();
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    for (size_t i = 0; i < INPUTS; i++) {
        if (is_there[i] && strcmp(specs[i], "recording") == 0) {
            assert_ok(iw_noise_add_recording(NULL, noise, recording));
        } else {
            assert_ok(iw_noise_add(NULL, noise, is_there[i] ? specs[i] : "none"));
        }
    }
    iw_noise_align(noise, sync, 0, ranks_per_node);
    iw_recording_free(recording);
    return noise;
}

static bool mark_busy(void *arg, uint32_t source, iw_time start, iw_time end)
{
    bool *is_busy = arg;

    (void)source;
    for (iw_time at = start > 0 ? start / CELL_PS : 0; at < end / CELL_PS && at < CELLS; at++) {
        is_busy[at] = true;
    }
    return true;
}

static void walk(const iw_noise *noise, struct iwi_stream_id id, bool *is_busy)
{
    iwi_noise_walk(noise, id, (iw_time)CELLS * CELL_PS, mark_busy, is_busy);
}

/* Busy with all inputs is what is busy with one of them or with the others: so neither has moved. */
static void assert_split(size_t alone, iw_sync sync, uint32_t ranks_per_node)
{
    static bool with_all[CELLS], with_one[CELLS], with_others[CELLS];
    bool all[INPUTS], one[INPUTS] = {false}, others[INPUTS];
    iw_noise *noises[3];

    memset(all, true, sizeof all);
    memset(others, true, sizeof others);
    one[alone] = true;
    others[alone] = false;
    noises[0] = make_noise(all, sync, ranks_per_node);
    noises[1] = make_noise(one, sync, ranks_per_node);
    noises[2] = make_noise(others, sync, ranks_per_node);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            const struct iwi_stream_id id = {11, trial, rank};

            memset(with_all, 0, sizeof with_all);
            memset(with_one, 0, sizeof with_one);
            memset(with_others, 0, sizeof with_others);
            walk(noises[0], id, with_all);
            walk(noises[1], id, with_one);
            walk(noises[2], id, with_others);
            for (size_t i = 0; i < CELLS; i++) {
                /* edges lie within a nanosecond where two inputs meet: one free cell beside a busy one */
                if (with_all[i] != (with_one[i] || with_others[i])) {
                    assert_true(i == 0 || i + 1 == CELLS || with_all[i - 1] || with_all[i + 1]);
                }
            }
        }
    }
    for (size_t i = 0; i < 3; i++) {
        iw_noise_free(noises[i]);
    }
}

static void none_instead_of_any_input_moves_nothing(void **state)
{
    (void)state;
    for (size_t alone = 0; alone < INPUTS; alone++) {
        assert_split(alone, IW_SYNC_NONE, 1);
        assert_split(alone, IW_SYNC_NONE, 2);
        assert_split(alone, IW_SYNC_START, 3);
    }
}

static iw_time begin(const iw_noise *noise, uint32_t rank)
{
    const struct iwi_stream_id id = {11, 0, rank};
    int64_t words[16];

    assert_true(iwi_noise_words(noise) <= 16);
    return iwi_noise_begin(noise, id, words);
}

/* The same source elsewhere in the list has other numbers, so the test above can fail. */
static void leaving_an_input_out_does_move_the_next(void **state)
{
    iw_noise *kept = NULL, *moved = NULL;
    uint32_t same = 0;

    (void)state;
    assert_ok(iw_noise_new(NULL, &kept));
    assert_ok(iw_noise_new(NULL, &moved));
    assert_ok(iw_noise_add(NULL, kept, "none"));
    assert_ok(iw_noise_add(NULL, kept, specs[1]));
    assert_ok(iw_noise_add(NULL, moved, specs[1]));
    for (uint32_t rank = 0; rank < 20; rank++) {
        same += begin(kept, rank) == begin(moved, rank);
    }
    assert_true(same < 2);
    iw_noise_free(kept);
    iw_noise_free(moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_instead_of_any_input_moves_nothing),
        cmocka_unit_test(leaving_an_input_out_does_move_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
