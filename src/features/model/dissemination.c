/* A dissemination barrier under noise: the recursion over its rounds, and what it answers for a spec on a
 * network.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <idlewave/model.h>

#include "core/base/base.h"
#include "core/noise/duration.h"
#include "core/noise/spec.h"
#include "features/model/law.h"

/* Detours of one duration that begin 1/period often in the mean; one may be under way at time 0, as at any
 * other. */
struct iwi_dissemination_noise {
    double period_ns, duration_ns;
    bool is_periodic; /* else at random times: chance decides how many the work meets */
};

/* What a message costs. */
struct iwi_dissemination_net {
    double send_ns, latency_ns, receive_ns;
};

struct iwi_dissemination;

/* The recursion over rounds of a dissemination barrier under detours in wall-clock time.
 *
 * In round r a rank waits for the one 2^r before it. What the two know comes from 2^r ranks each, none in
 * common: their times are independent. Times here are what noise has added to those of a quiet machine.
 * A is the law of a rank that has done its rounds so far, E after the next send, whose o is hit by a detour
 * at rate 1/T (duration D):
 *     E(y) = (1 - o/T) A(y) + o/T A(y - D)
 * The rank itself is done with its send at S(y) = E(y + L): it has L of slack. It goes on when the message
 * arrives, law E, unless it is in a detour that began at a time u after its own send and before the arrival
 * and ends behind y:
 *     W(y) = 1/T integral from y - D to y of S(u) (E(y) - E(u)) du
 *     G(y) = S(y) E(y) - W(y)
 * and after the receive's o again (1 - o/T) G(y) + o/T G(y - D), the next A.
 *
 * The first A is the law of what the work before the barrier has lost, or without work of what is left of a
 * detour under way.
 *
 * The slowest rank. One that is late makes all late that hear of it, so the late ranks of the last round are
 * not independent; but the detours that make a rank late which was not late before are on different CPUs. Of
 * those there are N W(y) in a round and, for o, N o/T (A(y) - A(y - D)): c(y) in the mean in all rounds, and
 * N (1 - A_0(y)) at the start. A detour in a round makes nobody later than y unless somebody was later than
 * y - D before; let p be the probability of that, as found for y - D. Given that, all c/p are independent:
 *     P(slowest > y) = 1 - A_0(y)^N (1 - p (1 - exp(-c(y) / p)))
 */

enum { CELLS_A_DETOUR = 4000, ARRAYS = 8 };

/* Probabilities of 1 have no logarithm of their complement. */
static const double MOST_CERTAIN = 1 - 1e-12;

/* Laws are arrays over y = (i - zero) h. Each round can add no more than one detour to the latest time. */
struct iwi_dissemination {
    struct iwi_dissemination_noise noise;
    struct iwi_dissemination_net net;
    double step_ns;
    size_t count, zero; /* zero: cells of negative time, as many as cover L */
    double *after;      /* A */
    double *sent;       /* E */
    double *own;        /* S */
    double *own_sum;    /* integral of S */
    double *both_sum;   /* integral of S E */
    double *ready;      /* log of the first A */
    double *caught;     /* c / N: ranks that a round has made late, of all rounds so far */
    double *late;       /* P(slowest > y), while it is computed */
};

/* A law between its cells; 0 before the first, the last behind it. */
static double at(const struct iwi_dissemination *cone, const double *law, double cell)
{
    if (cell < 0) {
        return 0;
    }
    if (cell >= (double)(cone->count - 1)) {
        return law[cone->count - 1];
    }
    const size_t i = (size_t)cell;

    return law[i] + (cell - (double)i) * (law[i + 1] - law[i]);
}

static double before_detour(const double *law, size_t i)
{
    return i >= CELLS_A_DETOUR ? law[i - CELLS_A_DETOUR] : 0.0;
}

/* P(late by more than y) before the first round. */
static double late_at_first(const struct iwi_dissemination_noise *noise, const iw_law *work, double y)
{
    return work != NULL ? 1 - iw_law_cdf(work, y) : fmax(noise->duration_ns - y, 0) / noise->period_ns;
}

static void begin(struct iwi_dissemination *cone, const iw_law *work)
{
    for (size_t i = cone->zero; i < cone->count; i++) {
        const double y = (double)(i - cone->zero) * cone->step_ns;
        const double late = late_at_first(&cone->noise, work, y);

        cone->after[i] = 1 - late;
        cone->ready[i] = log1p(-fmin(late, MOST_CERTAIN));
    }
}

/* Of up to `rounds` rounds, after work that loses by a law at most `most_lost` detours; NULL: no work. */
static iw_status dissemination_new(const iw_log *log, const struct iwi_dissemination_noise *noise,
                                   const struct iwi_dissemination_net *net, const iw_law *work,
                                   double most_lost, unsigned rounds, struct iwi_dissemination **cone_p)
{
    const double step_ns = noise->duration_ns / CELLS_A_DETOUR;
    const double zero = ceil(net->latency_ns / step_ns) + 1;
    struct iwi_dissemination *cone = iwi_new_array(log, 1, sizeof *cone);

    if (cone == NULL) {
        return IW_ERR_NOMEM;
    }
    cone->noise = *noise;
    cone->net = *net;
    cone->step_ns = step_ns;
    cone->zero = (size_t)zero;
    cone->count = cone->zero + ((size_t)rounds + (size_t)most_lost + 2) * CELLS_A_DETOUR + 1;
    cone->after = iwi_new_array(log, ARRAYS * cone->count, sizeof(double));
    if (cone->after == NULL) {
        free(cone);
        return IW_ERR_NOMEM;
    }
    cone->sent = cone->after + cone->count;
    cone->own = cone->sent + cone->count;
    cone->own_sum = cone->own + cone->count;
    cone->both_sum = cone->own_sum + cone->count;
    cone->ready = cone->both_sum + cone->count;
    cone->caught = cone->ready + cone->count;
    cone->late = cone->caught + cone->count;
    begin(cone, work);
    *cone_p = cone;
    return IW_OK;
}

static void dissemination_free(struct iwi_dissemination *cone)
{
    if (cone != NULL) {
        free(cone->after);
    }
    free(cone);
}

/* E, S and the integrals, from A. */
static void send(struct iwi_dissemination *cone)
{
    const double hit = cone->net.send_ns / cone->noise.period_ns;
    const double slack = cone->net.latency_ns / cone->step_ns;
    double own_sum = 0, both_sum = 0;

    for (size_t i = 0; i < cone->count; i++) {
        cone->sent[i] = (1 - hit) * cone->after[i] + hit * before_detour(cone->after, i);
    }
    for (size_t i = 0; i < cone->count; i++) {
        cone->own[i] = at(cone, cone->sent, (double)i + slack);
    }
    for (size_t i = 1; i < cone->count; i++) {
        own_sum += cone->step_ns * (cone->own[i] + cone->own[i - 1]) / 2;
        both_sum += cone->step_ns * (cone->own[i] * cone->sent[i] + cone->own[i - 1] * cone->sent[i - 1]) / 2;
        cone->own_sum[i] = own_sum;
        cone->both_sum[i] = both_sum;
    }
}

/* W of cell i. */
static double caught_waiting(const struct iwi_dissemination *cone, size_t i)
{
    return (cone->sent[i] * (cone->own_sum[i] - before_detour(cone->own_sum, i)) -
            (cone->both_sum[i] - before_detour(cone->both_sum, i))) /
           cone->noise.period_ns;
}

/* A from E and S; backwards, so that G of earlier cells can stand in the same array. */
static void receive(struct iwi_dissemination *cone)
{
    const double hit = cone->net.receive_ns / cone->noise.period_ns;

    for (size_t i = 0; i < cone->count; i++) {
        const double late = caught_waiting(cone, i);

        cone->after[i] = cone->own[i] * cone->sent[i] - late;
        cone->caught[i] += fmax(late, 0);
    }
    for (size_t i = cone->count; i-- > 0;) {
        cone->after[i] = (1 - hit) * cone->after[i] + hit * before_detour(cone->after, i);
    }
}

/* One round more. */
static void dissemination_step(struct iwi_dissemination *cone)
{
    const double hit = (cone->net.send_ns + cone->net.receive_ns) / cone->noise.period_ns;

    send(cone);
    receive(cone);
    for (size_t i = cone->zero; i < cone->count; i++) {
        cone->caught[i] += hit * (cone->after[i] - before_detour(cone->after, i));
    }
}

/* P(slowest > y) of cell i, from those before it. */
static double slowest_later(const struct iwi_dissemination *cone, double ranks, size_t i)
{
    const bool needs_late = i >= cone->zero + CELLS_A_DETOUR;
    const double p = needs_late ? cone->late[i - CELLS_A_DETOUR] : 1.0;
    const double caught = p > 0 ? -p * expm1(-ranks * cone->caught[i] / p) : 0.0;

    return 1 - exp(ranks * cone->ready[i]) * (1 - caught);
}

/* Mean and median of what noise adds to the time of the slowest of `ranks` after the rounds so far. */
static void dissemination_slowest(struct iwi_dissemination *cone, double ranks, double *mean_ns_p,
                                  double *median_ns_p)
{
    double mean = 0, median = 0, before = 1;

    for (size_t i = cone->zero; i < cone->count; i++) {
        const double late = slowest_later(cone, ranks, i);

        cone->late[i] = late;
        if (i > cone->zero) {
            mean += cone->step_ns * (late + before) / 2;
        }
        if (before > 0.5 && late <= 0.5 && i > cone->zero) {
            const double share = (before - 0.5) / (before - late);

            median = ((double)(i - cone->zero - 1) + share) * cone->step_ns;
        }
        before = late;
    }
    *mean_ns_p = mean;
    *median_ns_p = median;
}

/* Answers of the cone recursion: a dissemination barrier on a network, under a spec of noise. */

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
            "'%s': the model of a barrier on a network needs detours of one duration: use fixed:TIME, or "
            "'idlewave simulate'",
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
                        "'%s': a barrier without work needs noise of the form periodic:RATE,TIME or "
                        "poisson:RATE,fixed:TIME; for other noise, give the work of a phase",
                        spec);
    }
    IW_TRY(periodic != NULL ? parse_periodic(log, spec, periodic, noise)
                            : parse_poisson(log, spec, poisson, noise));
    if (noise->duration_ns > MOST_SHARE * noise->period_ns) {
        return iwi_fail(
            log, IW_ERR_UNSUPPORTED,
            "'%s': detours take over %g%% of the time, too much for this model: use 'idlewave simulate'",
            spec, 100 * MOST_SHARE);
    }
    return IW_OK;
}

static iw_status check_ranks(const iw_log *log, const uint64_t *ranks, size_t count, unsigned *rounds_p)
{
    unsigned rounds = 0;

    for (size_t i = 0; i < count; i++) {
        if (ranks[i] < 1 || ranks[i] > UINT64_C(1) << 62) {
            return iwi_fail(log, IW_ERR_RANGE, "%" PRIu64 " ranks: use 1 to 2^62", ranks[i]);
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
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': up to %.0f detours in one phase are too many for this model: use less work, "
                        "or a network whose messages take no CPU time",
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
        dissemination_slowest(answer->cone, (double)ranks, &mean, &median);
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
        IW_TRY(dissemination_new(log, noise, net, work, most_lost, rounds, &cone));
    }
    answer->cone = cone;
    answer->round_ns = net->send_ns + net->latency_ns + net->receive_ns;
    for (unsigned round = 0; round <= rounds; round++) {
        if (cone != NULL && round > 0) {
            dissemination_step(cone);
        }
        fill_rows(answer, round);
    }
    dissemination_free(cone);
    return IW_OK;
}

static iw_status check_costs(const iw_log *log, const char *spec, const struct iwi_dissemination_noise *noise,
                             const struct iwi_dissemination_net *net)
{
    if (net->send_ns <= 0 || net->receive_ns <= 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "noise hits only messages that cost CPU time: use a network with o above 0");
    }
    if (noise->duration_ns > 0 && net->latency_ns > MOST_LATENCY * noise->duration_ns) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s': the latency is over %g detours long and absorbs nearly all of them: use "
                        "'idlewave simulate'",
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
