/* How many detours took how long, as bars.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/noise_report.h"

#include <math.h>

#include "base/base.h"

enum {
    BINS_PER_DECADE = 3,         /* from 1, 2 and 5 on */
    BINS = 19 * BINS_PER_DECADE, /* all of int64_t */
    BAR_COLUMNS = 44
};

struct histogram {
    double begin_ns[BINS + 1]; /* of each bin, and the end of the last */
    uint64_t none;             /* of no length: quanta that lost nothing */
    uint64_t count[BINS];
    double time_ns[BINS];
    double all_ns;
    uint64_t most; /* the largest of the counts */
};

static void begin(struct histogram *h)
{
    static const double factors[BINS_PER_DECADE] = {1.0, 2.0, 5.0};
    double decade_ns = 1.0;

    for (size_t bin = 0; bin <= BINS; bin++) {
        h->begin_ns[bin] = decade_ns * factors[bin % BINS_PER_DECADE];
        decade_ns *= bin % BINS_PER_DECADE == BINS_PER_DECADE - 1 ? 10.0 : 1.0;
    }
}

static size_t bin_of(const struct histogram *h, double ns)
{
    size_t low = 0, high = BINS;

    while (high - low > 1) {
        const size_t middle = (low + high) / 2;

        if (ns >= h->begin_ns[middle]) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void add_cpu(struct histogram *h, const iw_detours *cpu)
{
    for (size_t i = 0; i < cpu->count; i++) {
        const double ns = (double)cpu->duration_ns[i];

        if (cpu->duration_ns[i] <= 0) {
            h->none++;
        } else {
            const size_t bin = bin_of(h, ns);

            h->count[bin]++;
            h->time_ns[bin] += ns;
            h->all_ns += ns;
        }
    }
}

static void write_bin(FILE *out, const struct histogram *h, size_t bin)
{
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE], count[IWI_NUMBER_SIZE], share[IWI_NUMBER_SIZE];

    (void)fprintf(out, "%6s to %-6s %8s", iwi_ns_round_text(h->begin_ns[bin], low),
                  iwi_ns_round_text(h->begin_ns[bin + 1], high), iwi_count_text(h->count[bin], count));
    if (h->count[bin] > 0) { /* lengths are logarithmic; one detour still shows */
        (void)fprintf(out, " %8s  ", iwi_share_text(h->time_ns[bin] / h->all_ns, share));
        (void)iwi_write_bar(out, log2(1.0 + (double)h->count[bin]) / log2(1.0 + (double)h->most),
                            BAR_COLUMNS);
    }
    (void)fputc('\n', out);
}

void iwi_write_histogram(FILE *out, const iw_recording *detours)
{
    struct histogram h = {.none = 0};
    size_t first = 0, last = BINS - 1;
    char count[IWI_NUMBER_SIZE];

    begin(&h);
    for (size_t c = 0; c < detours->cpu_count; c++) {
        add_cpu(&h, &detours->cpus[c]);
    }
    for (size_t bin = 0; bin < BINS; bin++) {
        h.most = h.count[bin] > h.most ? h.count[bin] : h.most;
    }
    if (h.most == 0) {
        return;
    }
    while (h.count[first] == 0) {
        first++;
    }
    while (h.count[last] == 0) {
        last--;
    }
    if (h.none > 0) {
        (void)fprintf(out, "%-16s %8s\n", "  none", iwi_count_text(h.none, count));
    }
    for (size_t bin = first; bin <= last; bin++) {
        write_bin(out, &h, bin);
    }
}
