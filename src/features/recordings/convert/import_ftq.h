/* Fixed time quanta from the text of FTQ, in memory: for the reader and its tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_IMPORT_FTQ_H
#define IWI_IMPORT_FTQ_H

#include <idlewave/recording.h>

#include "kit/files/io/convert_child.h"

/* `counts`: "time count" a line, or counts alone. Those may have `times`, in ticks, a line for each; NULL:
 * windows of equal length. */
IW_NODISCARD iw_status iwi_ftq_read(const struct iwi_import *counts, const struct iwi_import *times,
                                    iw_recording **recording_p);

#endif
