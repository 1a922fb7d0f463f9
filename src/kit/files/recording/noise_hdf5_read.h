/* The parts of reading a noise file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_HDF5_READ_H
#define IWI_NOISE_HDF5_READ_H

#include "kit/files/recording/noise_hdf5_layout.h"

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
