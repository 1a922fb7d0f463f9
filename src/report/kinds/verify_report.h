/* What the writers of verify's answers share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_VERIFY_REPORT_H
#define IWI_VERIFY_REPORT_H

#include <idlewave/verify.h>

#include "report/kinds/report.h"

/* What is contradicted, or that nothing is and how much is not set up; and if the recording is another
 * node's. */
void iwi_verify_verdict(const iw_verify *verify, char paragraph[IWI_PARAGRAPH_SIZE]);

/* Mitigations that somebody wanted, whether or not they work. */
size_t iwi_verify_configured(const iw_verify *verify);

/* Whether its advice is worth a reader's time: contradicted, or absent and felt. */
bool iwi_verify_is_to_do(const iw_mitigation *m);

#endif
