/* The lists that span the grid of a study: "2^1..2^20", "16..256 step x2", [1, 1MiB], [none, start].
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/study/files/study_yaml.h"

enum { MAX_VALUES = 10000 };

#define MAX_RANKS (UINT64_C(1) << 30)
#define MAX_BYTES (UINT64_C(1) << 40)
#define MAX_TRIALS (UINT64_C(1) << 40)

static const char *const sync_names[] = {
    [IW_SYNC_NONE] = "none", [IW_SYNC_START] = "start", [IW_SYNC_PHASE] = "phase", NULL};

static const char *const axis_keys[IWI_AXES] = {[IWI_AXIS_BYTES] = "bytes",
                                                [IWI_AXIS_SYNC] = "sync",
                                                [IWI_AXIS_SCALE] = "net-scale",
                                                [IWI_AXIS_RANKS] = "ranks"};

/* One item that is being read. */
struct item {
    struct iwi_study_reader *reader;
    const yaml_node_t *node;
    const char *key;
    const char *text;
    uint64_t min, max;
    struct iwi_axis_values *values;
};

#define item_fail(item, status, ...) \
    iwi_yaml_fail(&(item)->reader->yaml, iwi_yaml_line((item)->node), status, __VA_ARGS__)

const char *iwi_study_sync_name(size_t sync)
{
    return sync < sizeof sync_names / sizeof sync_names[0] ? sync_names[sync] : NULL;
}

void iwi_study_grid_release(struct iwi_study_grid *grid)
{
    for (size_t axis = 0; axis < IWI_AXES; axis++) {
        free(grid->axes[axis].values);
    }
}

iw_status iwi_axis_values_append(const iw_log *log, struct iwi_axis_values *values, double value)
{
    IW_TRY(iwi_grow(log, (void **)&values->values, &values->capacity, values->count + 1, sizeof value));
    values->values[values->count++] = value;
    return IW_OK;
}

static iw_status append(const struct item *item, double value)
{
    if (item->values->count == MAX_VALUES) {
        return item_fail(item, IW_ERR_RANGE, "key '%s' has more than %d values; take larger steps", item->key,
                         MAX_VALUES);
    }
    return iwi_axis_values_append(item->reader->yaml.log, item->values, value);
}

/* "64KiB", "2^1..2^20", "16..256 step x2" */
static iw_status read_counts(const struct item *item)
{
    struct iwi_log_keeper keeper;
    uint64_t *counts;
    size_t count;
    iw_status status;

    iwi_log_keeper_init(&keeper, item->reader->yaml.log);
    status = iw_parse_counts(&keeper.log, item->text, item->min, item->max, &counts, &count);
    if (status != IW_OK) {
        return item_fail(item, status, "key '%s': %s", item->key, keeper.text);
    }
    for (size_t i = 0; i < count && status == IW_OK; i++) {
        status = append(item, (double)counts[i]);
    }
    free(counts);
    return status;
}

/* ---- other items ---- */

static iw_status read_sync(const struct item *item)
{
    size_t sync = 0;

    IW_TRY(iwi_study_choice(item->reader, item->node, item->key, sync_names, &sync));
    return append(item, (double)sync);
}

static iw_status read_scale(const struct item *item)
{
    double factor = 0;

    if (strchr(item->text, '%') != NULL || iw_parse_share(NULL, item->text, &factor) != IW_OK ||
        factor < 1e-6) {
        return item_fail(item, IW_ERR_RANGE,
                         "key '%s': '%.40s' is no factor: write 10 for a network ten times faster, 0.1 for "
                         "one ten times slower",
                         item->key, item->text);
    }
    return append(item, factor);
}

static iw_status read_item(struct item *item, enum iwi_study_axis axis)
{
    IW_TRY(iwi_yaml_text(&item->reader->yaml, item->node, item->key, &item->text));
    switch (axis) {
    case IWI_AXIS_SYNC: return read_sync(item);
    case IWI_AXIS_SCALE: return read_scale(item);
    case IWI_AXIS_RANKS:
        item->min = 1;
        item->max = MAX_RANKS;
        break;
    default:
        item->min = 0;
        item->max = MAX_BYTES;
        break;
    }
    return read_counts(item);
}

/* ---- lists ---- */

static iw_status check_distinct(const struct iwi_study_reader *reader, const char *key,
                                const struct iwi_axis_values *values)
{
    double *sorted = iwi_new_array(reader->yaml.log, values->count, sizeof *sorted);
    iw_status status = IW_OK;

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(sorted, values->values, values->count * sizeof *sorted);
    iwi_sort_doubles(sorted, values->count);
    for (size_t i = 1; i < values->count && status == IW_OK; i++) {
        if (sorted[i] == sorted[i - 1]) {
            status = iwi_yaml_fail(&reader->yaml, values->line, IW_ERR_FORMAT,
                                   "key '%s' has a value twice; each may be there once", key);
        }
    }
    free(sorted);
    return status;
}

static iw_status read_axis(struct iwi_study_reader *reader, enum iwi_study_axis axis, const yaml_node_t *node,
                           struct iwi_axis_values *values)
{
    const size_t count = iwi_yaml_item_count(node);
    struct item item = {.reader = reader, .key = axis_keys[axis], .values = values};

    values->line = iwi_yaml_line(node);
    if (count == 0) {
        return iwi_yaml_fail(&reader->yaml, values->line, IW_ERR_FORMAT, "key '%s': the list is empty",
                             item.key);
    }
    for (size_t i = 0; i < count; i++) {
        item.node = iwi_yaml_item(&reader->yaml, node, i);
        IW_TRY(read_item(&item, axis));
    }
    return check_distinct(reader, item.key, values);
}

iw_status iwi_study_grid_read(struct iwi_study_reader *reader, const struct iwi_yaml_entry *entries,
                              struct iwi_study_grid *grid)
{
    _Static_assert(IWI_KEY_RANKS == (int)IWI_AXIS_RANKS && IWI_KEY_TRIALS == (int)IWI_AXES,
                   "keys are in the order of axes");
    for (size_t axis = 0; axis < IWI_AXES; axis++) {
        if (entries[axis].value != NULL) {
            IW_TRY(read_axis(reader, (enum iwi_study_axis)axis, entries[axis].value, &grid->axes[axis]));
        }
    }
    if (entries[IWI_KEY_TRIALS].value != NULL) {
        IW_TRY(
            iwi_study_count(reader, entries[IWI_KEY_TRIALS].value, "trials", 1, MAX_TRIALS, &grid->trials));
    }
    return IW_OK;
}
