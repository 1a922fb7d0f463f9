/* Arrays over ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RANK_ARRAY_H
#define IWI_RANK_ARRAY_H

#include <stddef.h>

#include <idlewave/log.h>

/* An array over ranks or more: on huge pages if it is large. */
void *iwi_rank_array_new(const iw_log *log, size_t count, size_t element_size);

#endif
