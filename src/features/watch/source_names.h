/* Names of sources as recordings have them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SOURCE_NAMES_H
#define IWI_SOURCE_NAMES_H

#include <stddef.h>

#include <idlewave/recording.h>

#include "features/watch/bpf/bpf_shared.h"

/* One below IWI_BPF_FIXED, but not IWI_BPF_OTHER. */
void iwi_fixed_source(uint32_t number, iw_source *source);

/* The vectors that have tracepoints, NAME_entry and NAME_exit, one by one; NULL behind the last. */
const char *iwi_vector_name(size_t index);

void iwi_named_source(const struct iwi_bpf_name *name, iw_source *source);

#endif
