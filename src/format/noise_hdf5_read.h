/* The parts of reading a noise file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_HDF5_READ_H
#define IWI_NOISE_HDF5_READ_H

#include "format/noise_hdf5_layout.h"

/* A new recording with the CPUs of the file, and nothing else yet. */
IW_NODISCARD iw_status iwi_h5_read_cpus(struct iwi_h5 *h5, iw_recording **recording_p);

/* Sets the sources. */
IW_NODISCARD iw_status iwi_h5_read_sources(struct iwi_h5 *h5, iw_recording *recording);

#endif
