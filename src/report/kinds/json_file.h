/* Files of JSON, and what several results have in theirs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JSON_FILE_H
#define IWI_JSON_FILE_H

#include <idlewave/noise.h>

#include "schema/json_util.h"

/* Reads a file of JSON. IW_ERR_IO, IW_ERR_FORMAT. */
IW_NODISCARD iw_status iwi_json_load(const iw_log *log, const char *path, json_t **object_p);

#endif
