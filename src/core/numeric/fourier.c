/* The power of real values by frequency.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Values are taken in pairs as complex numbers, which are transformed by radix 2; the two spectra in the
 * result are then told apart by their symmetry.
 */
#include <math.h>

#include "core/numeric/numeric.h"

/* Of joining transforms of 1, 2, 4, ... numbers, one after the other: each reads its own from first to last.
 */
void iwi_fourier_turns(size_t count, double *turns)
{
    for (size_t half = 1; half < count; half *= 2) {
        for (size_t k = 0; k < half; k++, turns += 2) {
            const size_t turn = k * (count / 2 / half);
            const double angle = -2.0 * M_PI * (double)turn / (double)count;

            turns[0] = cos(angle);
            turns[1] = sin(angle);
        }
    }
}

/* Where those begin that join transforms of `half` numbers. */
static const double *turns_of(const double *turns, size_t half)
{
    return turns + 2 * (half - 1);
}

static void swap_pairs(double *a, double *b)
{
    for (size_t i = 0; i < 2; i++) {
        const double kept = a[i];

        a[i] = b[i];
        b[i] = kept;
    }
}

/* Sorts complex numbers by their index read backwards. */
static void reverse_bits(double *z, size_t count)
{
    for (size_t i = 1, j = 0; i < count; i++) {
        size_t bit = count >> 1;

        for (; (j & bit) != 0; bit >>= 1) {
            j ^= bit;
        }
        j |= bit;
        if (i < j) {
            swap_pairs(&z[2 * i], &z[2 * j]);
        }
    }
}

/* Joins transforms of `half` complex numbers each. */
static void join_halves(double *restrict a, double *restrict b, size_t half, const double *restrict turns)
{
    for (size_t k = 0; k < 2 * half; k += 2) {
        const double c = turns[k], s = turns[k + 1];
        const double re = b[k] * c - b[k + 1] * s, im = b[k] * s + b[k + 1] * c;

        b[k] = a[k] - re;
        b[k + 1] = a[k + 1] - im;
        a[k] += re;
        a[k + 1] += im;
    }
}

static void transform(double *z, size_t count, const double *turns)
{
    reverse_bits(z, count);
    for (size_t half = 1; half < count; half *= 2) {
        for (size_t first = 0; first < count; first += 2 * half) {
            join_halves(&z[2 * first], &z[2 * (first + half)], half, turns_of(turns, half));
        }
    }
}

void iwi_fourier_power(double *values, size_t count, const double *turns, double *power)
{
    const size_t pairs = count / 2;
    const double *own = turns_of(turns, pairs);

    transform(values, pairs, turns);
    power[0] = (values[0] + values[1]) * (values[0] + values[1]);
    for (size_t k = 1; k < pairs; k++) {
        const double *z = &values[2 * k], *mirror = &values[2 * (pairs - k)];
        const double even_re = 0.5 * (z[0] + mirror[0]), even_im = 0.5 * (z[1] - mirror[1]);
        const double odd_re = 0.5 * (z[1] + mirror[1]), odd_im = 0.5 * (mirror[0] - z[0]);
        const double c = own[2 * k], s = own[2 * k + 1];
        const double re = even_re + odd_re * c - odd_im * s, im = even_im + odd_re * s + odd_im * c;

        power[k] = re * re + im * im;
    }
}
