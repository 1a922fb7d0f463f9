/* The recursion over rounds of a dissemination barrier under detours in wall-clock time.
 * SPDX-License-Identifier: BSD-3-Clause
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
#include "features/model/dissemination_model.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

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

iw_status iwi_dissemination_new(const iw_log *log, const struct iwi_dissemination_noise *noise,
                                const struct iwi_dissemination_net *net, const iw_law *work, double most_lost,
                                unsigned rounds, struct iwi_dissemination **cone_p)
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

void iwi_dissemination_free(struct iwi_dissemination *cone)
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

void iwi_dissemination_step(struct iwi_dissemination *cone)
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

void iwi_dissemination_slowest(struct iwi_dissemination *cone, double ranks, double *mean_ns_p,
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
