/* What each source of a recording would do alone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "features/model/window_model.h"
#include "kit/facts/recording_stats.h"

/* All occurrences of all sources, by source, then by CPU, then by time. */
struct sorted_sources {
    size_t cpu_count, source_count;
    size_t *first; /* [source][CPU], and one behind the last */
    int64_t *start_ns, *duration_ns;
    size_t cpu; /* that is being visited */
};

static void count_occurrence(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct sorted_sources *s = arg;

    (void)start_ns;
    (void)time_ns;
    s->first[(size_t)source * s->cpu_count + s->cpu]++;
}

static void place_occurrence(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct sorted_sources *s = arg;
    const size_t at = s->first[(size_t)source * s->cpu_count + s->cpu]++;

    s->start_ns[at] = start_ns;
    s->duration_ns[at] = time_ns;
}

static void visit_all(struct sorted_sources *s, const iw_recording *recording, iwi_occurrence_fn visit)
{
    for (s->cpu = 0; s->cpu < s->cpu_count; s->cpu++) {
        iwi_each_occurrence(&recording->cpus[s->cpu], visit, s);
    }
}

/* Counting sort: numbers become first places, which placing moves to the end of each run; they are moved back
 * by one run then. */
static iw_status sort_sources(const iw_log *log, const iw_recording *recording, struct sorted_sources *s)
{
    const size_t runs = s->source_count * s->cpu_count;
    size_t total = 0;

    s->first = iwi_new_array(log, runs + 1, sizeof *s->first);
    if (s->first == NULL) {
        return IW_ERR_NOMEM;
    }
    visit_all(s, recording, count_occurrence);
    for (size_t i = 0; i <= runs; i++) {
        const size_t here = s->first[i];

        s->first[i] = total;
        total += here;
    }
    s->start_ns = iwi_new_array(log, total, sizeof *s->start_ns);
    s->duration_ns = iwi_new_array(log, total, sizeof *s->duration_ns);
    if (s->start_ns == NULL || s->duration_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    visit_all(s, recording, place_occurrence);
    for (size_t i = runs; i > 0; i--) {
        s->first[i] = s->first[i - 1];
    }
    s->first[0] = 0;
    return IW_OK;
}

static iw_status describe(const iw_log *log, const struct iwi_window_cpus *cpus, int64_t work_ns,
                          struct iwi_source_law *source)
{
    const struct iwi_blocks one = {INT64_MAX, 1};
    struct iwi_tail_choice choice;
    struct iwi_peaks peaks;

    IW_TRY(iwi_window_law_new(log, cpus, work_ns, &one, &source->law));
    IW_TRY(iwi_peaks_new(log, cpus, work_ns, &source->law, &one, IWI_TAIL_PEAKS, &peaks));
    iwi_tail_choose(&peaks, cpus->watched_ns, 1, &choice);
    iwi_peaks_release(&peaks);
    source->has_tail = choice.refusal == IW_REFUSAL_NONE;
    source->tail = choice.tail;
    return IW_OK;
}

static iw_status describe_all(const iw_log *log, const struct sorted_sources *s,
                              const struct iwi_window_cpus *cpus, int64_t work_ns,
                              struct iw_window_model *model)
{
    struct iwi_window_cpus alone = *cpus;
    iw_status status = IW_OK;

    alone.cpus = iwi_new_array(log, cpus->count, sizeof *alone.cpus);
    if (alone.cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t source = 0; source < s->source_count && status == IW_OK; source++) {
        const size_t *first = &s->first[source * s->cpu_count];

        for (size_t cpu = 0; cpu < s->cpu_count; cpu++) {
            alone.cpus[cpu] = (struct iwi_window_cpu){first[cpu + 1] - first[cpu], &s->start_ns[first[cpu]],
                                                      &s->duration_ns[first[cpu]], cpus->cpus[cpu].length_ns};
        }
        model->sources[source].events = first[s->cpu_count] - first[0];
        status = describe(log, &alone, work_ns, &model->sources[source]);
    }
    free(alone.cpus);
    return status;
}

iw_status iwi_window_sources(const iw_log *log, const iw_recording *recording,
                             const struct iwi_window_cpus *cpus, int64_t work_ns,
                             struct iw_window_model *model)
{
    struct sorted_sources s = {.cpu_count = recording->cpu_count, .source_count = recording->source_count};
    iw_status status;

    model->sources = iwi_new_array(log, recording->source_count, sizeof *model->sources);
    if (model->sources == NULL) {
        return IW_ERR_NOMEM;
    }
    model->source_count = recording->source_count;
    status = sort_sources(log, recording, &s);
    if (status == IW_OK) {
        status = describe_all(log, &s, cpus, work_ns, model);
    }
    free(s.first);
    free(s.start_ns);
    free(s.duration_ns);
    return status;
}

double iwi_source_mean_max_ns(const struct iwi_source_law *source, double n, double observed_ranks)
{
    if (source->has_tail && n > observed_ranks) {
        return iwi_tail_mean_max_ns(&source->tail, &source->law, n);
    }
    return iwi_window_mean_max_ns(&source->law, source->law.share, n, HUGE_VAL);
}

size_t iwi_window_dominant(const struct iw_window_model *model, double n)
{
    double most_ns = -1.0;
    size_t dominant = 0;

    for (size_t i = 0; i < model->source_count; i++) {
        const double ns = iwi_source_mean_max_ns(&model->sources[i], n, model->horizon.observed_ranks);

        if (ns > most_ns) {
            most_ns = ns;
            dominant = i;
        }
    }
    return dominant;
}
