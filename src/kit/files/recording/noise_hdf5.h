/* Writes noise files (docs/reference/formats/noise-hdf5.md) piece by piece.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     st = iwi_noise_writer_open(log, "node.h5", head, true, &writer);
 *     st = iwi_noise_writer_append(writer, 0, &batch);
 *     st = iwi_noise_writer_flush(writer);
 *     ...  st = iwi_noise_writer_close(writer);
 *
 * A live file has its name from the start, and holds what was appended up to the last flush even if this
 * process is killed. Any other gets its name, in place of an older file, when it is closed without a failure.
 */
#ifndef IWI_NOISE_HDF5_H
#define IWI_NOISE_HDF5_H

#include <idlewave/recording.h>

#include <stdbool.h>

#include "kit/files/recording/noise_hdf5_layout.h"

struct iwi_noise_writer;

/* Writes all of `head` but its detours, parts and samples; their counts say how many to expect (0: unknown).
 * `log` is used until the writer is closed. IW_ERR_IO, IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_noise_writer_open(const iw_log *log, const char *path, const iw_recording *head,
                                             bool is_live, struct iwi_noise_writer **writer_p);

/* Appends the sources numbered from those already there up to `count`; do so before detours name them. */
IW_NODISCARD iw_status iwi_noise_writer_sources(struct iwi_noise_writer *writer, const iw_source *sources,
                                                size_t count);

/* Appends detours, parts and samples to CPU head->cpus[index]. part_detour counts from the batch's first
 * detour; length_ns and dropped are those of all of the recording so far. */
IW_NODISCARD iw_status iwi_noise_writer_append(struct iwi_noise_writer *writer, size_t index,
                                               const iw_detours *batch);

/* Makes what was appended part of a live file. Chunks that are not full yet are written once more later, so
 * every few seconds is often enough. */
IW_NODISCARD iw_status iwi_noise_writer_flush(struct iwi_noise_writer *writer);

/* Ends the file and frees the writer; returns the first failure there was. */
IW_NODISCARD iw_status iwi_noise_writer_close(struct iwi_noise_writer *writer);

/* True if that file begins as HDF5 files do; false also if it cannot be read. */
bool iwi_noise_hdf5_matches(const char *path);

/* ---- the parts of reading a noise file ---- */

/* How messages speak of a kind of files. */
struct iwi_h5_words {
    const char *format;   /* the value of the root's attribute `format` */
    const char *kind;     /* "noise": files of which kind */
    const char *not_hdf5; /* what a file that is not HDF5 does not hold, and what to do then */
};

/* Opens the file, checks its format, and lets `read` read it. Call it between H5E_BEGIN_TRY and
 * H5E_END_TRY. */
IW_NODISCARD iw_status iwi_h5_read_file(const iw_log *log, const char *path, const struct iwi_h5_words *words,
                                        iw_status (*read)(struct iwi_h5 *h5, void *arg), void *arg);

#endif
