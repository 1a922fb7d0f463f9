/* The JSON of any result as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/doc.h>

#include <ctype.h>

#include "options/report_kinds.h"

/* A regular file whose first character that is no blank is a brace: opening it says what is wrong. */
static bool is_json(const char *path)
{
    FILE *file = fopen(path, "re");
    int first;

    if (file == NULL) {
        return false;
    }
    do {
        first = fgetc(file);
    } while (first != EOF && isspace(first));
    (void)fclose(file);
    return first == '{';
}

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    return iw_doc_open(log, path, (iw_doc_file **)input_p);
}

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    return report_write_doc(log, iw_doc_of(input), target);
}

static void close_file(void *input)
{
    iw_doc_close(input);
}

const struct report_kind report_doc = {
    .what = "the JSON of a result",
    .has_format = REPORT_DOC_FORMATS,
    .is_it = is_json,
    .load = load,
    .write = write,
    .free = close_file,
};
