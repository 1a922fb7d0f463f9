/* Grids of ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DIMS_H
#define IWI_DIMS_H

#include <stdint.h>

#include <idlewave/log.h>

/* Replaces the zeros among `count` dims so that the product is `ranks`, as square as possible, larger first
 * (what MPI_Dims_create promises). IW_ERR_RANGE, logged with the name `op`, if no such grid exists. */
IW_NODISCARD iw_status iwi_dims_choose(const iw_log *log, const char *op, uint32_t ranks, uint32_t count,
                                       uint32_t *dims);

#endif
