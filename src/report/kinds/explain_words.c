/* What hurt most on the critical paths of a result, in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/result_report.h"

/* Below this part of the noise, the largest detours are not what matters. */
static const double LEAST_WORST_SHARE = 0.25;

/* A source of noise as its part is called, without "noise "; long ones (paths) keep their end. */
static const char *source_words(const json_t *object, char buf[IWI_NAME_SIZE])
{
    const size_t columns = 60;
    const char *name = iwi_result_text(object, "source");

    name += strncmp(name, "noise ", 6) == 0 ? 6 : 0;
    return iwi_plain_name(strlen(name) > columns ? name + strlen(name) - columns : name, columns, buf);
}

void iwi_hit_words(const json_t *hit, char paragraph[IWI_PARAGRAPH_SIZE])
{
    char lost[IWI_NUMBER_SIZE], at[IWI_NUMBER_SIZE], source[IWI_NAME_SIZE];

    iwi_append(paragraph, "%s took %s of rank %" PRIu64 " at %s", source_words(hit, source),
               iwi_ns_time_text(iwi_result_number(hit, "lost_ns"), lost), iwi_result_count(hit, "rank"),
               iwi_ns_time_text(iwi_result_number(hit, "at_ns"), at));
}

void iwi_average_words(const json_t *result, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const json_t *average = json_object_get(json_object_get(result, "explain"), "average");
    const uint64_t trials = iwi_result_count(average, "trials"), all = iwi_result_count(result, "trials");

    if (trials < all) {
        iwi_append(paragraph,
                   "On average over the first %" PRIu64 " of %" PRIu64
                   " trials (--explain-trials), the path to the rank that ends last is made of:",
                   trials, all);
    } else {
        iwi_append(paragraph,
                   "On average over all %" PRIu64 " trials, the path to the rank that ends last is made of:",
                   trials);
    }
}

/* Begins the sentence or goes on with it. */
static void append_joint(char *sentence)
{
    iwi_append(sentence, sentence[0] == '\0' ? "The largest one " : "; it ");
}

/* The first place of a list, if it stands out; else NULL. */
static const json_t *find_place(const json_t *largest, const char *list)
{
    const json_t *place = json_array_get(json_object_get(largest, list), 0);

    return json_is_true(json_object_get(place, "stands_out")) ? place : NULL;
}

/* "hits rank 17 in 9 of 20 trials" */
static void append_place(char *sentence, const json_t *place, const char *where)
{
    append_joint(sentence);
    iwi_append(sentence, "%s in %" PRIu64 " of %" PRIu64 " trials", where, iwi_result_count(place, "trials"),
               iwi_result_count(place, "of"));
}

static void append_largest(char paragraph[IWI_PARAGRAPH_SIZE], const json_t *largest, bool has_sources)
{
    static const char *const tenths[] = {"first", "second",  "third",  "fourth", "fifth",
                                         "sixth", "seventh", "eighth", "ninth",  "last"};
    const json_t *source = json_array_get(json_object_get(largest, "sources"), 0);
    const json_t *rank = find_place(largest, "ranks"), *seat = find_place(largest, "seats");
    const json_t *tenth = find_place(largest, "tenths");
    char sentence[IWI_PARAGRAPH_SIZE] = "", where[128], plain[IWI_NAME_SIZE];

    if (has_sources && json_is_object(source)) {
        (void)snprintf(where, sizeof where, "is %s", source_words(source, plain));
        append_place(sentence, source, where);
    }
    if (rank != NULL) {
        (void)snprintf(where, sizeof where, "hits rank %" PRIu64, iwi_result_count(rank, "rank"));
        append_place(sentence, rank, where);
    }
    if (seat != NULL) {
        (void)snprintf(where, sizeof where, "hits rank %" PRIu64 " of a node (from 0 on)",
                       iwi_result_count(seat, "seat"));
        append_place(sentence, seat, where);
    }
    if (tenth != NULL && iwi_result_count(tenth, "tenth") < 10) {
        (void)snprintf(where, sizeof where, "comes in the %s tenth of the run",
                       tenths[iwi_result_count(tenth, "tenth")]);
        append_place(sentence, tenth, where);
    }
    if (sentence[0] != '\0') {
        iwi_append(paragraph, " %s.", sentence);
    }
}

void iwi_largest_words(const json_t *average, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const double share = iwi_result_number(average, "worst_share");
    json_t *parts = json_object_get(average, "parts_ns"), *value;
    size_t sources = 0;
    char text[IWI_NUMBER_SIZE];
    const char *name;

    if (isnan(share)) {
        return;
    }
    json_object_foreach(parts, name, value)
    {
        sources += strncmp(name, "noise ", 6) == 0;
    }
    /* of the others only the sum is known: that they are many, not whether they are any smaller */
    iwi_append(paragraph, "The largest detours of each path, up to four, make up %s of its noise%s.",
               iwi_percent_text(share, text),
               share < LEAST_WORST_SHARE ? ": it is many that add up, not a few" : "");
    append_largest(paragraph, json_object_get(average, "largest"), sources > 1);
}

/* Parts of one path are numbers, those of the average objects with a mean. */
static bool has_noise(const json_t *parts)
{
    json_t *value;
    const char *name;

    json_object_foreach((json_t *)parts, name, value)
    {
        const double ns = json_is_object(value) ? iwi_result_number(value, "mean") : json_number_value(value);

        if (strncmp(name, "noise ", 6) == 0 && ns > 0.0) {
            return true;
        }
    }
    return false;
}

void iwi_share_words(const json_t *explain, char paragraph[IWI_PARAGRAPH_SIZE])
{
    if (has_noise(json_object_get(explain, "parts")) ||
        has_noise(json_object_get(json_object_get(explain, "average"), "parts_ns"))) {
        iwi_append(paragraph, "Shares of a path are no savings: without one source another path may be the "
                              "longest, with other noise on it. 'idlewave whatif' tells what would be gained "
                              "without each source.");
    }
}
