/* The noise of a fleet over time: adding.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/history.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/fleet/node_digest.h"

iw_status iw_history_new(const iw_log *log, const char *name, iw_history **history_p)
{
    iw_history *history = iwi_new_array(log, 1, sizeof *history);
    iw_status status = IW_ERR_NOMEM;

    if (history == NULL) {
        return status;
    }
    history->name = strdup(name);
    history->data = iwi_new_array(log, 1, sizeof *history->data);
    if (history->name != NULL && history->data != NULL) {
        status = iwi_fleet_cells_new(log, &history->data->cells);
    }
    if (status != IW_OK) {
        iw_history_free(history);
        return status;
    }
    iwi_fleet_drop_columns(history->data->cells, IW_CPU_SET_MOST); /* whole nodes only */
    *history_p = history;
    return IW_OK;
}

void iw_history_free(iw_history *history)
{
    if (history == NULL) {
        return;
    }
    for (size_t i = 0; history->data != NULL && i < history->data->count; i++) {
        free(history->data->entries[i].node);
    }
    if (history->data != NULL) {
        iwi_fleet_cells_free(history->data->cells);
        free(history->data->entries);
    }
    free(history->data);
    free(history->name);
    free(history->periods);
    free(history->changes);
    free(history->changed_nodes);
    free(history);
}

iw_status iw_history_add(const iw_log *log, iw_history *history, const iw_digest *digest)
{
    struct iwi_history_data *data = history->data;
    struct iwi_history_entry entry = {.start_ns = digest->start_ns,
                                      .is_busy = iw_digest_get(digest, IWI_DIGEST_BUSY_KEY) != NULL,
                                      .number = (uint32_t)data->count};

    history->digest_count++;
    for (size_t i = 0; i < digest->cpu_count; i++) {
        entry.watched_ns += (double)digest->cpus[i].length_ns;
    }
    if (digest->start_ns <= 0 || !(entry.watched_ns > 0.0)) {
        history->undated_count++;
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&data->entries, &data->capacity, data->count + 1, sizeof *data->entries));
    IW_TRY(iwi_fleet_add_cells(log, data->cells, entry.number, digest, true));
    entry.node = strdup(digest->node);
    if (entry.node == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a node");
    }
    data->entries[data->count++] = entry;
    return IW_OK;
}
