/* Words and numbers about series and panels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/study_report.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"

/* From here on estimates and exact numbers are told in millions, so that tables stay narrow. */
static const double MANY_ABOUT = 1e6, MANY_EXACT = 1e7;

enum { WORK_COLUMNS = 63 }; /* names are no longer */

const char *iwi_ranks_text(uint64_t ranks, char buf[IWI_NUMBER_SIZE])
{
    char digits[IWI_NUMBER_SIZE];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, ranks);
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            buf[used++] = ',';
        }
        buf[used++] = digits[i];
    }
    buf[used] = '\0';
    return buf;
}

const char *iwi_about_ranks_text(double ranks, char buf[IWI_NUMBER_SIZE])
{
    const double unit = ranks >= 1000.0 ? pow(10.0, floor(log10(ranks)) - 2.0) : 1.0;

    if (ranks < MANY_ABOUT) {
        return iwi_ranks_text((uint64_t)(round(ranks / unit) * unit), buf);
    }
    iwi_si_text(ranks, buf);
    buf[strlen(buf) - 1] = '\0'; /* the blank behind the prefix */
    return buf;
}

const char *iwi_bytes_text(uint64_t bytes, char buf[IWI_NUMBER_SIZE])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;

    while (bytes >= 1024 && bytes % 1024 == 0 && i < 4) {
        bytes /= 1024;
        i++;
    }
    snprintf(buf, IWI_NUMBER_SIZE, "%" PRIu64 " %s", bytes, units[i]);
    return buf;
}

/* Adds ", TEXT", or TEXT if there is nothing yet. */
static void add_part(char buf[IWI_PHRASE_SIZE], const char *text)
{
    const size_t used = strlen(buf);

    snprintf(buf + used, IWI_PHRASE_SIZE - used, "%s%s", used > 0 ? ", " : "", text);
}

const char *iwi_panel_details(const iw_cell_result *cell, char buf[IWI_PHRASE_SIZE])
{
    static const char *const syncs[] = {[IW_SYNC_NONE] = "",
                                        [IW_SYNC_START] = "noise synchronised at the start",
                                        [IW_SYNC_PHASE] = "noise synchronised in every phase"};
    char number[IWI_NUMBER_SIZE], part[IWI_PHRASE_SIZE];

    buf[0] = '\0';
    if (cell->bytes > 0) {
        add_part(buf, iwi_bytes_text(cell->bytes, number));
    }
    if (cell->sync != IW_SYNC_NONE) {
        add_part(buf, syncs[cell->sync]);
    }
    if (cell->net_scale != 1.0) {
        const bool is_faster = cell->net_scale > 1.0;

        snprintf(part, sizeof part, "network %.4g times %s",
                 is_faster ? cell->net_scale : 1.0 / cell->net_scale, is_faster ? "faster" : "slower");
        add_part(buf, part);
    }
    return buf;
}

const char *iwi_panel_title(const struct iwi_panel *panel, char buf[IWI_PHRASE_SIZE])
{
    char name[IWI_NAME_SIZE], details[IWI_PHRASE_SIZE];

    snprintf(buf, IWI_PHRASE_SIZE, "%s", iwi_plain_name(panel->cell->work, WORK_COLUMNS, name));
    if (iwi_panel_details(panel->cell, details)[0] != '\0') {
        add_part(buf, details);
    }
    return buf;
}

/* ---- inflection ---- */

static const char *narrow_ranks_text(uint32_t ranks, char buf[IWI_NUMBER_SIZE])
{
    return (double)ranks < MANY_EXACT ? iwi_ranks_text(ranks, buf) : iwi_about_ranks_text(ranks, buf);
}

const char *iwi_inflection_text(const iw_series *series, char buf[IWI_PHRASE_SIZE])
{
    const uint32_t fewest = series->cells[0]->ranks, most = series->cells[series->count - 1]->ranks;
    const bool is_over = series->inflection > 0.0;
    char number[IWI_NUMBER_SIZE];

    if (fewest == most) {
        snprintf(buf, IWI_PHRASE_SIZE, "%s %s rank%s", is_over ? "at" : "not at",
                 narrow_ranks_text(most, number), most == 1 ? "" : "s");
    } else if (!is_over) {
        snprintf(buf, IWI_PHRASE_SIZE, "not up to %s ranks", narrow_ranks_text(most, number));
    } else if (series->inflection <= (double)fewest) {
        snprintf(buf, IWI_PHRASE_SIZE, "from %s or fewer on", narrow_ranks_text(fewest, number));
    } else {
        snprintf(buf, IWI_PHRASE_SIZE, "from %s ranks on", iwi_about_ranks_text(series->inflection, number));
    }
    return buf;
}

const char *iwi_inflection_interval_text(const iw_series *series, char buf[IWI_PHRASE_SIZE])
{
    const double fewest = (double)series->cells[0]->ranks;
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    iwi_about_ranks_text(series->inflection_low, low);
    iwi_about_ranks_text(series->inflection_high, high);
    buf[0] = '\0';
    if (series->inflection_low <= 0.0 || series->count == 1) {
        return buf;
    }
    if (series->inflection_low > fewest && series->inflection_high > 0.0) {
        snprintf(buf, IWI_PHRASE_SIZE, "%s to %s", low, high);
    } else if (series->inflection_low > fewest) {
        snprintf(buf, IWI_PHRASE_SIZE, "%s or more", low);
    } else if (series->inflection_high > fewest) {
        snprintf(buf, IWI_PHRASE_SIZE, "up to %s", high);
    }
    return buf;
}
