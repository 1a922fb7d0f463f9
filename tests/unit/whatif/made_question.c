/* A small question to whatif.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "unit/whatif/made_question.h"

#include <math.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

static iw_status make(void *arg, uint32_t ranks, double work, iw_program **program_p)
{
    const struct iwt_question *question = arg;
    iw_pattern pattern = IW_PATTERN_INIT;

    if ((question->is_fixed && (ranks != 0 || work != 1.0)) || ranks > question->most_ranks) {
        return IW_ERR_UNSUPPORTED;
    }
    pattern.ranks = ranks != 0 ? ranks : question->ranks;
    pattern.repeat = question->steps;
    pattern.compute_ps = (iw_time)llround((double)question->compute_ps * work);
    return iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, program_p);
}

static void release(void *arg, iw_program *program)
{
    (void)arg;
    iw_program_free(program);
}

iw_program_maker iwt_maker(struct iwt_question *question)
{
    return (iw_program_maker){make, release, question};
}

iw_whatif_opts iwt_options(struct iwt_question *question)
{
    const iw_sim_opts sim = IW_SIM_OPTS_INIT;
    iw_whatif_opts opts = {.size = sizeof opts,
                           .sim = sim,
                           .net = iw_net_builtin("chic"),
                           .program = iwt_maker(question),
                           .target = -1.0,
                           .redraws = 4};

    *question =
        (struct iwt_question){.ranks = 16, .steps = 10, .compute_ps = IW_PS_PER_MS, .most_ranks = 4096};
    opts.sim.trials = 6;
    return opts;
}

/* The sources are laid out by their periods; a detour that would overlap the one before is left out. */
iw_recording *iwt_node(void)
{
    static const struct {
        iw_class kind;
        const char *name;
        int64_t period_ns, duration_ns;
    } rows[] = {{IW_CLASS_IRQ, "local_timer", 1000000, 10000},
                {IW_CLASS_IRQ, "eno1", 10000000, 50000},
                {IW_CLASS_THREAD, "cron", 100000000, 400000},
                {IW_CLASS_THREAD, "sshd", 143000000, 200000}};
    enum { ROWS = sizeof rows / sizeof rows[0] };
    iw_recording *recording = iwt_recording(1, 1000000000);
    uint32_t numbers[ROWS];
    int64_t end_ns = 0;

    for (size_t i = 0; i < ROWS; i++) {
        numbers[i] = iwt_source(recording, rows[i].kind, rows[i].name);
    }
    for (int64_t at_ns = 0; at_ns < 999000000; at_ns += 1000) {
        for (size_t i = ROWS; i-- > 0;) {
            const int64_t first_ns = (int64_t)(i + 1) * 137000;

            if (at_ns > end_ns && at_ns >= first_ns && (at_ns - first_ns) % rows[i].period_ns == 0) {
                iwt_detour(recording, 0, at_ns, rows[i].duration_ns, numbers[i]);
                end_ns = at_ns + rows[i].duration_ns;
            }
        }
    }
    return recording;
}

iw_noise_set *iwt_set(iw_recording *recording, const char *const *specs)
{
    iw_noise_set *set = NULL;

    assert_ok(iw_noise_set_new(NULL, &set));
    if (recording != NULL) {
        assert_ok(iw_noise_set_add_recording(NULL, set, "node", recording));
    }
    for (; specs != NULL && *specs != NULL; specs++) {
        assert_ok(iw_noise_set_add(NULL, set, *specs));
    }
    return set;
}

iw_whatif *iwt_ask(const iw_noise_set *set, const iw_whatif_opts *opts)
{
    iw_whatif *whatif = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    if (iw_whatif_run(&l.log, set, opts, &whatif) != IW_OK) {
        fail_msg("%s", l.text);
    }
    return whatif;
}

const iw_change *iwt_change(const iw_whatif *whatif, const char *name)
{
    for (size_t i = 0; i < whatif->change_count; i++) {
        if (strcmp(whatif->changes[i].name, name) == 0) {
            return &whatif->changes[i];
        }
    }
    return NULL;
}
