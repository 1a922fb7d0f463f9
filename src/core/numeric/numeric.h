/* Laws of probability, quantiles, integrals, spectra: pure functions.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Accurate to about 1e-13 of the value, as src/core/numeric/tests compares with the GNU Scientific Library.
 * What makes no sense (a share outside [0, 1], no degree of freedom) is NaN.
 */
#ifndef IWI_NUMERIC_H
#define IWI_NUMERIC_H

#include <stddef.h>
#include <stdint.h>

/* ---- the normal law, mean 0 and deviation 1 ---- */

double iwi_normal_below(double x);
double iwi_normal_above(double x);
double iwi_normal_quantile(double below);
double iwi_normal_upper_quantile(double above);

/* ---- the gamma law with scale 1, and what follows from it ---- */

double iwi_gamma_below(double x, double shape);
double iwi_gamma_above(double x, double shape);
double iwi_chi2_quantile(double below, double freedom);
double iwi_chi2_upper_quantile(double above, double freedom);
double iwi_poisson_chance(uint64_t count, double mean);
double iwi_poisson_above(uint64_t count, double mean); /* of more than `count` */

/* ---- the beta law, and what follows from it ---- */

double iwi_beta_below(double x, double a, double b);
double iwi_binomial_below(uint64_t count, double chance, uint64_t all); /* of at most `count` */
double iwi_binomial_above(uint64_t count, double chance, uint64_t all); /* of more than `count` */
double iwi_t_quantile(double below, double freedom);

/* ---- functions ---- */

double iwi_digamma(double x);   /* x > 0 */
double iwi_log_gamma(double x); /* x > 0; lgamma() writes a variable that threads share */
double iwi_sinc(double x);      /* sin(pi x) / (pi x) */

/* Points and weights of the Gauss-Legendre rule on [-1, 1]. */
void iwi_gauss_legendre(size_t count, double *points, double *weights);

/* ---- samples ---- */

double iwi_sum(const double *values, size_t count);
double iwi_mean(const double *values, size_t count); /* NaN of none */

/* Of sorted values, interpolated as Hyndman and Fan's type 7 does; NaN of none. */
double iwi_quantile_of_sorted(const double *sorted, size_t count, double q);

/* The value that sorting would put at `index`; afterwards no value before it is larger, none behind it
 * smaller. */
double iwi_select(double *values, size_t count, size_t index);

/* The mean of the two middle ones where there are two; count > 0. Leaves the values in another order. */
double iwi_median(double *values, size_t count);

/* The chance that positive differences have a sum of ranks as high as this, or higher, if each difference has
 * either sign with chance 1/2 (F. Wilcoxon, 1945). Zeros do not count; at most IWI_MOST_SIGNED_RANKS. */
enum { IWI_MOST_SIGNED_RANKS = 64 };
double iwi_signed_ranks_above(const double *differences, size_t count);

/* ---- spectra ---- */

/* The squares of the first count / 2 numbers of the Fourier transform of real values, `count` a power of two
 * and at least 2. The values are lost. `turns` are twice as many numbers from iwi_fourier_turns(). */
void iwi_fourier_turns(size_t count, double *turns);
void iwi_fourier_power(double *values, size_t count, const double *turns, double *power);

/* ---- for the files of this room ---- */

/* x^a exp(-x) / Gamma(a + 1), and C(n, a) x^a (1-x)^(n-a) for real a and n = a + b: without the cancellation
 * of large logarithms (C. Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000). */
double iwi_poisson_density(double a, double x);
double iwi_binomial_density(double a, double b, double x);

#endif
