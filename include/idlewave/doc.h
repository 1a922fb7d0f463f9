/* idlewave/doc.h - results for people and for programs: every kind in every medium.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     status = iw_doc_write(log, iw_verify_doc(verify), IW_DOC_TEXT, NULL, stdout);
 *     status = iw_doc_plot(log, iw_verify_doc(verify), "node.pdf");
 *
 *     iw_doc_file *file;
 *     status = iw_doc_open(log, "node.json", &file);
 *     status = iw_doc_write(log, iw_doc_of(file), IW_DOC_HTML, NULL, out);
 *     iw_doc_close(file);
 */
#ifndef IW_DOC_H
#define IW_DOC_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A result that can be shown. Made by iw_<kind>_doc(); it only points to the result, and needs not be freed.
 */
typedef struct iw_doc {
    const struct iwi_kind *kind;
    const void *subject;
} iw_doc;

typedef enum iw_doc_format {
    IW_DOC_TEXT, /* the verdict, the numbers, how sure we are; for a terminal */
    IW_DOC_HTML, /* one page, nothing from elsewhere */
    IW_DOC_JSON, /* one object; its schema is named in it (docs/reference/formats/json.md) */
    IW_DOC_CSV   /* a line for each item of the result's list */
} iw_doc_format;

/** How a text looks; zeros for the usual. */
typedef struct iw_doc_style {
    unsigned columns; /* 0: 80 */
    bool has_colour;
    bool is_ascii; /* the terminal has no UTF-8 */
} iw_doc_style;

/** `look` may be NULL. IW_ERR_USAGE for a format that the kind does not have, IW_ERR_IO, IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_doc_write(const iw_log *log, iw_doc doc, iw_doc_format format,
                                           const iw_doc_style *look, FILE *out);
IW_API bool iw_doc_has_format(iw_doc doc, iw_doc_format format);

/** Draws its figures: into a file that ends in .svg, .png, .pdf or .gp, or, for a path that ends in '/', as a
 *  script for gnuplot with its data into that folder. IW_ERR_USAGE for other endings, or if there is no
 *  figure; png and pdf need gnuplot. */
IW_API IW_NODISCARD iw_status iw_doc_plot(const iw_log *log, iw_doc doc, const char *path);

/** Whether iw_doc_plot() knows the ending, before much is computed for it. IW_ERR_USAGE. */
IW_API IW_NODISCARD iw_status iw_doc_plot_check(const iw_log *log, const char *path);

/* ---- files that iw_doc_write() wrote as JSON ---- */

typedef struct iw_doc_file iw_doc_file;

/** IW_ERR_IO, IW_ERR_FORMAT. */
IW_API IW_NODISCARD iw_status iw_doc_open(const iw_log *log, const char *path, iw_doc_file **file_p);
/** The same of a text; `name` is for messages. */
IW_API IW_NODISCARD iw_status iw_doc_read(const iw_log *log, const char *name, const char *text, size_t size,
                                          iw_doc_file **file_p);
IW_API iw_doc iw_doc_of(const iw_doc_file *file);
IW_API void iw_doc_close(iw_doc_file *file);

/* ---- schemas ---- */

/** "fit", "net", ...; NULL behind the last. */
IW_API const char *iw_doc_kind_name(size_t index);

/** The JSON Schema of what a kind writes. IW_ERR_USAGE if there is none of that name. */
IW_API IW_NODISCARD iw_status iw_doc_write_schema(const iw_log *log, const char *kind, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
