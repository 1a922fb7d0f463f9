/* What a recording can show of a job, as JSON and in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/reach_report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/result_report.h"
#include "report/kinds/study_report.h"
#include "schema/json_util.h"

/* Nobody records longer to answer one question. */
static const double LONGEST_ADVICE_S = 14.0 * 86400.0;

/* Below this a slowdown shows as 0.00 %. */
static const double NO_SLOWDOWN = 0.00005;

enum { LISTED_LAWS = 3 };

/* ---- JSON ---- */

static json_t *laws_array(const iw_noise_set *set)
{
    json_t *array = json_array();

    for (size_t i = 0; set != NULL && iw_noise_set_law(set, i) != NULL; i++) {
        (void)json_array_append_new(array, iwi_json_text(iw_noise_set_law(set, i)));
    }
    return array;
}

json_t *iwi_reach_object(const iw_reach *reach, const iw_noise_set *set)
{
    if (reach->watched_s == 0.0) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:b, s:o}", "seconds",
                     iwi_json_number(reach->recorded_s), "cpus", iwi_json_count(reach->cpus),
                     "watched_seconds", iwi_json_number(reach->watched_s), "longest_ns",
                     iwi_json_number((double)reach->longest_ns), "unseen", iwi_json_number(reach->unseen),
                     "is_bound", reach->is_bound, "record_seconds",
                     reach->is_bound ? iwi_json_number(reach->record_s) : json_null(), "is_extrapolated",
                     reach->is_extrapolated, "laws", laws_array(set));
}

json_t *iwi_certainty_object(const iw_certainty *certainty, const iw_noise_set *set)
{
    const iw_estimate *e = &certainty->slowdown;
    json_t *object = iwi_reach_object(&certainty->reach, set);

    if (json_is_object(object)) {
        (void)json_object_set_new(object, "slowdown",
                                  json_pack("{s:o, s:o, s:o}", "value", iwi_json_number(e->value), "low",
                                            iwi_json_number(e->low), "high", iwi_json_number(e->high)));
    }
    return object;
}

bool iwi_is_bound(const json_t *recording)
{
    return json_is_true(json_object_get(recording, "is_bound"));
}

bool iwi_is_extrapolated(const json_t *recording)
{
    return json_is_true(json_object_get(recording, "is_extrapolated"));
}

iw_estimate iwi_recorded_slowdown(const json_t *recording)
{
    const json_t *slowdown = json_object_get(recording, "slowdown");

    return (iw_estimate){iwi_result_number(slowdown, "value"), iwi_result_number(slowdown, "low"),
                         iwi_result_number(slowdown, "high")};
}

/* ---- words ---- */

const char *iwi_length_text(double seconds, char buf[IWI_NUMBER_SIZE])
{
    static const struct {
        double s;
        const char *name;
    } units[] = {{86400.0, "days"}, {3600.0, "h"}, {60.0, "min"}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (seconds >= 1.95 * units[i].s) {
            snprintf(buf, IWI_NUMBER_SIZE, "%.2g %s", fmin(seconds / units[i].s, 99.0), units[i].name);
            return buf;
        }
    }
    return iwi_ns_round_text(seconds * 1e9, buf);
}

/* Two digits, upwards: advice that is followed shall be enough. */
static double round_up(double seconds)
{
    const double unit = pow(10.0, floor(log10(fmax(seconds, 1.0))) - 1.0);

    return ceil(seconds / unit) * unit;
}

void iwi_append_bound(char paragraph[IWI_PARAGRAPH_SIZE], iw_estimate slowdown, const char *without)
{
    char number[IWI_NUMBER_SIZE], slower[IWI_PHRASE_SIZE];

    if (isnan(slowdown.low)) {
        iwi_append(paragraph,
                   " %s without %s with what was recorded: ", iwi_slower_text(slowdown.value, slower),
                   without);
    } else if (slowdown.low < NO_SLOWDOWN) {
        iwi_append(paragraph, " is not known to be slower than without %s: ", without);
    } else if (slowdown.low >= 1.0) {
        iwi_append(paragraph, " takes at least %s times as long as without %s: ",
                   iwi_factor_text(1.0 + slowdown.low, number), without);
    } else {
        iwi_append(paragraph,
                   " is at least %s slower than without %s: ", iwi_percent_text(slowdown.low, number),
                   without);
    }
}

void iwi_append_reach(char paragraph[IWI_PARAGRAPH_SIZE], const json_t *recording, uint64_t ranks,
                      double time_ns)
{
    const uint64_t cpus = iwi_result_count(recording, "cpus");
    const double record_s = iwi_result_number(recording, "record_seconds");
    char length[IWI_NUMBER_SIZE], watched[IWI_NUMBER_SIZE], job[IWI_NUMBER_SIZE], time[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "this recording of %s on %s CPU%s cannot show what %s %s in %s",
               iwi_length_text(iwi_result_number(recording, "seconds"), length),
               iwi_ranks_text(cpus, watched), cpus == 1 ? "" : "s", iwi_ranks_text(ranks, job),
               ranks == 1 ? "rank meets" : "ranks meet", iwi_ns_round_text(time_ns, time));
    if (record_s <= LONGEST_ADVICE_S) {
        iwi_append(paragraph, "; record %s for an estimate", iwi_length_text(round_up(record_s), length));
    } else {
        iwi_append(paragraph, "; no recording of two weeks could: --extrapolate goes by fitted laws");
    }
}

void iwi_append_laws(char paragraph[IWI_PARAGRAPH_SIZE], const json_t *recording)
{
    const json_t *laws = json_object_get(recording, "laws");
    const size_t count = json_array_size(laws);
    char name[IWI_NAME_SIZE];

    iwi_append(paragraph, "from laws fitted to the recording (");
    for (size_t i = 0; i < count && i < LISTED_LAWS; i++) {
        const char *law = json_string_value(json_array_get(laws, i));

        iwi_append(paragraph, "%s%s", i > 0 ? " + " : "",
                   iwi_plain_name(law != NULL ? law : "-", IWI_NAME_SIZE - 1, name));
    }
    if (count > LISTED_LAWS) {
        iwi_append(paragraph, " and %zu others", count - LISTED_LAWS);
    }
    iwi_append(paragraph, "), not from it");
}

void iwi_append_bounds(char paragraph[IWI_PARAGRAPH_SIZE], const iw_study_results *results)
{
    size_t bounds = 0;
    double record_s = 0.0;
    char length[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < results->count; i++) {
        const iw_cell_recording *recording = &results->cells[i].recording;

        if (recording->seconds > 0.0 && !isnan(recording->record_s)) {
            bounds++;
            record_s = fmax(record_s, recording->record_s);
        }
    }
    if (bounds == 0) {
        return;
    }
    iwi_append(paragraph, " %zu of %zu cells %s: %s recording cannot show what so many ranks meet", bounds,
               results->count, bounds == 1 ? "is a lower bound" : "are lower bounds",
               bounds == 1 ? "its" : "their");
    if (record_s <= LONGEST_ADVICE_S) {
        iwi_append(paragraph, "; record %s for estimates", iwi_length_text(round_up(record_s), length));
    } else {
        iwi_append(paragraph, "; no recording of two weeks could: 'extrapolate: true' goes by fitted laws");
    }
    iwi_append(paragraph, ".");
}

/* The laws of cells, each once; returns how many there are, or LISTED_LAWS + 1 for more than are listed. */
static size_t list_laws(const iw_study_results *results, const char *laws[LISTED_LAWS])
{
    size_t count = 0;

    for (size_t i = 0; i < results->count && count <= LISTED_LAWS; i++) {
        const char *own = results->cells[i].recording.laws;
        size_t place = 0;

        while (own != NULL && place < count && strcmp(own, laws[place]) != 0) {
            place++;
        }
        if (own != NULL && place == count) {
            if (count < LISTED_LAWS) {
                laws[count] = own;
            }
            count++;
        }
    }
    return count;
}

void iwi_append_extrapolated(char paragraph[IWI_PARAGRAPH_SIZE], const iw_study_results *results)
{
    const char *laws[LISTED_LAWS];
    const size_t count = list_laws(results, laws);
    size_t cells = 0;
    char name[IWI_NAME_SIZE];

    for (size_t i = 0; i < results->count; i++) {
        cells += results->cells[i].recording.laws != NULL;
    }
    if (cells == 0) {
        return;
    }
    iwi_append(paragraph, " %zu of %zu cells %s from laws fitted to the recording (", cells, results->count,
               cells == 1 ? "is" : "are");
    for (size_t i = 0; i < count && i < LISTED_LAWS; i++) {
        iwi_append(paragraph, "%s%s", i > 0 ? "; " : "", iwi_plain_name(laws[i], IWI_NAME_SIZE - 1, name));
    }
    iwi_append(paragraph, "%s), not from it.", count > LISTED_LAWS ? "; and others" : "");
}
