/* Reads the JSON of a what-if, for reports of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "base/base.h"
#include "report/kinds/json_file.h"
#include "report/kinds/whatif_report.h"

static const char schema_name[] = "idlewave.whatif/1";

/* Of numbers that cannot be known there is null. */
static bool has_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) || json_is_null(value);
}

static iw_status check_change(const iw_log *log, const char *path, const json_t *change, size_t index)
{
    static const char *const estimates[] = {"slowdown", "saving"};

    for (size_t i = 0; i < sizeof estimates / sizeof estimates[0]; i++) {
        if (!has_number(json_object_get(change, estimates[i]), "value")) {
            return iwi_fail(log, IW_ERR_FORMAT,
                            "'%s' is no whole answer of whatif: no number 'changes[%zu].%s.value' in it",
                            path, index, estimates[i]);
        }
    }
    return IW_OK;
}

static iw_status check(const iw_log *log, const char *path, const json_t *whatif)
{
    static const char *const needed[] = {"ranks", "trials", "noiseless_ns"};
    const char *schema = json_string_value(json_object_get(whatif, "schema"));
    const json_t *changes = json_object_get(whatif, "changes");

    if (schema == NULL || strcmp(schema, schema_name) != 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no answer of whatif: its schema is not \"%s\"", path,
                        schema_name);
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!json_is_number(json_object_get(whatif, needed[i]))) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no whole answer of whatif: no number '%s' in it",
                            path, needed[i]);
        }
    }
    if (!has_number(json_object_get(whatif, "now"), "value") || !json_is_array(changes)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no whole answer of whatif: no %s in it", path,
                        json_is_array(changes) ? "number 'now.value'" : "list 'changes'");
    }
    for (size_t i = 0; i < json_array_size(changes); i++) {
        IW_TRY(check_change(log, path, json_array_get(changes, i), i));
    }
    return IW_OK;
}

iw_status iwi_whatif_load(const iw_log *log, const char *path, json_t **object_p)
{
    json_t *whatif;
    iw_status status;

    IW_TRY(iwi_json_load(log, path, &whatif));
    status = check(log, path, whatif);
    if (status == IW_OK) {
        *object_p = whatif;
    } else {
        json_decref(whatif);
    }
    return status;
}

bool iw_whatif_is_answer(const char *path)
{
    return iwi_json_has_schema(path, "idlewave.whatif/");
}

iw_status iw_whatif_report_text(const iw_log *log, const char *path, FILE *out)
{
    json_t *whatif;

    IW_TRY(iwi_whatif_load(log, path, &whatif));
    iwi_write_whatif_text(whatif, out);
    json_decref(whatif);
    return iwi_check_written(log, out, "the report");
}

iw_status iw_whatif_report_csv(const iw_log *log, const char *path, FILE *out)
{
    json_t *whatif;

    IW_TRY(iwi_whatif_load(log, path, &whatif));
    iwi_write_whatif_csv(whatif, out);
    json_decref(whatif);
    return iwi_check_written(log, out, "the CSV report");
}
