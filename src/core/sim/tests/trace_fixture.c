/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace_fixture.h"

#include "core/net/net.h"
#include "core/program/trace_program.h"
#include "support/support.h"

enum { MOST_DELAYS = 5 };

static void add_delays(struct iwt_trace_fixture *f)
{
    const size_t wanted = (size_t)iwt_below(&f->random, MOST_DELAYS);
    iw_delay delays[MOST_DELAYS];
    size_t count = 0;

    for (size_t k = 0; k < wanted; k++) {
        const uint32_t rank = (uint32_t)iwt_below(&f->random, iw_program_ranks(f->program));
        const uint64_t phases = iwi_trace_phases(f->program->trace, rank);

        if (phases > 0) {
            delays[count++] = (iw_delay){.rank = rank,
                                         .step = 1 + iwt_below(&f->random, phases),
                                         .time_ps = (iw_time)iwt_below(&f->random, 90000)};
        }
    }
    assert_ok(iw_program_set_delays(NULL, f->program, delays, count));
}

void iwt_trace_set_up(struct iwt_trace_fixture *f, uint64_t seed)
{
    static const iw_compute_clock clocks[] = {IW_COMPUTE_AUTO, IW_COMPUTE_WALL};
    const struct iwi_rule_set *set;

    *f = (struct iwt_trace_fixture){
        .seed = seed, .random = {seed, 0}, .trace_opts = IW_TRACE_OPTS_INIT, .opts = IW_SIM_OPTS_INIT};
    f->net = iwt_random_net(&f->random);
    iwt_make_series(&f->random, 90000, &f->net);
    f->noise = iwt_random_noise(&f->random);
    iwt_random_trace(&f->random, &f->made);
    iwt_random_overrides(&f->random, &f->wishes);
    f->trace_opts.algorithms = f->wishes.texts;
    f->trace_opts.ranks = f->made.trace.rank_count * (1 + (uint32_t)iwt_below(&f->random, 4));
    f->trace_opts.replica_compute = seed % 4 == 0 ? IW_REPLICA_COPY : IW_REPLICA_RESAMPLE;
    f->trace_opts.replica_seed = seed;
    f->trace_opts.reduce = (iw_fs_per_byte)iwt_below(&f->random, 20000);
    f->trace_opts.clock = clocks[iwt_below(&f->random, 2)];
    f->trace_opts.compute_scale = iwt_below(&f->random, 3) == 0 ? 0.37 : 1;
    f->trace_opts.drops_p2p = iwt_below(&f->random, 10) == 0;
    f->trace_opts.drops_collectives = iwt_below(&f->random, 10) == 0;
    set = iwi_rules_find(iw_rules_name((size_t)iwt_below(&f->random, 4)));
    assert_ok(iwi_program_from_rules(NULL, &f->made.trace, &f->trace_opts, set, &f->program));
    add_delays(f);
    iwt_quiet_unless_eager(f->program, &f->net);
    f->opts.rendezvous = iwt_below(&f->random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    f->opts.threads = 1;
}

void iwt_trace_tear_down(struct iwt_trace_fixture *f)
{
    iw_program_free(f->program);
    iw_noise_free(f->noise);
    iwi_net_release(&f->net);
    iwt_made_trace_release(&f->made);
}

iw_sim_result *iwt_trace_run(struct iwt_trace_fixture *f, iw_engine engine, uint32_t lanes)
{
    f->opts.engine = engine;
    f->opts.lanes = lanes;
    return iwt_run(f->program, &f->net, f->noise, &f->opts);
}

void iwt_trace_assert_same(const struct iwt_trace_fixture *f, const iw_sim_result *a, const iw_sim_result *b)
{
    assert_int_equal(a->trials, b->trials);
    assert_int_equal(a->noiseless_ps, b->noiseless_ps);
    for (uint64_t i = 0; i < a->trials * a->ranks; i++) {
        if (a->end_ps[i] != b->end_ps[i]) {
            fail_msg("trace %llu, trial %llu rank %llu: %lld ps and %lld ps", (unsigned long long)f->seed,
                     (unsigned long long)(i / a->ranks), (unsigned long long)(i % a->ranks),
                     (long long)a->end_ps[i], (long long)b->end_ps[i]);
        }
    }
}
