/* Documents: what a result says, whatever medium shows it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A kind of result has one file kinds/<kind>_doc.c: its table (schema/schema.h), and one function that says
 * it:
 *
 *     static void write_doc(struct iwi_document *doc, const void *subject)
 *     {
 *         const iw_net_measured *net = subject;
 *
 *         iwi_title(doc, "Network between %s", ...);
 *         iwi_verdict(doc, "A small message takes %s.", iwi_ns(doc, net->L_ns));
 *         iwi_section(doc, "levels", "Levels");
 *         iwi_table(doc, "Parameters", (const struct iwi_column[]){{"", IWI_WORDS}, {"time", IWI_NUMBER}},
 * 2); iwi_row(doc, "L", iwi_ns(doc, net->L_ns)); iwi_section(doc, "certainty", "How sure"); iwi_item(doc,
 * "Means of %u launches.", net->launches);
 *     }
 *
 * Sentences and cells live in the document. Nothing has to be checked on the way: without memory the document
 * is broken, and whoever renders it says so.
 */
#ifndef IWI_DOC_H
#define IWI_DOC_H

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/time.h>

#include "core/base/arena.h"
#include "kit/figure/figure.h"
#include "kit/html/html_assets.h"
#include "kit/schema/schema.h"

/* ---- kinds ---- */

struct iwi_document;

struct iwi_kind {
    const char *name;                /* "fit" */
    const char *schema_id;           /* "idlewave.fit/2"; NULL: it has no JSON */
    const char *about;               /* of its page and schema: what it is, and which commands write it */
    const char *older_id;            /* which is read too, by .old_key of its fields; or NULL */
    const struct iwi_schema *schema; /* of the subject */
    void (*write_doc)(struct iwi_document *doc, const void *subject);
    iw_status (*check)(const iw_log *log, const char *name,
                       const void *subject); /* of a file: what tables cannot say; or NULL */
    /* CSV of what is in no table (each detour), if the subject has it: not one from a file; or NULL. */
    bool (*has_csv)(const void *subject);
    iw_status (*write_csv)(const iw_log *log, const void *subject, FILE *out);
    const struct iwi_asset *style, *scripts[2]; /* of its pages, behind those of all; or NULL */
};

/* Defines the function of a public header that gives the document of a subject of that kind. */
#define IWI_DOC(function, T, subject, kind)                                            \
    iw_doc function(const T *subject) /* NOLINT(bugprone-macro-parentheses): a name */ \
    {                                                                                  \
        return (iw_doc){&(kind), (subject)};                                           \
    }

/* All kinds that have JSON; ends with NULL. A new one is a line in features/tables.c. */
extern const struct iwi_kind *const iwi_kinds[];

/* ---- blocks ---- */

enum iwi_media { IWI_IN_TEXT = 1, IWI_ON_PAGES = 2, IWI_IN_PLOTS = 4, IWI_EVERYWHERE = 7 };

enum iwi_block_kind {
    IWI_BLOCK_TITLE,
    IWI_BLOCK_SUBTITLE,
    IWI_BLOCK_VERDICT,
    IWI_BLOCK_SECTION,
    IWI_BLOCK_PARAGRAPH,
    IWI_BLOCK_NOTE, /* a paragraph in small print */
    IWI_BLOCK_ITEM,
    IWI_BLOCK_CODE, /* lines to copy */
    IWI_BLOCK_TABLE,
    IWI_BLOCK_FIGURE,
    IWI_BLOCK_HTML /* what only pages can show */
};

enum iwi_column_kind { IWI_NUMBER, IWI_WORDS, IWI_BAR };

struct iwi_column {
    const char *head;
    enum iwi_column_kind kind;
};

enum { IWI_MOST_COLUMNS = 16 };

struct iwi_table_row {
    struct iwi_table_row *next;
    const char *cells[IWI_MOST_COLUMNS];
    iw_estimate bar; /* of the column of bars */
};

typedef iw_status (*iwi_html_fn)(const iw_log *log, const void *subject, FILE *out);

struct iwi_block {
    struct iwi_block *next;
    enum iwi_block_kind kind;
    unsigned media;
    const char *text, *id; /* text is the caption of a table */
    bool is_sheet;         /* a section whose figures are a sheet of their own */
    struct iwi_column columns[IWI_MOST_COLUMNS];
    size_t column_count, row_count;
    struct iwi_table_row *rows, *last_row;
    bool is_unfolded; /* all rows of the table are shown */
    struct iwi_figure *figure;
    iwi_html_fn write_html;
    const void *subject; /* of write_html */
};

struct iwi_document {
    const iw_log *log;
    struct iwi_arena arena;
    unsigned media;  /* of the blocks to come */
    unsigned wanted; /* the one that it is made for */
    struct iwi_block *blocks, *last;
    iw_status status; /* of what failed while it was made */
};

/* From here on blocks are for these media only; IWI_EVERYWHERE at first. */
void iwi_only_in(struct iwi_document *doc, unsigned media);

/* Whether one of these is what the document is made for: what takes long to make need not be made for
 * others. */
static inline bool iwi_wants(const struct iwi_document *doc, unsigned media)
{
    return (doc->wanted & media) != 0;
}

void iwi_title(struct iwi_document *doc, const char *format, ...) IW_PRINTF(2, 3);
void iwi_subtitle(struct iwi_document *doc, const char *format, ...) IW_PRINTF(2, 3);

/* Paragraphs at the beginning. JSON has them as "verdict". */
void iwi_verdict(struct iwi_document *doc, const char *format, ...) IW_PRINTF(2, 3);

/* What limits the inputs, before the verdict: a line for each caveat that is known. `said`: text that may
 * have it already, or NULL. */
void iwi_say_caveats(struct iwi_document *doc, const iw_caveats *caveats, const char *said);

/* Text writes its title and a colon, pages a heading. Items of the section "certainty" are the "notes" of
 * JSON. */
void iwi_section(struct iwi_document *doc, const char *id, const char *title);

/* The same; in a folder of pictures it is a sheet of its own, whose file has the name `id`, with the notes
 * that are for pictures only below it. */
void iwi_sheet_section(struct iwi_document *doc, const char *id, const char *title);
void iwi_paragraph(struct iwi_document *doc, const char *format, ...) IW_PRINTF(2, 3);
void iwi_note(struct iwi_document *doc, const char *format, ...) IW_PRINTF(2, 3);
void iwi_item(struct iwi_document *doc, const char *format, ...) IW_PRINTF(2, 3);
void iwi_code(struct iwi_document *doc, const char *format, ...) IW_PRINTF(2, 3);

/* Goes on with the last verdict, paragraph, note, item or code, without a blank of its own. */
void iwi_doc_append(struct iwi_document *doc, const char *format, ...) IW_PRINTF(2, 3);

/* A table whose columns are so many; then its rows, a cell for each column (NULL or "": empty). Columns of
 * bars have no cell but iwi_bar(), which gives the last row its bar; all bars of a table have one scale. */
void iwi_table(struct iwi_document *doc, const char *caption, const struct iwi_column *columns, size_t count);
#define IWI_TABLE(doc, caption, ...)                                  \
    iwi_table(doc, caption, (const struct iwi_column[]){__VA_ARGS__}, \
              sizeof((const struct iwi_column[]){__VA_ARGS__}) / sizeof(struct iwi_column))
#define iwi_row(doc, ...) iwi_row_cells(doc, (const char *const[]){__VA_ARGS__, NULL})
void iwi_row_cells(struct iwi_document *doc, const char *const *cells);
void iwi_bar(struct iwi_document *doc, iw_estimate value);

/* Not only its first ten rows, in whatever medium. */
void iwi_unfold(struct iwi_document *doc);

/* The document owns it from here on; `made` is the status of its maker, whose failure is the document's.
 * NULL: none. */
void iwi_show_figure(struct iwi_document *doc, iw_status made, struct iwi_figure *figure);

/* On pages, written by a function. */
void iwi_html_block(struct iwi_document *doc, iwi_html_fn write_html, const void *subject);

/* ---- sentences and numbers, that live in the document ---- */

const char *iwi_doc_printf(struct iwi_document *doc, const char *format, ...) IW_PRINTF(2, 3);
const char *iwi_ns(struct iwi_document *doc, double ns);               /* "1.234 ms", "-" for no time */
const char *iwi_ps(struct iwi_document *doc, iw_time ps);              /* the same */
const char *iwi_percent(struct iwi_document *doc, double share);       /* "3.20 %" */
const char *iwi_factor(struct iwi_document *doc, double factor);       /* "147.8" */
const char *iwi_si(struct iwi_document *doc, double value);            /* "225 M" */
const char *iwi_size(struct iwi_document *doc, uint64_t bytes);        /* "64 KiB" */
const char *iwi_ns_short(struct iwi_document *doc, double ns);         /* "2.10 us": three digits */
const char *iwi_ns_round(struct iwi_document *doc, double ns);         /* "60 s": as short as it can be */
const char *iwi_rate(struct iwi_document *doc, double per_second);     /* "1.23k/s", "2.5/h" */
const char *iwi_percent_short(struct iwi_document *doc, double share); /* "0.012 %", "<.001 %" */
const char *iwi_count(struct iwi_document *doc, uint64_t count);       /* "4001", "31.5 M" */
const char *iwi_slower(struct iwi_document *doc, double slowdown);     /* "41.0 %", "2.431x" */
const char *iwi_slowdown_percent(struct iwi_document *doc, double slowdown); /* "143 %": behind the word */
/* The same where others stand beside it, the largest of which chooses the notation of all. */
const char *iwi_slower_in_column(struct iwi_document *doc, double slowdown, double largest);
const char *iwi_from_to(struct iwi_document *doc, const char *low,
                        const char *high); /* "1.20 to 3.10 %", "2 s to 1 min"; "-": a point, or unknown */

/* Also of what nobody will wait for: "3.2 s", "5.4 min", "12 d", "3 y". */
const char *iwi_seconds(struct iwi_document *doc, double seconds);

/* "1.5 MiB" */
const char *iwi_memory_size(struct iwi_document *doc, double bytes);

/* Points of percent, as many digits as iwi_percent() has: "5.40". An estimate with `unit` behind the number:
 * "5.40 points (4.60 to 6.10)"; of a lower bound "at least 4.60 points", or "not known". */
const char *iwi_points(struct iwi_document *doc, double share);
const char *iwi_points_words(struct iwi_document *doc, iw_estimate e, const char *unit);

/* "" for 1, "s" for others. */
static inline const char *iwi_plural_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- renderers: one for each medium ---- */

IW_NODISCARD iw_status iwi_doc_write_text(const struct iwi_document *doc, const iw_doc_style *look,
                                          FILE *out);
IW_NODISCARD iw_status iwi_doc_write_html(const struct iwi_document *doc, const struct iwi_kind *kind,
                                          FILE *out);
IW_NODISCARD iw_status iwi_doc_write_plot(const struct iwi_document *doc, const struct iwi_kind *kind,
                                          const char *path);

/* Builds it; iwi_doc_release() in any case. */
IW_NODISCARD iw_status iwi_doc_make(const iw_log *log, iw_doc what, unsigned wanted,
                                    struct iwi_document *doc);
void iwi_doc_release(struct iwi_document *doc);

enum { IWI_FOLD_ROWS = 10 };

/* The lowest and the highest number of the table's bars, 0 among them. */
void iwi_bar_scale(const struct iwi_block *table, double *low_p, double *high_p);

#endif
