/* How many detours of a recording took how long.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_noise.h"

#include <math.h>

#include "base/base.h"
#include "report/study_parts.h"

enum { BINS_PER_DECADE = 6, DECADES = 19, BINS = DECADES * BINS_PER_DECADE };

struct histogram {
    double watched_ns, all_ns;
    uint64_t count[BINS];
    double time_ns[BINS];
    size_t first, last; /* bins that are not empty lie between */
};

/* 1, 1.5, 2, 3, 5, 7, 10, 15, ... ns */
static double begin_ns(size_t bin)
{
    static const double factors[BINS_PER_DECADE] = {1.0, 1.5, 2.0, 3.0, 5.0, 7.0};
    const size_t decade = bin / BINS_PER_DECADE;

    return pow(10.0, (double)decade) * factors[bin % BINS_PER_DECADE];
}

static size_t bin_of(double ns)
{
    size_t bin = (size_t)fmin(floor(log10(ns)), DECADES - 1) * BINS_PER_DECADE;

    while (bin + 1 < BINS && ns >= begin_ns(bin + 1)) {
        bin++;
    }
    return bin;
}

static void fill(struct histogram *h, const iw_recording *detours)
{
    for (size_t c = 0; c < detours->cpu_count; c++) {
        for (size_t i = 0; i < detours->cpus[c].count; i++) {
            const double ns = (double)detours->cpus[c].duration_ns[i];

            if (ns >= 1.0) {
                const size_t bin = bin_of(ns);

                h->count[bin]++;
                h->time_ns[bin] += ns;
                h->all_ns += ns;
            }
        }
    }
    h->last = BINS - 1;
    while (h->first < h->last && h->count[h->first] == 0) {
        h->first++;
    }
    while (h->last > h->first && h->count[h->last] == 0) {
        h->last--;
    }
}

static json_t *data_of(const struct histogram *h)
{
    json_t *bins = json_array();

    for (size_t bin = h->first; bin <= h->last; bin++) {
        (void)json_array_append_new(bins,
                                    json_pack("[o, o, I]", iwi_html_number(begin_ns(bin)),
                                              iwi_html_number(begin_ns(bin + 1)), (json_int_t)h->count[bin]));
    }
    return json_pack("{s:s, s:o}", "kind", "histogram", "bins", bins);
}

static void write_table(FILE *out, const void *arg)
{
    static const char *const heads[] = {"From", "To", "Count", "Rate on a CPU", "Share of the noise"};
    const struct histogram *h = arg;
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_html_head(out, false, "%s", heads[i]);
    }
    iwi_html_table_body(out);
    for (size_t bin = h->first; bin <= h->last; bin++) {
        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD, "%s", iwi_ns_round_text(begin_ns(bin), low));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_round_text(begin_ns(bin + 1), high));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ranks_text(h->count[bin], low));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      iwi_rate_text((double)h->count[bin] * 1e9 / h->watched_ns, low));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_share_text(h->time_ns[bin] / h->all_ns, low));
        iwi_html_row_end(out);
    }
}

/* Which lengths are the most frequent, and which take the most time. */
static void write_message(const struct histogram *h, char *message)
{
    size_t often = h->first, costly = often;
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE], share[IWI_NUMBER_SIZE];

    for (size_t bin = h->first; bin <= h->last; bin++) {
        often = h->count[bin] > h->count[often] ? bin : often;
        costly = h->time_ns[bin] > h->time_ns[costly] ? bin : costly;
    }
    iwi_append(message, "Most take %s to %s;", iwi_ns_round_text(begin_ns(often), low),
               iwi_ns_round_text(begin_ns(often + 1), high));
    iwi_append(message, " those of %s to %s cost the most, %s of all noise. Both axes are logarithmic.",
               iwi_ns_round_text(begin_ns(costly), low), iwi_ns_round_text(begin_ns(costly + 1), high),
               iwi_share_text(h->time_ns[costly] / h->all_ns, share));
}

iw_status iwi_html_noise_histogram(struct iwi_html *html, const struct iwi_noise_page *page,
                                   const iw_recording *detours)
{
    const bool is_quanta = detours->probe != IW_PROBE_SELFISH;
    struct histogram h = {.watched_ns = fmax(page->facts->watched_ns, 1.0)};
    char message[IWI_PARAGRAPH_SIZE] = "";

    fill(&h, detours);
    write_message(&h, message);
    return iwi_html_figure(
        html, &(struct iwi_figure){.title = is_quanta ? "How much quanta lose" : "How long detours take",
                                   .message = message,
                                   .data = data_of(&h),
                                   .table_caption = "How many took how long",
                                   .write_table = write_table,
                                   .arg = &h});
}
