/* Writes random cases for reference_test.py, one JSON object a line: a program, its network, the detours and
 * the extra work of each rank, and when every engine that can run it ends each rank.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: reference_cases FIRST COUNT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/net/level.h"
#include "core/net/net.h"
#include "core/net/net_noise.h"
#include "core/noise/stream.h"
#include "core/sim/tests/random_program.h"
#include "reference_json.h"
#include "support/made_graph.h"
#include "support/support.h"

#define UNKNOWN_END_PS IWT_NS(100000) /* of a deadlock: detours until then */

enum { ENGINES = 3, OPEN_MOST = 4096 };
static const iw_engine engines[ENGINES] = {IW_ENGINE_EVENT, IW_ENGINE_FLOW, IW_ENGINE_WINDOW};

struct random_case {
    uint64_t seed;
    struct iwt_random random;
    bool is_coarse; /* times often coincide */
    iw_net net;     /* with NICs and tapers in G */
    iw_noise *noise;
    iw_program *program;
    struct iwi_schedule *schedule; /* the program, unrolled; to be freed if it is not the program's own */
    iw_sim_opts opts;
};

/* ---- programs ---- */

/* For some of what is open: the builder's own wait takes all since the last one. */
static void wait_for_some(struct iwt_random *random, struct iwt_builder *b, uint32_t rank, bool has_all)
{
    bool is_closed[OPEN_MOST] = {false};

    for (size_t k = 0; k < b->request_count[rank]; k++) {
        is_closed[b->requests[rank][k]] = true;
    }
    for (uint32_t n = 0; n < b->node_count[rank]; n++) {
        if ((b->nodes[rank][n].flags & IWI_NODE_NONBLOCKING) && !is_closed[n] &&
            (has_all || iwt_below(random, 2))) {
            b->requests[rank][b->request_count[rank]++] = n;
        }
    }
    b->open[rank] = b->node_count[rank]; /* the rest is chosen above */
    iwt_wait(b, rank);
}

static void add_message(struct iwt_random *random, struct iwt_builder *b, uint64_t sync_percent)
{
    const uint32_t from = (uint32_t)iwt_below(random, b->ranks);
    const uint32_t to = (from + 1 + (uint32_t)iwt_below(random, b->ranks - 1)) % b->ranks;
    const uint32_t tag = (uint32_t)iwt_below(random, 3);
    const uint64_t bytes = iwt_below(random, 300);

    (iwt_below(random, 2) ? iwt_send : iwt_isend)(b, from, to, bytes, tag);
    if (iwt_below(random, 100) < sync_percent) {
        b->nodes[from][b->node_count[from] - 1].flags |= IWI_NODE_SYNCHRONOUS;
    }
    (iwt_below(random, 2) ? iwt_recv : iwt_irecv)(b, to, from, bytes, tag);
}

/* Receives of some ranks take what comes: all of them, as then they hardly ever deadlock, or some. */
static void add_wildcards(struct iwt_random *random, struct iwt_builder *b)
{
    for (uint32_t rank = 0; rank < b->ranks; rank++) {
        const uint64_t percent = iwt_below(random, 2) ? 0 : iwt_below(random, 4) ? 100 : 20;

        for (size_t n = 0; n < b->node_count[rank]; n++) {
            struct iwi_node *node = &b->nodes[rank][n];

            if (node->kind == IWI_RECV && iwt_below(random, 100) < percent) {
                node->peer = percent == 100 || iwt_below(random, 3) ? IWI_ANY : node->peer;
                node->tag = percent == 100 || iwt_below(random, 2) ? IWI_ANY : node->tag;
            }
        }
    }
}

/* As iwt_random_program(), with synchronous sends, calcs that are no phases, waits for some, and wildcards.
 */
static iw_program *random_program(struct iwt_random *random)
{
    const uint64_t steps = 5 + iwt_below(random, 100), sync_percent = iwt_below(random, 3) ? 0 : 20;
    struct iwt_builder b;
    iw_program *program;

    iwt_builder_init(&b, 2 + (uint32_t)iwt_below(random, 7));
    for (uint64_t step = 0; step < steps; step++) {
        const uint32_t rank = (uint32_t)iwt_below(random, b.ranks);

        switch (iwt_below(random, 7)) {
        case 0: iwt_calc(&b, rank, (iw_time)(iwt_below(random, 8) ? iwt_below(random, 60000) : 0)); break;
        case 1:
            iwt_calc(&b, rank, (iw_time)iwt_below(random, 9000));
            b.nodes[rank][b.node_count[rank] - 1].flags = 0;
            break;
        case 2: wait_for_some(random, &b, rank, false); break;
        default: add_message(random, &b, sync_percent); break;
        }
    }
    for (uint32_t rank = 0; rank < b.ranks; rank++) {
        wait_for_some(random, &b, rank, true);
    }
    if (iwt_below(random, 3) == 0) {
        add_wildcards(random, &b);
    }
    program = iwt_program(&b);
    iwt_builder_release(&b);
    return program;
}

static iw_program *random_graph(struct random_case *c)
{
    struct iwt_random *random = &c->random;
    const struct iwt_graph_kind kind = {
        .ranks = 1 + (uint32_t)iwt_below(random, 8),
        .cpus = iwt_below(random, 3) ? 1 : 1 + (uint32_t)iwt_below(random, 4),
        .nics = iwt_below(random, 3) ? 1 : 2,
        .operations = 10 + iwt_below(random, 120),
        .calc_percent = 10 + (uint32_t)iwt_below(random, 40),
        .wild_percent = iwt_below(random, 3) ? 0 : (uint32_t)iwt_below(random, 40),
        .tags = iwt_below(random, 2) ? 1 : 1 + (uint32_t)iwt_below(random, 20),
        .most_bytes = c->is_coarse ? 3 : 300,
        .most_ps = c->is_coarse ? IWT_NS(3) : IWT_NS(60),
        .grain_ps = c->is_coarse ? IWT_NS(1) : 1,
        .dependences = 1 + (uint32_t)iwt_below(random, 4),
        .is_shuffled = iwt_below(random, 3) == 0,
        .can_deadlock = iwt_below(random, 3) == 0};

    return iwt_made_graph(c->seed, &kind);
}

/* ---- networks and noise ---- */

static iw_net coarse_net(struct iwt_random *random)
{
    iw_net net = iwt_example_net();

    net.o_send_ps = IWT_NS(iwt_below(random, 3));
    net.o_recv_ps = IWT_NS(iwt_below(random, 3));
    net.L_ps = IWT_NS(iwt_below(random, 4));
    net.g_ps = IWT_NS(iwt_below(random, 3));
    net.G = (iw_fs_per_byte)iwt_below(random, 2) * 1000000;
    if (iwt_below(random, 4) == 0) {
        iwt_add_net_noise(random, IWT_NS(3), &net);
    }
    return net;
}

struct zeros {
    bool o_send, o_recv, O;
};

static void clear_costs(iw_net_costs *costs, struct zeros zeros)
{
    costs->o_send_ps = zeros.o_send ? 0 : costs->o_send_ps;
    costs->o_recv_ps = zeros.o_recv ? 0 : costs->o_recv_ps;
    costs->O = zeros.O ? 0 : costs->O;
    for (uint32_t i = 0; i < costs->segment_count; i++) {
        iw_net_segment *segment = &costs->segments[i];

        segment->o_send_ps = zeros.o_send ? 0 : segment->o_send_ps;
        segment->o_recv_ps = zeros.o_recv ? 0 : segment->o_recv_ps;
        segment->O = zeros.O ? 0 : segment->O;
    }
}

static void stop_sharing(iw_net *net)
{
    net->nics = (iw_net_nics){.count = 0};
    for (uint32_t i = 0; i < net->inner_count; i++) {
        net->inner[i].taper = 0;
    }
}

static void choose_net(struct random_case *c)
{
    struct iwt_random *random = &c->random;
    const uint64_t which = iwt_below(random, 4); /* 0: both */
    const struct zeros zeros = {which != 1, which == 1 || which == 0, iwt_below(random, 3) > 0};

    c->net = c->is_coarse ? coarse_net(random) : iwt_random_segmented_net(random);
    iwt_make_series(random, c->is_coarse ? IWT_NS(3) : 90000, &c->net);
    c->net.nics.sharing = IW_NIC_MAX_RATE;
    c->net.S_bytes = iwt_below(random, 2) ? 1000 : c->is_coarse ? 1 : iwt_below(random, 300);
    if (iwt_below(random, 2)) {
        clear_costs(&c->net.costs, zeros);
        for (uint32_t i = 0; i < c->net.inner_count; i++) {
            if (iwt_below(random, 4)) { /* levels differ in part of them */
                clear_costs(&c->net.inner[i].costs, zeros);
            }
        }
    }
    while (iwi_net_effective(NULL, &c->net, &c->net) != IW_OK) { /* a byte takes over 1 us then */
        stop_sharing(&c->net);
    }
    if (c->net.inner_count > 0 && iwt_below(random, 3) == 0) {
        iwt_place_randomly(random, iw_program_ranks(c->program), &c->net);
    }
}

/* Nothing that restarts at phases; one core a rank. */
static void choose_noise(struct random_case *c)
{
    static const char *const specs[] = {"phase-exp:20%", "bernoulli:0.3,25ns", "phase-pareto:20%,1.5"};
    struct iwt_random *random = &c->random;

    if (iwt_below(random, 5) == 0) {
        return;
    }
    c->noise = iwt_random_clock_noise(random);
    if (iwt_below(random, 2)) {
        assert_ok(iw_noise_add(NULL, c->noise, specs[iwt_below(random, 3)]));
    }
    iw_noise_share_phases(c->noise, 1, IW_LOOP_STATIC);
}

/* Where the rank has such a phase; patterns carry their delays. */
static bool add_delay(struct random_case *c)
{
    const iw_delay delay = {.rank = (uint32_t)iwt_below(&c->random, iw_program_ranks(c->program)),
                            .step = 1 + iwt_below(&c->random, 3),
                            .time_ps = (iw_time)iwt_below(&c->random, 90000)};

    return iw_program_set_delays(NULL, c->program, &delay, 1) == IW_OK;
}

static const char *make_case(uint64_t seed, struct random_case *c)
{
    const uint64_t form = seed % 8; /* 0 to 2: programs; 3 to 6: graphs; 7: patterns */

    *c = (struct random_case){.seed = seed, .random = {seed, 0}, .opts = IW_SIM_OPTS_INIT};
    c->is_coarse = form >= 3 && form < 7 && iwt_below(&c->random, 3) == 0;
    c->program = form < 3   ? random_program(&c->random)
                 : form < 7 ? random_graph(c)
                            : iwt_random_pattern(&c->random, 2 + (uint32_t)iwt_below(&c->random, 15));
    choose_net(c);
    choose_noise(c);
    if (iwt_below(&c->random, 4) == 0) {
        (void)add_delay(c);
    }
    c->schedule = c->program->schedule;
    if (c->schedule == NULL) {
        assert_ok(iwi_program_unroll(NULL, c->program, &c->schedule));
    }
    c->opts.seed = seed;
    c->opts.first_trial = iwt_below(&c->random, 3);
    c->opts.threads = 1;
    c->opts.want_end_times = true;
    c->opts.rendezvous = iwt_below(&c->random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    return form < 3 ? "program" : form < 7 ? "graph" : "pattern";
}

static void release_case(struct random_case *c)
{
    if (c->schedule != c->program->schedule) {
        iwi_schedule_free(c->schedule);
    }
    iw_program_free(c->program);
    iw_noise_free(c->noise);
    iwi_net_release(&c->net);
}

/* ---- writing ---- */

static bool write_detour(void *arg, uint32_t source, iw_time start, iw_time end)
{
    bool *is_first = arg;

    (void)source;
    if (end > start) {
        printf("%s[%" PRId64 ",%" PRId64 "]", *is_first ? "" : ",", start, end);
        *is_first = false;
    }
    return true;
}

/* Of the phases of a rank, in program order: what noise and delays add. */
static void write_extra(const struct random_case *c, struct iwi_stream_id id)
{
    int64_t *state = calloc(1 + (c->noise == NULL ? 0 : iwi_noise_words(c->noise)), sizeof *state);
    iw_time next = c->noise == NULL ? 0 : iwi_noise_begin(c->noise, id, state);
    uint64_t phase = 0;

    for (uint64_t n = c->schedule->first_node[id.rank]; n < c->schedule->first_node[id.rank + 1]; n++) {
        const struct iwi_node *node = &c->schedule->nodes[n];

        if (node->kind == IWI_CALC && (node->flags & IWI_NODE_PHASE)) {
            iw_time extra = iwi_program_delay(c->program, id.rank, phase + 1);

            if (c->noise != NULL) {
                extra += iwi_noise_phase(c->noise, id, state, &next, phase, 0, (iw_time)node->amount, NULL);
            }
            printf("%s%" PRId64, phase > 0 ? "," : "", extra);
            phase++;
        }
    }
    free(state);
}

static void write_noise(const struct random_case *c, iw_time until)
{
    struct iwi_stream_id id = {c->seed, c->opts.first_trial, 0};

    printf(",\"detours\":[");
    for (id.rank = 0; id.rank < c->schedule->ranks; id.rank++) {
        bool is_first = true;

        printf("%s[", id.rank > 0 ? "," : "");
        if (c->noise != NULL) {
            iwi_noise_walk(c->noise, id, until, write_detour, &is_first);
        }
        printf("]");
    }
    printf("],\"extra\":[");
    for (id.rank = 0; id.rank < c->schedule->ranks; id.rank++) {
        printf("%s[", id.rank > 0 ? "," : "");
        write_extra(c, id);
        printf("]");
    }
    printf("]");
}

/* Of all pairs of nodes: unordered, as their messages may go either way. */
static void write_series(const struct random_case *c)
{
    const iw_delay_series *series = &c->net.noise.series;
    const uint32_t of_node = c->net.inner_count == 0 ? 1 : c->net.inner[iwi_node_level(&c->net)].ranks;
    struct iwi_levels levels;
    const char *comma = "";
    uint32_t nodes = 0;

    if (series->count == 0) {
        printf(",\"series\":null");
        return;
    }
    assert_ok(iwi_levels_init(NULL, &c->net, c->schedule->ranks, &levels));
    for (uint32_t rank = 0; rank < c->schedule->ranks; rank++) {
        const uint32_t node = (levels.count == 0 ? rank : iwi_level_place(&levels, rank)) / of_node;

        nodes = node >= nodes ? node + 1 : nodes;
    }
    iwi_levels_release(&levels);
    printf(",\"series\":{\"every\":%" PRId64 ",\"delays\":[", series->every_ps);
    for (uint32_t i = 0; i < series->count; i++) {
        printf("%s%" PRId64, i > 0 ? "," : "", series->delays_ps[i]);
    }
    printf("],\"offsets\":[");
    for (uint32_t high = 0; high < nodes; high++) {
        for (uint32_t low = 0; low < high; low++) {
            printf("%s[%" PRIu32 ",%" PRIu32 ",%" PRId64 "]", comma, low, high,
                   iwi_series_offset(series, c->seed, c->opts.first_trial, high, low));
            comma = ",";
        }
    }
    printf("]}");
}

/* Of each rank, for its sends in program order. */
static void write_delays(const struct random_case *c)
{
    const bool is_noisy = c->net.noise.point_count > 0;
    struct iwi_delay_table table;

    if (is_noisy) {
        iwi_delay_table_init(&c->net.noise, &table);
    }
    printf(",\"delays\":[");
    for (uint32_t rank = 0; rank < c->schedule->ranks; rank++) {
        uint64_t number = 0;

        printf("%s[", rank > 0 ? "," : "");
        for (uint64_t n = c->schedule->first_node[rank]; n < c->schedule->first_node[rank + 1]; n++) {
            if (c->schedule->nodes[n].kind != IWI_SEND) {
                continue;
            }
            printf("%s[", number > 0 ? "," : "");
            for (int what = IWI_CARRIED_DATA; what <= IWI_CARRIED_ANSWER; what++) {
                const uint64_t trial = c->opts.first_trial;
                const struct iwi_draw_block bits =
                    iwi_net_noise_bits(c->seed, trial, rank, number, (enum iwi_carried)what);

                printf("%s%" PRId64, what > 0 ? "," : "",
                       is_noisy ? iwi_delay_of(&table, bits.v[trial % IWI_DRAW_TRIALS]) : INT64_C(0));
            }
            printf("]");
            number++;
        }
        printf("]");
    }
    printf("]");
}

/* The ends of the ranks, then that of the last rank without noise and delays. Returns a time that is past all
 * ends. */
static iw_time write_ends(struct random_case *c)
{
    iw_time last = 0;

    printf(",\"ends\":{");
    for (uint32_t e = 0; e < ENGINES; e++) {
        iw_sim_result *result = NULL;
        iw_status status;

        c->opts.engine = engines[e];
        status = iw_simulate(NULL, c->program, &c->net, c->noise, &c->opts, &result);
        printf("%s\"%s\":", e > 0 ? "," : "", iw_engine_name(engines[e]));
        if (result == NULL) {
            printf("\"%s\"", iw_status_name(status));
        }
        for (uint32_t rank = 0; result != NULL && rank < result->ranks; rank++) {
            printf("%s%" PRId64, rank > 0 ? "," : "[", result->end_ps[rank]);
            last = result->end_ps[rank] > last ? result->end_ps[rank] : last;
        }
        if (result != NULL) {
            printf(",%" PRId64 "]", result->noiseless_ps);
        }
        iw_sim_result_free(result);
    }
    printf("}");
    return last > 0 ? 2 * last + IWT_NS(100) : UNKNOWN_END_PS;
}

static void write_case(uint64_t seed)
{
    struct random_case c;
    const char *form = make_case(seed, &c);
    iw_time until;

    printf("{\"seed\":%" PRIu64 ",\"form\":\"%s\",\"ranks\":%" PRIu32
           ",\"in_order\":%s,\"rendezvous\":\"%s\"",
           seed, form, c.schedule->ranks, iwt_json_bool(c.schedule->is_in_order),
           c.opts.rendezvous == IW_RENDEZVOUS_IDEAL ? "ideal" : "rts-cts");
    iwt_write_ops(c.schedule);
    iwt_write_net(&c.net);
    until = write_ends(&c);
    write_noise(&c, until);
    write_delays(&c);
    write_series(&c);
    printf("}\n");
    release_case(&c);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    const uint64_t count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

    if (argc != 3) {
        fprintf(stderr, "usage: reference_cases FIRST COUNT\n");
        return 2;
    }
    for (uint64_t seed = first; seed < first + count; seed++) {
        write_case(seed);
    }
    return 0;
}
