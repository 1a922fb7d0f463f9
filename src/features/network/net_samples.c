/* What was measured, as it is found and freed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "features/network/net_fit.h"

void iwi_net_samples_drop(iw_net_samples *samples)
{
    if (samples == NULL) {
        return;
    }
    for (size_t i = 0; i < samples->level_count; i++) {
        for (size_t k = 0; k < samples->levels[i].series_count; k++) {
            free(samples->levels[i].series[k].values_ns);
        }
        free(samples->levels[i].series);
    }
    free(samples->levels);
    free(samples->links);
    free(samples->host_names);
    free(samples);
}

const iw_net_series *iwi_net_find(const iw_net_level_samples *level, iw_net_quantity quantity, uint64_t bytes)
{
    for (size_t i = 0; i < level->series_count; i++) {
        const iw_net_series *series = &level->series[i];

        if (series->quantity == quantity && series->bytes == bytes && series->count > 0) {
            return series;
        }
    }
    return NULL;
}
