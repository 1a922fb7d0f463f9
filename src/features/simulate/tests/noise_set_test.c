/* Noise whose sources can be taken away: parts and their shares, marks, inputs of all kinds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <idlewave/files.h>
#include <idlewave/whatif.h>

#include "support/made_recording.h"
#include "support/support.h"

/* Two CPUs of 1 ms. CPU 0: eno1 20 us, tick 10 us, of which 4 lie in a detour of eno1. CPU 1: cron 30 us. */
static iw_recording *sample(void)
{
    iw_recording *recording = iwt_recording(2, 1000000);
    const uint32_t eno1 = iwt_source(recording, IW_CLASS_IRQ, "eno1"),
                   tick = iwt_source(recording, IW_CLASS_IRQ, "tick[0]"),
                   cron = iwt_source(recording, IW_CLASS_THREAD, "cron");

    (void)iwt_source(recording, IW_CLASS_THREAD, "idle"); /* never came */
    iwt_detour(recording, 0, 10000, 6000, tick);
    iwt_detour(recording, 0, 20000, 24000, eno1);
    iwt_part(recording, 0, eno1, 5000);
    iwt_part(recording, 0, tick, 4000);
    iwt_detour(recording, 1, 500000, 30000, cron);
    return recording;
}

static iw_noise_set *new_set(iw_recording *recording, uint32_t ranks_per_node)
{
    iw_noise_set *set = NULL;

    assert_ok(iw_noise_set_new(NULL, &set));
    if (recording != NULL) {
        assert_ok(iw_noise_set_add_recording(NULL, set, "node", recording));
    }
    iw_noise_set_align(set, IW_SYNC_NONE, 0, ranks_per_node);
    return set;
}

static void assert_part(const iw_noise_set *set, size_t number, const char *text, double share)
{
    const iw_noise_set_source *part = iw_noise_set_source_at(set, number);

    assert_non_null(part);
    assert_string_equal(part->text, text);
    assert_float_equal(part->share, share, 1e-12);
}

static void parts_are_what_took_time_the_largest_first(void **state)
{
    iw_noise_set *set = new_set(sample(), 2);

    (void)state;
    assert_int_equal(iw_noise_set_source_count(set), 3);
    assert_part(set, 0, "thread/cron", 0.015); /* 30 us of the 2 ms of both CPUs */
    assert_part(set, 1, "irq/eno1", 0.010);
    assert_part(set, 2, "irq/tick[0]", 0.005);
    assert_int_equal(iw_noise_set_source_at(set, 1)->longest_ns, 15000); /* behind the tick that cut in */
    assert_true(iw_noise_set_source_at(set, 1)->remedy == iw_remedy_of(IW_CLASS_IRQ, "eno1"));
    assert_null(iw_noise_set_source_at(set, 3));
    iw_noise_set_free(set);
}

/* Ranks of nodes with one rank only see CPU 0; of three ranks a node, two do. */
static void shares_are_those_of_the_cpus_that_ranks_use(void **state)
{
    iw_noise_set *set = new_set(sample(), 1);

    (void)state;
    assert_int_equal(iw_noise_set_source_count(set), 2);
    assert_part(set, 0, "irq/eno1", 0.020);
    assert_part(set, 1, "irq/tick[0]", 0.010);
    iw_noise_set_align(set, IW_SYNC_NONE, 0, 3);
    assert_part(set, 0, "irq/eno1", 0.040 / 3.0);
    assert_part(set, 1, "thread/cron", 0.010);
    iw_noise_set_free(set);
}

static void shares_are_those_of_the_noise(void **state)
{
    iw_noise_set *set = new_set(sample(), 3);
    iw_noise *noise = NULL;

    (void)state;
    assert_ok(iw_noise_set_add(NULL, set, "periodic:100Hz,10us"));
    assert_ok(iw_noise_set_make(NULL, set, NULL, 1, 0, &noise));
    assert_int_equal(iw_noise_source_count(noise), 4);
    for (size_t i = 0; i < 3; i++) { /* of a recording they come with the largest total first */
        double share = 0.0;

        for (size_t part = 0; part < 4; part++) {
            const iw_noise_set_source *p = iw_noise_set_source_at(set, part);

            if (strstr(iw_noise_source_name(noise, i), p->name) != NULL) {
                share = p->share;
            }
        }
        assert_float_equal(iw_noise_source_share(noise, i), share, 1e-12);
    }
    iw_noise_free(noise);
    iw_noise_set_free(set);
}

static void the_same_source_in_two_recordings_is_one_part(void **state)
{
    iw_noise_set *set = new_set(sample(), 2);

    (void)state;
    assert_ok(iw_noise_set_add_recording(NULL, set, "other", sample()));
    assert_int_equal(iw_noise_set_source_count(set), 3);
    assert_part(set, 0, "thread/cron", 0.030);
    iw_noise_set_free(set);
}

static void each_spec_is_a_part(void **state)
{
    iw_noise_set *set = new_set(NULL, 1);

    (void)state;
    assert_ok(iw_noise_set_add(NULL, set, "periodic:100Hz,10us"));
    assert_ok(iw_noise_set_add(NULL, set, "none"));
    assert_ok(iw_noise_set_add(NULL, set, "bernoulli:0.1,5us"));
    assert_ok(iw_noise_set_add(NULL, set, "poisson:1kHz,fixed:10us"));
    assert_int_equal(iw_noise_set_source_count(set), 3);
    assert_part(set, 0, "poisson:1kHz,fixed:10us", 1.0 - exp(-0.01)); /* they overlap */
    assert_part(set, 1, "periodic:100Hz,10us", 0.001);
    assert_string_equal(iw_noise_set_source_at(set, 2)->name, "bernoulli:0.1,5us");
    assert_true(isnan(iw_noise_set_source_at(set, 2)->share));
    assert_false(iw_noise_set_source_at(set, 0)->is_recorded);
    iw_noise_set_free(set);
}

/* ---- marks ---- */

static size_t count_marked(const iw_noise_set *set, const char *pattern)
{
    bool is_marked[8] = {false};
    size_t count = 0;

    if (iw_noise_set_mark(NULL, set, pattern, is_marked) != IW_OK) {
        return 0;
    }
    for (size_t i = 0; i < 8; i++) {
        count += is_marked[i];
    }
    return count;
}

static void parts_are_meant_by_name_class_or_pattern(void **state)
{
    iw_noise_set *set = new_set(sample(), 2);

    (void)state;
    assert_ok(iw_noise_set_add(NULL, set, "periodic:100Hz,10us"));
    assert_int_equal(count_marked(set, "eno1"), 1);
    assert_int_equal(count_marked(set, "irq/eno1"), 1);
    assert_int_equal(count_marked(set, "irq"), 2);
    assert_int_equal(count_marked(set, "irq/*"), 2);
    assert_int_equal(count_marked(set, "tick[0]"), 1); /* as it is, though brackets mean something */
    assert_int_equal(count_marked(set, "periodic:100Hz,10us"), 1);
    assert_int_equal(count_marked(set, "periodic*"), 1);
    assert_int_equal(count_marked(set, "*"), 4);
    iw_noise_set_free(set);
}

static void a_mark_that_fits_nothing_says_what_there_is(void **state)
{
    iw_noise_set *set = new_set(sample(), 1);
    bool is_marked[2] = {false};
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_noise_set_mark(&l.log, set, "cron", is_marked), IW_ERR_RANGE);
    iwt_assert_logged(&l, "no source 'cron' on the CPUs that ranks use: use irq/eno1, irq/tick[0]");
    assert_false(is_marked[0] || is_marked[1]);
    iw_noise_set_free(set);
}

/* ---- inputs ---- */

static void a_bad_input_leaves_the_set_as_it_was(void **state)
{
    iw_noise_set *set = new_set(sample(), 2);
    iw_recording *ftq = sample();
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_noise_set_add(&l.log, set, "periodic:1Hz"), IW_ERR_FORMAT);
    assert_status(iw_noise_set_add(&l.log, set, "/nonexistent/node.h5"), IW_ERR_IO);
    ftq->probe = IW_PROBE_FTQ;
    ftq->quantum_ns = 1000;
    assert_status(iw_noise_set_add_recording(&l.log, set, "ftq.h5", ftq), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "'ftq.h5' was recorded with FTQ");
    iw_recording_free(ftq); /* it stayed ours */
    assert_int_equal(iw_noise_set_source_count(set), 3);
    assert_part(set, 0, "thread/cron", 0.015);
    iw_noise_set_free(set);
}

static void samples_of_fwq_are_not_in_the_way(void **state)
{
    iw_recording *fwq = sample();
    iw_noise *noise = NULL;
    iw_noise_set *set;

    (void)state;
    fwq->probe = IW_PROBE_FWQ;
    fwq->quantum_ns = 1000;
    iwt_sample(fwq, 0, 0, 1000.0);
    set = new_set(fwq, 2);
    assert_ok(iw_noise_set_make(NULL, set, (const bool[]){true, false, false}, 1, 1, &noise));
    assert_int_equal(iw_noise_source_count(noise), 2);
    iw_noise_free(noise);
    iw_noise_set_free(set);
}

/* Killed before its first instant. */
static void a_recording_of_no_time_adds_nothing(void **state)
{
    iw_noise_set *set = new_set(iwt_recording(2, 0), 2);
    iw_noise *noise = NULL;

    (void)state;
    assert_int_equal(iw_noise_set_source_count(set), 0);
    assert_ok(iw_noise_set_make(NULL, set, NULL, 1, 3, &noise));
    assert_int_equal(iw_noise_source_count(noise), 0);
    iw_noise_free(noise);
    iw_noise_set_free(set);
}

/* Terminals obey control characters. */
static void names_are_shown_without_control_characters(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000000);
    iw_noise_set *set;

    (void)state;
    iwt_detour(recording, 0, 10, 10, iwt_source(recording, IW_CLASS_THREAD, "a\033[31mb"));
    set = new_set(recording, 1);
    assert_string_equal(iw_noise_set_source_at(set, 0)->text, "thread/a?[31mb");
    assert_string_equal(iw_noise_set_source_at(set, 0)->name, "a\033[31mb");
    iw_noise_set_free(set);
}

static void what_is_left_of_nothing_is_no_noise(void **state)
{
    iw_noise_set *set = new_set(sample(), 2);
    const bool all[4] = {true, true, true, true};
    iw_noise *noise = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iw_noise_set_add(NULL, set, "periodic:100Hz,10us"));
    assert_ok(iw_noise_set_make(&l.log, set, all, 1, 0, &noise));
    assert_int_equal(iw_noise_source_count(noise), 0);
    assert_int_equal(l.warnings, 0);
    iw_noise_free(noise);
    iw_noise_set_free(set);
}

/* One CPU is watched a little longer than the other, and what came then belongs to no part. */
static void nor_is_what_came_behind_the_time_of_all(void **state)
{
    iw_recording *recording = sample();
    iw_noise_set *set;
    iw_noise *noise = NULL;
    struct iwt_log l;

    (void)state;
    recording->cpus[1].length_ns += 5000;
    iwt_detour(recording, 1, 1001000, 2000, iwt_source(recording, IW_CLASS_THREAD, "late"));
    set = new_set(recording, 2);
    assert_int_equal(iw_noise_set_source_count(set), 3);
    iwt_log_init(&l);
    assert_ok(iw_noise_set_make(&l.log, set, (const bool[]){true, true, true}, 1, 0, &noise));
    assert_int_equal(iw_noise_source_count(noise), 0);
    assert_int_equal(l.warnings, 0);
    iw_noise_free(noise);
    iw_noise_set_free(set);
}

/* ---- files and folders ---- */

static void files_and_folders_are_inputs(void **state)
{
    char folder[] = "/tmp/iw_set_XXXXXX", path[2][64];
    iw_recording *recording = sample();
    iw_noise_set *set = new_set(NULL, 2);
    iw_noise *noise = NULL;

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/node%d.h5", folder, i);
        assert_ok(iw_recording_save(NULL, recording, path[i]));
        recording->cpus[1].duration_ns[0] = 60000; /* cron takes twice as long on the second node */
    }
    assert_ok(iw_noise_set_add(NULL, set, path[0]));
    assert_part(set, 0, "thread/cron", 0.015);
    iw_noise_set_free(set);
    set = new_set(NULL, 2);
    assert_ok(iw_noise_set_add(NULL, set, folder));
    assert_int_equal(iw_noise_set_source_count(set), 3);
    assert_part(set, 0, "thread/cron", 0.0225);
    assert_part(set, 1, "irq/eno1", 0.010);
    assert_ok(iw_noise_set_make(NULL, set, (const bool[]){true, false, false}, 1, 3, &noise));
    assert_int_equal(iw_noise_source_count(noise), 2);
    iw_noise_free(noise);
    assert_ok(iw_noise_set_make(NULL, set, (const bool[]){true, true, true}, 1, 0, &noise));
    assert_int_equal(iw_noise_source_count(noise), 0);
    iw_noise_free(noise);
    iw_noise_set_free(set);
    iw_recording_free(recording);
    assert_int_equal(unlink(path[0]) + unlink(path[1]) + rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_what_took_time_the_largest_first),
        cmocka_unit_test(shares_are_those_of_the_cpus_that_ranks_use),
        cmocka_unit_test(shares_are_those_of_the_noise),
        cmocka_unit_test(the_same_source_in_two_recordings_is_one_part),
        cmocka_unit_test(each_spec_is_a_part),
        cmocka_unit_test(parts_are_meant_by_name_class_or_pattern),
        cmocka_unit_test(a_mark_that_fits_nothing_says_what_there_is),
        cmocka_unit_test(a_bad_input_leaves_the_set_as_it_was),
        cmocka_unit_test(samples_of_fwq_are_not_in_the_way),
        cmocka_unit_test(a_recording_of_no_time_adds_nothing),
        cmocka_unit_test(names_are_shown_without_control_characters),
        cmocka_unit_test(what_is_left_of_nothing_is_no_noise),
        cmocka_unit_test(nor_is_what_came_behind_the_time_of_all),
        cmocka_unit_test(files_and_folders_are_inputs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
