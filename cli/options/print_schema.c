/* JSON Schemas of results: `idlewave __schema [KIND]`. The build runs it; see write_schemas.cmake.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include <idlewave/doc.h>

#include "options/verbs.h"

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const char *name;

    (void)values;
    if (args->count > 0) {
        return ui_exit_of(iw_doc_write_schema(&ui->log, args->values[0], stdout));
    }
    for (size_t i = 0; (name = iw_doc_kind_name(i)) != NULL; i++) {
        (void)puts(name);
    }
    return UI_DONE;
}

static const char *const synopsis[] = {"[KIND]", NULL};

const struct verb verb_schema = {
    .name = "__schema",
    .synopsis = synopsis,
    .description = "Prints the JSON Schema of a kind of result, or lists the kinds.",
    .most_arguments = 1,
    .run = run,
};
