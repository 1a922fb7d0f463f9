/* Which digests of a fleet are older ones of a node that has several.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/fleet/fleet_share.h"

struct dated {
    const char *node;
    int64_t start_ns;
    size_t number;
};

/* Those of a node together, the latest last; of the same time, the last one read. */
IWI_COMPARE(by_node_and_time, struct dated, IWI_TEXT(node), IWI_RISING(start_ns), IWI_RISING(number))

IWI_COMPARE(ascending, size_t, IWI_ORDER(*left, *right))

/* Names and times of the nodes of this process. */
static iw_status put_nodes(const iw_log *log, const iw_fleet *fleet, struct iwi_parcel *nodes)
{
    for (size_t i = 0; i < fleet->node_count; i++) {
        IW_TRY(iwi_parcel_put(log, nodes, &fleet->nodes[i].start_ns, sizeof fleet->nodes[i].start_ns));
        IW_TRY(iwi_parcel_put_text(log, nodes, fleet->nodes[i].name));
    }
    return IW_OK;
}

static iw_status take_nodes(const iw_log *log, struct iwi_parcel *nodes, struct dated *dated, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        dated[i].number = i;
        IW_TRY(iwi_parcel_take(log, nodes, &dated[i].start_ns, sizeof dated[i].start_ns));
        IW_TRY(iwi_parcel_take_text(log, nodes, &dated[i].node));
    }
    return IW_OK;
}

/* Numbers, ascending, of those of which there are later ones. */
static iw_status list_older(const iw_log *log, struct iwi_parcel *nodes, size_t count,
                            struct iwi_parcel *numbers)
{
    struct dated *dated = iwi_new_array(log, count, sizeof *dated);
    iw_status status = dated != NULL ? take_nodes(log, nodes, dated, count) : IW_ERR_NOMEM;

    if (status == IW_OK && count > 0) {
        iwi_sort(dated, count, by_node_and_time);
    }
    for (size_t i = 0; i + 1 < count && status == IW_OK; i++) {
        if (strcmp(dated[i].node, dated[i + 1].node) == 0) {
            status = iwi_parcel_put(log, numbers, &dated[i].number, sizeof dated[i].number);
        }
    }
    if (numbers->bytes.count > 0) {
        qsort(numbers->bytes.data, numbers->bytes.count / sizeof(size_t), sizeof(size_t), ascending);
    }
    free(dated);
    return status;
}

/* Of the numbers, those of `count` nodes from `first` on. */
static iw_status take_own(const iw_log *log, struct iwi_parcel *numbers, size_t first, size_t count,
                          struct iwi_fleet_older *older)
{
    older->numbers = iwi_new_array(log, count, sizeof *older->numbers);
    if (older->numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    while (!iwi_parcel_is_empty(numbers)) {
        size_t number;

        IW_TRY(iwi_parcel_take(log, numbers, &number, sizeof number));
        if (number >= first && number - first < count) {
            older->numbers[older->count++] = number - first;
        }
    }
    return IW_OK;
}

static iw_status find_all(const iw_log *log, const iw_fleet *fleet, struct iwi_parcel *nodes,
                          struct iwi_parcel *numbers, struct iwi_fleet_older *older)
{
    struct iwi_fleet_share *share = fleet->cells->share;
    size_t first = 0, all = fleet->node_count;

    IW_TRY(put_nodes(log, fleet, nodes));
    if (share != NULL) {
        IW_TRY(iwi_share_count(share, fleet->node_count, &first, &all));
        IW_TRY(iwi_share_gather(share, nodes));
    }
    if (iwi_fleet_is_first(fleet)) {
        IW_TRY(list_older(log, nodes, all, numbers));
    }
    if (share != NULL) {
        IW_TRY(iwi_share_spread(share, numbers));
    }
    return take_own(log, numbers, first, fleet->node_count, older);
}

iw_status iwi_fleet_find_older(const iw_log *log, const iw_fleet *fleet, struct iwi_fleet_older *older,
                               bool *is_any_p)
{
    struct iwi_parcel nodes = {.at = 0}, numbers = {.at = 0};
    const iw_status status = find_all(log, fleet, &nodes, &numbers, older);

    *is_any_p = numbers.bytes.count > 0;
    iwi_bytes_release(&nodes.bytes);
    iwi_bytes_release(&numbers.bytes);
    return status;
}
