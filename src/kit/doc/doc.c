/* Documents: how they are made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/doc/doc.h"

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/utf8.h"
#include "kit/text/words.h"

/* What is added without memory goes here, and is lost. */
static struct iwi_block *add_block(struct iwi_document *doc, enum iwi_block_kind kind)
{
    struct iwi_block *block = iwi_arena_take(&doc->arena, 1, sizeof *block);

    if (block == NULL) {
        return NULL;
    }
    block->kind = kind;
    block->media = doc->media;
    block->text = "";
    block->id = "";
    if (doc->last != NULL) {
        doc->last->next = block;
    } else {
        doc->blocks = block;
    }
    doc->last = block;
    return block;
}

void iwi_only_in(struct iwi_document *doc, unsigned media)
{
    doc->media = media;
}

/* Names come from other machines and from files: no control characters (but ends of lines in code), nothing
 * that is no UTF-8. */
static const char *clean(struct iwi_document *doc, const char *text, bool has_lines)
{
    char *copy = NULL;

    for (size_t i = 0, size; text[i] != '\0'; i += size) {
        bool is_plain;

        size = iwi_utf8_plain_size(&text[i], &is_plain);
        if (is_plain || (has_lines && text[i] == '\n')) {
            continue;
        }
        if (copy == NULL) {
            copy = iwi_arena_take(&doc->arena, strlen(text) + 1, 1);
            if (copy == NULL) {
                return "";
            }
            memcpy(copy, text, strlen(text) + 1);
            text = copy;
        }
        memset(&copy[i], '?', size);
    }
    return text;
}

static void add_text(struct iwi_document *doc, enum iwi_block_kind kind, const char *format, va_list args)
{
    struct iwi_block *block = add_block(doc, kind);

    if (block != NULL) {
        block->text = clean(doc, iwi_arena_text_list(&doc->arena, format, args), kind == IWI_BLOCK_CODE);
    }
}

/* The same for each kind of block that is a text. */
#define TEXT_BLOCK(function, kind)                                   \
    void function(struct iwi_document *doc, const char *format, ...) \
    {                                                                \
        va_list args;                                                \
                                                                     \
        va_start(args, format);                                      \
        add_text(doc, kind, format, args);                           \
        va_end(args);                                                \
    }

TEXT_BLOCK(iwi_title, IWI_BLOCK_TITLE)
TEXT_BLOCK(iwi_subtitle, IWI_BLOCK_SUBTITLE)
TEXT_BLOCK(iwi_verdict, IWI_BLOCK_VERDICT)
TEXT_BLOCK(iwi_paragraph, IWI_BLOCK_PARAGRAPH)
TEXT_BLOCK(iwi_note, IWI_BLOCK_NOTE)
TEXT_BLOCK(iwi_item, IWI_BLOCK_ITEM)
TEXT_BLOCK(iwi_code, IWI_BLOCK_CODE)

void iwi_doc_append(struct iwi_document *doc, const char *format, ...)
{
    va_list args;
    const char *added;

    va_start(args, format);
    added = iwi_arena_text_list(&doc->arena, format, args);
    va_end(args);
    if (doc->last != NULL) {
        added = clean(doc, added, doc->last->kind == IWI_BLOCK_CODE);
        doc->last->text = iwi_arena_text(&doc->arena, "%s%s", doc->last->text, added);
    }
}

void iwi_say_caveats(struct iwi_document *doc, const iw_caveats *caveats, const char *said)
{
    for (size_t i = 0; i < caveats->count; i++) {
        const iw_caveat *caveat = &caveats->caveats[i];

        if (caveat->is_known && (said == NULL || strstr(said, caveat->text) == NULL)) {
            iwi_verdict(doc, "Caution: %s.", caveat->text);
        }
    }
}

void iwi_section(struct iwi_document *doc, const char *id, const char *title)
{
    struct iwi_block *block = add_block(doc, IWI_BLOCK_SECTION);

    if (block != NULL) {
        block->id = id;
        block->text = iwi_doc_printf(doc, "%s", title);
    }
}

void iwi_sheet_section(struct iwi_document *doc, const char *id, const char *title)
{
    iwi_section(doc, iwi_doc_printf(doc, "%s", id), title);
    if (doc->last != NULL) {
        doc->last->is_sheet = true;
    }
}

/* ---- tables ---- */

void iwi_table(struct iwi_document *doc, const char *caption, const struct iwi_column *columns, size_t count)
{
    struct iwi_block *block = add_block(doc, IWI_BLOCK_TABLE);

    if (block == NULL) {
        return;
    }
    block->text = iwi_doc_printf(doc, "%s", caption);
    block->column_count = count < IWI_MOST_COLUMNS ? count : IWI_MOST_COLUMNS;
    for (size_t i = 0; i < block->column_count; i++) {
        block->columns[i] = (struct iwi_column){iwi_doc_printf(doc, "%s", columns[i].head), columns[i].kind};
    }
}

void iwi_row_cells(struct iwi_document *doc, const char *const *cells)
{
    struct iwi_table_row *row = iwi_arena_take(&doc->arena, 1, sizeof *row);
    struct iwi_block *table = doc->last;
    size_t next = 0;

    if (row == NULL || table == NULL || table->kind != IWI_BLOCK_TABLE) {
        return;
    }
    row->bar = (iw_estimate){NAN, NAN, NAN};
    for (size_t i = 0; i < table->column_count; i++) {
        row->cells[i] = "";
        if (table->columns[i].kind != IWI_BAR && cells[next] != NULL) {
            row->cells[i] = clean(doc, cells[next++], false);
        }
    }
    if (table->last_row != NULL) {
        table->last_row->next = row;
    } else {
        table->rows = row;
    }
    table->last_row = row;
    table->row_count++;
}

void iwi_bar(struct iwi_document *doc, iw_estimate value)
{
    if (doc->last != NULL && doc->last->last_row != NULL) {
        doc->last->last_row->bar = value;
    }
}

void iwi_unfold(struct iwi_document *doc)
{
    if (doc->last != NULL) {
        doc->last->is_unfolded = true;
    }
}

void iwi_bar_scale(const struct iwi_block *table, double *low_p, double *high_p)
{
    *low_p = *high_p = 0.0;
    for (const struct iwi_table_row *row = table->rows; row != NULL; row = row->next) {
        *low_p = fmin(*low_p, fmin(row->bar.value, row->bar.low)); /* NaN is left out */
        *high_p = fmax(*high_p, fmax(row->bar.value, isinf(row->bar.high) ? NAN : row->bar.high));
    }
    *high_p = *high_p > *low_p ? *high_p : *low_p + 1.0;
}

void iwi_show_figure(struct iwi_document *doc, iw_status made, struct iwi_figure *figure)
{
    struct iwi_block *block = NULL;

    if (made == IW_OK && figure != NULL) {
        made = iwi_figure_check(doc->log, figure);
        block = made == IW_OK ? add_block(doc, IWI_BLOCK_FIGURE) : NULL;
    }
    if (block != NULL) {
        block->figure = figure;
    } else {
        iwi_figure_free(figure);
    }
    doc->status = doc->status == IW_OK ? made : doc->status;
}

void iwi_html_block(struct iwi_document *doc, iwi_html_fn write_html, const void *subject)
{
    struct iwi_block *block = add_block(doc, IWI_BLOCK_HTML);

    if (block != NULL) {
        block->media = IWI_ON_PAGES;
        block->write_html = write_html;
        block->subject = subject;
    }
}

/* ---- numbers ---- */

const char *iwi_doc_printf(struct iwi_document *doc, const char *format, ...)
{
    const char *text;
    va_list args;

    va_start(args, format);
    text = iwi_arena_text_list(&doc->arena, format, args);
    va_end(args);
    return text;
}

static const char *number(struct iwi_document *doc, double value,
                          const char *(*text_of)(double value, char buf[IWI_NUMBER_SIZE]))
{
    char text[IWI_NUMBER_SIZE];

    return isnan(value) ? "-" : iwi_doc_printf(doc, "%s", text_of(value, text));
}

#define NUMBER(name, quantity, text_of)                                                \
    const char *name(struct iwi_document *doc,                                         \
                     double quantity) /* NOLINT(bugprone-macro-parentheses): a name */ \
    {                                                                                  \
        return number(doc, quantity, text_of);                                         \
    }

NUMBER(iwi_ns, ns, iwi_ns_time_text)
NUMBER(iwi_percent, share, iwi_percent_text)
NUMBER(iwi_factor, factor, iwi_factor_text)
NUMBER(iwi_si, value, iwi_si_text)
NUMBER(iwi_ns_short, ns, iwi_ns_short_text)
NUMBER(iwi_ns_round, ns, iwi_ns_round_text)
NUMBER(iwi_rate, per_second, iwi_rate_text)
NUMBER(iwi_percent_short, share, iwi_share_text)
NUMBER(iwi_slower, slowdown, iwi_slowdown_text)
NUMBER(iwi_slowdown_percent, slowdown, iwi_slowdown_percent_text)
#undef NUMBER

const char *iwi_slower_in_column(struct iwi_document *doc, double slowdown, double largest)
{
    char text[IWI_NUMBER_SIZE];

    return iwi_doc_printf(doc, "%s", iwi_slowdown_column_text(slowdown, largest, text));
}

const char *iwi_ps(struct iwi_document *doc, iw_time ps)
{
    char text[IWI_NUMBER_SIZE];

    return iwi_doc_printf(doc, "%s", iw_format_time(ps, text, sizeof text));
}

const char *iwi_size(struct iwi_document *doc, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;

    while (i < 4 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        i++;
    }
    return iwi_doc_printf(doc, "%" PRIu64 " %s", bytes, units[i]);
}

const char *iwi_count(struct iwi_document *doc, uint64_t count)
{
    return iwi_doc_printf(doc, "%s", iwi_count_text(count, (char[IWI_NUMBER_SIZE]){0}));
}

const char *iwi_from_to(struct iwi_document *doc, const char *low, const char *high)
{
    const size_t shown = strcspn(low, " ");
    const bool is_shared = strcmp(low + shown, high + strcspn(high, " ")) == 0; /* the unit */

    return strcmp(low, high) == 0 || strcmp(low, "-") == 0
               ? "-"
               : iwi_doc_printf(doc, "%.*s to %s", (int)(is_shared ? shown : strlen(low)), low, high);
}

const char *iwi_seconds(struct iwi_document *doc, double seconds)
{
    const double day_s = 86400.0, year_s = 365.25 * 86400.0;

    if (seconds < 10 * day_s) {
        return iwi_ns(doc, seconds * 1e9);
    }
    return seconds < year_s ? iwi_doc_printf(doc, "%.3g d", seconds / day_s)
                            : iwi_doc_printf(doc, "%.3g y", seconds / year_s);
}

const char *iwi_memory_size(struct iwi_document *doc, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    while (bytes >= 1000.0 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024.0;
        unit++;
    }
    return iwi_doc_printf(doc, "%.3g %s", bytes, units[unit]);
}

/* Less would be 0.00 points. */
static const double LEAST_SHOWN = 5e-5;

const char *iwi_points(struct iwi_document *doc, double share)
{
    const double shown = fabs(share) < LEAST_SHOWN ? 0.0 : share; /* no -0.00 */

    return isnan(share) ? "-" : iwi_doc_printf(doc, "%.*f", fabs(share) < 0.1 ? 2 : 1, 100.0 * shown);
}

const char *iwi_points_words(struct iwi_document *doc, iw_estimate e, const char *unit)
{
    if (iwi_is_bound(e)) {
        return e.low < LEAST_SHOWN ? "unknown"
                                   : iwi_doc_printf(doc, "at least %s%s", iwi_points(doc, e.low), unit);
    }
    return iwi_doc_printf(
        doc, "%s%s%s", iwi_points(doc, e.value), unit,
        isfinite(e.low) && e.low < e.high
            ? iwi_doc_printf(doc, " (%s to %s)", iwi_points(doc, e.low), iwi_points(doc, e.high))
            : "");
}

/* ---- all of it ---- */

iw_status iwi_doc_make(const iw_log *log, iw_doc what, unsigned wanted, struct iwi_document *doc)
{
    *doc = (struct iwi_document){.log = log, .media = IWI_EVERYWHERE, .wanted = wanted};
    what.kind->write_doc(doc, what.subject);
    if (doc->status == IW_OK && doc->arena.is_broken) {
        doc->status = iwi_fail(log, IW_ERR_NOMEM, "out of memory for the report");
    }
    return doc->status;
}

void iwi_doc_release(struct iwi_document *doc)
{
    for (struct iwi_block *block = doc->blocks; block != NULL; block = block->next) {
        iwi_figure_free(block->figure);
    }
    iwi_arena_free(&doc->arena);
}
