/* What the files of this folder share about laws: what one holds, what it can do, and the list of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A new law is one file with one iwi_law_ops, its parameters in the union below, and one line in the table of
 * law.c.
 */
#ifndef IWI_LAW_H
#define IWI_LAW_H

#include <stdbool.h>
#include <stddef.h>

#include <idlewave/model.h>

/* Mean mean_ns. */
struct iwi_law_exp {
    double mean_ns;
};

/* least_ns * X, P(X > x) = x^-shape. */
struct iwi_law_pareto {
    double least_ns, shape;
};

struct iwi_law_bernoulli {
    double probability, time_ns;
};

/* Of periodic detours: those that every phase meets, and the part of the work behind them. */
struct iwi_law_periodic {
    double period_ns, duration_ns;
    double whole;   /* q */
    double rest_ns; /* r of work = q (period - duration) + r, 0 < r <= period - duration; 0 without work */
};

/* Detours that begin at `hits` places of the work in the mean; one is under way when it begins with that
 * probability. */
struct iwi_law_poisson {
    double hits, duration_ns, under_way;
    bool is_exp; /* else all are of that duration */
};

struct iw_law {
    const struct iwi_law_ops *ops;
    double work_ns;
    union {
        struct iwi_law_exp exp;
        struct iwi_law_pareto pareto;
        struct iwi_law_bernoulli bernoulli;
        struct iwi_law_periodic periodic;
        struct iwi_law_poisson poisson;
    } u;
};

struct iwi_law_ops {
    const char *name;  /* of the spec, before ':' */
    const char *usage; /* the name itself: has no parameters */
    const char *example;
    /* Fills law->u from the text behind "name:"; law->work_ns is set. */
    iw_status (*parse)(const iw_log *log, const char *spec, const char *arguments, iw_law *law);
    /* E[largest of n draws]; NULL: iwi_law_integrate(). */
    double (*mean_max_ns)(const iw_law *law, double n);
    /* P(a draw > x), x >= 0: good to many digits where it is small, too. */
    double (*tail)(const iw_law *law, double x_ns);
    /* Writes the SPEC of simulations that draws from it; NULL: the one that it was made of. */
    void (*noise_spec)(const iw_law *law, char *buf, size_t size);
    /* N_1/2 by the formula of the papers, or where that does not hold by one of ours. NULL: there is none. */
    double (*half_ranks)(const iw_law *law, const iw_model_question *question, iw_doubling_rule *rule_p);
};

extern const struct iwi_law_ops iwi_law_exp, iwi_law_phase_exp, iwi_law_pareto, iwi_law_phase_pareto,
    iwi_law_bernoulli, iwi_law_periodic, iwi_law_poisson, iwi_law_none;

/* 1 - F^n of a tail 1 - F, without loss of digits for small tails and large n. */
double iwi_exceeded_by_one_of(double n, double tail);

/* E = integral over x >= 0 of (1 - F(x)^n), for continuous F. */
double iwi_law_integrate(const iw_law *law, double n);

/* "1%" of "exp:1%": a share of all time below 1, as the share of the work f/(1-f) that the papers add. */
IW_NODISCARD iw_status iwi_law_share_of_time(const iw_log *log, const char *spec, const char *field,
                                             double *share_of_work_p);

/* ---- theorem 1 ---- */

struct iwi_bounds {
    double low_ns, high_ns;
};

/* Levels below the root of a complete binary tree, floor(log2 N); rounds of dissemination, ceil(log2 N). */
double iwi_rounds(double ranks);

/* Ranks the slowest of which makes the lower bound: the leaves of the tree, or all. */
double iwi_slowest_of(iw_model_barrier barrier, double ranks);

/* Bounds of the mean phase time of any number of ranks. */
double iwi_phase_low(const iw_law *law, const iw_model_question *question, double ranks);

/* A row from E[Y] of the leaves (or all) and of all ranks; all but its support. */
void iwi_fill_row(const iw_model_question *question, uint64_t ranks, iw_estimate slowest_leaf,
                  iw_estimate slowest, iw_model_row *row);

IW_NODISCARD iw_status iwi_question_check(const iw_log *log, const iw_model_question *question, double ranks);

#endif
