/* Files of JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/json_file.h"

#include "base/base.h"
#include "format/io/input.h"

iw_status iwi_json_load(const iw_log *log, const char *path, json_t **object_p)
{
    struct iwi_input input;
    json_error_t error;

    IW_TRY(iwi_input_open(log, path, &input));
    *object_p = json_loadb(input.data, input.size, 0, &error);
    iwi_input_close(&input);
    return *object_p != NULL ? IW_OK
                             : iwi_fail(log, IW_ERR_FORMAT, "'%s:%d': %s", path, error.line, error.text);
}
