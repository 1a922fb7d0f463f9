/* Options of callers who may have been built for an older library, whose structs were shorter.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_sim_opts known = IW_SIM_OPTS_INIT;
 *     IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", given, &known));
 */
#ifndef IWI_OPTS_H
#define IWI_OPTS_H

#include <idlewave/log.h>

#include <stddef.h>

/* *known_p has the defaults; what the caller knows of is taken from `given`, a struct of the same type that
 * begins with its size as well. NULL: nothing is. `init` is for the message. IW_ERR_USAGE: no size, or a
 * larger one than this library knows. */
#define IWI_READ_OPTS(log, init, given, known_p) iwi_read_opts(log, init, given, known_p, sizeof *(known_p))
IW_NODISCARD iw_status iwi_read_opts(const iw_log *log, const char *init, const void *given, void *known,
                                     size_t size);

#endif
