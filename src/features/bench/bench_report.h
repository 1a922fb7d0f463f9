/* Sentences about benchmarks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BENCH_REPORT_H
#define IWI_BENCH_REPORT_H

#include <idlewave/internal/bench.h>

#include "kit/doc/doc.h"

/* "barrier"; "allreduce of 8 bytes". */
const char *iwi_bench_op_text(struct iwi_document *doc, const iw_bench_result *result);

/* "3.90 % to 4.70 %"; "" if it is not known. */
const char *iwi_bench_interval(struct iwi_document *doc, iw_estimate slowdown);

void iwi_bench_say_verdict(struct iwi_document *doc, const iw_bench_result *result);

/* How sure we are. */
void iwi_bench_say_notes(struct iwi_document *doc, const iw_bench_result *result);

#endif
