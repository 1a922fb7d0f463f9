/* idlewave/convert.h - recordings from and to the files of other tools.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_import_opts opts = IW_IMPORT_OPTS_INIT;
 *     st = iw_recording_import(log, "osnoise_trace.txt", &opts, &recording);
 *     st = iw_recording_export(log, recording, "node.csv", NULL);
 *
 * What each format keeps and loses: docs/reference/formats/noise-import.md.
 */
#ifndef IW_CONVERT_H
#define IW_CONVERT_H

#include <stdbool.h>

#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iw_convert_format {
    const char *name;    /* "netgauge" */
    const char *summary; /* "text; LogGOPSim reads it too" */
    const char *suffix;  /* of files that are written so: ".txt"; NULL: none tells it */
    bool can_read, can_write;
    bool is_of_one_cpu; /* which the file does not name */
} iw_convert_format;

/** The formats there are, one by one; NULL behind the last. */
IW_API const iw_convert_format *iw_convert_format_at(size_t index);

#define IW_IMPORT_ALL_CPUS UINT32_MAX

typedef struct iw_import_opts {
    size_t size;        /* IW_IMPORT_OPTS_INIT */
    const char *format; /* its name; NULL: told by the content */
    /* Only this CPU; a file that does not say of which CPU it is, is of this one. */
    uint32_t cpu;
    int64_t length_ns; /* watched so long; 0: what the file says, else up to its last detour */
} iw_import_opts;

#define IW_IMPORT_OPTS_INIT                                 \
    {                                                       \
        sizeof(iw_import_opts), NULL, IW_IMPORT_ALL_CPUS, 0 \
    }

/** Reads a file of one of the formats; `path` "-" is standard input. IW_ERR_USAGE (no such format, or none
 * told; a length is needed), IW_ERR_UNSUPPORTED (this build cannot read it), IW_ERR_IO, IW_ERR_FORMAT,
 * IW_ERR_TRUNCATED, IW_ERR_RANGE. Formats that a library decodes (trace.dat, jitterdebugger) are read in a
 * child process. */
IW_API IW_NODISCARD iw_status iw_recording_import(const iw_log *log, const char *path,
                                                  const iw_import_opts *opts, iw_recording **recording_p);

/** Writes a recording; `format` NULL: told by the suffix of `path`; "-" is standard output. What the format
 * cannot hold is named in one warning. Several CPUs in a format of one CPU a file become several files:
 * "node.txt" is written as "node.cpu0.txt", "node.cpu1.txt", ... IW_ERR_USAGE, IW_ERR_UNSUPPORTED (a
 * recording without detours in a format of detours), IW_ERR_IO. */
IW_API IW_NODISCARD iw_status iw_recording_export(const iw_log *log, const iw_recording *recording,
                                                  const char *path, const char *format);

#ifdef __cplusplus
}
#endif
#endif
