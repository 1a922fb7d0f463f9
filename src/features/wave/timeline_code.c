/* Cells and steps of timelines as short text, for pages.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "features/wave/timeline_html.h"

/* No character of these has a meaning in JSON or HTML, nor do two together look like an address. */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const char again_digits[] = "!#$%()*+,./~"; /* the cell before, so many times */
static const char below_digits[] = ";=>?@[]^`{|}"; /* the row below */

enum { HIGHEST = 63, RUN_BASE = 12, LEAST_RUN = 2, STEP_BITS = 5, STEP_MORE = 32, MOST_REPEATS = 32 };

/* What is there at all does not vanish. */
static unsigned digit_of(uint16_t share)
{
    const unsigned digit = ((unsigned)share * HIGHEST + IWI_SHARE_ONE / 2) / IWI_SHARE_ONE;

    return digit == 0 && share > 0 ? 1 : digit;
}

static void write_run(FILE *out, const char *run_digits, size_t run)
{
    char text[32];
    size_t length = 0;

    for (; run > 0; run /= RUN_BASE) {
        text[length++] = run_digits[run % RUN_BASE];
    }
    while (length > 0) {
        (void)fputc(text[--length], out);
    }
}

/* Cells from `at` on that equal those `back` before them. */
static size_t run_length(const uint16_t *shares, size_t at, size_t cells, size_t back)
{
    size_t run = 0;

    while (back <= at && at + run < cells &&
           digit_of(shares[at + run]) == digit_of(shares[at + run - back])) {
        run++;
    }
    return run;
}

void iwi_code_cells(FILE *out, const uint16_t *shares, uint32_t rows, uint32_t columns)
{
    const size_t cells = (size_t)rows * columns;
    size_t at = 0;

    while (at < cells) {
        const size_t again = run_length(shares, at, cells, 1), below = run_length(shares, at, cells, columns);

        if (again < LEAST_RUN && below < LEAST_RUN) {
            (void)fputc(digits[digit_of(shares[at])], out);
            at++;
        } else if (again >= below) {
            write_run(out, again_digits, again);
            at += again;
        } else {
            write_run(out, below_digits, below);
            at += below;
        }
    }
}

/* ---- steps ---- */

static void write_length(FILE *out, uint64_t length)
{
    while (length >= 1U << STEP_BITS) {
        (void)fputc(digits[STEP_MORE + (length & ((1U << STEP_BITS) - 1))], out);
        length >>= STEP_BITS;
    }
    (void)fputc(digits[length], out);
}

/* Rounded are points in time, not lengths: they do not drift. */
static void round_step(const iw_step *step, iw_time unit_ps, uint64_t lengths[IW_STATES])
{
    iw_time at_ps = step->begin_ps;

    for (int state = 0; state < IW_STATES; state++) {
        const iw_time next_ps = at_ps + step->state_ps[state];

        lengths[state] = (uint64_t)((next_ps + unit_ps / 2) / unit_ps - (at_ps + unit_ps / 2) / unit_ps);
        at_ps = next_ps;
    }
}

static void write_repeats(FILE *out, size_t repeats)
{
    while (repeats > 0) {
        const size_t now = repeats < MOST_REPEATS ? repeats : MOST_REPEATS;

        (void)fputc(digits[STEP_MORE - 1 + now], out);
        repeats -= now;
    }
}

void iwi_code_steps(FILE *out, const iw_step *steps, size_t count, iw_time unit_ps)
{
    uint64_t before[IW_STATES] = {0}, lengths[IW_STATES];
    size_t repeats = 0;

    for (size_t i = 0; i < count; i++) {
        unsigned changed = 0;

        round_step(&steps[i], unit_ps, lengths);
        for (unsigned state = 0; state < IW_STATES; state++) {
            changed |= (unsigned)(lengths[state] != before[state]) << state;
        }
        if (changed == 0) {
            repeats++;
            continue;
        }
        write_repeats(out, repeats);
        repeats = 0;
        (void)fputc(digits[changed], out);
        for (unsigned state = 0; state < IW_STATES; state++) {
            if (lengths[state] != before[state]) {
                write_length(out, lengths[state]);
            }
        }
        memcpy(before, lengths, sizeof before);
    }
    write_repeats(out, repeats);
}
