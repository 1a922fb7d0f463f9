/* Cells of a study that are lower bounds, or from fitted laws.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/simulate/simulate.h"
#include "features/study/study_report.h"

enum { LISTED_LAWS = 3 };

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
    if (record_s <= IWI_LONGEST_ADVICE_S) {
        iwi_append(paragraph, "; record %s for estimates", iwi_length_text(iwi_round_up(record_s), length));
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
