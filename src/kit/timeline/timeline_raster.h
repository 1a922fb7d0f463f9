/* The raster of a run while it is being filled.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TIMELINE_RASTER_H
#define IWI_TIMELINE_RASTER_H

#include "kit/timeline/timeline.h"

struct iwi_raster_builder;

IW_NODISCARD iw_status iwi_raster_new(const iw_log *log, const iw_timeline_opts *opts,
                                      struct iwi_raster_builder **raster_p);
void iwi_raster_free(struct iwi_raster_builder *raster);

/* A step that begins at 0 or later and ends within the range of times. IW_ERR_RANGE: cells would have to be
 * too wide. */
IW_NODISCARD iw_status iwi_raster_add(struct iwi_raster_builder *raster, uint32_t rank, const iw_step *step,
                                      iw_time end_ps);

/* The finest level, of a run that ended then. */
IW_NODISCARD iw_status iwi_raster_finish(const iw_log *log, struct iwi_raster_builder *raster, iw_time end_ps,
                                         struct iwi_level *level);

#endif
