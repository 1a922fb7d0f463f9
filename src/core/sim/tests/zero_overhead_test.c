/* o = 0 is the limit of a small o (docs/explanation/semantics.md, rule 1).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/net/net.h"
#include "core/sim/monotone.h"
#include "random_program.h"
#include "support/support.h"

enum { PROGRAMS = 16000 };

/* One program on one network, with o = 0 and with o = 1 ps. */
struct pair {
    iw_program *program;
    iw_noise *noise;
    iw_net net;
    uint64_t operations;
};

static bool set_up(struct pair *p, uint64_t seed, struct iwt_builder *b)
{
    struct iwt_random random = {seed, 0};
    bool is_monotone;

    iwt_random_program(&random, IWT_ONE_SIZE, b);
    p->program = iwt_program(b);
    p->noise = iwt_random_clock_noise(&random);
    p->net = iwt_random_net(&random);
    p->net.costs.O = p->net.costs.o_send_ps = p->net.costs.o_recv_ps = 0;
    p->net.costs.is_device_progress = false;
    p->operations = 0;
    for (uint32_t rank = 0; rank < b->ranks; rank++) {
        p->operations += b->node_count[rank];
    }
    for (uint32_t k = 0; k < p->net.inner_count; k++) {
        iw_net_costs *costs = &p->net.inner[k].costs;

        costs->O = costs->o_send_ps = costs->o_recv_ps = 0;
        costs->is_device_progress = false;
    }
    assert_ok(iwi_is_monotone(NULL, p->program, &p->net, IW_RULES_IDLEWAVE, IW_SYNC_NONE, &is_monotone));
    return is_monotone;
}

static iw_sim_result *run(const struct pair *p, iw_time o_ps)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_net net = p->net;

    net.costs.o_send_ps = net.costs.o_recv_ps = o_ps;
    for (uint32_t k = 0; k < net.inner_count; k++) {
        net.inner[k].costs.o_send_ps = net.inner[k].costs.o_recv_ps = o_ps;
    }
    return iwt_run(p->program, &net, p->noise, &opts);
}

static void no_overhead_is_the_limit_of_a_small_one(void **state)
{
    uint64_t compared = 0, apart = 0;

    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        struct iwt_builder builder;
        struct pair p;

        if (set_up(&p, seed, &builder)) {
            iw_sim_result *none = run(&p, 0), *small = run(&p, 1);
            bool is_apart = false;

            for (uint32_t rank = 0; rank < none->ranks; rank++) {
                assert_true(none->end_ps[rank] <= small->end_ps[rank]);
                is_apart |= small->end_ps[rank] - none->end_ps[rank] > (iw_time)p.operations;
            }
            compared++;
            apart += is_apart;
            iw_sim_result_free(none);
            iw_sim_result_free(small);
        }
        iw_program_free(p.program);
        iw_noise_free(p.noise);
        iwi_net_release(&p.net);
        iwt_builder_release(&builder);
    }
    print_message(
        "%llu monotone programs, of which %llu end more than 1 ps an operation later with o = 1 ps\n",
        (unsigned long long)compared, (unsigned long long)apart);
    assert_true(compared > PROGRAMS / 2);
    assert_true(apart * 1000 <= compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_overhead_is_the_limit_of_a_small_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
