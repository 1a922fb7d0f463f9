/* A source that is removed: to the picosecond what simulating the file without it gives.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>
#include <idlewave/recording.h>
#include <idlewave/whatif.h>

#include "core/base/rng.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { CASES = 80, TRIALS = 8, SOURCES = 11 };

struct picker {
    uint64_t seed, index;
};

static int64_t pick(struct picker *picker, int64_t low, int64_t high)
{
    const struct iwi_draw_id id = {.seed = picker->seed, .purpose = IWI_DRAW_TEST};

    return low + (int64_t)iwi_draw_below(id, picker->index++, (uint64_t)(high - low + 1));
}

/* Up to 4 CPUs, detours of up to 11 sources, most of them in parts; more sources than noise tells apart. */
static iw_recording *random_recording(struct picker *p)
{
    static const iw_class classes[] = {IW_CLASS_IRQ, IW_CLASS_THREAD, IW_CLASS_SOFTIRQ};
    const int64_t length_ns = pick(p, 400000, 900000);
    const int64_t source_count = pick(p, 2, SOURCES);
    iw_recording *recording = iwt_recording((size_t)pick(p, 1, 4), length_ns);

    for (int64_t i = 1; i < source_count; i++) {
        char name[8];

        snprintf(name, sizeof name, "%c[*]", (char)('a' + i)); /* a pattern that fits more, or nothing */
        (void)iwt_source(recording, classes[i % 3], name);
    }
    for (size_t cpu = 0; cpu < recording->cpu_count; cpu++) {
        for (int64_t at_ns = pick(p, 0, 9000); at_ns < length_ns - 9000; at_ns += pick(p, 500, 20000)) {
            const int64_t duration_ns = pick(p, 200, 6000);

            iwt_detour(recording, cpu, at_ns, duration_ns, (uint32_t)pick(p, 0, source_count - 1));
            for (int64_t part = pick(p, -1, 3); part > 0; part--) {
                iwt_part(recording, cpu, (uint32_t)pick(p, 0, source_count - 1), pick(p, 0, duration_ns / 2));
            }
            at_ns += duration_ns;
        }
    }
    return recording;
}

static iw_program *random_program(struct picker *p)
{
    static const char *const patterns[] = {"allreduce:dissemination", "barrier",         "halo2d", "bcast",
                                           "allreduce:ring",          "halo1d+allreduce"};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = (uint32_t)pick(p, 3, 24);
    pattern.bytes = (uint64_t)pick(p, 1, 2000);
    pattern.repeat = (uint64_t)pick(p, 1, 5);
    pattern.compute_ps = pick(p, 1, 90) * IW_PS_PER_US;
    assert_ok(iw_program_from_pattern(NULL, patterns[pick(p, 0, 5)], &pattern, &program));
    return program;
}

struct alignment {
    iw_sync sync;
    iw_time skew_ps;
    uint32_t ranks_per_node;
};

static struct alignment random_alignment(struct picker *p)
{
    return (struct alignment){(iw_sync)pick(p, 0, 2), pick(p, 0, 1) * 3 * IW_PS_PER_US,
                              (uint32_t)pick(p, 1, 6)};
}

static void assert_same_times(const iw_program *program, const iw_noise *a, const iw_noise *b)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *x = NULL, *y = NULL;

    opts.trials = TRIALS;
    opts.seed = 99;
    opts.want_end_times = true;
    assert_ok(iw_simulate(NULL, program, iw_net_builtin("chic"), a, &opts, &x));
    assert_ok(iw_simulate(NULL, program, iw_net_builtin("chic"), b, &opts, &y));
    assert_memory_equal(x->makespan_ps, y->makespan_ps, TRIALS * sizeof(iw_time));
    assert_memory_equal(x->end_ps, y->end_ps, TRIALS * x->ranks * sizeof(iw_time));
    iw_sim_result_free(x);
    iw_sim_result_free(y);
}

/* What 'noise cut --drop' makes; NULL if nothing is left. */
static iw_recording *cut(const iw_recording *recording, const iw_noise_set_source *part)
{
    char pattern[IW_SOURCE_NAME_SIZE + 32];
    const char *const patterns[] = {pattern};
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    iw_recording *rest = NULL;
    iw_edit edit;

    snprintf(pattern, sizeof pattern, "%s/%s", iw_class_name(part->kind), part->name);
    opts.drop = patterns;
    opts.drop_count = 1;
    return iw_recording_cut(NULL, "node", recording, &opts, &rest, &edit) == IW_OK ? rest : NULL;
}

/* Specs before and after the recording, some of them. */
struct inputs {
    const char *before, *after;
};

static struct inputs random_inputs(struct picker *p)
{
    static const char *const specs[] = {NULL, "poisson:20kHz,exp:2us", "periodic:9kHz,1us", "phase-exp:5%"};

    return (struct inputs){specs[pick(p, 0, 3)], specs[pick(p, 0, 3)]};
}

/* The noise of a recording (NULL: "none") among the specs, without the help of a set. */
static iw_noise *plain_noise(const struct inputs *inputs, const iw_recording *recording,
                             const struct alignment *alignment)
{
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    if (inputs->before != NULL) {
        assert_ok(iw_noise_add(NULL, noise, inputs->before));
    }
    assert_ok(recording != NULL ? iw_noise_add_recording(NULL, noise, recording)
                                : iw_noise_add(NULL, noise, "none"));
    if (inputs->after != NULL) {
        assert_ok(iw_noise_add(NULL, noise, inputs->after));
    }
    iw_noise_align(noise, alignment->sync, alignment->skew_ps, alignment->ranks_per_node);
    return noise;
}

static iw_noise_set *set_of(const struct inputs *inputs, iw_recording *recording,
                            const struct alignment *alignment)
{
    iw_noise_set *set = NULL;

    assert_ok(iw_noise_set_new(NULL, &set));
    if (inputs->before != NULL) {
        assert_ok(iw_noise_set_add(NULL, set, inputs->before));
    }
    assert_ok(iw_noise_set_add_recording(NULL, set, "node", recording));
    if (inputs->after != NULL) {
        assert_ok(iw_noise_set_add(NULL, set, inputs->after));
    }
    iw_noise_set_align(set, alignment->sync, alignment->skew_ps, alignment->ranks_per_node);
    return set;
}

static void assert_removal(const iw_noise_set *set, size_t part, const iw_recording *whole,
                           const struct inputs *inputs, const struct alignment *alignment,
                           const iw_program *program)
{
    const iw_noise_set_source *removed = iw_noise_set_source_at(set, part);
    bool is_removed[SOURCES + 2] = {false};
    struct inputs rest_inputs = *inputs;
    iw_recording *rest = NULL;
    iw_noise *noise = NULL, *plain;

    is_removed[part] = true;
    assert_ok(iw_noise_set_make(NULL, set, is_removed, 1, 0, &noise));
    if (removed->is_recorded) {
        rest = cut(whole, removed);
        plain = plain_noise(inputs, rest, alignment);
    } else {
        const bool is_first = inputs->before != NULL && strcmp(removed->name, inputs->before) == 0;

        *(is_first ? &rest_inputs.before : &rest_inputs.after) = "none";
        plain = plain_noise(&rest_inputs, whole, alignment);
    }
    assert_same_times(program, noise, plain);
    iw_recording_free(rest);
    iw_noise_free(noise);
    iw_noise_free(plain);
}

static void removing_a_source_is_simulating_the_file_without_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0}, again = {seed, 0};
        iw_recording *recording = random_recording(&p), *whole = random_recording(&again);
        const struct alignment alignment = random_alignment(&p);
        struct inputs inputs = random_inputs(&p);
        iw_program *program = random_program(&p);
        iw_noise_set *set;

        if (inputs.before != NULL && inputs.before == inputs.after) {
            inputs.after = NULL; /* which of the two was removed could not be told by name */
        }
        set = set_of(&inputs, recording, &alignment);
        for (size_t part = 0; part < iw_noise_set_source_count(set); part++) {
            assert_removal(set, part, whole, &inputs, &alignment, program);
        }
        iw_noise_set_free(set);
        iw_program_free(program);
        iw_recording_free(whole);
    }
}

/* Labels are given to the largest sources, so removing one changes them; times may not follow. */
static void removing_nothing_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0}, again = {seed, 0};
        iw_recording *recording = random_recording(&p), *whole = random_recording(&again);
        const struct alignment alignment = random_alignment(&p);
        const struct inputs inputs = random_inputs(&p);
        iw_program *program = random_program(&p);
        iw_noise_set *set = set_of(&inputs, recording, &alignment);
        iw_noise *noise = NULL, *plain = plain_noise(&inputs, whole, &alignment);

        assert_ok(iw_noise_set_make(NULL, set, (const bool[SOURCES + 2]){false}, 1, 0, &noise));
        assert_same_times(program, noise, plain);
        iw_noise_free(noise);
        iw_noise_free(plain);
        iw_noise_set_free(set);
        iw_program_free(program);
        iw_recording_free(whole);
    }
}

/* The way a user goes: cut the file, simulate it. */
static void the_cut_file_gives_the_same_makespans(void **state)
{
    char folder[] = "/tmp/iw_removal_XXXXXX", whole_path[64], rest_path[64];
    struct picker p = {3, 0};
    const struct alignment alignment = {IW_SYNC_NONE, 0, 2};
    iw_recording *whole = random_recording(&p), *rest;
    iw_program *program = random_program(&p);
    iw_noise *noise = NULL, *plain = NULL;
    iw_noise_set *set = NULL;
    bool is_removed[SOURCES + 2] = {true};

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(whole_path, sizeof whole_path, "%s/whole.h5", folder);
    snprintf(rest_path, sizeof rest_path, "%s/rest.h5", folder);
    assert_ok(iw_recording_save(NULL, whole, whole_path));
    assert_ok(iw_noise_set_new(NULL, &set));
    assert_ok(iw_noise_set_add(NULL, set, whole_path));
    iw_noise_set_align(set, alignment.sync, 0, alignment.ranks_per_node);
    rest = cut(whole, iw_noise_set_source_at(set, 0));
    assert_non_null(rest);
    assert_ok(iw_recording_save(NULL, rest, rest_path));
    assert_ok(iw_noise_set_make(NULL, set, is_removed, 1, 0, &noise));
    assert_ok(iw_noise_new(NULL, &plain));
    assert_ok(iw_noise_open(NULL, plain, rest_path));
    iw_noise_align(plain, alignment.sync, 0, alignment.ranks_per_node);
    assert_same_times(program, noise, plain);
    iw_noise_free(noise);
    iw_noise_free(plain);
    iw_noise_set_free(set);
    iw_program_free(program);
    iw_recording_free(whole);
    iw_recording_free(rest);
    assert_int_equal(unlink(whole_path) + unlink(rest_path) + rmdir(folder), 0);
}

/* ---- redraws ---- */

static iw_time first_makespan(const iw_noise_set *set, const iw_program *program, uint64_t seed,
                              uint64_t replicate)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    iw_noise *noise = NULL;
    iw_time makespan_ps;

    assert_ok(iw_noise_set_make(NULL, set, NULL, seed, replicate, &noise));
    assert_ok(iw_simulate(NULL, program, iw_net_builtin("chic"), noise, &opts, &result));
    makespan_ps = result->makespan_ps[0];
    iw_sim_result_free(result);
    iw_noise_free(noise);
    return makespan_ps;
}

static void redraws_follow_from_seed_and_number(void **state)
{
    const struct alignment alignment = {IW_SYNC_NONE, 0, 2};
    const struct inputs inputs = {NULL, "periodic:9kHz,1us"};
    struct picker p = {5, 0};
    iw_noise_set *set = set_of(&inputs, random_recording(&p), &alignment);
    iw_program *program = random_program(&p);
    const iw_time one = first_makespan(set, program, 1, 1);
    size_t same = 0;

    (void)state;
    assert_int_equal(first_makespan(set, program, 1, 1), one);
    for (uint64_t i = 2; i < 12; i++) {
        same += first_makespan(set, program, 1, i) == one;
        same += first_makespan(set, program, i, 1) == one;
    }
    assert_true(same < 10);
    iw_noise_set_free(set);
    iw_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removing_a_source_is_simulating_the_file_without_it),
        cmocka_unit_test(removing_nothing_changes_nothing),
        cmocka_unit_test(the_cut_file_gives_the_same_makespans),
        cmocka_unit_test(redraws_follow_from_seed_and_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
