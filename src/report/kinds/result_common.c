/* Summaries, labels and exact numbers for the writers of results.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

char *iwi_ns_text(iw_time ps, char buf[IWI_NS_TEXT_SIZE])
{
    const uint64_t magnitude = ps < 0 ? -(uint64_t)ps : (uint64_t)ps;
    int length = snprintf(buf, IWI_NS_TEXT_SIZE, "%s%" PRIu64 ".%03u", ps < 0 ? "-" : "", magnitude / 1000,
                          (unsigned)(magnitude % 1000));

    while (buf[length - 1] == '0') {
        length--;
    }
    if (buf[length - 1] == '.') {
        length--;
    }
    buf[length] = '\0';
    return buf;
}

double iwi_slowdown(double makespan_ps, iw_time noiseless_ps)
{
    return noiseless_ps > 0 ? (makespan_ps - (double)noiseless_ps) / (double)noiseless_ps : NAN;
}

iw_summary iwi_slowdown_summary(const iw_summary *makespan_ns, iw_time noiseless_ps)
{
    const double ns[] = {makespan_ns->min,        makespan_ns->q1,          makespan_ns->median,
                         makespan_ns->q3,         makespan_ns->max,         makespan_ns->mean,
                         makespan_ns->median_low, makespan_ns->median_high, makespan_ns->mean_low,
                         makespan_ns->mean_high};
    double s[sizeof ns / sizeof ns[0]];

    for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++) {
        s[i] = iwi_slowdown(ns[i] * (double)IW_PS_PER_NS, noiseless_ps);
    }
    return (iw_summary){makespan_ns->count, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]};
}

size_t iwi_source_count(const iw_origin *origin)
{
    return origin->noise != NULL ? iw_noise_source_count(origin->noise) : 0;
}

const char *iwi_sync_name(iw_sync sync)
{
    static const char *const names[] = {
        [IW_SYNC_NONE] = "none", [IW_SYNC_START] = "start", [IW_SYNC_PHASE] = "phase"};

    return names[sync];
}

bool iwi_part_label(const iw_origin *origin, int part, char buf[IWI_PART_LABEL_SIZE])
{
    const size_t source = (size_t)(part - IW_PART_NOISE);
    const char *name;
    unsigned same = 1;

    if (part < IW_PART_NOISE) {
        snprintf(buf, IWI_PART_LABEL_SIZE, "%s", iw_part_name((iw_part)part));
        return true;
    }
    if (source >= iwi_source_count(origin)) {
        return false;
    }
    name = iw_noise_source_name(origin->noise, source);
    for (size_t i = 0; i < source; i++) {
        same += strcmp(iw_noise_source_name(origin->noise, i), name) == 0;
    }
    if (same > 1) {
        snprintf(buf, IWI_PART_LABEL_SIZE, "noise %.200s #%u", name, same);
    } else {
        snprintf(buf, IWI_PART_LABEL_SIZE, "noise %.200s", name);
    }
    return true;
}
