/* Injected delays: checked, sorted, looked up.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DELAYS_H
#define IWI_DELAYS_H

#include "core/program/program.h"

/* Copies `delays` into the program, sorted by (rank, step), those of one rank and step added up. The
 * program's ranks must be set. IW_ERR_RANGE, IW_ERR_NOMEM; the program is unchanged then. */
IW_NODISCARD iw_status iwi_delays_set(const iw_log *log, iw_program *program, const iw_delay *delays,
                                      size_t count);

#endif
