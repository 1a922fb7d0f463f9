/* Ranges of counts: "2^1..2^20", "16..256 step x2".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/time.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

enum { MOST_VALUES = 10000, WORD_SIZE = 64 };

/* From one value to the next: times `factor`, plus `summand`. */
struct step {
    uint64_t factor, summand;
};

/* "16..256 step x2" cut into its words. */
struct range {
    char first[WORD_SIZE], last[WORD_SIZE], step[WORD_SIZE];
};

struct bounds {
    uint64_t min, max;
};

static iw_status parse_bounded(const iw_log *log, const char *text, struct bounds bounds, uint64_t *value_p)
{
    IW_TRY(iw_parse_count(log, text, value_p));
    if (*value_p < bounds.min) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is too small; the minimum is %" PRIu64, text, bounds.min);
    }
    if (*value_p > bounds.max) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is too large; at most 2^%d is possible", text,
                        63 - __builtin_clzll(bounds.max));
    }
    return IW_OK;
}

/* Copies without the blanks around it; false: too long. */
static bool copy_word(const char *from, const char *to, char word[WORD_SIZE])
{
    while (from < to && *from == ' ') {
        from++;
    }
    while (from < to && to[-1] == ' ') {
        to--;
    }
    if ((size_t)(to - from) >= WORD_SIZE) {
        return false;
    }
    memcpy(word, from, (size_t)(to - from));
    word[to - from] = '\0';
    return true;
}

static bool split_range(const char *text, const char *dots, struct range *range)
{
    static const char keyword[] = " step ";
    const char *step = strstr(dots, keyword);
    const char *end = text + strlen(text);

    return copy_word(text, dots, range->first) &&
           copy_word(dots + 2, step != NULL ? step : end, range->last) &&
           copy_word(step != NULL ? step + strlen(keyword) : end, end, range->step);
}

/* Both ends of "2^1..2^20" say how to get from one to the next: the common base, or 0. */
static iw_status common_base(const iw_log *log, const struct range *range, uint64_t *base_p)
{
    const size_t length = strcspn(range->first, "^");
    char base[WORD_SIZE];

    *base_p = 0;
    if (range->first[length] != '^' || strncmp(range->first, range->last, length + 1) != 0) {
        return IW_OK;
    }
    (void)copy_word(range->first, range->first + length, base);
    return iw_parse_count(log, base, base_p);
}

static iw_status find_step(const iw_log *log, const char *text, const struct range *range, struct step *step)
{
    *step = (struct step){1, 0};
    if (range->step[0] == 'x') {
        IW_TRY(iw_parse_count(log, range->step + 1, &step->factor));
    } else if (range->step[0] != '\0') {
        IW_TRY(iw_parse_count(log, range->step, &step->summand));
    } else {
        IW_TRY(common_base(log, range, &step->factor));
        if (step->factor == 0) {
            return iwi_fail(log, IW_ERR_FORMAT,
                            "'%s' has no step: write '%s..%s step x2' to double, '%s..%s step 2' to count by "
                            "2",
                            text, range->first, range->last, range->first, range->last);
        }
    }
    if (step->factor < 2 && step->summand == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "the steps of '%s' do not advance; write 'step x2'", text);
    }
    return IW_OK;
}

/* How many values there are, up to one more than allowed; `values` may be NULL. */
static size_t spread(uint64_t first, uint64_t last, struct step step, uint64_t *values)
{
    size_t count = 0;

    for (uint64_t value = first; value <= last && count <= MOST_VALUES;) {
        if (values != NULL) {
            values[count] = value;
        }
        count++;
        if (__builtin_mul_overflow(value, step.factor, &value) ||
            __builtin_add_overflow(value, step.summand, &value)) {
            break;
        }
    }
    return count;
}

static iw_status new_values(const iw_log *log, const char *text, uint64_t first, uint64_t last,
                            struct step step, uint64_t **values_p, size_t *count_p)
{
    const size_t count = spread(first, last, step, NULL);
    uint64_t *values;

    if (count > MOST_VALUES) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' has more than %d values; use larger steps", text,
                        MOST_VALUES);
    }
    values = iwi_new_array(log, count, sizeof *values);
    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    (void)spread(first, last, step, values);
    *values_p = values;
    *count_p = count;
    return IW_OK;
}

static iw_status parse_range(const iw_log *log, const char *text, const char *dots, struct bounds bounds,
                             uint64_t **values_p, size_t *count_p)
{
    struct range range;
    struct step step;
    uint64_t first, last;

    if (!split_range(text, dots, &range)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%.40s...' is too long for a range", text);
    }
    IW_TRY(parse_bounded(log, range.first, bounds, &first));
    IW_TRY(parse_bounded(log, range.last, bounds, &last));
    IW_TRY(find_step(log, text, &range, &step));
    if (first > last || (first == 0 && step.summand == 0)) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' never reaches its end", text);
    }
    return new_values(log, text, first, last, step, values_p, count_p);
}

iw_status iw_parse_counts(const iw_log *log, const char *text, uint64_t min, uint64_t max,
                          uint64_t **values_p, size_t *count_p)
{
    const struct bounds bounds = {min, max};
    const char *dots = strstr(text, "..");
    uint64_t value;

    if (dots != NULL) {
        return parse_range(log, text, dots, bounds, values_p, count_p);
    }
    IW_TRY(parse_bounded(log, text, bounds, &value));
    return new_values(log, text, value, value, (struct step){1, 1}, values_p, count_p);
}
