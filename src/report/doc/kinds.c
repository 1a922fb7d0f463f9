/* All kinds of results that are written as JSON: one line each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/doc/kinds.h"

const struct iwi_kind *const iwi_kinds[] = {
    &iwi_bench_kind, &iwi_forecast_kind, &iwi_verify_kind, &iwi_net_kind, NULL,
};
