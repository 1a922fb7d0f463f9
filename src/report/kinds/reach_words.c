/* What a recording can show of a job: its table, and words about it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/reach_report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/study_report.h"

/* Nobody records longer to answer one question. */
static const double LONGEST_ADVICE_S = 14.0 * 86400.0;

/* Below this a slowdown shows as 0.00 %. */
static const double NO_SLOWDOWN = 0.00005;

enum { LISTED_LAWS = 3 };

/* ---- the table ---- */

IWI_OF(bool, is_bound, iw_reach, it->is_bound)

static const struct iwi_field reach_fields[] = {
    IWI_VALUE_AS(iw_reach, recorded_s, "seconds"),
    IWI_VALUE(iw_reach, cpus),
    IWI_VALUE_AS(iw_reach, watched_s, "watched_seconds"),
    IWI_VALUE(iw_reach, longest_ns),
    IWI_VALUE(iw_reach, unseen),
    IWI_VALUE(iw_reach, is_bound),
    IWI_VALUE_AS(iw_reach, record_s, "record_seconds", .is_there = is_bound),
    IWI_VALUE(iw_reach, is_extrapolated),
    IWI_VALUES(iw_reach, laws, law_count),
};
const struct iwi_schema iwi_reach_schema = IWI_SCHEMA(iw_reach, reach_fields);

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

void iwi_append_reach(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach, uint64_t ranks,
                      double time_ns)
{
    char length[IWI_NUMBER_SIZE], watched[IWI_NUMBER_SIZE], job[IWI_NUMBER_SIZE], time[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "this recording of %s on %s CPU%s cannot show what %s %s in %s",
               iwi_length_text(reach->recorded_s, length), iwi_ranks_text(reach->cpus, watched),
               reach->cpus == 1 ? "" : "s", iwi_ranks_text(ranks, job),
               ranks == 1 ? "rank meets" : "ranks meet", iwi_ns_round_text(time_ns, time));
    if (reach->record_s <= LONGEST_ADVICE_S) {
        iwi_append(paragraph, "; record %s for an estimate",
                   iwi_length_text(round_up(reach->record_s), length));
    } else {
        iwi_append(paragraph, "; no recording of two weeks could, but laws fitted to it can be extrapolated");
    }
}

void iwi_append_laws(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach)
{
    char name[IWI_NAME_SIZE];

    iwi_append(paragraph, "from laws fitted to the recording (");
    for (size_t i = 0; i < reach->law_count && i < LISTED_LAWS; i++) {
        iwi_append(paragraph, "%s%s", i > 0 ? " + " : "",
                   iwi_plain_name(reach->laws[i] != NULL ? reach->laws[i] : "-", IWI_NAME_SIZE - 1, name));
    }
    if (reach->law_count > LISTED_LAWS) {
        iwi_append(paragraph, " and %zu other%s", reach->law_count - LISTED_LAWS,
                   reach->law_count == LISTED_LAWS + 1 ? "" : "s");
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
