/* Which CPU of a recording a rank meets: without a word all of them, in turns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include "timeline.h"

#include "support/made_recording.h"

/* 1 ms. CPU k loses k * 10 us, to one detour. */
static iw_recording *uneven(size_t cpu_count)
{
    iw_recording *recording = iwt_recording(cpu_count, 1000000);

    for (size_t cpu = 1; cpu < cpu_count; cpu++) {
        iwt_detour(recording, cpu, 300000, (int64_t)cpu * 10000, 0);
    }
    return recording;
}

static iw_noise *noise_of(size_t cpu_count)
{
    iw_recording *recording = uneven(cpu_count);
    iw_noise *noise = new_noise();

    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iw_recording_free(recording);
    return noise;
}

/* Work that takes longer than what CPU k leaves of a repetition, so it is hit. */
static bool is_disturbed(const iw_noise *noise, uint32_t rank)
{
    struct stream s = open_stream(noise, (struct iwi_stream_id){1, 2, rank});

    return stream_finish(&s, 0, IW_PS_PER_MS, NULL) > IW_PS_PER_MS;
}

static void without_a_word_a_node_has_a_rank_for_each_cpu(void **unused)
{
    iw_noise *noise = noise_of(3);

    (void)unused;
    assert_int_equal(iw_noise_ranks_per_node(noise), 3);
    assert_int_equal(iw_noise_recorded_cpus(noise), 3);
    assert_true(fabs(iw_noise_source_share(noise, 0) - 0.01) < 1e-12);
    for (uint32_t rank = 0; rank < 12; rank++) {
        assert_true(is_disturbed(noise, rank) == (rank % 3 != 0));
    }
    iw_noise_free(noise);
}

static void ranks_of_a_node_share_its_offset(void **unused)
{
    iw_noise *noise = noise_of(3);

    (void)unused;
    for (uint32_t node = 0; node < 20; node++) {
        int64_t state[2][4];
        const iw_time one = iwi_noise_begin(noise, (struct iwi_stream_id){1, 2, 3 * node + 1}, state[0]);
        const iw_time two = iwi_noise_begin(noise, (struct iwi_stream_id){1, 2, 3 * node + 2}, state[1]);

        /* both detours begin at the same time, but the longer one may still be under way */
        assert_true(one == two || one == two + IW_PS_PER_MS);
    }
    iw_noise_free(noise);
}

static void a_number_of_ranks_that_is_given_counts(void **unused)
{
    iw_noise *noise = noise_of(4);

    (void)unused;
    iw_noise_align(noise, IW_SYNC_NONE, 0, 1);
    assert_int_equal(iw_noise_ranks_per_node(noise), 1);
    assert_true(iw_noise_source_share(noise, 0) == 0);
    assert_false(is_disturbed(noise, 7));
    iw_noise_align(noise, IW_SYNC_NONE, 0, 2);
    assert_true(fabs(iw_noise_source_share(noise, 0) - 0.005) < 1e-12);
    iw_noise_align(noise, IW_SYNC_NONE, 0, 0);
    assert_int_equal(iw_noise_ranks_per_node(noise), 4);
    assert_true(fabs(iw_noise_source_share(noise, 0) - 0.015) < 1e-12);
    iw_noise_free(noise);
}

static void of_several_recordings_the_one_with_most_cpus_counts(void **unused)
{
    iw_recording *few = uneven(2), *many = uneven(5);
    const iw_recording *const both[] = {few, many};
    iw_noise *inputs = new_noise(), *nodes = new_noise();

    (void)unused;
    assert_ok(iw_noise_add_recording(NULL, inputs, many));
    assert_ok(iw_noise_add_recording(NULL, inputs, few));
    assert_int_equal(iw_noise_ranks_per_node(inputs), 5);
    assert_ok(iw_noise_add_recordings(NULL, nodes, both, 2));
    assert_int_equal(iw_noise_ranks_per_node(nodes), 5);
    iw_noise_free(inputs);
    iw_noise_free(nodes);
    iw_recording_free(few);
    iw_recording_free(many);
}

static void where_nothing_is_recorded_each_rank_is_a_node(void **unused)
{
    iw_noise *noise = new_noise();

    (void)unused;
    add_spec(noise, "periodic:1kHz,1us");
    assert_int_equal(iw_noise_ranks_per_node(noise), 1);
    assert_int_equal(iw_noise_recorded_cpus(noise), 0);
    iw_noise_free(noise);
}

static void a_recording_can_be_left_with_some_of_its_cpus(void **unused)
{
    iw_recording *recording = uneven(4);
    iw_cpu_set cpus = {.words = {0}};
    struct iwt_log l;

    (void)unused;
    iwt_log_init(&l);
    assert_ok(iw_recording_keep_cpus(&l.log, "node", NULL, &recording));
    assert_int_equal(recording->cpu_count, 4);
    iw_cpu_set_add(&cpus, 1);
    iw_cpu_set_add(&cpus, 3);
    assert_ok(iw_recording_keep_cpus(&l.log, "node", &cpus, &recording));
    assert_int_equal(recording->cpu_count, 2);
    assert_int_equal(recording->cpus[0].cpu, 1);
    assert_int_equal(recording->cpus[1].duration_ns[0], 30000);
    iw_cpu_set_add(&cpus, 9);
    assert_status(iw_recording_keep_cpus(&l.log, "node", &cpus, &recording), IW_ERR_RANGE);
    iwt_assert_logged(&l, "'node' has no CPU 9; it has 1,3");
    assert_int_equal(recording->cpu_count, 2);
    iw_recording_free(recording);
}

static void the_way_that_ranks_meet_cpus_is_told(void **unused)
{
    static const struct {
        uint64_t ranks, cores, cpus;
        const char *only, *text;
    } cases[] = {
        {1, 1, 0, NULL, ""},
        {1, 1, 1, NULL, "1 rank per node, as recorded"},
        {2, 1, 2, NULL, "2 ranks per node, as recorded"},
        {1, 1, 2, NULL, "1 rank per node, on the first of 2 recorded CPUs"},
        {3, 1, 8, NULL, "3 ranks per node, on the first 3 of 8 recorded CPUs"},
        {16, 1, 1, NULL, "16 ranks per node, on independent copies of one recorded CPU"},
        {16, 1, 2, NULL, "16 ranks per node, on copies of 2 recorded CPUs"},
        {2, 1, 2, "0,5", "2 ranks per node, as recorded: CPUs 0,5"},
        {1, 1, 1, "12", "1 rank per node, as recorded: CPU 12"},
        {8, 16, 128, NULL, "8 ranks of 16 cores per node, as recorded"},
        {2, 4, 16, NULL, "2 ranks of 4 cores per node, on the first 8 of 16 recorded CPUs"},
        {1, 4, 2, NULL, "1 rank of 4 cores per node, on copies of 2 recorded CPUs"},
    };
    char text[IW_NODES_TEXT_SIZE];

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(iw_nodes_text(cases[i].ranks, cases[i].cores, cases[i].cpus, cases[i].only, text),
                            cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_word_a_node_has_a_rank_for_each_cpu),
        cmocka_unit_test(ranks_of_a_node_share_its_offset),
        cmocka_unit_test(a_number_of_ranks_that_is_given_counts),
        cmocka_unit_test(of_several_recordings_the_one_with_most_cpus_counts),
        cmocka_unit_test(where_nothing_is_recorded_each_rank_is_a_node),
        cmocka_unit_test(a_recording_can_be_left_with_some_of_its_cpus),
        cmocka_unit_test(the_way_that_ranks_meet_cpus_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
