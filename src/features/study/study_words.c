/* What studies are said to show, in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/simulate/simulate.h"
#include "features/study/study_report.h"
#include "kit/text/words.h"

/* ======== bounds ======== */

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
    iwi_append(paragraph, " %zu of %zu cells %s: the recording is too short for this many ranks", bounds,
               results->count, bounds == 1 ? "is a lower limit" : "are lower limits");
    if (record_s <= IWI_LONGEST_ADVICE_S) {
        iwi_append(paragraph, "; record %s for estimates", iwi_length_text(iwi_round_up(record_s), length));
    } else {
        iwi_append(paragraph, "; even two weeks would be too short: 'extrapolate: true' uses fitted laws");
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
    iwi_append(paragraph, " %zu of %zu cells %s extrapolated from laws fitted to the recording (", cells,
               results->count, cells == 1 ? "is" : "are");
    for (size_t i = 0; i < count && i < LISTED_LAWS; i++) {
        iwi_append(paragraph, "%s%s", i > 0 ? "; " : "", iwi_plain_name(laws[i], IWI_NAME_SIZE - 1, name));
    }
    iwi_append(paragraph, "%s).", count > LISTED_LAWS ? "; and others" : "");
}

/* ======== words ======== */

/* From here on exact numbers of ranks are written as estimates are, so that tables stay narrow. */
static const double MANY_EXACT = 1e7;

const char *iwi_study_name(struct iwi_document *doc, const char *name)
{
    enum { MOST_COLUMNS = 63 }; /* names of systems and works are no longer */
    char plain[IWI_NAME_SIZE];

    return iwi_doc_printf(doc, "%s",
                          iwi_wants(doc, IWI_ON_PAGES) ? name : iwi_plain_name(name, MOST_COLUMNS, plain));
}

static const char *ranks_of(struct iwi_document *doc, uint64_t ranks)
{
    char number[IWI_NUMBER_SIZE];

    return iwi_doc_printf(doc, "%s", iwi_ranks_text(ranks, number));
}

/* ---- what sets series apart ---- */

const char *iwi_dim_name(enum iwi_dim dim, bool is_plural)
{
    static const char *const names[IWI_DIMS][2] = {
        [IWI_DIM_SYSTEM] = {"System", "Systems"},
        [IWI_DIM_WORK] = {"Work", "Kinds of work"},
        [IWI_DIM_SETTINGS] = {"Settings", "Settings"},
        [IWI_DIM_BYTES] = {"Message", "Sizes of messages"},
        [IWI_DIM_SYNC] = {"Noise of ranks", "Ways to synchronise the noise"},
        [IWI_DIM_NET] = {"Network", "Speeds of the network"},
    };

    return dim < IWI_DIMS ? names[dim][is_plural] : iwi_setting_key(dim);
}

static const char *net_label(struct iwi_document *doc, double scale)
{
    return scale == 1.0 ? "network unchanged"
                        : iwi_doc_printf(doc, "network %.4g times %s", scale > 1.0 ? scale : 1.0 / scale,
                                         scale > 1.0 ? "faster" : "slower");
}

/* "pp=4; microbatches=16", as lines and CSV have it. */
static const char *settings_label(struct iwi_document *doc, const iw_cell_result *cell)
{
    char plain[IWI_PARAGRAPH_SIZE];

    return cell->settings == NULL ? "-" : iwi_doc_printf(doc, "%s", iwi_plain_text(cell->settings, plain));
}

/* "4" of it */
static const char *setting_label(struct iwi_document *doc, const iw_cell_result *cell, const char *key)
{
    size_t length;
    const char *value = iwi_setting_value(cell, key, &length);

    return iwi_study_name(doc, length > 0 ? iwi_doc_printf(doc, "%.*s", (int)length, value) : "-");
}

/* Traces and schedules have sizes of their own. */
static bool has_size(const iw_cell_result *cell)
{
    return cell->bytes > 0;
}

const char *iwi_dim_label(struct iwi_document *doc, enum iwi_dim dim, const iw_series *series)
{
    static const char *const syncs[] = {[IW_SYNC_NONE] = "not synchronised",
                                        [IW_SYNC_START] = "synchronised at the start",
                                        [IW_SYNC_PHASE] = "synchronised in every phase"};
    const iw_cell_result *cell = series->cells[0];

    switch (dim) {
    case IWI_DIM_SYSTEM: return iwi_study_name(doc, cell->system);
    case IWI_DIM_WORK: return iwi_study_name(doc, cell->work);
    case IWI_DIM_SETTINGS: return settings_label(doc, cell);
    case IWI_DIM_BYTES: return has_size(cell) ? iwi_size(doc, cell->bytes) : "-";
    case IWI_DIM_SYNC: return syncs[cell->sync];
    case IWI_DIM_NET: return net_label(doc, cell->net_scale);
    default: return setting_label(doc, cell, iwi_setting_key(dim));
    }
}

/* Of the settings that vary, `but` left out: "pp 4, microbatches 16". */
static const char *join_settings(struct iwi_document *doc, const struct iwi_panels *panels,
                                 const iw_series *series, enum iwi_dim but)
{
    const char *text = "";

    for (int dim = IWI_DIM_SETTING; dim < IWI_ALL_DIMS; dim++) {
        if (panels->varies[dim] && dim != (int)but) {
            text = iwi_doc_printf(doc, "%s%s%s %s", text, text[0] != '\0' ? ", " : "",
                                  iwi_dim_name((enum iwi_dim)dim, true),
                                  iwi_dim_label(doc, (enum iwi_dim)dim, series));
        }
    }
    return text;
}

const char *iwi_series_label(struct iwi_document *doc, const struct iwi_panels *panels,
                             const iw_series *series, enum iwi_dim but)
{
    const char *label = "";

    for (int dim = 0; dim < IWI_DIMS; dim++) {
        if (panels->varies[dim] && dim != (int)but && (dim != IWI_DIM_BYTES || has_size(series->cells[0]))) {
            const char *part = dim == IWI_DIM_SETTINGS ? join_settings(doc, panels, series, but)
                                                       : iwi_dim_label(doc, (enum iwi_dim)dim, series);

            label =
                iwi_doc_printf(doc, "%s%s%s", label, label[0] != '\0' && part[0] != '\0' ? ", " : "", part);
        }
    }
    return label[0] != '\0' ? label : iwi_dim_label(doc, IWI_DIM_WORK, series);
}

const char *iwi_panel_title(struct iwi_document *doc, const iw_cell_result *cell)
{
    static const char *const syncs[] = {[IW_SYNC_NONE] = "",
                                        [IW_SYNC_START] = ", noise synchronised at the start",
                                        [IW_SYNC_PHASE] = ", noise synchronised in every phase"};

    return iwi_doc_printf(doc, "%s%s%s%s%s%s", iwi_study_name(doc, cell->work), has_size(cell) ? ", " : "",
                          has_size(cell) ? iwi_size(doc, cell->bytes) : "", syncs[cell->sync],
                          cell->net_scale != 1.0 ? ", " : "",
                          cell->net_scale != 1.0 ? net_label(doc, cell->net_scale) : "");
}

/* ---- inflection ---- */

static const char *about_ranks(struct iwi_document *doc, double ranks)
{
    char number[IWI_NUMBER_SIZE];

    return iwi_doc_printf(doc, "%s", iwi_about_ranks_text(ranks, number));
}

static const char *narrow_ranks(struct iwi_document *doc, uint32_t ranks)
{
    return (double)ranks < MANY_EXACT ? ranks_of(doc, ranks) : about_ranks(doc, ranks);
}

const char *iwi_inflection_text(struct iwi_document *doc, const iw_series *series)
{
    const uint32_t fewest = series->cells[0]->ranks, most = iwi_last_cell(series)->ranks;
    const bool is_over = series->inflection > 0.0;

    if (fewest == most) {
        return iwi_doc_printf(doc, "%s %s rank%s", is_over ? "at" : "not at", narrow_ranks(doc, most),
                              iwi_plural_s(most));
    }
    if (!is_over) {
        return iwi_doc_printf(doc, "not up to %s ranks", narrow_ranks(doc, most));
    }
    return series->inflection <= (double)fewest
               ? iwi_doc_printf(doc, "from %s ranks or fewer", narrow_ranks(doc, fewest))
               : iwi_doc_printf(doc, "from %s ranks", about_ranks(doc, series->inflection));
}

const char *iwi_inflection_interval_text(struct iwi_document *doc, const iw_series *series)
{
    const double fewest = (double)series->cells[0]->ranks;

    if (series->inflection_low <= 0.0 || series->count == 1) {
        return "";
    }
    if (series->inflection_low > fewest) {
        return series->inflection_high > 0.0
                   ? iwi_doc_printf(doc, "%s to %s", about_ranks(doc, series->inflection_low),
                                    about_ranks(doc, series->inflection_high))
                   : iwi_doc_printf(doc, "%s or more", about_ranks(doc, series->inflection_low));
    }
    return series->inflection_high > fewest
               ? iwi_doc_printf(doc, "up to %s", about_ranks(doc, series->inflection_high))
               : "";
}

/* ---- the verdict ---- */

/* Of all series, or of one system's. */
struct tally {
    size_t count, over;
    const iw_series *first, *last; /* where noise takes over with the fewest and the most ranks; or NULL */
    const iw_cell_result *worst;   /* by the mean slowdown; or NULL */
    uint32_t most_ranks;
};

static void count_in(struct tally *t, const iw_series *series)
{
    const iw_cell_result *worst = iwi_worst_of_series(series);
    const uint32_t most = iwi_last_cell(series)->ranks;

    t->count++;
    if (series->inflection > 0.0) {
        t->over++;
        t->first = t->first == NULL || series->inflection < t->first->inflection ? series : t->first;
        t->last = t->last == NULL || series->inflection > t->last->inflection ? series : t->last;
    }
    if (worst != NULL && (t->worst == NULL || iwi_mean_slowdown(worst) > iwi_mean_slowdown(t->worst))) {
        t->worst = worst;
    }
    t->most_ranks = most > t->most_ranks ? most : t->most_ranks;
}

/* NULL: of all systems. */
static struct tally tally_of(const struct iwi_panels *panels, const char *system)
{
    struct tally t = {.count = 0};

    for (size_t i = 0; i < panels->series_count; i++) {
        if (system == NULL || strcmp(panels->series[i].cells[0]->system, system) == 0) {
            count_in(&t, &panels->series[i]);
        }
    }
    return t;
}

/* "chic"; "busy on hdr-fat-tree" where the network has another name. */
static const char *system_words(struct iwi_document *doc, const iw_cell_result *cell)
{
    const size_t length = strcspn(cell->net, ":"); /* behind it are its costs */
    const char *system = iwi_study_name(doc, cell->system);
    char net[IWI_PHRASE_SIZE];

    snprintf(net, sizeof net, "%.*s", (int)length, cell->net);
    return cell->net[length] == '\0' || strcmp(net, cell->system) == 0
               ? system
               : iwi_doc_printf(doc, "%s on %s", system, iwi_net_words(net, (char[IWI_PHRASE_SIZE]){0}));
}

/* "chic: allreduce:ring, 1 MiB" */
static const char *place_of(struct iwi_document *doc, const iw_cell_result *cell)
{
    return iwi_doc_printf(doc, "%s: %s%s%s", system_words(doc, cell), iwi_panel_title(doc, cell),
                          cell->settings != NULL ? ", " : "",
                          cell->settings != NULL ? settings_label(doc, cell) : "");
}

static void say_worst(struct iwi_document *doc, const iw_cell_result *worst)
{
    const bool is_bound = worst->recording.seconds > 0.0 && !isnan(worst->recording.record_s);
    char slower[IWI_PHRASE_SIZE], median[IWI_NUMBER_SIZE];

    iwi_doc_append(doc, " The worst case (%s, %s rank%s) %s without noise", place_of(doc, worst),
                   ranks_of(doc, worst->ranks), iwi_plural_s(worst->ranks),
                   iwi_slower_text(iwi_mean_slowdown(worst), slower));
    if (worst->trials > 1) {
        iwi_doc_append(
            doc, " (mean; median %s)",
            iwi_slowdown_column_text(iwi_median_slowdown(worst), iwi_mean_slowdown(worst), median));
    }
    iwi_doc_append(doc, "%s.", is_bound ? ", or more: the recording is too short for this many ranks" : "");
}

/* Of the cell that would lose most. */
static void say_sensitivity(struct iwi_document *doc, const iw_study_results *results)
{
    const iw_cell_result *worst = NULL;
    char text[IWI_PARAGRAPH_SIZE] = "";

    for (size_t i = 0; i < results->count; i++) {
        const iw_cell_result *cell = &results->cells[i];

        if (cell->recording.sensitivity.length_ns > 0 &&
            (worst == NULL || cell->recording.sensitivity.slowdown > worst->recording.sensitivity.slowdown)) {
            worst = cell;
        }
    }
    if (worst != NULL) {
        iwi_append_sensitivity(text, &worst->recording.sensitivity);
        iwi_verdict(doc, "%s This is the worst cell: %s, %s rank%s.", text, place_of(doc, worst),
                    ranks_of(doc, worst->ranks), iwi_plural_s(worst->ranks));
    }
}

/* The command that began a study continues it. */
static void say_missing(struct iwi_document *doc, const iw_study_results *results)
{
    const size_t missing = results->expected - results->count;
    const char *command = "";
    char plain[IWI_PARAGRAPH_SIZE];

    for (size_t i = 0; i < results->attribute_count; i++) {
        if (strcmp(results->attributes[i].name, "command") == 0) {
            command = results->attributes[i].value;
        }
    }
    iwi_verdict(doc, "The study is not finished: %zu of %zu cells %s missing. ", missing, results->expected,
                missing == 1 ? "is" : "are");
    if (command[0] != '\0') {
        iwi_doc_append(doc, "'%s' continues it.", iwi_plain_text(command, plain));
    } else {
        iwi_doc_append(doc, "Rerun it to resume.");
    }
}

/* Each once, though many cells have it. */
static void say_caveats(struct iwi_document *doc, const iw_study_results *results)
{
    iw_caveats all = {.count = 0};

    for (size_t i = 0; i < results->count; i++) {
        const char *text = results->cells[i].caveats;

        while (text != NULL && *text != '\0') {
            const char *end = strstr(text, " | ");
            iw_caveats one = {.count = 1, .caveats = {{.is_known = true}}};
            bool is_new = true;

            (void)snprintf(one.caveats[0].text, sizeof one.caveats[0].text, "%.*s",
                           (int)(end != NULL ? end - text : (ptrdiff_t)strlen(text)), text);
            for (size_t k = 0; k < all.count; k++) {
                is_new &= strcmp(all.caveats[k].text, one.caveats[0].text) != 0;
            }
            if (is_new) {
                iw_caveats_join(&all, &one);
            }
            text = end != NULL ? end + 3 : NULL;
        }
    }
    iwi_say_caveats(doc, &all, NULL);
}

void iwi_study_say_verdict(struct iwi_document *doc, const iw_study_results *results,
                           const struct iwi_panels *panels)
{
    const struct tally t = tally_of(panels, NULL);

    say_caveats(doc, results);
    if (t.count == 0) {
        iwi_verdict(doc, "No results yet: 0 of %zu cells finished.", results->expected);
    } else if (t.over == 0) {
        iwi_verdict(doc, "Noise does not take over up to %s ranks.", ranks_of(doc, t.most_ranks));
    } else {
        iwi_verdict(doc, "Noise takes over ");
        if (t.count > 1) {
            iwi_doc_append(doc, "in %zu of %zu cases, first ", t.over, t.count);
        }
        iwi_doc_append(doc, "%s (%s).", iwi_inflection_text(doc, t.first), place_of(doc, t.first->cells[0]));
    }
    if (t.worst != NULL) {
        say_worst(doc, t.worst);
    }
    say_sensitivity(doc, results);
    if (t.count > 0 && results->count < results->expected) {
        say_missing(doc, results);
    }
}

/* "chic: in 3 of 6 cases, between 512 and 4,096 ranks; at worst 12.3x". */
static void say_system(struct iwi_document *doc, const struct iwi_panels *panels, const iw_series *like)
{
    const struct tally t = tally_of(panels, like->cells[0]->system);
    const char *interval = t.count == 1 ? iwi_inflection_interval_text(doc, like) : "";

    iwi_item(doc, "%s: ", iwi_study_name(doc, like->cells[0]->system));
    if (t.count == 1 || t.over == 0) {
        iwi_doc_append(doc, interval[0] != '\0' ? "%s (95 %% CI %s)" : "%s%s", iwi_inflection_text(doc, like),
                       interval);
    } else if (t.first == t.last) {
        iwi_doc_append(doc, "in 1 of %zu cases, %s", t.count, iwi_inflection_text(doc, t.first));
    } else {
        const char *first = about_ranks(doc, t.first->inflection);
        const char *last = about_ranks(doc, t.last->inflection);

        iwi_doc_append(doc, "in %zu of %zu cases, ", t.over, t.count);
        iwi_doc_append(doc, strcmp(first, last) == 0 ? "from %s ranks" : "between %s and %s ranks", first,
                       last);
    }
    if (t.worst != NULL) {
        iwi_doc_append(doc, "; at worst %s on %s ranks", iwi_slower(doc, iwi_mean_slowdown(t.worst)),
                       ranks_of(doc, t.worst->ranks));
    }
}

void iwi_study_say_systems(struct iwi_document *doc, const struct iwi_panels *panels)
{
    enum { MOST = 16 };
    unsigned said = 0;

    for (size_t i = 0; i < panels->series_count && said < MOST; i++) {
        /* Styles count the systems in their order. */
        if (iwi_dim_style(panels, IWI_DIM_SYSTEM, &panels->series[i]) == said) {
            say_system(doc, panels, &panels->series[i]);
            said++;
        }
    }
}

/* ---- how sure ---- */

static void say_recordings(struct iwi_document *doc, const iw_study_results *results,
                           void (*append)(char *, const iw_study_results *))
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    append(text, results);
    if (text[0] != '\0') {
        iwi_item(doc, "%s", text + 1); /* it begins with a blank */
    }
}

void iwi_study_say_notes(struct iwi_document *doc, const iw_study_results *results)
{
    uint64_t fewest = UINT64_MAX, most = 0;

    for (size_t i = 0; i < results->count; i++) {
        fewest = results->cells[i].trials < fewest ? results->cells[i].trials : fewest;
        most = results->cells[i].trials > most ? results->cells[i].trials : most;
    }
    iwi_item(doc, "%s cell%s of %s", ranks_of(doc, results->count), iwi_plural_s(results->count),
             ranks_of(doc, fewest));
    if (fewest < most) {
        iwi_doc_append(doc, " to %s", ranks_of(doc, most));
    }
    iwi_doc_append(
        doc,
        " trial%s. Noise takes over where the median trial takes at least %.4gx as long as without noise, "
        "here and on all larger numbers of ranks; values in between are interpolated. Costs of "
        "noise are means.",
        iwi_plural_s(most), 1.0 + results->threshold);
    iwi_item(doc, "%s",
             most < IW_LEAST_TRIALS ? "Too few trials for confidence intervals."
                                    : "Intervals of where noise takes over follow from those of the medians "
                                      "(95 % or a little more).");
    say_recordings(doc, results, iwi_append_bounds);
    say_recordings(doc, results, iwi_append_extrapolated);
}
