/* Memory that ranks share: bounds, closed forms, symmetry, and where the flow engine may run it (rule 14).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/net/memory.h"

#include <string.h>

#include "core/program/program.h"
#include "core/sim/monotone.h"
#include "random_program.h"
#include "step_log.h"
#include "support/support.h"

enum { RANKS = 12, CASES = 60 };

static uint64_t bytes_per_ns(uint64_t milli)
{
    return milli * 1000000;
}

/* Domains of 1 to 6 ranks; `is_shared`: their bandwidth does not suffice for all. */
static iw_memory random_memory(struct iwt_random *random, bool is_shared)
{
    const uint32_t ranks = 1 + (uint32_t)is_shared + (uint32_t)iwt_below(random, 5);
    const uint64_t core = bytes_per_ns(500 + iwt_below(random, 3000));

    return (iw_memory){.ranks = ranks,
                       .core_bytes_per_s = core,
                       .domain_bytes_per_s =
                           is_shared ? core + iwt_below(random, core * (ranks - 1)) : core * ranks + 7};
}

static iw_program *random_phases(struct iwt_random *random)
{
    iw_program *program = iwt_random_pattern(random, RANKS);

    program->compute_bytes = 1 + iwt_below(random, 300);
    return program;
}

/* Ranks with several cores move no bytes. */
static iw_noise *on_one_core(iw_noise *noise)
{
    iw_noise_share_phases(noise, 1, IW_LOOP_STATIC);
    return noise;
}

/* Never saturated: phases last max(d, V / b) without noise, whatever others do. */
static void both_engines_agree_where_nobody_waits_for_others(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct iwt_random random = {seed, 0};
        iw_program *program = random_phases(&random);
        iw_noise *noise = on_one_core(iwt_random_noise(&random));
        iw_net net = iwt_random_net(&random);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        struct iwt_step_log event_steps = {.count = 0}, flow_steps = {.count = 0};
        iw_sim_result *event, *flow;

        net.memory = random_memory(&random, false);
        opts.want_explain = true;
        opts.engine = IW_ENGINE_EVENT;
        event = iwt_run_steps(program, &net, noise, &opts, &event_steps);
        opts.engine = IW_ENGINE_FLOW;
        flow = iwt_run_steps(program, &net, noise, &opts, &flow_steps);
        assert_memory_equal(event->end_ps, flow->end_ps, RANKS * sizeof *event->end_ps);
        assert_memory_equal(&event->explain->median.split, &flow->explain->median.split, sizeof(iw_split));
        iwt_assert_same_steps(&event_steps, &flow_steps, "memory", seed);
        iw_sim_result_free(event);
        iw_sim_result_free(flow);
        iwt_step_log_release(&event_steps);
        iwt_step_log_release(&flow_steps);
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

static void the_flow_engine_refuses_memory_that_is_shared(void **state)
{
    struct iwt_random random = {1, 0};
    iw_program *program = random_phases(&random);
    iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_log l;

    (void)state;
    net.memory = random_memory(&random, true);
    opts.engine = IW_ENGINE_FLOW;
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "share memory bandwidth");
    opts.engine = IW_ENGINE_AUTO;
    result = iwt_run(program, &net, NULL, &opts);
    assert_int_equal(result->engine, IW_ENGINE_EVENT);
    assert_non_null(strstr(result->engine_note, "share memory bandwidth"));
    iw_sim_result_free(result);
    iw_program_free(program);
}

static void bytes_need_a_memory(void **state)
{
    struct iwt_random random = {1, 0};
    iw_program *program = random_phases(&random);
    iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_USAGE);
    iwt_assert_logged(&l, "the memory bandwidth is unknown");
    opts.rules = IW_RULES_LOGGOPSIM;
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "have no memory");
    iw_program_free(program);
}

/* ---- one phase on each rank ---- */

/* Rank r computes work_ns[r], with bytes, and ends. */
static iw_program *phases_of(const iw_time *work_ns, uint32_t ranks, uint64_t bytes)
{
    struct iwt_builder b;
    iw_program *program;

    iwt_builder_init(&b, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        iwt_calc(&b, rank, IWT_NS(work_ns[rank]));
    }
    program = iwt_program(&b);
    program->compute_bytes = bytes;
    iwt_builder_release(&b);
    return program;
}

static void run_phases(const iw_program *program, const iw_memory *memory, const iw_noise *noise,
                       iw_time *end_ps)
{
    const iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_net net = iwt_example_net();
    iw_sim_result *result;

    net.memory = *memory;
    result = iwt_run(program, &net, noise, &opts);
    memcpy(end_ps, result->end_ps, program->ranks * sizeof *end_ps);
    iw_sim_result_free(result);
}

/* All in step: max(d, V / min(b, B / n)), n being the ranks of the domain, the last one's too. */
static void ranks_in_step_end_by_the_closed_form(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_memory memory = random_memory(&random, true);
        const uint64_t bytes = 1 + iwt_below(&random, 1000);
        const iw_time work_ns = (iw_time)iwt_below(&random, 500);
        iw_time works_ns[RANKS], end_ps[RANKS];
        iw_program *program;

        for (uint32_t rank = 0; rank < RANKS; rank++) {
            works_ns[rank] = work_ns;
        }
        program = phases_of(works_ns, RANKS, bytes);
        run_phases(program, &memory, NULL, end_ps);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            const uint32_t first = rank / memory.ranks * memory.ranks;
            const uint32_t active = RANKS - first < memory.ranks ? RANKS - first : memory.ranks;
            const uint64_t rate = iwi_memory_rate(&memory, active);
            const iw_time memory_ps = (iw_time)((bytes * UINT64_C(1000000000000) + rate - 1) / rate);

            assert_int_equal(end_ps[rank], memory_ps > IWT_NS(work_ns) ? memory_ps : IWT_NS(work_ns));
        }
        iw_program_free(program);
    }
}

/* Delays that differ, and detours: no core is faster than alone, no domain faster than its bandwidth. */
static void nobody_is_faster_than_the_bandwidth(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_memory memory = random_memory(&random, true);
        const uint64_t bytes = 100 + iwt_below(&random, 900);
        iw_noise *noise = on_one_core(iwt_random_clock_noise(&random));
        iw_time works_ns[RANKS] = {0}, end_ps[RANKS];
        iw_program *program = phases_of(works_ns, RANKS, bytes);

        run_phases(program, &memory, noise, end_ps);
        for (uint32_t first = 0; first < RANKS; first += memory.ranks) {
            const uint32_t end = first + memory.ranks < RANKS ? first + memory.ranks : RANKS;
            iw_time last_ps = 0;

            for (uint32_t rank = first; rank < end; rank++) {
                last_ps = end_ps[rank] > last_ps ? end_ps[rank] : last_ps;
                assert_true(end_ps[rank] >=
                            iwi_memory_time(bytes * IWI_PICOBYTES_PER_BYTE, memory.core_bytes_per_s));
            }
            assert_true(last_ps >= iwi_memory_time((end - first) * bytes * IWI_PICOBYTES_PER_BYTE,
                                                   memory.domain_bytes_per_s));
        }
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

/* Two phases on each rank, of which the first has another length on each: they come one after the other into
 * the second. Ranks of one domain in another order, in `name`. */
static iw_program *staggered(const iw_time *work_ns, const uint32_t *name, uint64_t bytes)
{
    struct iwt_builder b;
    iw_program *program;

    iwt_builder_init(&b, RANKS);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        iwt_calc(&b, name[rank], IWT_NS(work_ns[rank]));
        iwt_calc(&b, name[rank], IWT_NS(1));
    }
    program = iwt_program(&b);
    program->compute_bytes = bytes;
    iwt_builder_release(&b);
    return program;
}

static void renamed_ranks_of_a_domain_end_as_before(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_memory memory = random_memory(&random, true);
        const uint64_t bytes = 1 + iwt_below(&random, 300);
        iw_time work_ns[RANKS], end_ps[RANKS], renamed_end_ps[RANKS];
        uint32_t same[RANKS], name[RANKS];
        iw_program *program, *renamed;

        for (uint32_t rank = 0; rank < RANKS; rank++) {
            work_ns[rank] = (iw_time)iwt_below(&random, 400);
            same[rank] = name[rank] = rank;
        }
        for (uint32_t rank = 1; rank < RANKS; rank++) { /* with a rank before it in its domain */
            const uint32_t other = rank - (uint32_t)iwt_below(&random, rank % memory.ranks + 1);
            const uint32_t kept = name[rank];

            name[rank] = name[other];
            name[other] = kept;
        }
        program = staggered(work_ns, same, bytes);
        renamed = staggered(work_ns, name, bytes);
        run_phases(program, &memory, NULL, end_ps);
        run_phases(renamed, &memory, NULL, renamed_end_ps);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            assert_int_equal(end_ps[rank], renamed_end_ps[name[rank]]);
        }
        iw_program_free(program);
        iw_program_free(renamed);
    }
}

/* Steps and the parts of paths add up under noise; iwt_run_steps() looks at the steps. */
static void sums_are_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct iwt_random random = {seed, 0};
        iw_program *program = random_phases(&random);
        iw_noise *noise = on_one_core(iwt_random_noise(&random));
        iw_net net = iwt_random_net(&random);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        struct iwt_step_log steps = {.count = 0};
        iw_time sum = 0;
        iw_sim_result *result;

        net.memory = random_memory(&random, true);
        opts.want_explain = true;
        result = iwt_run_steps(program, &net, noise, &opts, &steps);
        for (size_t part = 0; part < IW_PARTS; part++) {
            assert_true(result->explain->median.split.part_ps[part] >= 0);
            sum += result->explain->median.split.part_ps[part];
        }
        assert_int_equal(sum, result->explain->median.makespan_ps);
        iw_sim_result_free(result);
        iwt_step_log_release(&steps);
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

/* A detour on rank 0 lets rank 1 move its bytes earlier than without. */
static void more_noise_can_end_a_rank_earlier(void **state)
{
    const iw_memory memory = {2, bytes_per_ns(2000), bytes_per_ns(2000)};
    iw_noise *noise = iwt_noise_on_rank(0, 20, 40);
    iw_program *program = phases_of((iw_time[]){0, 0}, 2, 60);
    iw_net net = iwt_example_net();
    iw_time quiet_ps[2], noisy_ps[2];
    bool is = true;

    (void)state;
    run_phases(program, &memory, NULL, quiet_ps);
    run_phases(program, &memory, noise, noisy_ps);
    assert_int_equal(quiet_ps[1], IWT_NS(60));
    assert_int_equal(noisy_ps[1], IWT_NS(40)); /* 20 bytes by 20, and 40 while rank 0 is away */
    assert_int_equal(noisy_ps[0], IWT_NS(60));
    net.memory = memory;
    assert_ok(iwi_is_monotone(NULL, program, &net, IW_RULES_IDLEWAVE, IW_SYNC_NONE, &is));
    assert_false(is);
    net.memory.core_bytes_per_s /= 2;
    assert_ok(iwi_is_monotone(NULL, program, &net, IW_RULES_IDLEWAVE, IW_SYNC_NONE, &is));
    assert_true(is);
    iw_noise_free(noise);
    iw_program_free(program);
}

/* Of ranks dealt out to 2 groups of 2, ranks 0 and 2 share memory. */
static void domains_follow_the_placement(void **state)
{
    const iw_memory memory = {2, bytes_per_ns(2000), bytes_per_ns(2000)};
    const iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program = phases_of((iw_time[]){0, 0, 0}, 3, 60);
    iw_net net = iwt_example_net();
    iw_sim_result *result;

    (void)state;
    net.memory = memory;
    net.inner_count = 1;
    net.inner[0] = (iw_net_inner){.name = "node", .ranks = 2, .costs = net.costs};
    net.placement = IW_PLACEMENT_ROUND_ROBIN;
    result = iwt_run(program, &net, NULL, &opts);
    assert_int_equal(result->end_ps[0], IWT_NS(60));
    assert_int_equal(result->end_ps[1], IWT_NS(30));
    assert_int_equal(result->end_ps[2], IWT_NS(60));
    iw_sim_result_free(result);
    iw_program_free(program);
}

/* ---- paper 5, equation 1 ---- */

enum { STEPS = 60, PAPER_RANKS = 40 };

/* Paper 5, figure 1, on two nodes of 20 cores: a STREAM triad over 1.2 GB, sockets of 10 ranks with 40 GB/s,
 * 2 MB to and from both neighbours of a ring at 3 GB/s. */
static iw_sim_result *run_stream(uint64_t core_bytes_per_s, const iw_noise *noise)
{
    const iw_net net = {.name = "paper 5",
                        .G = 333333,
                        .S_bytes = 131072,
                        .memory = {10, UINT64_C(40000000000), core_bytes_per_s}};
    const iw_delay delay = {.rank = 5, .step = 1, .time_ps = 30 * IW_PS_PER_MS};
    const iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    iw_sim_result *result;

    pattern.delays = &delay;
    pattern.delay_count = 1;
    pattern.ranks = PAPER_RANKS;
    pattern.bytes = 2000000;
    pattern.compute_bytes = UINT64_C(1200000000) / PAPER_RANKS;
    pattern.repeat = STEPS;
    assert_ok(iw_program_from_pattern(NULL, "halo1d", &pattern, &program));
    result = iwt_run(program, &net, noise, &opts);
    iw_program_free(program);
    return result;
}

/* T = V_mem / (n b_mem) + 2 V_net / b_net = 7.5 ms + 1.333 ms for n = 4 sockets. Without noise it holds with
 * and without saturation. With a delay of 30 ms and noise of 1 % ranks get out of step: faster where memory
 * saturates (one core takes 6.5 GB/s), slower where ten cores take what the socket has. */
static void noise_beats_equation_1_where_memory_saturates(void **state)
{
    const double model_ps = STEPS * (7.5e9 + 4e15 / 3e6);
    iw_noise *noise = NULL;
    iw_sim_result *saturated, *not_saturated;

    (void)state;
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, "phase-exp:1%"));
    saturated = run_stream(UINT64_C(6500000000), noise);
    not_saturated = run_stream(UINT64_C(4000000000), noise);
    assert_int_equal(saturated->noiseless_ps, not_saturated->noiseless_ps);
    assert_true((double)saturated->noiseless_ps > 0.9999 * model_ps);
    assert_true((double)saturated->noiseless_ps < 1.0001 * model_ps);
    assert_true((double)saturated->makespan_ps[0] < 0.98 * model_ps);
    assert_true((double)not_saturated->makespan_ps[0] > 1.01 * model_ps);
    iw_sim_result_free(saturated);
    iw_sim_result_free(not_saturated);
    iw_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_agree_where_nobody_waits_for_others),
        cmocka_unit_test(the_flow_engine_refuses_memory_that_is_shared),
        cmocka_unit_test(bytes_need_a_memory),
        cmocka_unit_test(ranks_in_step_end_by_the_closed_form),
        cmocka_unit_test(nobody_is_faster_than_the_bandwidth),
        cmocka_unit_test(renamed_ranks_of_a_domain_end_as_before),
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(more_noise_can_end_a_rank_earlier),
        cmocka_unit_test(domains_follow_the_placement),
        cmocka_unit_test(noise_beats_equation_1_where_memory_saturates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
