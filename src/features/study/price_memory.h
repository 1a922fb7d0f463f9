/* Memory of a cell on one thread.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PRICE_MEMORY_H
#define IWI_PRICE_MEMORY_H

#include <idlewave/noise.h>
#include <idlewave/program.h>

/* Trials side by side. */
uint32_t iwi_price_lanes(const iw_program *program, uint64_t trials);

uint64_t iwi_price_bytes(const iw_program *program, const iw_noise *noise, uint64_t trials);

#endif
