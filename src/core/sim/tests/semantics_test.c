/* The worked examples of docs/explanation/semantics.md, on both engines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "builder.h"
#include "core/base/rng.h"
#include "support/made_recording.h"
#include "support/support.h"

static iw_sim_opts plain(void)
{
    return (iw_sim_opts)IW_SIM_OPTS_INIT;
}

/* Runs on both engines and compares the end of each rank, in nanoseconds. Noise: rank-independent traces. */
static void expect_on(const iw_net *net, const struct iwt_builder *b, const iw_noise *noise, iw_sim_opts opts,
                      const iw_time *end_ns)
{
    static const iw_engine engines[] = {IW_ENGINE_EVENT, IW_ENGINE_FLOW};
    iw_program *program = iwt_program(b);

    for (size_t e = 0; e < 2; e++) {
        iw_sim_result *result;

        opts.engine = engines[e];
        result = iwt_run(program, net, noise, &opts);
        for (uint32_t r = 0; r < b->ranks; r++) {
            if (result->end_ps[r] != IWT_NS(end_ns[r])) {
                fail_msg("%s engine, rank %u: %lld ps instead of %lld ns", iw_engine_name(engines[e]), r,
                         (long long)result->end_ps[r], (long long)end_ns[r]);
            }
        }
        iw_sim_result_free(result);
    }
    iw_program_free(program);
}

static void expect(const struct iwt_builder *b, const iw_noise *noise, iw_sim_opts opts,
                   const iw_time *end_ns)
{
    const iw_net net = iwt_example_net();

    expect_on(&net, b, noise, opts, end_ns);
}

static void expect_noisy(const struct iwt_builder *b, const struct iwt_detour *detours, size_t count,
                         const iw_time *end_ns)
{
    iw_noise *noise = iwt_noise_at(detours, count);

    expect(b, noise, plain(), end_ns);
    iw_noise_free(noise);
}

static void one_message(struct iwt_builder *b, iw_time sender_first_ns, iw_time receiver_first_ns,
                        uint64_t bytes)
{
    iwt_builder_init(b, 2);
    if (sender_first_ns > 0) {
        iwt_calc(b, 0, IWT_NS(sender_first_ns));
    }
    if (receiver_first_ns > 0) {
        iwt_calc(b, 1, IWT_NS(receiver_first_ns));
    }
    iwt_send(b, 0, 1, bytes, 7);
    iwt_recv(b, 1, 0, bytes, 7);
}

static void an_early_receiver_waits_for_the_message(void **state)
{
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 0, 11);
    expect(&b, NULL, plain(), (iw_time[]){2, 24});
    iwt_builder_release(&b);
}

static void a_late_receiver_starts_when_it_gets_there(void **state)
{
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 30, 11);
    expect(&b, NULL, plain(), (iw_time[]){2, 32});
    iwt_builder_release(&b);
}

static void the_gap_limits_a_second_send(void **state)
{
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 0, 11);
    iwt_send(&b, 0, 1, 11, 7);
    iwt_recv(&b, 1, 0, 11, 7);
    expect(&b, NULL, plain(), (iw_time[]){17, 39});
    iwt_builder_release(&b);
}

static void zero_bytes_cost_as_one(void **state)
{
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 0, 0);
    expect(&b, NULL, plain(), (iw_time[]){2, 14});
    iwt_builder_release(&b);
    one_message(&b, 0, 0, 1);
    expect(&b, NULL, plain(), (iw_time[]){2, 14});
    iwt_builder_release(&b);
}

static void a_rendezvous_send_waits_for_a_late_receiver(void **state)
{
    struct iwt_builder b;
    iw_sim_opts opts = plain();

    (void)state;
    one_message(&b, 0, 50, 201);
    expect(&b, NULL, opts, (iw_time[]){50, 262});
    opts.rendezvous = IW_RENDEZVOUS_RTS_CTS;
    expect(&b, NULL, opts, (iw_time[]){66, 278});
    iwt_builder_release(&b);
}

static void a_rendezvous_receive_waits_for_a_late_sender(void **state)
{
    struct iwt_builder b;
    iw_sim_opts opts = plain();

    (void)state;
    one_message(&b, 50, 0, 201);
    expect(&b, NULL, opts, (iw_time[]){52, 264});
    opts.rendezvous = IW_RENDEZVOUS_RTS_CTS;
    expect(&b, NULL, opts, (iw_time[]){78, 290});
    iwt_builder_release(&b);
}

/* x = 50: the next send starts at 50 + 5 + 200 = 255, is sent at 257 and arrives at 267. */
static void the_send_gap_counts_from_the_transfer(void **state)
{
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 50, 201);
    iwt_send(&b, 0, 1, 1, 8);
    iwt_recv(&b, 1, 0, 1, 8);
    /* the receive gap of the first: 260 + 5 + 200 = 465 */
    expect(&b, NULL, plain(), (iw_time[]){257, 467});
    iwt_builder_release(&b);
}

static void nonblocking_operations_overlap_with_work(void **state)
{
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_isend(&b, 0, 1, 11, 7);
    iwt_calc(&b, 0, IWT_NS(30));
    iwt_wait(&b, 0);
    iwt_irecv(&b, 1, 0, 11, 7);
    iwt_calc(&b, 1, IWT_NS(30));
    iwt_wait(&b, 1);
    expect(&b, NULL, plain(), (iw_time[]){32, 32});
    iwt_builder_release(&b);
}

static void a_wait_serves_in_the_order_of_arrival(void **state)
{
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 3);
    iwt_calc(&b, 0, IWT_NS(10));
    iwt_send(&b, 0, 1, 1, 7);
    iwt_send(&b, 2, 1, 1, 7);
    iwt_irecv(&b, 1, 0, 1, 7);
    iwt_irecv(&b, 1, 2, 1, 7);
    iwt_wait(&b, 1);
    expect(&b, NULL, plain(), (iw_time[]){12, 24, 2});
    iwt_builder_release(&b);
}

/* The receiver posts at 0 and computes; the transfer starts in the background at e = 2. */
static void a_nonblocking_rendezvous_overlaps_too(void **state)
{
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_isend(&b, 0, 1, 201, 7);
    iwt_calc(&b, 0, IWT_NS(300));
    iwt_wait(&b, 0);
    iwt_irecv(&b, 1, 0, 201, 7);
    iwt_calc(&b, 1, IWT_NS(300));
    iwt_wait(&b, 1);
    expect(&b, NULL, plain(), (iw_time[]){302, 302});
    iwt_builder_release(&b);
}

static void a_detour_during_waiting_is_absorbed(void **state)
{
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 0, 11);
    expect_noisy(&b, (struct iwt_detour[]){{5, 15}}, 1, (iw_time[]){2, 24});
    iwt_builder_release(&b);
}

static void a_detour_on_the_sender_delays_its_message(void **state)
{
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 0, 11);
    expect_noisy(&b, (struct iwt_detour[]){{1, 11}}, 1, (iw_time[]){12, 34});
    iwt_builder_release(&b);
}

static void what_takes_no_time_waits_for_the_cpu(void **state)
{
    iw_noise *noise = iwt_noise_at((struct iwt_detour[]){{0, 5}, {14, 40}}, 2);
    iw_net net = iwt_example_net();
    struct iwt_builder b;

    (void)state;
    net.o_send_ps = net.o_recv_ps = 0;
    one_message(&b, 0, 0, 11);
    expect_on(&net, &b, noise, plain(), (iw_time[]){5, 40});
    net.is_device_progress = true;
    expect_on(&net, &b, noise, plain(), (iw_time[]){0, 20});
    iwt_builder_release(&b);
    iw_noise_free(noise);
}

static void a_receive_is_posted_behind_a_detour(void **state)
{
    const iw_net net = iwt_example_net();
    iw_noise *noise = iwt_noise_on_rank(1, 0, 30);
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 0, 201);
    expect_on(&net, &b, noise, plain(), (iw_time[]){30, 242});
    iwt_builder_release(&b);
    iw_noise_free(noise);
}

static void a_detour_under_way_at_arrival_must_end_first(void **state)
{
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 0, 11);
    expect_noisy(&b, (struct iwt_detour[]){{20, 40}}, 1, (iw_time[]){2, 42});
    iwt_builder_release(&b);
}

static void detours_in_stretched_time_count(void **state)
{
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 1);
    iwt_calc(&b, 0, IWT_NS(10));
    expect_noisy(&b, (struct iwt_detour[]){{4, 10}, {12, 15}}, 2, (iw_time[]){19});
    iwt_builder_release(&b);
}

static void a_detour_during_a_detour_counts_once(void **state)
{
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 1);
    iwt_calc(&b, 0, IWT_NS(10));
    expect_noisy(&b, (struct iwt_detour[]){{4, 10}, {6, 14}}, 2, (iw_time[]){20});
    iwt_builder_release(&b);
}

static void the_kth_send_meets_the_kth_receive_of_its_tag(void **state)
{
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, 1, 1); /* arrival 12 */
    iwt_send(&b, 0, 1, 1, 2); /* starts at 5, arrival 17 */
    iwt_recv(&b, 1, 0, 1, 2); /* served at 17, ends 19, gap until 22 */
    iwt_recv(&b, 1, 0, 1, 1); /* served at 22 */
    expect(&b, NULL, plain(), (iw_time[]){7, 24});
    iwt_builder_release(&b);
}

/* ---- rule 10 ---- */

static iw_net segmented_net(void)
{
    iw_net net = iwt_example_net();

    net.segment_count = 1;
    net.segments[0] = (iw_net_segment){.from_bytes = 51,
                                       .L_ps = IWT_NS(90),
                                       .o_send_ps = IWT_NS(4),
                                       .o_recv_ps = IWT_NS(6),
                                       .g_ps = IWT_NS(80),
                                       .G = 1000000,
                                       .O = 0};
    return net;
}

static void messages_of_a_segment_cost_as_it_says(void **state)
{
    const iw_net net = segmented_net();
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, 61, 0);
    iwt_send(&b, 0, 1, 61, 0);
    iwt_recv(&b, 1, 0, 61, 0);
    iwt_recv(&b, 1, 0, 61, 0);
    expect_on(&net, &b, NULL, plain(), (iw_time[]){94, 200});
    iwt_builder_release(&b);
    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, 201, 0);
    iwt_recv(&b, 1, 0, 201, 0);
    expect_on(&net, &b, NULL, plain(), (iw_time[]){4, 250});
    iwt_builder_release(&b);
}

static void messages_below_the_first_segment_cost_as_without(void **state)
{
    const iw_net net = segmented_net();
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, 50, 0); /* e = 2, arrival 2 + 10 + 49 */
    iwt_recv(&b, 1, 0, 50, 0);
    expect_on(&net, &b, NULL, plain(), (iw_time[]){2, 63});
    iwt_builder_release(&b);
}

static iw_net with_groups_of_two(iw_placement placement)
{
    iw_net net = iwt_example_net();

    net.inner_count = 1;
    net.placement = placement;
    net.inner[0] = (iw_net_inner){.name = "node", .ranks = 2};
    net.inner[0].costs =
        (iw_net_costs){.L_ps = IWT_NS(4), .o_send_ps = IWT_NS(1), .o_recv_ps = IWT_NS(1), .g_ps = IWT_NS(2)};
    return net;
}

static void levels_inside_and_outside(void **state)
{
    const iw_net block = with_groups_of_two(IW_PLACEMENT_BLOCK);
    const iw_net dealt = with_groups_of_two(IW_PLACEMENT_ROUND_ROBIN);
    uint32_t nodes[] = {7, 0, 0, 9};
    iw_net listed = with_groups_of_two(IW_PLACEMENT_LIST);
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 4);
    iwt_send(&b, 0, 1, 11, 0);
    iwt_send(&b, 0, 2, 11, 0);
    iwt_recv(&b, 1, 0, 11, 0);
    iwt_recv(&b, 2, 0, 11, 0);
    expect_on(&block, &b, NULL, plain(), (iw_time[]){4, 6, 26, 0});
    expect_on(&dealt, &b, NULL, plain(), (iw_time[]){16, 24, 21, 0});
    listed.list = (iw_node_list){4, 0, nodes};
    expect_on(&listed, &b, NULL, plain(), (iw_time[]){17, 24, 39, 0});
    iwt_builder_release(&b);
}

static void levels_rendezvous(void **state)
{
    const iw_net net = with_groups_of_two(IW_PLACEMENT_BLOCK);
    iw_sim_opts opts = plain();
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 0, 201);
    expect_on(&net, &b, NULL, opts, (iw_time[]){1, 6});
    opts.rendezvous = IW_RENDEZVOUS_RTS_CTS;
    expect_on(&net, &b, NULL, opts, (iw_time[]){12, 17});
    iwt_builder_release(&b);
}

/* ---- memory ---- */

/* Domains of 2 ranks with 2 bytes per ns, of which a core takes at most 1.5. */
static iw_net with_memory(void)
{
    iw_net net = iwt_example_net();

    net.memory = (iw_memory){
        .ranks = 2, .domain_bytes_per_s = UINT64_C(2000000000), .core_bytes_per_s = UINT64_C(1500000000)};
    return net;
}

/* Both ranks compute, in phases of 60 bytes; then rank 0 sends 1 byte to rank 1. */
static void expect_phases(iw_time work_ns, iw_time delay_ns, const iw_noise *noise, const iw_time *end_ns)
{
    const iw_net net = with_memory();
    const iw_delay delay = {.rank = 1, .step = 1, .time_ps = IWT_NS(delay_ns)};
    const iw_sim_opts opts = plain();
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    iw_sim_result *result;

    pattern.compute_ps = IWT_NS(work_ns);
    pattern.compute_bytes = 60;
    pattern.delays = &delay;
    pattern.delay_count = delay_ns > 0;
    assert_ok(iw_program_from_pattern(NULL, "bcast:binomial", &pattern, &program));
    result = iwt_run(program, &net, noise, &opts);
    assert_int_equal(result->engine, IW_ENGINE_EVENT);
    assert_int_equal(result->end_ps[0], IWT_NS(end_ns[0]));
    assert_int_equal(result->end_ps[1], IWT_NS(end_ns[1]));
    iw_sim_result_free(result);
    iw_program_free(program);
}

/* Both phases last 60: 60 + 2, and 60 + 2 + 10 + 2. With 65 of CPU work in each: 65. */
static void cores_in_step_share_the_bandwidth(void **state)
{
    (void)state;
    expect_phases(0, 0, NULL, (iw_time[]){62, 74});
    expect_phases(60, 0, NULL, (iw_time[]){62, 74});
    expect_phases(65, 0, NULL, (iw_time[]){67, 79});
}

/* Phases end at 50 and 70. With 55 of CPU work: at 55 and, since the delay comes before the work, at 75. */
static void cores_out_of_step_get_more(void **state)
{
    (void)state;
    expect_phases(0, 20, NULL, (iw_time[]){52, 72});
    expect_phases(55, 20, NULL, (iw_time[]){57, 77});
}

/* Phases end at 50 and 70; with 55 of CPU work at 55 and, since the detour stretches it, at 75. */
static void a_disturbed_core_leaves_bandwidth_to_others(void **state)
{
    iw_noise *noise = iwt_noise_on_rank(1, 20, 40);

    (void)state;
    expect_phases(0, 0, noise, (iw_time[]){52, 72});
    expect_phases(55, 0, noise, (iw_time[]){57, 77});
    iw_noise_free(noise);
}

static void the_rules_of_loggopsim_refuse_segments(void **state)
{
    const iw_net net = segmented_net();
    iw_sim_opts opts = plain();
    iw_sim_result *result = NULL;
    struct iwt_builder b;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_send(&b, 0, 1, 1, 0);
    iwt_recv(&b, 1, 0, 1, 0);
    program = iwt_program(&b);
    opts.rules = IW_RULES_LOGGOPSIM;
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "has size segments, which LogGOPSim's rules do not support");
    assert_int_equal(l.errors, 1);
    iw_program_free(program);
    iwt_builder_release(&b);
}

static void blocking_rendezvous_sends_to_each_other_deadlock(void **state)
{
    static const iw_engine engines[] = {IW_ENGINE_EVENT, IW_ENGINE_FLOW};
    const iw_net net = iwt_example_net();
    struct iwt_builder b;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 3);
    iwt_send(&b, 0, 1, 201, 7);
    iwt_recv(&b, 0, 1, 201, 7);
    iwt_send(&b, 1, 0, 201, 7);
    iwt_recv(&b, 1, 0, 201, 7);
    iwt_calc(&b, 2, 5);
    program = iwt_program(&b);
    for (size_t e = 0; e < 2; e++) {
        iw_sim_opts opts = plain();
        iw_sim_result *result = NULL;
        struct iwt_log l;

        iwt_log_init(&l);
        opts.engine = engines[e];
        assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_DEADLOCK);
        iwt_assert_logged(&l, "2 ranks");
        iwt_assert_logged(&l, "rank 0 op 0");
        iwt_assert_logged(&l, "rank 1 op 0");
        assert_int_equal(l.errors, 1);
    }
    iw_program_free(program);
    iwt_builder_release(&b);
}

/* ---- several cores ---- */

/* A detour of one core. */
struct core_detour {
    uint32_t core;
    iw_time start_ns, end_ns;
};

/* One rank a node, each core on a CPU of its own. Recordings have whole nanoseconds, so the seed is one whose
 * offset is a whole number of them. */
static iw_noise *cores_noise(const struct core_detour *detours, size_t count, uint32_t cores,
                             iw_loop_schedule loop, uint64_t *seed_p)
{
    const int64_t length_ns = 1000000, last_ns = 100;
    const iw_time length_ps = IWT_NS(length_ns);
    iw_recording *recording = iwt_recording(cores, length_ns);
    iw_noise *noise = NULL;
    iw_time offset = 1;
    uint64_t seed = 0;

    while (offset % 1000 != 0 || offset + IWT_NS(last_ns) > length_ps) {
        offset = (iw_time)iwi_draw_below((struct iwi_draw_id){.seed = ++seed, .purpose = IWI_DRAW_OFFSET}, 0,
                                         (uint64_t)length_ps);
    }
    for (size_t i = 0; i < count; i++) {
        iwt_detour(recording, detours[i].core, detours[i].start_ns + offset / 1000,
                   detours[i].end_ns - detours[i].start_ns, 0);
    }
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iw_noise_align(noise, IW_SYNC_START, 0, 1);
    iw_noise_share_phases(noise, cores, loop);
    iw_recording_free(recording);
    *seed_p = seed;
    return noise;
}

static void expect_on_cores(const struct iwt_builder *b, const struct core_detour *detours, size_t count,
                            iw_loop_schedule loop, const iw_time *end_ns)
{
    iw_sim_opts opts = plain();
    iw_noise *noise = cores_noise(detours, count, 2, loop, &opts.seed);

    expect(b, noise, opts, end_ns);
    iw_noise_free(noise);
}

/* Rank 0 computes 10 and sends 11 bytes to rank 1. Core 0 is away in [4, 10), core 1 in [6, 8). Static: they
 * have done 10 at 16 and 12; e = 18, arrival 38, end 40. Dynamic: both work until 4 (8 done), core 1 until 6
 * (10), none until 8, core 1 until 10 (12), both until 14 (20); e = 16. */
static void a_phase_ends_with_its_last_core_or_is_shared(void **state)
{
    static const struct core_detour detours[] = {{0, 4, 10}, {1, 6, 8}};
    struct iwt_builder b;

    (void)state;
    one_message(&b, 10, 0, 11);
    expect_on_cores(&b, detours, 2, IW_LOOP_STATIC, (iw_time[]){18, 40});
    expect_on_cores(&b, detours, 2, IW_LOOP_DYNAMIC, (iw_time[]){16, 38});
    iwt_builder_release(&b);
}

/* Core 1 is away in [0, 30): without computation nobody needs it. Core 0 in [1, 11): as in rule 6. */
static void messages_are_served_by_core_0(void **state)
{
    static const struct core_detour of_1 = {1, 0, 30}, of_0 = {0, 1, 11};
    struct iwt_builder b;

    (void)state;
    one_message(&b, 0, 0, 11);
    expect_on_cores(&b, &of_1, 1, IW_LOOP_STATIC, (iw_time[]){2, 24});
    expect_on_cores(&b, &of_0, 1, IW_LOOP_DYNAMIC, (iw_time[]){12, 34});
    iwt_builder_release(&b);
}

/* ---- more ranks than recorded CPUs ---- */

static const int64_t LOOP_NS = 1000000;

/* A seed for which the node and copy 1 of its CPUs begin at whole nanoseconds, as recordings do. */
static uint64_t whole_offsets(iw_time *of_node_ns, iw_time *of_copy_ns)
{
    struct iwi_draw_id node = {.seed = 0, .purpose = IWI_DRAW_OFFSET}, copy = {.purpose = IWI_DRAW_COPY};
    uint64_t offset, of_copy;

    do {
        copy.seed = ++node.seed;
        offset = iwi_draw_below(node, 0, (uint64_t)IWT_NS(LOOP_NS));
        of_copy = offset % 1000 == 0 ? iwi_draw_below(copy, 1, (uint64_t)IWT_NS(LOOP_NS)) : 1;
    } while (of_copy % 1000 != 0);
    *of_node_ns = (iw_time)offset / 1000;
    *of_copy_ns = (iw_time)of_copy / 1000;
    return node.seed;
}

/* Work until the detour begins is not hit; 1 ns more is, for 10 us. */
static void expect_hits(const iw_noise *noise, uint64_t seed, const iw_time hit_ns[4])
{
    for (iw_time more = 0; more < 2; more++) {
        struct iwt_builder b;
        iw_sim_opts opts = plain();
        iw_time end_ns[4];

        opts.seed = seed;
        iwt_builder_init(&b, 4);
        for (uint32_t rank = 0; rank < 4; rank++) {
            iwt_calc(&b, rank, IWT_NS(hit_ns[rank] + more));
            end_ns[rank] = hit_ns[rank] + more + (more > 0 ? 10000 : 0);
        }
        expect(&b, noise, opts, end_ns);
        iwt_builder_release(&b);
    }
}

/* Position 100 us or second_ns of the recording on CPUs 0 and 1, met by four ranks of a node. */
static void expect_copies(int64_t second_ns, bool is_node_wide)
{
    iw_recording *recording = iwt_recording(2, LOOP_NS);
    iw_time of_node_ns, of_copy_ns, hit_ns[4];
    const uint64_t seed = whole_offsets(&of_node_ns, &of_copy_ns);
    iw_noise *noise = NULL;

    iwt_detour(recording, 0, 100000, 10000, 0);
    iwt_detour(recording, 1, second_ns, 10000, 0);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iw_noise_align(noise, IW_SYNC_NONE, 0, 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        const iw_time offset_ns = rank < 2 || is_node_wide ? of_node_ns : of_copy_ns;

        hit_ns[rank] = ((rank % 2 == 0 ? 100000 : second_ns) - offset_ns + LOOP_NS) % LOOP_NS;
        assert_true(hit_ns[rank] > 0 && hit_ns[rank] < LOOP_NS - 10000); /* not under way with this seed */
    }
    assert_true(of_node_ns != of_copy_ns);
    expect_hits(noise, seed, hit_ns);
    iw_noise_free(noise);
    iw_recording_free(recording);
}

static void seats_beyond_the_recorded_cpus_meet_copies(void **state)
{
    (void)state;
    expect_copies(400000, false);
}

static void node_wide_sources_hit_all_copies_together(void **state)
{
    (void)state;
    expect_copies(100000, true);
}

/* ---- nodes of different speed ---- */

/* Rank 0 computes 30, 1.5 times as long: it sends from 45 to 47; the message is there at 67. */
static void a_slow_node_computes_longer(void **state)
{
    const char *path = "slow_node_test.txt";
    iw_sim_opts opts = plain();
    iw_node_speeds *speeds = NULL;
    struct iwt_builder b;
    FILE *file = fopen(path, "w");

    (void)state;
    assert_non_null(file);
    (void)fputs("# two nodes\n1.5\n1\n", file);
    assert_int_equal(fclose(file), 0);
    assert_ok(iw_node_speeds_new(NULL, path, 1, &speeds));
    opts.node_speeds = speeds;
    one_message(&b, 30, 10, 11);
    expect(&b, NULL, opts, (iw_time[]){47, 69});
    opts.replaced_nodes = 1;
    expect(&b, NULL, opts, (iw_time[]){32, 54});
    iwt_builder_release(&b);
    iw_node_speeds_free(speeds);
    assert_int_equal(remove(path), 0);
}

/* 9 days of work a dozen times: an error on both engines, not an overflow. */
static void simulated_time_has_an_end(void **state)
{
    static const iw_engine engines[] = {IW_ENGINE_EVENT, IW_ENGINE_FLOW};
    const iw_net net = iwt_example_net();
    struct iwt_builder b;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 2);
    for (int k = 0; k < 12; k++) {
        iwt_calc(&b, 0, INT64_C(9) * 86400 * IW_PS_PER_S);
        iwt_send(&b, 0, 1, 8, 0);
        iwt_recv(&b, 1, 0, 8, 0);
    }
    program = iwt_program(&b);
    for (size_t e = 0; e < 2; e++) {
        iw_sim_opts opts = plain();
        iw_sim_result *result = NULL;
        struct iwt_log l;

        iwt_log_init(&l);
        opts.engine = engines[e];
        assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_RANGE);
        iwt_assert_logged(&l, "of 53 days:");
    }
    iw_program_free(program);
    iwt_builder_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_early_receiver_waits_for_the_message),
        cmocka_unit_test(a_late_receiver_starts_when_it_gets_there),
        cmocka_unit_test(the_gap_limits_a_second_send),
        cmocka_unit_test(zero_bytes_cost_as_one),
        cmocka_unit_test(a_rendezvous_send_waits_for_a_late_receiver),
        cmocka_unit_test(a_rendezvous_receive_waits_for_a_late_sender),
        cmocka_unit_test(the_send_gap_counts_from_the_transfer),
        cmocka_unit_test(nonblocking_operations_overlap_with_work),
        cmocka_unit_test(a_wait_serves_in_the_order_of_arrival),
        cmocka_unit_test(a_nonblocking_rendezvous_overlaps_too),
        cmocka_unit_test(a_detour_during_waiting_is_absorbed),
        cmocka_unit_test(a_detour_on_the_sender_delays_its_message),
        cmocka_unit_test(what_takes_no_time_waits_for_the_cpu),
        cmocka_unit_test(a_receive_is_posted_behind_a_detour),
        cmocka_unit_test(a_detour_under_way_at_arrival_must_end_first),
        cmocka_unit_test(detours_in_stretched_time_count),
        cmocka_unit_test(a_detour_during_a_detour_counts_once),
        cmocka_unit_test(the_kth_send_meets_the_kth_receive_of_its_tag),
        cmocka_unit_test(messages_of_a_segment_cost_as_it_says),
        cmocka_unit_test(messages_below_the_first_segment_cost_as_without),
        cmocka_unit_test(levels_inside_and_outside),
        cmocka_unit_test(levels_rendezvous),
        cmocka_unit_test(cores_in_step_share_the_bandwidth),
        cmocka_unit_test(cores_out_of_step_get_more),
        cmocka_unit_test(a_disturbed_core_leaves_bandwidth_to_others),
        cmocka_unit_test(the_rules_of_loggopsim_refuse_segments),
        cmocka_unit_test(blocking_rendezvous_sends_to_each_other_deadlock),
        cmocka_unit_test(a_phase_ends_with_its_last_core_or_is_shared),
        cmocka_unit_test(messages_are_served_by_core_0),
        cmocka_unit_test(seats_beyond_the_recorded_cpus_meet_copies),
        cmocka_unit_test(node_wide_sources_hit_all_copies_together),
        cmocka_unit_test(a_slow_node_computes_longer),
        cmocka_unit_test(simulated_time_has_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
