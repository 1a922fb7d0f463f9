/* What verbs ask of training programs alike: the bill and its price.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_TRAINING_OPTS_H
#define IW_CLI_TRAINING_OPTS_H

#include <idlewave/training.h>

#include "options/opt.h"

struct training_bill_opts {
    struct opt_origins origins;
    const char *cost;
    struct opt_list tries;
    uint64_t steps, replaced;
    bool has_no_variants;
};

#define TRAINING_BILL_OPTS_INIT \
    {                           \
        .steps = 20             \
    }

extern const struct opt training_bill_rows[];
enum { TRAINING_BILL_ROW_COUNT = 5 };

/* Returns UI_DONE or UI_USAGE. `opts` has to live as long as `wanted`. */
int training_fill_bill(const struct ui *ui, const struct training_bill_opts *opts, iw_training_opts *wanted);

#endif
