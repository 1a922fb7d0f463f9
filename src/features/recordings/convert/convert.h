/* What the formats of other tools have in common; one file of this folder each.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * To add one: write convert_<name>.c (or import_<name>.c, if it is only read) with one `const struct
 * iwi_convert_ops`, give it a line in IWI_CONVERT_FORMATS, and add it to
 * docs/reference/formats/noise-import.md.
 */
#ifndef IWI_CONVERT_H
#define IWI_CONVERT_H

#include <idlewave/convert.h>
#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/noise/source_table.h"
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
    IWI_LOSES_FACTS = 1 << 3,  /* t_min, threshold, attribution level, attributes */
    IWI_LOSES_DETOURS_OF_QUANTA = 1 << 4
};

struct iwi_convert_ops {
    iw_convert_format about;
    const char *in_words; /* for messages: "netgauge text" */
    bool is_foreign;      /* what is read gets an attribute that says so */
    bool needs_file;      /* is not read from a pipe */
    unsigned losses;      /* of writing */
    bool (*matches)(const char *data, size_t size);
    iw_status (*read)(const struct iwi_import *in, iw_recording **recording_p); /* checked by the caller */
    /* One of the two, or none. A format of one CPU gets recordings of one CPU. */
    void (*write)(const iw_recording *recording, struct iwi_out *out);
    iw_status (*write_file)(const iw_log *log, const iw_recording *recording, const char *path);
};

/* All formats of others, in the order in which they are tried and listed. */
#define IWI_CONVERT_FORMATS(X)                                                \
    X(import_ftq) /* before netgauge, which has two columns of numbers too */ \
    X(convert_netgauge)                                                       \
    X(convert_csv)                                                            \
    X(convert_sysjitter)                                                      \
    X(import_osnoise)                                                         \
    X(import_trace_dat)                                                       \
    X(import_jitterdebugger)                                                  \
    X(import_fwq)

#define IWI_DECLARE_FORMAT(format) extern const struct iwi_convert_ops iwi_##format;
IWI_CONVERT_FORMATS(IWI_DECLARE_FORMAT)
#undef IWI_DECLARE_FORMAT

/* Our own, then these; NULL after the last. */
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

/* ---- events of the kernel's osnoise tracer to detours with their parts, for the readers of text and of
 * trace.dat ---- */

/* A sample is a gap that the tracer's loop saw; noise events within it say what took its time, each without
 * what interrupted it in turn. What they leave is time that the kernel did not see. A trace without samples
 * (NO_OSNOISE_WORKLOAD) has only noise events: those that interrupt each other are one detour.
 */

enum iwi_osnoise_kind {
    IWI_OSNOISE_PERIOD, /* the tracer was at work, from start on */
    IWI_OSNOISE_SAMPLE,
    IWI_OSNOISE_NOISE
};

struct iwi_osnoise_event {
    enum iwi_osnoise_kind kind;
    uint32_t cpu;
    uint32_t source;               /* of noise */
    int64_t start_ns, duration_ns; /* start: since boot, at least 0; duration: at most 240 h */
    uint64_t interference;         /* noise events that the kernel counted in a sample or period */
};

struct iwi_osnoise {
    const iw_log *log;
    const char *path;
    iw_recording *recording;
    struct iwi_sources sources;
    struct iwi_osnoise_event *events;
    size_t count, capacity;
    uint64_t lost; /* events that the kernel had no room for */
};

IW_NODISCARD iw_status iwi_osnoise_init(const iw_log *log, const char *path, struct iwi_osnoise *osnoise);

/* Takes over a copy; `start_ns` may be anything. Times out of range are refused. */
IW_NODISCARD iw_status iwi_osnoise_add(struct iwi_osnoise *osnoise, const struct iwi_osnoise_event *event);

/* Makes the recording of all events and leaves `osnoise` released, whatever happens. */
IW_NODISCARD iw_status iwi_osnoise_finish(struct iwi_osnoise *osnoise, iw_recording **recording_p);

void iwi_osnoise_release(struct iwi_osnoise *osnoise);

#endif
