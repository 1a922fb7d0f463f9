/* Where the values of a field are, and the structs that all results share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/schema/schema.h"

#include <string.h>

#include <idlewave/noise.h>

static const struct iwi_field estimate_fields[] = {
    IWI_VALUE(iw_estimate, value),
    IWI_VALUE(iw_estimate, low),
    IWI_VALUE(iw_estimate, high),
};
const struct iwi_schema iwi_estimate_schema = IWI_SCHEMA(iw_estimate, estimate_fields);

static const struct iwi_field summary_fields[] = {
    IWI_VALUE(iw_summary, count),
    IWI_VALUE(iw_summary, min),
    IWI_VALUE(iw_summary, q1,
              .about = "quartile, interpolated linearly between order statistics (R's type 7)"),
    IWI_VALUE(iw_summary, median),
    IWI_VALUE(iw_summary, q3),
    IWI_VALUE(iw_summary, max),
    IWI_VALUE(iw_summary, mean),
    IWI_VALUE(iw_summary, median_low,
              .about = "95 % confidence interval of the median; null for fewer than 6 values"),
    IWI_VALUE(iw_summary, median_high),
    IWI_VALUE(iw_summary, mean_low,
              .about = "95 % confidence interval of the mean; null for fewer than 6 values"),
    IWI_VALUE(iw_summary, mean_high),
};
const struct iwi_schema iwi_summary_schema = IWI_SCHEMA(iw_summary, summary_fields);

size_t iwi_field_count(const struct iwi_field *field, const void *object)
{
    const unsigned char *at = (const unsigned char *)object + field->count_offset;
    uint32_t small = 0;
    uint64_t count = 0;

    if (field->holder != IWI_LIST && field->holder != IWI_COUNTED) {
        return field->count;
    }
    if (field->count_size == sizeof small) {
        memcpy(&small, at, sizeof small);
        return small;
    }
    memcpy(&count, at, sizeof count);
    return (size_t)count;
}

const void *iwi_field_items(const struct iwi_field *field, const void *object)
{
    const void *at = (const unsigned char *)object + field->offset;
    const void *items;

    if (field->holder != IWI_LIST && field->holder != IWI_BY_POINTER &&
        field->holder != IWI_INLINED_BY_POINTER) {
        return at;
    }
    memcpy(&items, at, sizeof items);
    return items;
}

const char *iwi_cpus_list(const void *cpu_set, char buf[IWI_CPUS_LIST_SIZE])
{
    buf[0] = '\0';
    return iw_cpu_set_is_empty(cpu_set) ? buf : iw_cpu_set_text(cpu_set, buf, IWI_CPUS_LIST_SIZE);
}
