/* `idlewave noise merge`: writes several recordings as one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "features/recordings/verb/noise_edit.h"
#include "features/recordings/verb/noise_verbs.h"

struct merge_values {
    struct opt_origins origins;
    bool is_append;
    struct edit_output_opts output;
};

#define ROW(...) OPT_ROW(struct merge_values, __VA_ARGS__)
static const struct opt merge_rows[] = {
    ROW("append", OPT_FLAG, is_append, "", "append in time: the same CPUs, one recording after the other"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Joining", merge_rows, 0),
    {"Output", edit_output_rows, EDIT_OUTPUT_ROWS, offsetof(struct merge_values, output), false},
    SHOWN_NO_CSV_GROUP("Output", offsetof(struct merge_values, output.shown)),
};

static const struct merge_values defaults = {.is_append = false};

static const char *const synopsis[] = {"[options] FILE... -o FILE", NULL};

static const char description[] =
    "Write the CPUs of several recordings into one noise file: CPUs of a node that were measured one after "
    "another, or several nodes as a pool for simulations. A CPU whose number is taken gets the lowest free "
    "number.\nSources are joined by class and name. Differing facts about the origin become 'a | b'. All "
    "recordings must have the same probe and quantum.";

static const struct example examples[] = {
    {"four nodes of 128 CPUs as a pool",
     "idlewave noise merge node0?.h5 -o pool.h5 && \\\n"
     "      idlewave simulate --pattern allreduce --ranks 64Ki --compute 1ms \\\n"
     "      --repeat 20 --noise pool.h5 --ranks-per-node 512"},
    {"two hours in two files", "idlewave noise merge --append first.h5 second.h5 -o both.h5"},
    {NULL, NULL},
};

enum { MOST_FILES = 1 << 16 };

/* All recordings that could be loaded are in inputs[]. */
static int load_all(struct ui *ui, const struct opt_args *args, iw_merge_input *inputs)
{
    for (size_t i = 0; i < args->count; i++) {
        iw_recording *recording = NULL;
        const iw_status status = iw_recording_load(&ui->log, args->values[i], &recording);

        if (status != IW_OK) {
            return ui_exit_of(status);
        }
        inputs[i] = (iw_merge_input){args->values[i], recording};
    }
    return UI_DONE;
}

static int join(struct ui *ui, const struct merge_values *v, const iw_merge_input *inputs, size_t count)
{
    iw_recording *joined = NULL;
    iw_edit edit;
    int code = ui_exit_of(v->is_append ? iw_recording_append(&ui->log, inputs, count, &joined, &edit)
                                       : iw_recording_merge(&ui->log, inputs, count, &joined, &edit));

    if (code == UI_DONE) {
        code = edit_write(ui, &v->output, &edit, joined, "edited");
    }
    iw_recording_free(joined);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct merge_values *v = values;
    iw_merge_input *inputs;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no recordings given; type: idlewave noise merge FILE... -o FILE");
    }
    code = edit_check_output(ui, &v->output);
    if (code != UI_DONE) {
        return code;
    }
    inputs = ui_grow(NULL, args->count, sizeof *inputs);
    for (size_t i = 0; i < args->count; i++) {
        inputs[i] = (iw_merge_input){NULL, NULL};
    }
    code = load_all(ui, args, inputs);
    if (code == UI_DONE) {
        code = join(ui, v, inputs, args->count);
    }
    for (size_t i = 0; i < args->count; i++) {
        iw_recording_free((iw_recording *)inputs[i].recording);
    }
    free(inputs);
    return code;
}

const struct verb verb_noise_merge = {
    .name = "noise merge",
    .summary = "join recordings: CPU by CPU, or in time",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = "recordings (HDF5)",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = MOST_FILES,
    .run = run,
};
