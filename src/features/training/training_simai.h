/* Reads workload files of SimAI (ASTRA-sim's form, with rows of layers) as training programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRAINING_SIMAI_H
#define IWI_TRAINING_SIMAI_H

#include <idlewave/training.h>

/* Whether a text begins as such a file: with the name of a way to share the work. */
bool iwi_is_simai(const char *data, size_t size);

/* `file` is its name in messages. Settings that were read before an error stay. */
IW_NODISCARD iw_status iwi_simai_read_memory(const iw_log *log, const char *file, const char *data,
                                             size_t size, iw_training *spec);

#endif
