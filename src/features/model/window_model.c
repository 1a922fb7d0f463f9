/* The slowest of many ranks under the noise of a recording, and the source that takes most of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/model/window_law.h"

#include <math.h>
#include <stdlib.h>

#include <idlewave/estimate.h>
#include <idlewave/model.h>

#include "core/base/base.h"
#include "features/model/law.h"
#include "kit/facts/longest.h"
#include "kit/facts/recording_stats.h"

static const double DEFAULT_RAREST_S = 60.0;

/* Blocks of the bootstrap are at least so many phases long, and there are at least so many of them. */
enum { PHASES_PER_BLOCK = 8, LEAST_BLOCKS = 20 };

static iw_status window_sources(const iw_log *log, const iw_recording *recording,
                                const struct iwi_window_cpus *cpus, int64_t work_ns,
                                struct iw_window_model *model);

static size_t window_dominant(const struct iw_window_model *model, double n);
static iw_status recording_limit(const iw_log *log, const struct iwi_window_cpus *cpus, int64_t work_ns,
                                 double rarest_s, const struct iwi_blocks *blocks, bool names_sources,
                                 struct iw_window_model *model);

/* The detours of all CPUs; borrows them. */
static iw_status window_cpus_new(const iw_log *log, const iw_recording *recording,
                                 struct iwi_window_cpus *cpus_p)
{
    struct iwi_window_cpus cpus = {.count = recording->cpu_count};

    cpus.cpus = iwi_new_array(log, recording->cpu_count, sizeof *cpus.cpus);
    if (cpus.cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *d = &recording->cpus[i];
        const int64_t end_ns = d->count > 0 ? d->start_ns[d->count - 1] + d->duration_ns[d->count - 1] : 0;
        const int64_t length_ns = iwi_max(d->length_ns, end_ns);

        cpus.cpus[i] = (struct iwi_window_cpu){d->count, d->start_ns, d->duration_ns, length_ns};
        cpus.length_ns = iwi_max(cpus.length_ns, length_ns);
        cpus.watched_ns += (double)length_ns;
    }
    *cpus_p = cpus;
    return IW_OK;
}

static iw_status check_work(const iw_log *log, const iw_recording *recording,
                            const struct iwi_window_cpus *cpus, double work_ns)
{
    const double least_ns = work_ns * PHASES_PER_BLOCK * LEAST_BLOCKS;

    if (!(work_ns >= 1.0)) {
        return iwi_fail(log, IW_ERR_RANGE, "a phase of %g ns is too short: use at least 1 ns", work_ns);
    }
    if (cpus->count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "the recording has no CPUs");
    }
    for (size_t i = 0; i < cpus->count; i++) {
        if ((double)cpus->cpus[i].length_ns < least_ns) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "CPU %u was recorded for %.3g s, which is too short for phases of %.3g s: record "
                            "for %.3g s, or use shorter phases",
                            recording->cpus[i].cpu, (double)cpus->cpus[i].length_ns * 1e-9, work_ns * 1e-9,
                            least_ns * 1e-9);
        }
        if (!iwi_window_fits(&cpus->cpus[i], llround(work_ns))) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "CPU %u: all of its undisturbed time is less than one phase of %.3g s",
                            recording->cpus[i].cpu, work_ns * 1e-9);
        }
    }
    return IW_OK;
}

static struct iwi_blocks choose_blocks(int64_t length_ns, int64_t work_ns)
{
    const struct iwi_blocks usual = iwi_choose_blocks(length_ns);
    const int64_t block_ns = iwi_max(usual.block_ns, PHASES_PER_BLOCK * work_ns);

    return (struct iwi_blocks){block_ns, (size_t)((length_ns + block_ns - 1) / block_ns)};
}

static iw_status fill_model(const iw_log *log, const iw_recording *detours, bool names_sources,
                            const iw_window_options *options, struct iw_window_model *model)
{
    const double rarest_s = options->rarest_s > 0.0 ? options->rarest_s : DEFAULT_RAREST_S;
    struct iwi_window_cpus cpus = {0};
    iw_status status;

    IW_TRY(window_cpus_new(log, detours, &cpus));
    status = check_work(log, detours, &cpus, options->work_ns);
    if (status == IW_OK) {
        const int64_t work_ns = llround(options->work_ns);
        const struct iwi_blocks blocks = choose_blocks(cpus.length_ns, work_ns);

        status = iwi_window_law_new(log, &cpus, work_ns, &blocks, &model->law);
        if (status == IW_OK) {
            status = iwi_window_replicates_new(log, &model->law, options->seed, &model->replicates);
        }
        if (status == IW_OK && detours->source_count > 1) {
            status = window_sources(log, detours, &cpus, work_ns, model);
        }
        if (status == IW_OK) {
            status = recording_limit(log, &cpus, work_ns, rarest_s, &blocks, names_sources, model);
        }
    }
    free(cpus.cpus);
    return status;
}

iw_status iw_window_model_new(const iw_log *log, const iw_recording *recording,
                              const iw_window_options *options, iw_window_model **model_p)
{
    iw_window_model *model = iwi_new_array(log, 1, sizeof *model);
    iw_recording *losses = NULL;
    iw_status status = model != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK && iw_probe_has_quanta(recording->probe)) {
        status = iwi_losses_new(log, recording, &losses);
    }
    if (status == IW_OK) {
        status = fill_model(log, losses != NULL ? losses : recording,
                            losses == NULL && iwi_names_sources(recording), options, model);
    }
    iwi_losses_free(losses);
    if (status != IW_OK) {
        iw_window_model_free(model);
        return status;
    }
    *model_p = model;
    return IW_OK;
}

void iw_window_model_free(iw_window_model *model)
{
    if (model == NULL) {
        return;
    }
    iwi_window_law_release(&model->law);
    iwi_window_replicates_release(&model->replicates);
    for (size_t i = 0; i < model->source_count; i++) {
        iwi_window_law_release(&model->sources[i].law);
    }
    free(model->sources);
    free(model);
}

const iw_window_horizon *iw_window_model_horizon(const iw_window_model *model)
{
    return &model->horizon;
}

/* Where the tail was fitted it knows more of large losses than replicates do, and the other way round of
 * small ones. */
static void widen(const iw_estimate *other, iw_estimate *estimate)
{
    estimate->low = fmin(estimate->low, other->low);
    estimate->high = fmax(estimate->high, other->high);
}

/* No law of a tail is exact: what it adds to what was seen may be wrong by this, beside the errors of the
 * fit. Sums of several detours in a phase need it (src/features/model/tests/slowest_coverage_test.c). */
static const double FORM_ERROR = 0.06;

static iw_estimate tail_max(const iw_window_model *model, double n)
{
    double means_ns[IWI_TAIL_DRAWS];
    struct iwi_interval interval;
    double value_ns, seen_ns, form_ns;

    iwi_tail_draw_means_ns(&model->tail, &model->law, n, means_ns);
    interval = iwi_percentile_interval(means_ns, IWI_TAIL_DRAWS);
    seen_ns = iwi_window_mean_max_ns(&model->law, model->law.share, fmin(n, model->horizon.observed_ranks),
                                     HUGE_VAL);
    value_ns = fmax(iw_quantile_sorted(means_ns, IWI_TAIL_DRAWS, 0.5), seen_ns); /* never falls with n */
    form_ns = FORM_ERROR * (value_ns - seen_ns);
    return (iw_estimate){value_ns, fmax(interval.low - form_ns, fmin(interval.low, seen_ns)),
                         fmax(interval.high + form_ns, value_ns)};
}

iw_status iw_window_model_mean_max(const iw_log *log, const iw_window_model *model, double n,
                                   iw_window_answer *answer_p)
{
    iw_window_answer answer = {.slowest_ns = {NAN, NAN, NAN}, .support = IW_SUPPORT_REFUSED};

    if (!(n >= 1.0)) {
        return iwi_fail(log, IW_ERR_RANGE, "the number of ranks must be at least 1, not %g", n);
    }
    answer.dominant = window_dominant(model, n);
    if (n <= model->horizon.observed_ranks) {
        IW_TRY(iwi_window_observed(log, &model->law, &model->replicates, n, &answer.slowest_ns));
        answer.support = IW_SUPPORT_OBSERVED;
        if (model->has_tail) {
            const iw_estimate tail = tail_max(model, n);

            widen(&tail, &answer.slowest_ns);
        }
    } else if (n <= model->horizon.tail_ranks) {
        answer.slowest_ns = tail_max(model, n);
        answer.support = IW_SUPPORT_TAIL;
    }
    *answer_p = answer;
    return IW_OK;
}

/* What each source of a recording would do alone. */

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

/* model->sources: each by its parts of the detours. */
static iw_status window_sources(const iw_log *log, const iw_recording *recording,
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

/* The source that alone would slow n ranks most. */
static size_t window_dominant(const struct iw_window_model *model, double n)
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

/* Phases under the noise of a recording, and how many ranks it speaks for. */

/* The mean of the largest of N rests on the losses that one of N phases exceeds. So many independent clusters
 * of them must have been seen: fewer, and resampling them says too little of what might have been. */
enum { LEAST_CLUSTERS = 50 };

/* Intervals of the tail were shown to hold so far behind (src/features/model/tests/slowest_coverage_test.c).
 */
static const double TAIL_REACH = 100.0;

/* A source that rules the tail must have been seen so often, and rules it if it alone is worse than any of
 * those that were by this factor. */
static const uint64_t LEAST_EVENTS = 30;
static const double RULING = 1.25;

static int64_t shortest_ns(const struct iwi_window_cpus *cpus)
{
    int64_t shortest = INT64_MAX;

    for (size_t i = 0; i < cpus->count; i++) {
        shortest = iwi_min(shortest, cpus->cpus[i].length_ns);
    }
    return shortest;
}

/* The events of a source that was seen too seldom and rules the largest of n; 0: there is none. */
static uint64_t rare_ruler(const struct iw_window_model *model, double n)
{
    const struct iwi_source_law *source = &model->sources[window_dominant(model, n)];
    const double ruler_ns = iwi_source_mean_max_ns(source, n, model->horizon.observed_ranks);

    if (source->events == 0 || source->events >= LEAST_EVENTS) {
        return 0;
    }
    for (size_t i = 0; i < model->source_count; i++) {
        const struct iwi_source_law *other = &model->sources[i];

        if (other->events >= LEAST_EVENTS &&
            iwi_source_mean_max_ns(other, n, model->horizon.observed_ranks) * RULING > ruler_ns) {
            return 0;
        }
    }
    return source->events;
}

/* Clusters count by how long they last: a is the time that a lone detour adds to its excess (tail.h). */
static double equal_clusters(const struct iwi_peaks *peaks, size_t count, double above_ns)
{
    double excess_ns = 0.0, sum = 0.0, squares = 0.0, extra_ns;

    for (size_t i = 0; i < count; i++) {
        excess_ns += peaks->loss_ns[i] - peaks->loss_ns[count - 1];
    }
    extra_ns = fmax((above_ns - excess_ns) / (double)count, 0.0);
    for (size_t i = 0; i < count; i++) {
        const double time_ns = extra_ns + peaks->loss_ns[i] - peaks->loss_ns[count - 1];

        sum += time_ns;
        squares += time_ns * time_ns;
    }
    return squares > 0.0 ? sum * sum / squares : (double)count;
}

/* One of LEAST_CLUSTERS phases where detours are short against phases, fewer where they are not: phases that
 * begin in the same detour are not independent. */
static double supported_ranks(const struct iwi_peaks *peaks, double watched_ns, double phases)
{
    double ranks = phases / LEAST_CLUSTERS;

    for (size_t count = 2; count <= peaks->count; count++) {
        const bool is_last = count == peaks->count;

        if (count >= LEAST_CLUSTERS || is_last) {
            const double above_ns = iwi_peaks_time_above_ns(peaks, peaks->loss_ns[count - 1]);
            const double equal = equal_clusters(peaks, count, above_ns);

            if (equal >= LEAST_CLUSTERS || is_last) {
                ranks = fmin(ranks, watched_ns / fmax(above_ns, 1.0) * fmin(equal / LEAST_CLUSTERS, 1.0));
                break;
            }
        }
    }
    return fmax(floor(ranks), 1.0);
}

/* As far as any simulation from this recording gives an estimate (stats/longest.h): what may be unseen is a
 * small part of what a phase loses. */
static double reached_ranks(const struct iwi_window_cpus *cpus, const struct iwi_window_law *law,
                            int64_t work_ns, double ranks)
{
    int64_t room[IWI_LONGEST_ROOM];
    struct iwi_longest longest = {room, IWI_LONGEST_ROOM, 0, 0};

    for (size_t i = 0; i < cpus->count; i++) {
        for (size_t k = 0; k < cpus->cpus[i].count; k++) {
            iwi_longest_add(&longest, cpus->cpus[i].duration_ns[k]);
        }
    }
    while (ranks > 1.0) {
        const double work_s = (double)work_ns * 1e-9;
        const double longest_s = 1e-9 * iwi_window_mean_max_ns(law, law->share, ranks, HUGE_VAL);

        if (iwi_unseen_slowdown(&longest, ranks / (cpus->watched_ns * 1e-9),
                                &(struct iwi_met_job){work_s, 1.0, longest_s}) <=
            iwi_unseen_allowed(longest_s / work_s)) {
            break;
        }
        ranks = floor(0.95 * ranks);
    }
    return fmax(ranks, 1.0);
}

static void judge(struct iw_window_model *model, const struct iwi_tail_choice *choice, double length_s,
                  double rarest_s, bool names_sources)
{
    iw_window_horizon *horizon = &model->horizon;
    const double reach = TAIL_REACH * horizon->observed_ranks;
    const uint64_t rare = names_sources && model->source_count > 0 ? rare_ruler(model, reach) : 0;

    model->has_tail = choice->refusal == IW_REFUSAL_NONE;
    model->tail = choice->tail;
    horizon->refusal = choice->refusal;
    horizon->record_s = choice->refusal != IW_REFUSAL_NONE ? choice->times_longer * length_s : 0.0;
    if (rare > 0 && choice->refusal != IW_REFUSAL_HEAVY) {
        horizon->refusal = IW_REFUSAL_MIXTURE;
        horizon->record_s = fmax(horizon->record_s, 1.5 * (double)LEAST_EVENTS / (double)rare * length_s);
    }
    if (length_s < 3.0 * rarest_s) {
        horizon->refusal = IW_REFUSAL_SHORT;
        horizon->record_s = fmax(horizon->record_s, 3.0 * rarest_s);
    }
    if (horizon->refusal == IW_REFUSAL_NONE) {
        horizon->tail_ranks = reach;
        horizon->tail_shape = choice->tail.mode.gpd.xi;
        horizon->tail_from_ns = choice->tail.mode.from_ns;
    }
}

/* model->horizon and model->tail; all else is known. rarest_s > 0. */
static iw_status recording_limit(const iw_log *log, const struct iwi_window_cpus *cpus, int64_t work_ns,
                                 double rarest_s, const struct iwi_blocks *blocks, bool names_sources,
                                 struct iw_window_model *model)
{
    const double phases = cpus->watched_ns / (double)work_ns;
    struct iwi_tail_choice choice;
    struct iwi_peaks peaks;
    double observed;

    IW_TRY(iwi_peaks_new(log, cpus, work_ns, &model->law, blocks, IWI_TAIL_PEAKS, &peaks));
    iwi_tail_choose(&peaks, cpus->watched_ns, blocks->count, &choice);
    observed = reached_ranks(cpus, &model->law, work_ns, supported_ranks(&peaks, cpus->watched_ns, phases));
    iwi_peaks_release(&peaks);
    model->horizon = (iw_window_horizon){.phases = phases,
                                         .observed_ranks = observed,
                                         .tail_ranks = observed,
                                         .tail_shape = NAN,
                                         .tail_from_ns = NAN};
    judge(model, &choice, (double)shortest_ns(cpus) * 1e-9, rarest_s, names_sources);
    return IW_OK;
}

/* The mean time of a phase under the noise of a recording: its slowest rank, put into theorem 1. */

iw_status iw_window_model_answer(const iw_log *log, const iw_window_model *model,
                                 const iw_model_question *question, uint64_t ranks, iw_model_row *row_p,
                                 size_t *dominant_p)
{
    const double leaves = iwi_slowest_of(question->barrier, (double)ranks);
    iw_window_answer of_leaves, of_all;

    IW_TRY(iwi_question_check(log, question, (double)ranks));
    IW_TRY(iw_window_model_mean_max(log, model, leaves, &of_leaves));
    IW_TRY(iw_window_model_mean_max(log, model, (double)ranks, &of_all));
    iwi_fill_row(question, ranks, of_leaves.slowest_ns, of_all.slowest_ns, row_p);
    row_p->support = of_all.support;
    *dominant_p = of_all.dominant;
    return IW_OK;
}

/* ---- what an answer rests on ---- */

static const char *const supports[] = {
    [IW_SUPPORT_EXACT] = "closed form",  [IW_SUPPORT_RECURSION] = "recursion",
    [IW_SUPPORT_OBSERVED] = "recording", [IW_SUPPORT_TAIL] = "tail",
    [IW_SUPPORT_REFUSED] = "refused",
};

const char *iw_support_name(iw_support support)
{
    return support < sizeof supports / sizeof supports[0] ? supports[support] : NULL;
}
