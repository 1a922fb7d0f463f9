/* idlewave/files.h - recordings, networks, schedules and traces from files, and into files.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 */
#ifndef IW_FILES_H
#define IW_FILES_H

#include <stdbool.h>

#include <idlewave/log.h>
#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of idlewave/recording.h, noise.h, net.h and program.h. */
typedef struct iw_recording iw_recording;
typedef struct iw_detours iw_detours;
typedef struct iw_noise iw_noise;
typedef struct iw_net iw_net;
typedef struct iw_program iw_program;
typedef struct iw_trace iw_trace;
typedef struct iw_trace_info iw_trace_info;
typedef struct iw_trace_opts iw_trace_opts;
typedef struct iw_traced iw_traced;

/* ---- noise files ---- */

/** Reads a noise file (HDF5, docs/reference/formats/noise-hdf5.md), also one whose writer was killed. */
IW_API IW_NODISCARD iw_status iw_recording_load(const iw_log *log, const char *path,
                                                iw_recording **recording_p);

/** Writes all of it. */
IW_API IW_NODISCARD iw_status iw_recording_save(const iw_log *log, const iw_recording *recording,
                                                const char *path);

/** A noise file that is written while it is measured: it holds what was appended up to the last flush even if
 * this process is killed. It has its name from the start; but an older file of that name stays until this one
 * is closed, which is NAME.tmp-... until then. */
typedef struct iw_live_file iw_live_file;

/** Writes what `head` says of the CPUs, and its attributes. `log` is used until the file is closed. */
IW_API IW_NODISCARD iw_status iw_live_file_open(const iw_log *log, const char *path, const iw_recording *head,
                                                iw_live_file **file_p);

/** Appends detours, parts and samples to CPU number `index` of the recording, which lists their sources.
 * part_detour counts from the batch's first detour; length_ns and dropped are those of all so far. */
IW_API IW_NODISCARD iw_status iw_live_file_append(iw_live_file *file, const iw_recording *recording,
                                                  size_t index, const iw_detours *batch);

IW_API IW_NODISCARD iw_status iw_live_file_flush(iw_live_file *file);

/** Ends it; returns the first failure there was. NULL is fine. */
IW_API IW_NODISCARD iw_status iw_live_file_close(iw_live_file *file);

/* ---- noise of any form ---- */

/** What a text that stands for noise is. */
typedef enum iw_noise_form {
    IW_NOISE_SPEC,      /* of iw_noise_add(): a kind and ':', also a kind that does not exist */
    IW_NOISE_ABSENT,    /* a path, but nothing is there */
    IW_NOISE_TEXT,      /* a file of two columns (docs/reference/formats/noise-text.md), or any other */
    IW_NOISE_RECORDING, /* an HDF5 noise file, told by its content */
    IW_NOISE_FOLDER     /* of HDF5 noise files, one a node */
} iw_noise_form;

IW_API iw_noise_form iw_noise_form_of(const char *spec_or_path);

/** Adds noise of any form. */
IW_API IW_NODISCARD iw_status iw_noise_open(const iw_log *log, iw_noise *noise, const char *spec_or_path);

/* ---- folders of noise files ---- */

/** The noise files of a folder, sorted by name. */
typedef struct iw_folder {
    size_t count;   /* at least 1 */
    char **paths;   /* with the folder */
    size_t skipped; /* other files and folders in it */
} iw_folder;

/** Whether the path is a folder. */
IW_API bool iw_is_folder(const char *path);

/** Files that begin as HDF5 files do, and those named *.h5 (what is wrong with them is told when they are
 * read); hidden ones and those that are being written (*.tmp-*) are left out. A warning says how many others
 * there are. IW_ERR_IO: there is no such folder, or it cannot be read; IW_ERR_FORMAT: no noise file is in it.
 */
IW_API IW_NODISCARD iw_status iw_folder_list(const iw_log *log, const char *path, iw_folder **folder_p);

/** The same with files of digests and of statistics of run queues, which tell less of a node than simulations
 * need, but enough for a fleet.
 */
IW_API IW_NODISCARD iw_status iw_folder_list_nodes(const iw_log *log, const char *path, iw_folder **folder_p);

IW_API void iw_folder_free(iw_folder *folder);

/** Loads all of them: folder->count recordings in a new array. The first that cannot be read is an error. */
IW_API IW_NODISCARD iw_status iw_folder_load(const iw_log *log, const iw_folder *folder,
                                             iw_recording ***recordings_p);

/** Frees that array and what is in it. NULL is fine. */
IW_API void iw_recordings_free(iw_recording **recordings, size_t count);

/** Whether it begins as files of digests do. */
IW_API bool iw_is_digest_file(const char *path);

/** Whether it has statistics of run queues (docs/reference/formats/noise-import.md), which iw_digest_import()
 * reads. */
IW_API bool iw_is_runq_file(const char *path);

/* ---- networks ---- */

/** A built-in network, one whose messages cost nothing ("none"), or that of a file
 * (docs/reference/formats/net.md), which may be changed; iw_net_free() it. `level`: one of its levels
 * ("node", "network") as the whole network; NULL: all of it. IW_ERR_USAGE: there is no such network, no such
 * level; those that there are are logged. IW_ERR_IO; IW_ERR_FORMAT, IW_ERR_RANGE logged as 'file:line'. */
IW_API IW_NODISCARD iw_status iw_net_open(const iw_log *log, const char *name_or_path, const char *level,
                                          iw_net **net_p);

/* ---- schedules ---- */

/** Reads a GOAL file, text or binary (told apart by content; docs/reference/formats/goal.md). Calc lengths
 * are in units of `unit_ps` (GOAL has no unit; LogGOPSim's is the nanosecond). Errors are logged as
 * 'file:line' or with the byte offset: IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_TRUNCATED, IW_ERR_RANGE,
 * IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_program_from_goal(const iw_log *log, const char *path, iw_time unit_ps,
                                                   iw_program **program_p);

/** Writes a program as GOAL to a file, or to standard output for "-"; a pattern is unrolled first. Calc
 * lengths are written in units of `unit_ps`, rounded to nearest; a warning tells when a length was not a
 * whole number of units. */
IW_API IW_NODISCARD iw_status iw_program_write_goal(const iw_log *log, const iw_program *program,
                                                    const char *path, bool is_binary, iw_time unit_ps);

/* ---- traces ---- */

/** Opens an OTF2 anchor file (or the folder it is in), a set of liballprof text files (the file of any
 *  rank, or their folder), or a run of training in any format that iw_visits_open() takes; told apart by
 * content. Reads all of it. What the trace lacks and could not be reconstructed is logged as warnings, once
 * for each kind, with the first place and the number of cases. IW_ERR_IO, IW_ERR_FORMAT (with file, rank and
 * number of the event), IW_ERR_TRUNCATED (also what a run left that did not end), IW_ERR_UNSUPPORTED (built
 * without OTF2; a format of other tools), IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_trace_open(const iw_log *log, const char *path, iw_trace **trace_p);

/** True if `path` looks like a trace. It may still be damaged, left by a run that did not end, or of a format
 *  that is not read: iw_trace_open() says so, and what to do. */
IW_API bool iw_trace_is_trace(const char *path);

IW_API void iw_trace_describe(const iw_trace *trace, iw_trace_info *info_p);

/** A program of `trace`, which it borrows: free the trace after the program. Messages and collectives are
 *  generated while it runs, never stored (docs/explanation/extrapolation.md says what is replicated how).
 *  IW_ERR_USAGE (unknown rules or algorithm: the known ones are logged), IW_ERR_RANGE (ranks is no multiple),
 *  IW_ERR_FORMAT (ranks disagree on their collectives: logged with rank and call). */
IW_API IW_NODISCARD iw_status iw_program_from_trace(const iw_log *log, const iw_trace *trace,
                                                    const iw_trace_opts *opts, iw_program **program_p);

/** For a program made with these options. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_trace_describe_program(const iw_log *log, const iw_trace *trace,
                                                        const iw_trace_opts *opts, iw_traced *traced_p);

#ifdef __cplusplus
}
#endif
#endif
