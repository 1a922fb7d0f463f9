/* An answer to "what if" for people: the verdict, the ranking, what to do, how sure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "report/kinds/noise_report.h"
#include "report/kinds/result_report.h"
#include "report/kinds/whatif_report.h"

enum {
    NAME_COLUMNS = 26,
    LEFT_COLUMNS = 9,
    AFTER_LEFT_COLUMNS = 80 - (2 + NAME_COLUMNS + 1 + 7 + 1 + LEFT_COLUMNS + 2), /* savings and their bars */
    SAVING_COLUMNS = 24,
    MOST_ADVICE = 5
};

/* "5.40 (4.60 to 6.10)": the column's head says what of. */
static const char *saving_text(const json_t *change, char buf[IWI_ESTIMATE_SIZE])
{
    char *points;

    iwi_whatif_points_text(iwi_whatif_estimate(change, "saving"), buf);
    points = strstr(buf, " points");
    memmove(points, points + strlen(" points"), strlen(points + strlen(" points")) + 1);
    return buf;
}

/* Columns of savings, and the largest one: bars take what is left. */
struct scale {
    int columns;
    double largest;
};

static struct scale scale_of(const json_t *whatif)
{
    struct scale scale = {SAVING_COLUMNS, 0.0};
    char text[IWI_ESTIMATE_SIZE];
    const json_t *change;

    for (size_t i = 0; (change = iwi_whatif_change(whatif, NULL, i)) != NULL; i++) {
        const int width = (int)strlen(saving_text(change, text)) + 1;

        scale.columns = width > scale.columns ? width : scale.columns;
        scale.largest = fmax(scale.largest, iwi_whatif_estimate(change, "saving").value);
    }
    return scale;
}

/* "12.3 %", of a lower bound "> 12.3 %". */
static const char *left_text(iw_estimate left, char buf[IWI_ESTIMATE_SIZE])
{
    const bool is_bound = !isnan(left.low) && isnan(left.high);
    char number[IWI_NUMBER_SIZE];

    snprintf(buf, IWI_ESTIMATE_SIZE, "%s%s", is_bound ? "> " : "",
             iwi_slowdown_text(is_bound ? left.low : left.value, number));
    return buf;
}

static void write_change(FILE *out, const json_t *change, const struct scale *scale)
{
    const iw_estimate saving = iwi_whatif_estimate(change, "saving"),
                      left = iwi_whatif_estimate(change, "slowdown");
    const double share = iwi_result_number(change, "share");
    const int bar_columns = AFTER_LEFT_COLUMNS - scale->columns;
    char name[IWI_CHANGE_NAME_SIZE], plain[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE],
        percent[IWI_ESTIMATE_SIZE], estimate[IWI_ESTIMATE_SIZE];

    iwi_plain_name(iwi_whatif_change_name(change, name), NAME_COLUMNS, plain);
    (void)fprintf(out, "  %-*s %7s %*s  %-*s", NAME_COLUMNS, plain,
                  isnan(share) || share == 0 ? "-" : iwi_share_text(share, number), LEFT_COLUMNS,
                  left_text(left, percent), bar_columns > 0 ? scale->columns : 0,
                  saving_text(change, estimate));
    if (bar_columns > 0) {
        (void)iwi_write_bar(out, saving.value > 0 ? saving.value / scale->largest : 0, bar_columns);
    }
    (void)fputc('\n', out);
}

static bool is_alone(const json_t *change)
{
    const char *kind = iwi_result_text(change, "kind");

    return strcmp(kind, "source") == 0 || strcmp(kind, "rest") == 0;
}

/* Sources first, then sets of them and what else can be done. */
static void write_table(const json_t *whatif, FILE *out)
{
    const struct scale scale = scale_of(whatif);
    const json_t *change;

    (void)fprintf(out, "  %-*s %7s %*s  %s\n", NAME_COLUMNS, "without", "share", LEFT_COLUMNS, "slowdown",
                  "saves (points)");
    for (int pass = 0; pass < 2; pass++) {
        bool is_first = true;

        for (size_t i = 0; (change = iwi_whatif_change(whatif, NULL, i)) != NULL; i++) {
            if (is_alone(change) == (pass == 0)) {
                if (is_first && pass == 1) {
                    (void)fputc('\n', out);
                }
                is_first = false;
                write_change(out, change, &scale);
            }
        }
    }
}

static void write_paragraph(FILE *out, const json_t *whatif,
                            void (*tell)(const json_t *, char paragraph[IWI_PARAGRAPH_SIZE]))
{
    char paragraph[IWI_PARAGRAPH_SIZE] = "";

    tell(whatif, paragraph);
    if (paragraph[0] != '\0') {
        (void)fputc('\n', out);
        iwi_write_wrapped(out, paragraph);
    }
}

/* Of sources that are worth it; the verdict has told of the first already, if that is. */
static void write_advice(const json_t *whatif, FILE *out)
{
    const json_t *change = iwi_whatif_change(whatif, "source", 0);
    bool is_begun = false;

    for (size_t i = change != NULL && iwi_whatif_is_worth_it(change);
         i < MOST_ADVICE && (change = iwi_whatif_change(whatif, "source", i)) != NULL; i++) {
        const json_t *remedy = json_object_get(change, "remedy");
        char name[IWI_CHANGE_NAME_SIZE], item[IWI_PARAGRAPH_SIZE] = "";

        if (!iwi_whatif_is_worth_it(change) || !json_is_object(remedy)) {
            continue;
        }
        if (!is_begun) {
            (void)fputs("\nTo do about others:\n", out);
            is_begun = true;
        }
        iwi_append(item, "%s: ", iwi_whatif_change_name(change, name));
        iwi_whatif_append_remedy(remedy, item);
        iwi_write_item(out, item);
    }
}

void iwi_write_whatif_text(const json_t *whatif, FILE *out)
{
    char verdict[IWI_PARAGRAPH_SIZE] = "";

    iwi_whatif_verdict(whatif, verdict);
    iwi_write_wrapped(out, verdict);
    (void)fputc('\n', out);
    write_table(whatif, out);
    write_paragraph(out, whatif, iwi_whatif_interaction);
    write_paragraph(out, whatif, iwi_whatif_order);
    write_paragraph(out, whatif, iwi_whatif_target);
    write_paragraph(out, whatif, iwi_whatif_reserve);
    write_paragraph(out, whatif, iwi_whatif_together);
    write_advice(whatif, out);
    write_paragraph(out, whatif, iwi_whatif_certainty);
}

iw_status iw_whatif_write_text(const iw_log *log, const iw_whatif *whatif, const iw_whatif_origin *origin,
                               FILE *out)
{
    json_t *object;

    IW_TRY(iwi_whatif_new(log, whatif, origin, &object));
    iwi_write_whatif_text(object, out);
    json_decref(object);
    return iwi_check_written(log, out, "the answer");
}
