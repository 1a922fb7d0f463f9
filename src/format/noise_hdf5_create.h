/* Makes the file that a noise writer then fills.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_HDF5_CREATE_H
#define IWI_NOISE_HDF5_CREATE_H

#include "format/noise_hdf5_layout.h"

/* A file in memory. So no disk can be full under HDF5, which does not always recover from that. */
struct iwi_h5_image {
    void *bytes; /* NULL until the file is closed; then to be freed */
};

/* Creates the file `name` and all that is in it but rows; sets h5->file, also on failure. `image`: in memory
 * only; NULL: a live one, on disk. */
IW_NODISCARD iw_status iwi_h5_create_file(struct iwi_h5 *h5, const char *name, const iw_recording *head,
                                          struct iwi_h5_image *image);

/* Of a file that has been closed. */
size_t iwi_h5_image_size(const struct iwi_h5_image *image);

#endif
