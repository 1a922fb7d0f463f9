/* What the generated wrappers of MPI's functions do (generate.py).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_REPLAY_WITH_MPI_H
#define IWI_REPLAY_WITH_MPI_H

#include <mpi.h>

void iwi_replay_after_init(int code);
void iwi_replay_before_finalize(void);
void iwi_replay_before_abort(void);
void iwi_replay_after_collective(MPI_Comm comm);

#endif
