/* What starts and stops the tracer, for all language bindings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_SPECIAL_H
#define IWI_TRACE_SPECIAL_H

#include <stdint.h>

#include "calls.h" /* generated: IWI_CALL_MPI_Init, ... */

uint64_t iwi_before_init(void);
void iwi_after_init(int code, uint64_t enter_ns, unsigned call);
void iwi_before_finalize(unsigned call);
void iwi_before_abort(unsigned call);
void iwi_pcontrol(int level);

#endif
