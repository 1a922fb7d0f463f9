/* Files of JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/json_file.h"

#include "base/base.h"
#include "format/io/input.h"

void iwi_json_add_nodes(json_t *object, uint64_t ranks_per_node, uint64_t recorded_cpus,
                        const iw_cpu_set *cpus)
{
    char text[256];

    if (recorded_cpus == 0) {
        return;
    }
    (void)json_object_set_new(object, "ranks_per_node", iwi_json_count(ranks_per_node));
    (void)json_object_set_new(object, "recorded_cpus", iwi_json_count(recorded_cpus));
    if (cpus != NULL) {
        (void)json_object_set_new(object, "noise_cpus",
                                  json_string(iw_cpu_set_text(cpus, text, sizeof text)));
    }
}

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
