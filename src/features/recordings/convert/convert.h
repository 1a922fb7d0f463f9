/* What the formats of other tools have in common; one file of this folder each, listed in convert.c.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * To add one: write convert_<name>.c (or import_<name>.c, if it is only read) with one `const struct
 * iwi_convert_ops`, declare it here, list it in convert.c, and add it to
 * docs/reference/formats/noise-import.md.
 */
#ifndef IWI_CONVERT_H
#define IWI_CONVERT_H

#include <idlewave/convert.h>
#include <idlewave/recording.h>

#include "kit/files/io/convert_child.h"
#include "kit/files/io/convert_text.h"
#include "kit/files/io/out.h"

/* The attribute of recordings that come from another tool. */
#define IWI_IMPORTED_FROM "imported_from"

/* What a format cannot hold. */
enum iwi_convert_loss {
    IWI_LOSES_SOURCES = 1 << 0,
    IWI_LOSES_PARTS = 1 << 1,
    IWI_LOSES_QUANTA = 1 << 2, /* FWQ: the quanta; its detours are kept */
    IWI_LOSES_FACTS = 1 << 3,  /* t_min, threshold, rung, attributes */
    IWI_LOSES_DETOURS_OF_QUANTA = 1 << 4
};

struct iwi_convert_ops {
    iw_convert_format about;
    const char *in_words; /* for messages: "netgauge text" */
    bool is_foreign;      /* what is read gets an attribute that says so */
    bool needs_file;      /* is not read from a pipe */
    bool is_of_one_cpu;   /* which the file does not name */
    unsigned losses;      /* of writing */
    bool (*matches)(const char *data, size_t size);
    iw_status (*read)(const struct iwi_import *in, iw_recording **recording_p); /* checked by the caller */
    /* One of the two, or none. A format of one CPU gets recordings of one CPU. */
    void (*write)(const iw_recording *recording, struct iwi_out *out);
    iw_status (*write_file)(const iw_log *log, const iw_recording *recording, const char *path);
};

extern const struct iwi_convert_ops iwi_convert_netgauge;
extern const struct iwi_convert_ops iwi_convert_sysjitter;
extern const struct iwi_convert_ops iwi_convert_csv;
extern const struct iwi_convert_ops iwi_import_fwq;
extern const struct iwi_convert_ops iwi_import_ftq;
extern const struct iwi_convert_ops iwi_import_osnoise;
extern const struct iwi_convert_ops iwi_import_trace_dat;
extern const struct iwi_convert_ops iwi_import_jitterdebugger;

/* NULL after the last, in the order of help texts. */
extern const struct iwi_convert_ops *const iwi_convert_formats[];

/* Reads a file in memory. `ops` NULL: told by the content. The recording has passed all checks. */
IW_NODISCARD iw_status iwi_import_memory(const struct iwi_import *in, const struct iwi_convert_ops *ops,
                                         const iw_import_opts *opts, iw_recording **recording_p);

/* ---- recordings as CSV, also by `noise show` ---- */

/* The rows are those of `noise show --format csv`. Lines "# key: value" before them hold what has no column;
 * they may be missing.
 */

/* The first line that is no comment, by probe. */
extern const char *const iwi_csv_heads[];

/* How many rows a CPU has, and its rows `begin` to `end` - 1. */
size_t iwi_csv_row_count(const iw_recording *recording, const iw_detours *cpu);
void iwi_csv_write_rows(const iw_recording *recording, const iw_detours *cpu, size_t begin, size_t end,
                        struct iwi_out *out);

#endif
