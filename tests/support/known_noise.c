/* Draws known noise, and computes the law of its losses by Fourier transform.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/known_noise.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fft_complex.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "support/made_recording.h"

double known_above(const struct known_noise *noise, double x_ns)
{
    switch (noise->kind) {
    case KNOWN_EXP: return x_ns > 0.0 ? exp(-x_ns / noise->a) : 1.0;
    case KNOWN_PARETO: return x_ns > noise->b ? pow(noise->b / x_ns, noise->a) : 1.0;
    case KNOWN_SHIFTED_EXP: return x_ns > noise->a ? exp(-(x_ns - noise->a) / noise->b) : 1.0;
    case KNOWN_LOGNORMAL: return x_ns > 0.0 ? gsl_cdf_ugaussian_Q(log(x_ns / noise->a) / noise->b) : 1.0;
    case KNOWN_TRAP:
        return x_ns > 0.0 ? (1.0 - noise->b) * exp(-x_ns / noise->a) + (x_ns < KNOWN_TRAP_NS ? noise->b : 0.0)
                          : 1.0;
    }
    abort();
}

double known_duration_ns(const struct known_noise *noise, double unit)
{
    switch (noise->kind) {
    case KNOWN_EXP: return -noise->a * log(unit);
    case KNOWN_PARETO: return noise->b * pow(unit, -1.0 / noise->a);
    case KNOWN_SHIFTED_EXP: return noise->a - noise->b * log(unit);
    case KNOWN_LOGNORMAL: return noise->a * exp(noise->b * gsl_cdf_ugaussian_Qinv(unit));
    case KNOWN_TRAP:
        return unit < noise->b ? KNOWN_TRAP_NS : -noise->a * log((unit - noise->b) / (1.0 - noise->b));
    }
    abort();
}

static double mean_duration_ns(const struct known_noise *noise)
{
    switch (noise->kind) {
    case KNOWN_EXP: return noise->a;
    case KNOWN_PARETO: return noise->b * noise->a / (noise->a - 1.0);
    case KNOWN_SHIFTED_EXP: return noise->a + noise->b;
    case KNOWN_LOGNORMAL: return noise->a * exp(0.5 * noise->b * noise->b);
    case KNOWN_TRAP: return (1.0 - noise->b) * noise->a + noise->b * KNOWN_TRAP_NS;
    }
    abort();
}

void known_put(const struct known_noise *noise, iw_recording *recording, size_t cpu, uint32_t source,
               uint64_t seed, uint32_t stream)
{
    const struct iwi_draw_id id = {seed, 0, IWI_DRAW_TEST, stream, (uint32_t)cpu};
    const int64_t length_ns = recording->cpus[cpu].length_ns;
    double now_ns = 0.0;

    for (uint64_t i = 0;; i++) {
        const struct iwi_draw_block drawn = iwi_draw_block(id, i);
        const double gap_ns = -log(((double)(drawn.v[0] >> 12) + 0.5) * 0x1p-52) * 1e9 / noise->rate_hz;
        const double duration_ns = known_duration_ns(noise, ((double)(drawn.v[1] >> 12) + 0.5) * 0x1p-52);

        now_ns += gap_ns;
        if (now_ns + duration_ns >= (double)length_ns) {
            return;
        }
        iwt_detour(recording, cpu, llround(now_ns), llround(now_ns + duration_ns) - llround(now_ns), source);
        now_ns += duration_ns;
    }
}

enum { CELLS = 1 << 19 };

/* The last value of the grid: exceeded by so few detours that it does not matter. */
static double grid_end_ns(const struct known_noise *noise)
{
    double end_ns = mean_duration_ns(noise);

    while (known_above(noise, end_ns) > 3e-13) {
        end_ns *= 1.2;
    }
    return end_ns * 1.5;
}

/* Masses of the durations on the grid, and of what is left of a detour under way. */
static void lay_masses(const struct known_noise *noise, double step_ns, double complex *whole,
                       double complex *rest)
{
    const double mean_ns = mean_duration_ns(noise);
    double sum = 0.0;

    for (size_t i = 0; i < CELLS; i++) {
        const double middle_ns = step_ns * (double)i;

        whole[i] =
            known_above(noise, middle_ns - 0.5 * step_ns) - known_above(noise, middle_ns + 0.5 * step_ns);
        rest[i] = known_above(noise, middle_ns) * step_ns / mean_ns * (i == 0 ? 0.5 : 1.0);
        sum += creal(rest[i]);
    }
    for (size_t i = 0; i < CELLS; i++) {
        rest[i] /= sum;
    }
}

static double *loss_masses(const struct known_noise *noise, double work_ns, double step_ns)
{
    const double count = noise->rate_hz * 1e-9 * work_ns,
                 busy = noise->rate_hz * 1e-9 * mean_duration_ns(noise);
    double complex *whole = malloc(sizeof *whole * CELLS), *rest = malloc(sizeof *rest * CELLS);
    double *mass = malloc(sizeof *mass * CELLS);

    if (whole == NULL || rest == NULL || mass == NULL) {
        abort();
    }
    lay_masses(noise, step_ns, whole, rest);
    gsl_fft_complex_radix2_forward((double *)whole, 1, CELLS);
    gsl_fft_complex_radix2_forward((double *)rest, 1, CELLS);
    for (size_t i = 0; i < CELLS; i++) {
        whole[i] = cexp(count * (whole[i] - 1.0)) * (1.0 + busy * rest[i]) / (1.0 + busy);
    }
    gsl_fft_complex_radix2_inverse((double *)whole, 1, CELLS);
    for (size_t i = 0; i < CELLS; i++) {
        mass[i] = creal(whole[i]);
    }
    free(whole);
    free(rest);
    return mass;
}

static double one_above(double above, double n)
{
    return -expm1(n * log1p(-fmin(fmax(above, 0.0), 1.0 - 1e-15)));
}

void known_mean_max_ns(const struct known_noise *noise, double work_ns, const double *n, size_t count,
                       double *means_ns)
{
    const double step_ns = grid_end_ns(noise) / CELLS;
    double *mass = loss_masses(noise, work_ns, step_ns);

    for (size_t i = CELLS - 1; i-- > 0;) { /* now P(loss is of this cell or a larger one) */
        mass[i] += mass[i + 1];
    }
    for (size_t k = 0; k < count; k++) {
        means_ns[k] = 0.0;
    }
    /* The mean is the integral of P(largest > x); strides grow with x. */
    for (size_t i = 0, next; i + 1 < CELLS; i = next) {
        next = i + 1 + i / 2000 < CELLS ? i + 1 + i / 2000 : CELLS - 1;
        for (size_t k = 0; k < count; k++) {
            means_ns[k] += 0.5 * step_ns * (double)(next - i) *
                           (one_above(mass[i + 1], n[k]) + one_above(mass[next], n[k]));
        }
    }
    free(mass);
}
