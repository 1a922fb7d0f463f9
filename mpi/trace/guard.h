/* What cannot be traced, and would not even run as it should: told in a sentence before it goes wrong.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A program of another MPI than this tracer's goes to that MPI's tracer as soon as it is loaded (guard.c).
 * With IDLEWAVE_TRACE_STRICT, which `idlewave trace` sets, the rest is an error that ends the process;
 * without, the program goes on untraced.
 */
#ifndef IWI_TRACE_GUARD_H
#define IWI_TRACE_GUARD_H

#include <stdbool.h>

/* Before MPI starts: was another MPI loaded since the program began? */
void iwi_guard_mpi(void);

/* After MPI has started with so many processes: false if it is alone where the launcher started more. */
bool iwi_guard_size(int size);

/* Does this process speak for all, as far as the launcher tells? For where MPI cannot be asked. */
bool iwi_guard_is_first(void);

/* This process is the one that 'idlewave trace' started, not one of its children. */
bool iwi_guard_is_whole_program(void);

#endif
