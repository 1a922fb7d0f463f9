/* What verbs ask of training programs alike: the bill and its price.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/verb/training_opts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW(...) OPT_ROW(struct training_bill_opts, __VA_ARGS__)
const struct opt training_bill_rows[TRAINING_BILL_ROW_COUNT] = {
    ROW("steps", OPT_COUNT, steps, "N", "simulate N steps in each trial (default 20)", .min = 1,
        .max = 1000000),
    ROW("cost", OPT_STRING, cost, "PRICE[/h]", "price of a GPU-hour, for example 2.50/h"),
    ROW("try", OPT_LIST, tries, "KEY=VALUE[,...]",
        "add a line to the bill: the program with other settings on the same number of GPUs, for example "
        "p2p-sync=no; may be repeated"),
    ROW("replace", OPT_COUNT, replaced, "N",
        "replace the N slowest GPUs in the line about slow GPUs (default all that are slower than specified)",
        .min = 1, .max = 1u << 22),
    ROW("no-variants", OPT_FLAG, has_no_variants, "",
        "show only the lines about sources; do not try pinned loaders, deeper prefetching, CUDA graphs, a "
        "longer launch queue or more micro-batches"),
};
#undef ROW

static int read_cost(const struct ui *ui, const char *text, double *cost_p)
{
    char *end;

    if (text == NULL) {
        return UI_DONE;
    }
    *cost_p = strtod(text, &end);
    if (end == text || (*end != '\0' && strcmp(end, "/h") != 0) || !isfinite(*cost_p) || *cost_p <= 0) {
        return ui_usage(ui, "--cost '%s' is not a price per GPU-hour: write a number, for example 2.50/h",
                        text);
    }
    return UI_DONE;
}

int training_fill_bill(const struct ui *ui, const struct training_bill_opts *opts, iw_training_opts *wanted)
{
    wanted->steps = opts->steps;
    wanted->wants_variants = !opts->has_no_variants;
    wanted->replaced = (uint32_t)opts->replaced;
    wanted->tries = opts->tries.items;
    wanted->try_count = (uint32_t)opts->tries.count;
    return read_cost(ui, opts->cost, &wanted->cost_per_hour);
}
