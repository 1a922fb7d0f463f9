/* Profiles of PyTorch (Kineto's JSON, plain or packed by gzip), one file a rank, as visits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_KINETO_H
#define IWI_KINETO_H

#include "features/explain/arrivals/visits.h"

struct iwi_kineto_text {
    const char *name; /* as of a file: it may tell the rank and the node */
    const void *data;
    size_t size;
};

/* Fills `visits`, which is initialised, and finishes it; clocks are not aligned yet. IW_ERR_FORMAT,
 * IW_ERR_TRUNCATED, IW_ERR_RANGE, IW_ERR_IO: logged with file and byte where there is one. */
IW_NODISCARD iw_status iwi_kineto_read(const iw_log *log, const char *const *paths, size_t count,
                                       struct iwi_visits *visits);
IW_NODISCARD iw_status iwi_kineto_read_memory(const iw_log *log, const struct iwi_kineto_text *texts,
                                              size_t count, struct iwi_visits *visits);

#endif
