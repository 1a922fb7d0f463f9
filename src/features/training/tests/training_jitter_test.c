/* Jitter of training: what the launch queue absorbs, who is hit, and that nothing depends on threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/training/step_run.h"
#include "support/support.h"

enum { OPS = 50, QUEUE = 10 };

static const iw_time launch_ps = 100 * IW_PS_PER_US, work_ps = 200 * IW_PS_PER_US;

static void add_noise(iw_training *spec, const char *source, const char *where, const char *scope)
{
    assert_ok(iw_training_add_source(
        NULL, spec, &(iw_training_source_text){.source = source, .where = where, .scope = scope}));
}

/* One GPU, a forward of OPS kernels, each launched by itself. */
static void init(iw_training *spec, uint32_t queue)
{
    iw_training_init(spec);
    assert_ok(iw_training_set(NULL, spec, "forward", "10ms"));
    assert_ok(iw_training_set(NULL, spec, "backward", "10ms"));
    spec->layers = OPS;
    spec->launches = 1;
    spec->launch_ps = launch_ps;
    spec->queue = queue;
}

/* When the last kernel of the forward ends; *detour_p: when the first detour of the host begins. */
static iw_time forward_end(const iw_training *spec, uint64_t seed, iw_time *detour_p)
{
    iw_training_opts opts = IW_TRAINING_OPTS_INIT;
    struct iwi_train_jitter *jitter;
    struct iwi_train_plan *plan;
    struct iwi_train_run *run;
    iw_time end;

    assert_ok(iwi_train_plan_new(NULL, spec, &plan));
    opts.seed = seed;
    assert_ok(iwi_train_jitter_new(NULL, spec, &opts, &jitter));
    assert_ok(iwi_train_run_new(NULL, spec, plan, jitter, &run));
    *detour_p = run->walks[0].next != NULL ? run->walks[0].next[0] : 0;
    (void)iwi_train_step(run);
    end = run->team.ends[OPS - 1];
    iwi_train_run_free(run);
    iwi_train_jitter_free(jitter);
    iwi_train_plan_free(plan);
    return end;
}

/* The kernel whose launch the host is at, without detours: the queue holds launch i until kernel i - Q has
 * ended, at l + (i - Q + 1) d. -1: the host waits. */
static int launched_at(iw_time t, uint32_t queue)
{
    iw_time host = 0;

    for (int i = 0; i < OPS; i++) {
        if (i >= (int)queue) {
            host = iwi_max(host, launch_ps + (i - (iw_time)queue + 1) * work_ps);
        }
        if (t >= host && t < host + launch_ps) {
            return i;
        }
        host += launch_ps;
    }
    return -1;
}

/* delay = max(0, J - min(k (d - l), (Q - 1) d - l)) */
static void compare_with_formula(uint32_t queue)
{
    const iw_time pause = 3 * IW_PS_PER_MS, without = launch_ps + OPS * work_ps;
    unsigned cases = 0, delayed = 0;
    iw_training spec;

    init(&spec, queue);
    add_noise(&spec, "periodic:1Hz,3ms", NULL, NULL);
    for (uint64_t seed = 1; seed < 6000; seed++) {
        iw_time detour;
        const iw_time end = forward_end(&spec, seed, &detour);
        const int k = detour >= 0 ? launched_at(detour, queue) : -1;

        if (k >= 0) {
            const iw_time lead = iwi_min(k * (work_ps - launch_ps), (queue - 1) * work_ps - launch_ps);

            assert_int_equal(end - without, iwi_max(0, pause - lead));
            cases++;
            delayed += pause > lead;
        }
    }
    assert_true(cases > 10 && delayed > 3);
    iw_training_release(&spec);
}

static void the_queue_absorbs_what_the_formula_says(void **state)
{
    (void)state;
    compare_with_formula(QUEUE);
    compare_with_formula(1000);
}

/* A host that is slower than its device delays everything by the whole of a pause. */
static void a_slow_host_absorbs_nothing(void **state)
{
    iw_training spec;
    unsigned cases = 0;

    (void)state;
    init(&spec, 1000);
    spec.launch_ps = 300 * IW_PS_PER_US;
    add_noise(&spec, "periodic:1Hz,3ms", NULL, NULL);
    for (uint64_t seed = 1; seed < 2000; seed++) {
        iw_time detour;
        const iw_time end = forward_end(&spec, seed, &detour);

        if (detour >= 0 && detour < OPS * spec.launch_ps) {
            assert_int_equal(end, OPS * spec.launch_ps + work_ps + 3 * IW_PS_PER_MS);
            cases++;
        }
    }
    assert_true(cases > 10);
    iw_training_release(&spec);
}

/* Micro-batches of unequal length, told of the forward or of the backward alone. */
static void either_pass_may_vary_by_itself(void **state)
{
    static const char *const keys[] = {"forward-sigma", "backward-sigma"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        iw_training_opts opts = IW_TRAINING_OPTS_INIT;
        iw_training_result *result;
        iw_training spec;

        init(&spec, QUEUE);
        assert_ok(iw_training_set(NULL, &spec, keys[i], "0.2"));
        opts.threads = 1;
        assert_ok(iw_training_run(NULL, &spec, &opts, &result));
        assert_true(result->step_time_ns[0] != result->step_time_ns[1]);
        iw_training_result_free(result);
        iw_training_release(&spec);
    }
}

/* The same detours: on the host the lead absorbs them, on the device they count. */
static void host_and_device_are_two_resources(void **state)
{
    static const char *const wheres[] = {"host", "device"};
    iw_time ends[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        iw_time detour;
        iw_training spec;

        init(&spec, 1000);
        add_noise(&spec, "periodic:1kHz,50us", wheres[i], NULL);
        ends[i] = forward_end(&spec, 7, &detour);
        iw_training_release(&spec);
    }
    assert_true(ends[0] < OPS * work_ps + launch_ps + 60 * IW_PS_PER_US);
    assert_true(ends[1] > OPS * work_ps + launch_ps + 9 * 50 * IW_PS_PER_US);
}

/* A device that takes twice as long during a detour, and work that ends just behind, or at, its begin. */
static void work_is_stretched_to_the_picosecond(void **state)
{
    iw_training_opts opts = IW_TRAINING_OPTS_INIT;
    struct iwi_train_jitter *jitter;
    struct iwi_train_plan *plan;
    struct iwi_train_run *run;
    iw_training spec;
    iw_time begin;

    (void)state;
    init(&spec, 1000);
    assert_ok(iw_training_add_source(
        NULL, &spec,
        &(iw_training_source_text){.source = "periodic:1Hz,3ms", .where = "device", .factor = "2"}));
    assert_ok(iwi_train_plan_new(NULL, &spec, &plan));
    assert_ok(iwi_train_jitter_new(NULL, &spec, &opts, &jitter));
    assert_ok(iwi_train_run_new(NULL, &spec, plan, jitter, &run));
    begin = run->walks[0].next[0];
    assert_true(begin > 0);
    assert_int_equal(iwi_train_finish(run, IW_TRAINING_DEVICE, 0, 0, begin), begin);
    assert_int_equal(iwi_train_finish(run, IW_TRAINING_DEVICE, 0, 0, begin + 1), begin + 2);
    assert_int_equal(iwi_train_finish(run, IW_TRAINING_DEVICE, 0, 0, begin + IW_PS_PER_MS),
                     begin + 2 * IW_PS_PER_MS);
    iwi_train_run_free(run);
    iwi_train_jitter_free(jitter);
    iwi_train_plan_free(plan);
    iw_training_release(&spec);
}

/* ---- whole programs ---- */

static void init_program(iw_training *spec)
{
    static const char *const pairs[][2] = {{"model", "llama3-8b"},
                                           {"tp", "2"},
                                           {"cp", "2"},
                                           {"pp", "4"},
                                           {"dp", "4"},
                                           {"chunks", "2"},
                                           {"microbatches", "8"},
                                           {"optimizer", "20ms"},
                                           {"rate", "400TFLOP/s"},
                                           {"overlap-parameters", "yes"}};

    iw_training_init(spec);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_ok(iw_training_set(NULL, spec, pairs[i][0], pairs[i][1]));
    }
}

static iw_training_result *run(const iw_training *spec, uint32_t threads)
{
    iw_training_opts opts = IW_TRAINING_OPTS_INIT;
    iw_training_result *result;

    opts.steps = 4;
    opts.trials = 6;
    opts.threads = threads;
    assert_ok(iw_training_run(NULL, spec, &opts, &result));
    return result;
}

/* "none" is jitter that does nothing: all ranks are simulated, and take as long as one for all. */
static void all_ranks_take_as_long_as_one_for_all(void **state)
{
    static const char *const changes[][2] = {{"launch", "5us"},
                                             {"schedule", "gpipe"},
                                             {"detail", "chunk"},
                                             {"experts", "8"},
                                             {"sharding", "fsdp"}};

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        iw_training_result *result;
        iw_training spec;

        init_program(&spec);
        if (strcmp(changes[i][1], "gpipe") == 0) {
            spec.chunks = 1;
        }
        if (strcmp(changes[i][1], "fsdp") == 0) {
            spec.pp = spec.chunks = 1;
        }
        spec.ep = 4;
        spec.top_k = 2;
        spec.expert_ffn = 4096;
        if (strcmp(changes[i][0], "experts") != 0) {
            spec.ep = 1;
            spec.expert_ffn = 0;
        }
        assert_ok(iw_training_set(NULL, &spec, changes[i][0], changes[i][1]));
        add_noise(&spec, "none", "host", NULL);
        result = run(&spec, 1);
        for (uint64_t step = 0; step < result->step_time_count; step++) {
            assert_int_equal(result->step_time_ns[step], result->noiseless_ps / 1000);
        }
        assert_true(result->loss < 1e-9);
        iw_training_result_free(result);
        iw_training_release(&spec);
    }
}

static void add_everything(iw_training *spec)
{
    add_noise(spec, "python-gc", NULL, NULL);
    add_noise(spec, "data-loading", NULL, NULL);
    add_noise(spec, "poisson:20Hz,exp:2ms", "device", "node");
    add_noise(spec, "poisson:5Hz,exp:4ms", "network", "node");
    assert_ok(iw_training_set(NULL, spec, "slow", "slow:3,1.2"));
    assert_ok(iw_training_set(NULL, spec, "forward-sigma", "0.1"));
    assert_ok(iw_training_set(NULL, spec, "backward-sigma", "0.2"));
    assert_ok(iw_training_set(NULL, spec, "load", "100ms"));
}

static void threads_change_nothing(void **state)
{
    iw_training_result *one, *three;
    iw_training spec;

    (void)state;
    init_program(&spec);
    add_everything(&spec);
    one = run(&spec, 1);
    three = run(&spec, 3);
    assert_true(one->step_ns.value == three->step_ns.value);
    assert_true(one->worst_ns == three->worst_ns);
    assert_int_equal(one->change_count, 14);
    for (uint32_t i = 0; i < one->change_count; i++) {
        assert_true(one->changes[i].saved_ns.value == three->changes[i].saved_ns.value);
    }
    assert_true(one->loss > 0.1);
    iw_training_result_free(one);
    iw_training_result_free(three);
    iw_training_release(&spec);
}

/* Everything is a maximum or a sum: without a source no step of the run ends later. */
static void less_jitter_never_costs_more(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init_program(&spec);
    add_everything(&spec);
    result = run(&spec, 2);
    for (uint32_t i = 0; i < result->change_count; i++) {
        if (strncmp(result->changes[i].what, "without", 7) == 0) {
            assert_true(result->changes[i].saved_ns.value >= 0);
        }
    }
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* A loader that takes longer than the step: that is the step. */
static void a_slow_loader_sets_the_pace(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init_program(&spec);
    assert_ok(iw_training_set(NULL, &spec, "load", "5s"));
    result = run(&spec, 1);
    assert_int_equal(result->noiseless_ps, 5 * IW_PS_PER_S);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* P processes meet once a step, each loses J in a step with probability q: J (1 - (1 - q)^P) a step; if all
 * do it in the same steps, J q. */
static void random_pauses_add_up_and_synchronised_ones_do_not(void **state)
{
    const double pause_ns = 1.4e9, often = 0.00377, ranks = 704;
    const double random_ns = pause_ns * (1.0 - pow(1.0 - often, ranks)), together_ns = pause_ns * often;
    iw_training_opts opts = IW_TRAINING_OPTS_INIT;
    iw_training_result *result;
    iw_training spec;

    (void)state;
    iw_training_init(&spec);
    spec.dp = 704;
    spec.is_net_free = true;
    assert_ok(iw_training_set(NULL, &spec, "forward", "5.86s"));
    assert_ok(iw_training_set(NULL, &spec, "backward", "11.73s"));
    add_noise(&spec, "python-gc", NULL, NULL);
    opts.steps = 100;
    opts.trials = 6;
    assert_ok(iw_training_run(NULL, &spec, &opts, &result));
    /* 600 steps: the standard error is pause * sqrt(0.07 * 0.93 / 600) = 1.0 % of the pause */
    assert_true(fabs(result->step_ns.value - (double)result->noiseless_ps / 1e3 - random_ns) <
                0.05 * pause_ns);
    assert_true(result->change_count >= 2);
    assert_true(fabs(result->changes[1].saved_ns.value - (random_ns - together_ns)) < 0.05 * pause_ns);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* ---- units of ranks that are alike ---- */

struct rig {
    struct iwi_train_plan *plan;
    struct iwi_train_jitter *jitter;
    struct iwi_train_run *run;
};

static struct rig rig_new(const iw_training *spec)
{
    const iw_training_opts opts = IW_TRAINING_OPTS_INIT;
    struct rig rig;

    assert_ok(iwi_train_plan_new(NULL, spec, &rig.plan));
    assert_ok(iwi_train_jitter_new(NULL, spec, &opts, &rig.jitter));
    assert_ok(iwi_train_run_new(NULL, spec, rig.plan, rig.jitter, &rig.run));
    return rig;
}

static void rig_release(struct rig *rig)
{
    iwi_train_run_free(rig->run);
    iwi_train_jitter_free(rig->jitter);
    iwi_train_plan_free(rig->plan);
}

/* Twelve steps of some trials with all their ranks, in variants that leave out one source or synchronise it.
 */
static void assert_same_steps(struct iwi_train_run *a, struct iwi_train_run *b)
{
    static const struct iwi_train_change changes[] = {
        {0}, {.without = 1}, {.together = 1}, {.moved = 1}, {.replaces_slow = true}};
    const size_t bytes = (size_t)a->plan->pp * a->width * sizeof *a->host;

    for (uint64_t job = 0; job < 15; job++) {
        assert_ok(iwi_train_begin(NULL, a, job % 3, changes[job / 3]));
        assert_ok(iwi_train_begin(NULL, b, job % 3, changes[job / 3]));
        for (int step = 0; step < 12; step++) {
            assert_int_equal(iwi_train_step(a), iwi_train_step(b));
            assert_memory_equal(a->host, b->host, bytes);
            assert_memory_equal(a->lanes[IWI_LANE_COMPUTE], b->lanes[IWI_LANE_COMPUTE], bytes);
            assert_memory_equal(a->gathered, b->gathered, bytes * a->plan->most_buckets);
        }
    }
}

static void add_rare_jitter(iw_training *spec)
{
    add_noise(spec, "bernoulli:0.05,300ms", "host", NULL);
    add_noise(spec, "bernoulli:0.02,3s", "loader", "node");
    assert_ok(iw_training_set(NULL, spec, "load", "100ms"));
    assert_ok(iw_training_set(NULL, spec, "slow", "slow:3,1.2"));
}

/* Units that began like others before are not evaluated again, unless a detour is in the way. */
static void what_is_remembered_is_what_would_be_computed(void **state)
{
    static const char *const rare[] = {"none", "poisson:0.02Hz,exp:40ms", "periodic:0.1Hz,20ms"};
    static const char *const wheres[] = {"device", "network", "host"};

    (void)state;
    for (size_t i = 0; i < 9; i++) {
        struct iwi_train_past *past;
        struct rig recalls, computes;
        iw_training spec;

        init_program(&spec);
        assert_ok(iw_training_set(NULL, &spec, "detail", "chunk"));
        assert_ok(iw_training_set(NULL, &spec, "node-gpus", "1"));
        assert_ok(iw_training_set(NULL, &spec, "launch", i % 2 == 0 ? "5us" : "0s"));
        add_rare_jitter(&spec);
        spec.tp = i % 4 < 2 ? 2 : 4;
        spec.cp = 4 / spec.tp;
        assert_ok(iw_training_set(NULL, &spec, "slow", i % 4 < 2 ? "slow:3,1.2" : "slow:20,1.2"));
        add_noise(&spec, rare[i / 3], wheres[i % 3], NULL);
        recalls = rig_new(&spec);
        computes = rig_new(&spec);
        past = computes.run->past;
        assert_non_null(past);
        computes.run->past = NULL;
        assert_same_steps(recalls.run, computes.run);
        computes.run->past = past;
        rig_release(&recalls);
        rig_release(&computes);
        iw_training_release(&spec);
    }
}

/* Beside a source that hits nobody in these steps, all replicas are evaluated. */
static void replicas_that_are_coupled_and_alike_are_evaluated_once(void **state)
{
    struct rig shares, computes;
    iw_training spec;

    (void)state;
    init_program(&spec);
    spec.pp = spec.chunks = 1;
    assert_ok(iw_training_set(NULL, &spec, "sharding", "fsdp"));
    assert_ok(iw_training_set(NULL, &spec, "detail", "chunk"));
    add_rare_jitter(&spec);
    shares = rig_new(&spec);
    add_noise(&spec, "periodic:0.000002Hz,1us", "device", NULL);
    computes = rig_new(&spec);
    assert_same_steps(shares.run, computes.run);
    assert_true(shares.run->team.columns < shares.run->width);
    assert_int_equal(computes.run->team.columns, computes.run->width);
    rig_release(&shares);
    rig_release(&computes);
    iw_training_release(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_absorbs_what_the_formula_says),
        cmocka_unit_test(a_slow_host_absorbs_nothing),
        cmocka_unit_test(either_pass_may_vary_by_itself),
        cmocka_unit_test(host_and_device_are_two_resources),
        cmocka_unit_test(work_is_stretched_to_the_picosecond),
        cmocka_unit_test(all_ranks_take_as_long_as_one_for_all),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(less_jitter_never_costs_more),
        cmocka_unit_test(a_slow_loader_sets_the_pace),
        cmocka_unit_test(random_pauses_add_up_and_synchronised_ones_do_not),
        cmocka_unit_test(what_is_remembered_is_what_would_be_computed),
        cmocka_unit_test(replicas_that_are_coupled_and_alike_are_evaluated_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
