/* Cells and steps as text: what a page reads back is what was written.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "features/wave/timeline_report.h"
#include "support/support.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const char again_digits[] = "!#$%()*+,./~";
static const char below_digits[] = ";=>?@[]^`{|}";

static unsigned value_of(const char *set, char c)
{
    const char *place = strchr(set, c);

    assert_non_null(place);
    return (unsigned)(place - set);
}

static char *cells_text(const uint16_t *shares, uint32_t rows, uint32_t columns)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    iwi_code_cells(out, shares, rows, columns);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* As web/timeline.js does it; each cell must be within half a digit. */
static void assert_cells(const char *text, const uint16_t *shares, size_t cells, size_t columns)
{
    unsigned *found = calloc(cells, sizeof *found);
    size_t cell = 0;

    assert_non_null(found);
    while (*text != '\0') {
        const char *set = strchr(again_digits, *text) != NULL ? again_digits : below_digits;
        const size_t back = set == again_digits ? 1 : columns;
        size_t run = 0;

        if (strchr(digits, *text) != NULL) {
            assert_true(cell < cells);
            found[cell++] = value_of(digits, *text++);
            continue;
        }
        for (; *text != '\0' && strchr(set, *text) != NULL; text++) {
            run = run * 12 + value_of(set, *text);
        }
        assert_true(run > 0 && cell + run <= cells && back <= cell);
        for (; run > 0; run--, cell++) {
            found[cell] = found[cell - back];
        }
    }
    assert_int_equal(cell, cells);
    for (size_t i = 0; i < cells; i++) {
        const double wanted = 63.0 * shares[i] / IWI_SHARE_ONE;

        assert_true(shares[i] == 0 ? found[i] == 0 : found[i] > 0);
        assert_true(found[i] >= wanted - 0.51 && (found[i] <= wanted + 0.51 || found[i] == 1));
    }
    free(found);
}

static void cells_are_read_back(void **state)
{
    enum { ROWS = 40, COLUMNS = 97 };
    uint16_t shares[ROWS * COLUMNS];
    uint64_t random = 1;
    char *text;

    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
            shares[i] = kind == 0   ? (uint16_t)(random >> 48)                        /* noise */
                        : kind == 1 ? (uint16_t)(i / 11 % 3 == 0 ? IWI_SHARE_ONE : 0) /* runs */
                        : kind == 2 ? (uint16_t)(i % COLUMNS * 600)                   /* rows alike */
                                    : (uint16_t)((random >> 60) == 0 ? 1 : 0);        /* hardly anything */
        }
        text = cells_text(shares, ROWS, COLUMNS);
        assert_cells(text, shares, ROWS * COLUMNS, COLUMNS);
        assert_null(strpbrk(text, "<&\"'\\"));
        assert_null(strstr(text, "//"));
        free(text);
    }
}

static void what_repeats_is_short(void **state)
{
    enum { ROWS = 500, COLUMNS = 400 };
    uint16_t *shares = calloc((size_t)ROWS * COLUMNS, sizeof *shares);
    char *text;

    (void)state;
    assert_non_null(shares);
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        shares[i] = (uint16_t)(i % COLUMNS * 7919); /* each row like the one below */
    }
    text = cells_text(shares, ROWS, COLUMNS);
    assert_cells(text, shares, (size_t)ROWS * COLUMNS, COLUMNS);
    assert_true(strlen(text) < COLUMNS + 10);
    free(text);
    free(shares);
}

/* ---- steps ---- */

static char *steps_text(const iw_step *steps, size_t count, iw_time unit_ps)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    iwi_code_steps(out, steps, count, unit_ps);
    assert_int_equal(fclose(out), 0);
    return text;
}

static uint64_t read_length(const char **text_p)
{
    uint64_t length = 0;
    unsigned shift = 0, digit;

    do {
        digit = value_of(digits, *(*text_p)++);
        length |= (uint64_t)(digit & 31) << shift;
        shift += 5;
    } while (digit >= 32);
    return length;
}

/* All ends of states are within half a unit. */
static void assert_steps(const char *text, const iw_step *steps, size_t count, iw_time unit_ps)
{
    uint64_t lengths[IW_STATES] = {0};
    iw_time at = (steps[0].begin_ps + unit_ps / 2) / unit_ps;
    size_t step = 0;

    while (*text != '\0') {
        const unsigned digit = value_of(digits, *text++);
        unsigned times = digit >= 32 ? digit - 31 : 1;

        for (unsigned s = 0; digit < 32 && s < IW_STATES; s++) {
            if ((digit >> s & 1) != 0) {
                lengths[s] = read_length(&text);
            }
        }
        for (; times > 0; times--, step++) {
            iw_time end_ps;

            assert_true(step < count);
            end_ps = steps[step].begin_ps;
            for (unsigned s = 0; s < IW_STATES; s++) {
                at += (iw_time)lengths[s];
                end_ps += steps[step].state_ps[s];
                assert_true(llabs(at * unit_ps - end_ps) <= unit_ps);
            }
        }
    }
    assert_int_equal(step, count);
}

static void steps_are_read_back(void **state)
{
    enum { COUNT = 300 };
    iw_step steps[COUNT];
    iw_time begin_ps = 12345;
    uint64_t random = 7;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        steps[i] = (iw_step){.begin_ps = begin_ps};
        for (int s = 0; s < IW_STATES; s++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
            steps[i].state_ps[s] = random >> 63 != 0 ? (iw_time)(random >> 28 & 0xffffffff) : 0;
        }
        begin_ps = iw_step_end(&steps[i]);
    }
    for (iw_time unit_ps = 1; unit_ps <= 1000000; unit_ps *= 1000) {
        char *text = steps_text(steps, COUNT, unit_ps);

        assert_steps(text, steps, COUNT, unit_ps);
        free(text);
    }
}

static void steps_that_repeat_are_short(void **state)
{
    enum { COUNT = 1000 };
    static iw_step steps[COUNT];
    char *text;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        steps[i] = (iw_step){.begin_ps = (iw_time)i * 3100000, .state_ps = {0, 3000000, 0, 20000, 80000}};
    }
    text = steps_text(steps, COUNT, 1000);
    assert_steps(text, steps, COUNT, 1000);
    assert_true(strlen(text) < 60);
    free(text);
}

static void no_steps_are_no_text(void **state)
{
    char *text = steps_text(NULL, 0, 1);

    (void)state;
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_read_back),  cmocka_unit_test(what_repeats_is_short),
        cmocka_unit_test(steps_are_read_back),  cmocka_unit_test(steps_that_repeat_are_short),
        cmocka_unit_test(no_steps_are_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
