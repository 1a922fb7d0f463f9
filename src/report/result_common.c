/* Summaries, labels and exact numbers for the writers of results.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/report.h"

#include <errno.h>
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

iw_status iwi_summarize_makespans(const iw_log *log, const iw_sim_result *result, iw_summary *summary_p)
{
    double *values = iwi_new_array(log, result->trials, sizeof *values);
    iw_status status;

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t i = 0; i < result->trials; i++) {
        values[i] = (double)result->makespan_ps[i];
    }
    status = iw_summarize(log, values, result->trials, result->seed, summary_p);
    free(values);
    return status;
}

double iwi_slowdown(double makespan_ps, iw_time noiseless_ps)
{
    return noiseless_ps > 0 ? (makespan_ps - (double)noiseless_ps) / (double)noiseless_ps : NAN;
}

iw_summary iwi_slowdown_summary(const iw_summary *makespan, iw_time noiseless_ps)
{
    return (iw_summary){
        .count = makespan->count,
        .min = iwi_slowdown(makespan->min, noiseless_ps),
        .q1 = iwi_slowdown(makespan->q1, noiseless_ps),
        .median = iwi_slowdown(makespan->median, noiseless_ps),
        .q3 = iwi_slowdown(makespan->q3, noiseless_ps),
        .max = iwi_slowdown(makespan->max, noiseless_ps),
        .mean = iwi_slowdown(makespan->mean, noiseless_ps),
        .ci95_low = iwi_slowdown(makespan->ci95_low, noiseless_ps),
        .ci95_high = iwi_slowdown(makespan->ci95_high, noiseless_ps),
    };
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

iw_status iwi_check_written(const iw_log *log, FILE *out, const char *what)
{
    errno = 0;
    if (fflush(out) != 0 || ferror(out)) {
        return iwi_fail(log, IW_ERR_IO, "cannot write %s: %s", what,
                        errno != 0 ? strerror(errno) : "write error");
    }
    return IW_OK;
}

void iwi_write_real(FILE *out, double value)
{
    char digits[32];
    char *comma;

    snprintf(digits, sizeof digits, "%.15g", value);
    comma = strchr(digits, ',');
    if (comma != NULL) {
        *comma = '.';
    }
    (void)fputs(digits, out);
}
