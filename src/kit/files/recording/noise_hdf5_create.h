/* Makes the file that a noise writer then fills.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_HDF5_CREATE_H
#define IWI_NOISE_HDF5_CREATE_H

#include "core/base/output.h"
#include "kit/files/recording/noise_hdf5_layout.h"

/* A file in memory. So no disk can be full under HDF5, which does not always recover from that. */
struct iwi_h5_image {
    void *bytes; /* NULL until the file is closed; then to be freed */
};

/* Creates the file `name` and all that is in it but rows; sets h5->file, also on failure. `image`: in memory
 * only; NULL: a live one, on disk. */
IW_NODISCARD iw_status iwi_h5_create_file(struct iwi_h5 *h5, const char *name, const iw_recording *head,
                                          struct iwi_h5_image *image);

/* The same without anything in it. */
IW_NODISCARD iw_status iwi_h5_new_file(struct iwi_h5 *h5, const char *name, struct iwi_h5_image *image);

/* The order in which members and attributes are made can be asked for. */
IW_NODISCARD iw_status iwi_h5_create_group(const struct iwi_h5 *h5, const char *where);

/* Empty; grows in packed chunks of so many elements. */
IW_NODISCARD iw_status iwi_h5_create_dataset(const struct iwi_h5 *h5, const char *where, hid_t type,
                                             hsize_t chunk);

/* A file that has been closed goes to disk. */
IW_NODISCARD iw_status iwi_h5_write_image(const struct iwi_h5 *h5, const struct iwi_h5_image *image,
                                          struct iwi_output *output);

#endif
