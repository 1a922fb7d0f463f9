/* Writes a program as the OTF2 archive that a tracer would have written of it, on a machine where messages
 * and calls take no time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_OTF2_PROGRAM_H
#define IWT_OTF2_PROGRAM_H

#include "core/program/program.h"

/* One MPI call for each operation but computation, which is the time between calls: whole nanoseconds. Up to
 * 64 ranks; the schedule is in order. */
void iwt_otf2_program(const char *folder, const struct iwi_schedule *schedule);

#endif
