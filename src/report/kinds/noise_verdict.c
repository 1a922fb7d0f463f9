/* What a recording says in words: the verdict, and how it was measured.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/noise_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { VALUE_COLUMNS = 60 };

/* Two significant digits, for people: "480", "12,000", "1.3 million". */
static const char *ranks_text(double ranks, char buf[IWI_NUMBER_SIZE])
{
    const double power = pow(10.0, fmax(floor(log10(ranks)) - 1.0, 0.0));
    const double rounded = round(ranks / power) * power;

    if (rounded >= 1e9) {
        snprintf(buf, IWI_NUMBER_SIZE, "%.2g billion", fmin(rounded / 1e9, 1e3));
    } else if (rounded >= 1e6) {
        snprintf(buf, IWI_NUMBER_SIZE, "%.0f million", rounded / 1e6);
        if (rounded < 1e7) {
            snprintf(buf, IWI_NUMBER_SIZE, "%.2g million", rounded / 1e6);
        }
    } else if (rounded >= 1e4) {
        snprintf(buf, IWI_NUMBER_SIZE, "%.0f,%03.0f", floor(rounded / 1e3), fmod(rounded, 1e3));
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, "%.0f", rounded);
    }
    return buf;
}

static void append_barrier(char *paragraph, const iw_recording *recording, const iw_noise_facts *facts)
{
    const bool is_quanta = recording->probe != IW_PROBE_SELFISH;
    char ranks[IWI_NUMBER_SIZE], limit[IWI_NUMBER_SIZE];

    iwi_ns_round_text(facts->long_ns, limit);
    if (facts->critical_ranks == 0.0) {
        iwi_append(paragraph, is_quanta ? " No quantum lost %s or more" : " No detour took %s or more",
                   limit);
        iwi_append(paragraph, ": a barrier would hardly feel it.");
    } else if (facts->critical_ranks < 2.0) {
        iwi_append(paragraph, " A barrier feels it on any number of ranks.");
    } else {
        iwi_append(paragraph, " A barrier feels it from about %s ranks on.",
                   ranks_text(facts->critical_ranks, ranks));
    }
}

/* "(2 CPUs, 60 s)": which CPUs, and how long each. */
static void append_scope(char *paragraph, const iw_recording *recording, const iw_noise_facts *facts)
{
    char time[IWI_NUMBER_SIZE];

    if (recording->cpu_count == 1) {
        iwi_append(paragraph, " (CPU %" PRIu32, recording->cpus[0].cpu);
    } else {
        iwi_append(paragraph, " (%zu CPUs", recording->cpu_count);
    }
    iwi_append(paragraph, ", %s",
               iwi_ns_round_text(facts->watched_ns / fmax((double)recording->cpu_count, 1.0), time));
    if (recording->probe != IW_PROBE_SELFISH) {
        iwi_append(paragraph, "; %" PRIu64 " quanta of %s", facts->all.count,
                   iwi_ns_round_text((double)recording->quantum_ns, time));
    }
    iwi_append(paragraph, ")");
}

/* Two digits of what a table would show as next to nothing. */
static const char *loss_text(double share, char buf[IWI_NUMBER_SIZE])
{
    if (share < 0.000995) {
        snprintf(buf, IWI_NUMBER_SIZE, "%.2g %%", 100.0 * share);
        return buf;
    }
    return iwi_percent_text(share, buf);
}

void iwi_write_noise_verdict(FILE *out, const iw_recording *recording, const iw_noise_facts *facts,
                             const char *name)
{
    const bool is_quanta = recording->probe != IW_PROBE_SELFISH;
    char paragraph[IWI_PARAGRAPH_SIZE] = "", host[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "%s", iwi_plain_name(iwi_host_name(recording, name), VALUE_COLUMNS, host));
    if (facts->all.max_ns <= 0.0) {
        iwi_append(paragraph, " shows no noise at all");
        append_scope(paragraph, recording, facts);
        iwi_append(paragraph, ".");
        iwi_write_wrapped(out, paragraph);
        return;
    }
    iwi_append(paragraph, " loses %s of its CPU%s to noise", loss_text(facts->all.share, number),
               recording->cpu_count == 1 ? "" : "s");
    append_scope(paragraph, recording, facts);
    iwi_append(paragraph, is_quanta ? "; the worst quantum lost %s." : "; the longest detour took %s.",
               iwi_ns_round_text(facts->all.max_ns, number));
    append_barrier(paragraph, recording, facts);
    iwi_write_wrapped(out, paragraph);
}

static void append_attribute(char *paragraph, const iw_recording *recording, const char *attribute,
                             const char *before)
{
    const char *value = iw_recording_get(recording, attribute);
    char plain[IWI_NAME_SIZE];

    if (value != NULL && value[0] != '\0') {
        iwi_append(paragraph, "%s%s", before, iwi_plain_name(value, VALUE_COLUMNS, plain));
    }
}

/* The command that ran beside, and until when if not all the time. */
static void append_under(char *paragraph, const iw_recording *recording)
{
    const char *under = iw_recording_get(recording, "under");
    const char *ended = iw_recording_get(recording, "under_ended_ns");
    char plain[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

    if (under != NULL) {
        iwi_append(paragraph, ", under '%s'", iwi_plain_name(under, VALUE_COLUMNS, plain));
        if (ended != NULL) {
            iwi_append(paragraph, " until %s", iwi_ns_short_text(strtod(ended, NULL), number));
        }
    }
}

/* The range of a number of all CPUs: "20.0 ns", "18.0 ns to 21.0 ns". */
static const char *range_text(double low_ns, double high_ns, char buf[2 * IWI_NUMBER_SIZE])
{
    if (round(10.0 * low_ns) == round(10.0 * high_ns)) {
        snprintf(buf, (size_t)2 * IWI_NUMBER_SIZE, "%.1f ns", low_ns);
    } else {
        snprintf(buf, (size_t)2 * IWI_NUMBER_SIZE, "%.1f to %.1f ns", low_ns, high_ns);
    }
    return buf;
}

static void append_limits(char *paragraph, const iw_recording *recording)
{
    double low_ns = INFINITY, high_ns = 0.0, threshold_ns = 0.0;
    char range[2 * IWI_NUMBER_SIZE], number[IWI_NUMBER_SIZE];

    for (size_t c = 0; c < recording->cpu_count; c++) {
        low_ns = fmin(low_ns, recording->cpus[c].t_min_ns);
        high_ns = fmax(high_ns, recording->cpus[c].t_min_ns);
        threshold_ns = fmax(threshold_ns, recording->cpus[c].threshold_ns);
    }
    if (threshold_ns > 0.0) {
        iwi_append(paragraph, " Detours shorter than %s are not seen (t_min %s).",
                   iwi_ns_short_text(threshold_ns, number), range_text(low_ns, high_ns, range));
    }
}

void iwi_write_noise_origin(FILE *out, const iw_recording *recording, const iw_noise_facts *facts)
{
    const bool is_quanta = recording->probe != IW_PROBE_SELFISH;
    char paragraph[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "Probe %s", iw_probe_name(recording->probe));
    append_attribute(paragraph, recording, "clock", ", clock ");
    append_attribute(paragraph, recording, "kernel", ", kernel ");
    append_attribute(paragraph, recording, "date", ", ");
    append_under(paragraph, recording);
    if (!is_quanta && recording->rung != IW_RUNG_NONE) {
        iwi_append(paragraph, "; sources told by %s", iw_rung_name(recording->rung));
    }
    iwi_append(paragraph, ".");
    if (!is_quanta) {
        append_limits(paragraph, recording);
    }
    if (facts->critical_ranks > 0.0) {
        iwi_append(paragraph,
                   is_quanta ? " Losses of %s or more count for the barrier."
                             : " Those of %s or more count for the barrier.",
                   iwi_ns_round_text(facts->long_ns, number));
    }
    iwi_write_wrapped(out, paragraph);
}
