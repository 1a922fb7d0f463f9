/* What a page was made from: values of a JSON object as a table.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdint.h>

#include "report/html/html.h"

static void write_value(FILE *out, const char *name, const json_t *value)
{
    iwi_html_row_begin(out);
    iwi_html_cell(out, IWI_CELL_ROW_HEAD_WORDS, "%s", name);
    if (json_is_string(value)) {
        iwi_html_cell(out, IWI_CELL_WORDS, "%s", json_string_value(value));
    } else if (json_is_integer(value)) {
        iwi_html_cell(out, IWI_CELL_WORDS, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else {
        iwi_html_cell(out, IWI_CELL_WORDS, "%.6g", json_number_value(value));
    }
    iwi_html_row_end(out);
}

void iwi_html_values(FILE *out, const char *caption, const json_t *object)
{
    const char *name;
    json_t *value;

    iwi_html_table_begin(out, caption);
    iwi_html_head(out, true, "What");
    iwi_html_head(out, true, "Value");
    iwi_html_table_body(out);
    json_object_foreach((json_t *)(uintptr_t)object, name, value) /* the library's iterator is not const */
    {
        if (json_is_string(value) || json_is_number(value)) {
            write_value(out, name, value);
        }
    }
    iwi_html_table_end(out);
}
