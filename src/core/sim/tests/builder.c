/* SPDX-License-Identifier: BSD-3-Clause */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

#include "core/noise/stream.h"
#include "support/support.h"

enum { MOST_NODES = 4096 };

void iwt_builder_init(struct iwt_builder *b, uint32_t ranks)
{
    memset(b, 0, sizeof *b);
    b->ranks = ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        b->nodes[r] = calloc(MOST_NODES, sizeof **b->nodes);
        b->first_dep[r] = calloc(MOST_NODES + 1, sizeof **b->first_dep);
        b->requests[r] = calloc(MOST_NODES, sizeof **b->requests);
    }
}

void iwt_builder_release(struct iwt_builder *b)
{
    for (uint32_t r = 0; r < b->ranks; r++) {
        free(b->nodes[r]);
        free(b->first_dep[r]);
        free(b->requests[r]);
    }
}

static void add(struct iwt_builder *b, uint32_t rank, struct iwi_node node)
{
    assert_true(b->node_count[rank] < MOST_NODES);
    b->nodes[rank][b->node_count[rank]++] = node;
    b->first_dep[rank][b->node_count[rank]] = b->request_count[rank];
}

void iwt_calc(struct iwt_builder *b, uint32_t rank, iw_time ps)
{
    add(b, rank, (struct iwi_node){.kind = IWI_CALC, .flags = IWI_NODE_PHASE, .amount = (uint64_t)ps});
}

static void message(struct iwt_builder *b, uint32_t rank, uint8_t kind, uint8_t flags, uint32_t peer,
                    uint64_t bytes, uint32_t tag)
{
    add(b, rank, (struct iwi_node){.kind = kind, .flags = flags, .peer = peer, .tag = tag, .amount = bytes});
}

void iwt_send(struct iwt_builder *b, uint32_t rank, uint32_t to, uint64_t bytes, uint32_t tag)
{
    message(b, rank, IWI_SEND, 0, to, bytes, tag);
}

void iwt_recv(struct iwt_builder *b, uint32_t rank, uint32_t from, uint64_t bytes, uint32_t tag)
{
    message(b, rank, IWI_RECV, 0, from, bytes, tag);
}

void iwt_isend(struct iwt_builder *b, uint32_t rank, uint32_t to, uint64_t bytes, uint32_t tag)
{
    message(b, rank, IWI_SEND, IWI_NODE_NONBLOCKING, to, bytes, tag);
}

void iwt_irecv(struct iwt_builder *b, uint32_t rank, uint32_t from, uint64_t bytes, uint32_t tag)
{
    message(b, rank, IWI_RECV, IWI_NODE_NONBLOCKING, from, bytes, tag);
}

void iwt_wait(struct iwt_builder *b, uint32_t rank)
{
    for (size_t n = b->open[rank]; n < b->node_count[rank]; n++) {
        if (b->nodes[rank][n].flags & IWI_NODE_NONBLOCKING) {
            b->requests[rank][b->request_count[rank]++] = (uint32_t)n;
        }
    }
    add(b, rank, (struct iwi_node){.kind = IWI_WAIT});
    b->open[rank] = b->node_count[rank];
}

iw_program *iwt_program(const struct iwt_builder *b)
{
    struct iwi_schedule *schedule = NULL;
    iw_program *program = NULL;
    uint64_t nodes = 0;
    uint64_t deps = 0;

    for (uint32_t r = 0; r < b->ranks; r++) {
        nodes += b->node_count[r];
        deps += b->request_count[r];
    }
    assert_ok(iwi_schedule_new(NULL, b->ranks, nodes, deps, &schedule));
    schedule->is_in_order = true;
    schedule->cpu_count = schedule->nic_count = 1;
    nodes = deps = 0;
    for (uint32_t r = 0; r < b->ranks; r++) {
        schedule->first_node[r] = nodes;
        for (size_t n = 0; n < b->node_count[r]; n++) {
            schedule->nodes[nodes + n] = b->nodes[r][n];
            schedule->first_dep[nodes + n] = deps + b->first_dep[r][n];
        }
        for (size_t k = 0; k < b->request_count[r]; k++) {
            schedule->deps[deps + k].node = b->requests[r][k];
        }
        nodes += b->node_count[r];
        deps += b->request_count[r];
    }
    schedule->first_node[b->ranks] = nodes;
    schedule->first_dep[nodes] = deps;
    assert_ok(iwi_program_from_schedule(NULL, schedule, &program));
    return program;
}

iw_net iwt_example_net(void)
{
    return (iw_net){.name = "example",
                    .L_ps = IWT_NS(10),
                    .o_send_ps = IWT_NS(2),
                    .o_recv_ps = IWT_NS(2),
                    .g_ps = IWT_NS(5),
                    .G = 1000000,
                    .O = 0,
                    .S_bytes = 100};
}

iw_sim_result *iwt_run(const iw_program *program, const iw_net *net, const iw_noise *noise,
                       const iw_sim_opts *opts)
{
    iw_sim_opts wanted = *opts;
    iw_sim_result *result = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    wanted.want_end_times = true;
    if (iw_simulate(&l.log, program, net, noise, &wanted, &result) != IW_OK) {
        fail_msg("simulation failed:\n%s", l.text);
    }
    return result;
}

void iwt_expect_ends(const struct iwt_builder *b, const iw_net *net, const iw_sim_opts *opts,
                     const iw_time end_ns[2])
{
    iw_program *program = iwt_program(b);
    iw_sim_result *result = iwt_run(program, net, NULL, opts);

    assert_int_equal(result->end_ps[0], IWT_NS(end_ns[0]));
    assert_int_equal(result->end_ps[1], IWT_NS(end_ns[1]));
    iw_sim_result_free(result);
    iw_program_free(program);
}

iw_noise *iwt_noise_at(const struct iwt_detour *detours, size_t count)
{
    const iw_time length = IWT_NS(1000000);
    iw_time start[8];
    iw_time duration[8];
    struct iwi_stream_id id = {1, 0, 0};
    iw_noise *noise = NULL;
    iw_time offset;

    for (size_t k = 0; k < count; k++) {
        start[k] = IWT_NS(detours[k].start_ns);
        duration[k] = IWT_NS(detours[k].end_ns - detours[k].start_ns);
    }
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_trace(NULL, noise, "probe", start, duration, count, length));
    iw_noise_align(noise, IW_SYNC_START, 0, 1);
    offset = iwi_noise_trace_offset(noise, id);
    iw_noise_free(noise);
    for (size_t k = 0; k < count; k++) {
        start[k] = (start[k] + offset) % length;
        assert_true(start[k] + duration[k] <= length); /* seed 1 must not cut a detour */
    }
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_trace(NULL, noise, "test", start, duration, count, length));
    iw_noise_align(noise, IW_SYNC_START, 0, 1);
    return noise;
}

iw_noise *iwt_noise_on_rank(uint32_t rank, iw_time start_ns, iw_time end_ns)
{
    const iw_time length = IWT_NS(1000000), duration = IWT_NS(end_ns - start_ns);
    const struct iwi_stream_id id = {1, 0, rank};
    iw_time start = IWT_NS(start_ns);
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_trace(NULL, noise, "probe", &start, &duration, 1, length));
    start = (start + iwi_noise_trace_offset(noise, id)) % length;
    assert_true(start + duration <= length); /* seed 1 must not cut it */
    iw_noise_free(noise);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add_trace(NULL, noise, "test", &start, &duration, 1, length));
    return noise;
}
