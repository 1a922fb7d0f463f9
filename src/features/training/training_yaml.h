/* Reads training programs from YAML.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRAINING_YAML_H
#define IWI_TRAINING_YAML_H

#include <idlewave/training.h>

/* iw_training_load() of a text; `file` is its name in messages. Settings that were read before an error stay.
 */
IW_NODISCARD iw_status iwi_training_read_memory(const iw_log *log, const char *file, const char *data,
                                                size_t size, iw_training *spec);

/* ---- workload files of SimAI (ASTRA-sim's form, with rows of layers) ---- */

/* Whether a text begins as such a file: with the name of a way to share the work. */
bool iwi_is_simai(const char *data, size_t size);

/* `file` is its name in messages. Settings that were read before an error stay. */
IW_NODISCARD iw_status iwi_simai_read_memory(const iw_log *log, const char *file, const char *data,
                                             size_t size, iw_training *spec);

#endif
