/* The maps of programs that are loaded; what they tell is read by the functions of kernel_side.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_KERNEL_MAPS_H
#define IWI_KERNEL_MAPS_H

#include "features/watch/kernel_side.h"

/* To be closed also if it fails. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_kernel_maps_open(const iw_log *log, struct iwi_kernel_side *side);
void iwi_kernel_maps_close(struct iwi_kernel_side *side);

#endif
