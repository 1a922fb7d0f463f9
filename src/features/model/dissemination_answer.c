/* Answers of the cone recursion: a dissemination barrier on a network, under a spec of noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>

#include "core/base/base.h"
#include "core/noise/duration.h"
#include "core/noise/spec.h"
#include "features/model/dissemination_model.h"
#include "features/model/law.h"

/* Rates are taken to first order in the share of time that detours take. */
static const double MOST_SHARE = 0.05;

/* Work that loses more detours than that would take too many cells of the grid. */
static const double MOST_LOST = 100;

/* Cells of the grid go by the detour; a latency of so many detours would take too many. */
static const double MOST_LATENCY = 250;

static iw_status parse_periodic(const iw_log *log, const char *spec, const char *arguments,
                                struct iwi_dissemination_noise *noise)
{
    char fields[2][IWI_FIELD_SIZE];
    iw_time period_ps, duration_ps;

    IW_TRY(iwi_spec_split(log, spec, arguments, "periodic:RATE,TIME", "periodic:10Hz,220us", 2, fields));
    IW_TRY(iwi_spec_rate(log, spec, fields[0], &period_ps));
    IW_TRY(iwi_spec_time(log, spec, fields[1], &duration_ps));
    *noise = (struct iwi_dissemination_noise){(double)period_ps / (double)IW_PS_PER_NS,
                                              (double)duration_ps / (double)IW_PS_PER_NS, true};
    return IW_OK;
}

static iw_status parse_poisson(const iw_log *log, const char *spec, const char *arguments,
                               struct iwi_dissemination_noise *noise)
{
    char fields[2][IWI_FIELD_SIZE];
    struct iwi_duration duration;
    iw_time gap_ps;

    IW_TRY(iwi_spec_split(log, spec, arguments, "poisson:RATE,fixed:TIME", "poisson:10Hz,fixed:220us", 2,
                          fields));
    IW_TRY(iwi_spec_rate(log, spec, fields[0], &gap_ps));
    IW_TRY(iwi_duration_parse(log, spec, fields[1], &duration));
    if (iwi_spec_arguments(fields[1], "fixed") == NULL) {
        return iwi_fail(
            log, IW_ERR_UNSUPPORTED,
            "'%s': a barrier on a network is modelled for detours of one duration: write fixed:TIME, or "
            "ask 'idlewave simulate'",
            spec);
    }
    *noise = (struct iwi_dissemination_noise){(double)gap_ps / (double)IW_PS_PER_NS,
                                              iwi_duration_mean_ps(&duration) / (double)IW_PS_PER_NS, false};
    return IW_OK;
}

static iw_status parse_noise(const iw_log *log, const char *spec, struct iwi_dissemination_noise *noise)
{
    const char *periodic = iwi_spec_arguments(spec, "periodic"),
               *poisson = iwi_spec_arguments(spec, "poisson");

    if (periodic == NULL && poisson == NULL) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': a barrier without work is modelled for periodic:RATE,TIME and "
                        "poisson:RATE,fixed:TIME; for other noise give the work of a phase",
                        spec);
    }
    IW_TRY(periodic != NULL ? parse_periodic(log, spec, periodic, noise)
                            : parse_poisson(log, spec, poisson, noise));
    if (noise->duration_ns > MOST_SHARE * noise->period_ns) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': detours take over %g%% of the time, which this model is not made for: ask "
                        "'idlewave simulate'",
                        spec, 100 * MOST_SHARE);
    }
    return IW_OK;
}

static iw_status check_ranks(const iw_log *log, const uint64_t *ranks, size_t count, unsigned *rounds_p)
{
    unsigned rounds = 0;

    for (size_t i = 0; i < count; i++) {
        if (ranks[i] < 1 || ranks[i] > UINT64_C(1) << 62) {
            return iwi_fail(log, IW_ERR_RANGE, "%" PRIu64 " ranks; there must be 1 to 2^62", ranks[i]);
        }
        rounds = (unsigned)fmax(rounds, iwi_rounds((double)ranks[i]));
    }
    *rounds_p = rounds;
    return IW_OK;
}

/* The law of what the work loses; *most_lost_p: no rank loses more detours, but for one in 10^12. */
static iw_status work_law(const iw_log *log, const char *spec, const struct iwi_dissemination_noise *noise,
                          double work_ns, iw_law **law_p, double *most_lost_p)
{
    const double mean = work_ns / (noise->period_ns - noise->duration_ns);
    const double most = noise->is_periodic ? ceil(mean) + 1 : ceil(mean + 8 * sqrt(mean) + 20);

    *law_p = NULL;
    *most_lost_p = 0;
    if (work_ns <= 0 || noise->duration_ns <= 0) {
        return IW_OK;
    }
    if (most > MOST_LOST) {
        return iwi_fail(
            log, IW_ERR_UNSUPPORTED,
            "'%s': up to %.0f detours in one phase are too many for this model: ask for less work, "
            "or for a network whose messages take no CPU time",
            spec, most);
    }
    *most_lost_p = most;
    return iw_law_new(log, spec, work_ns, law_p);
}

struct answer {
    struct iwi_dissemination *cone; /* NULL: there is no noise */
    double work_ns, round_ns;
    const uint64_t *ranks;
    size_t count;
    iw_model_row *rows;
};

static void fill_row(const struct answer *answer, unsigned rounds, uint64_t ranks, iw_model_row *row)
{
    double mean = 0, median = 0;

    if (answer->cone != NULL) {
        iwi_dissemination_slowest(answer->cone, (double)ranks, &mean, &median);
    }
    *row = (iw_model_row){.ranks = ranks, .noiseless_ns = answer->work_ns + rounds * answer->round_ns};
    row->slowest_ns = (iw_estimate){mean, mean, mean};
    mean += row->noiseless_ns;
    row->low_ns = row->high_ns = (iw_estimate){mean, mean, mean};
    row->median_ns = row->noiseless_ns + median;
    row->support = answer->cone != NULL ? IW_SUPPORT_RECURSION : IW_SUPPORT_EXACT;
}

/* Those of so many rounds. One rank without work does nothing that noise could meet. */
static void fill_rows(const struct answer *answer, unsigned rounds)
{
    struct answer quiet = *answer;

    quiet.cone = NULL;
    for (size_t i = 0; i < answer->count; i++) {
        const uint64_t ranks = answer->ranks[i];

        if (iwi_rounds((double)ranks) == (double)rounds) {
            fill_row(ranks > 1 || answer->work_ns > 0 ? answer : &quiet, rounds, ranks, &answer->rows[i]);
        }
    }
}

static iw_status run(const iw_log *log, const struct iwi_dissemination_noise *noise,
                     const struct iwi_dissemination_net *net, const iw_law *work, double most_lost,
                     unsigned rounds, struct answer *answer)
{
    struct iwi_dissemination *cone = NULL;

    if (noise->duration_ns > 0) {
        IW_TRY(iwi_dissemination_new(log, noise, net, work, most_lost, rounds, &cone));
    }
    answer->cone = cone;
    answer->round_ns = net->send_ns + net->latency_ns + net->receive_ns;
    for (unsigned round = 0; round <= rounds; round++) {
        if (cone != NULL && round > 0) {
            iwi_dissemination_step(cone);
        }
        fill_rows(answer, round);
    }
    iwi_dissemination_free(cone);
    return IW_OK;
}

static iw_status check_costs(const iw_log *log, const char *spec, const struct iwi_dissemination_noise *noise,
                             const struct iwi_dissemination_net *net)
{
    if (net->send_ns <= 0 || net->receive_ns <= 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "messages that cost no CPU time meet no noise: write a network with o above 0");
    }
    if (noise->duration_ns > 0 && net->latency_ns > MOST_LATENCY * noise->duration_ns) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': the latency is over %g detours long, and each detour is nearly always "
                        "absorbed in it: ask 'idlewave simulate'",
                        spec, MOST_LATENCY);
    }
    return IW_OK;
}

iw_status iw_model_cone(const iw_log *log, const char *spec, const iw_net *net, double work_ns,
                        const uint64_t *ranks, size_t count, iw_model_row *rows)
{
    const struct iwi_dissemination_net costs = {(double)net->o_send_ps / (double)IW_PS_PER_NS,
                                                (double)net->L_ps / (double)IW_PS_PER_NS,
                                                (double)net->o_recv_ps / (double)IW_PS_PER_NS};
    struct answer answer = {.work_ns = work_ns, .ranks = ranks, .count = count, .rows = rows};
    struct iwi_dissemination_noise noise;
    iw_law *work;
    double most_lost;
    unsigned rounds;
    iw_status status;

    IW_TRY(parse_noise(log, spec, &noise));
    IW_TRY(check_ranks(log, ranks, count, &rounds));
    IW_TRY(check_costs(log, spec, &noise, &costs));
    IW_TRY(work_law(log, spec, &noise, work_ns, &work, &most_lost));
    status = run(log, &noise, &costs, work, most_lost, rounds, &answer);
    iw_law_free(work);
    return status;
}
