/* Takes a part of a recording: some time, some CPUs, some sources, long detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/recording_cut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/noise/detour_builder.h"
#include "core/noise/recording_check.h"
#include "core/noise/recording_head.h"
#include "core/noise/source_filter.h"

enum { LIST_SIZE = 400 };

struct cutter {
    const iw_log *log;
    const char *name;
    const iw_recording *from;
    const iw_cut_opts *opts;
    const bool *is_dropped; /* by source; NULL: none */
    uint32_t *map;          /* by source: its new number */
    int64_t *total_ns;      /* of the builders */
    bool *is_taken;         /* by CPU */
    iw_recording *cut;
    struct iwi_detour_builder builder; /* of the CPU that is being cut */
    uint64_t kept_count;               /* detours of which something is left */
};

/* ---- CPUs ---- */

static int64_t wall_gain_ns(const struct iwi_wall *wall, int64_t ns);

static iw_status take_cpu(const struct cutter *c, uint32_t number)
{
    char list[LIST_SIZE];

    for (size_t i = 0; i < c->from->cpu_count; i++) {
        if (c->from->cpus[i].cpu == number) {
            c->is_taken[i] = true;
            return IW_OK;
        }
    }
    return iwi_fail(c->log, IW_ERR_RANGE, "'%s' has no CPU %" PRIu32 "; it has %s", c->name, number,
                    iwi_list_cpus(c->from, list, sizeof list));
}

static int64_t longest_ns(const iw_recording *recording)
{
    int64_t longest = 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        longest = iwi_max(longest, recording->cpus[i].length_ns);
    }
    return longest;
}

/* CPUs that were not watched any more at `from` are left out. */
static iw_status choose_cpus(const struct cutter *c, size_t *count_p)
{
    size_t count = 0;

    for (size_t i = 0; i < c->from->cpu_count; i++) {
        c->is_taken[i] = c->opts->cpus == NULL;
    }
    for (size_t i = 0; c->opts->cpus != NULL && i < c->opts->cpu_count; i++) {
        IW_TRY(take_cpu(c, c->opts->cpus[i]));
    }
    for (size_t i = 0; i < c->from->cpu_count; i++) {
        c->is_taken[i] =
            c->is_taken[i] && (c->opts->from_ns == 0 || c->from->cpus[i].length_ns > c->opts->from_ns);
        count += c->is_taken[i];
    }
    if (count == 0) {
        char text[24];

        return iwi_fail(c->log, IW_ERR_RANGE, "nothing is left: '%s' ends before that, after %s", c->name,
                        iw_format_time(longest_ns(c->from) * IW_PS_PER_NS, text, sizeof text));
    }
    *count_p = count;
    return IW_OK;
}

/* ---- the head ---- */

/* Dropped sources leave the list; number 0 stays, it is always the unknown one. */
static iw_status copy_sources(struct cutter *c)
{
    for (size_t i = 1; i < c->from->source_count; i++) {
        const iw_source *source = &c->from->sources[i];
        iw_source *sources = c->cut->sources;
        size_t room = c->cut->source_count;

        if (c->is_dropped != NULL && c->is_dropped[i]) {
            continue;
        }
        IW_TRY(iwi_grow(c->log, (void **)&sources, &room, room + 1, sizeof *sources));
        c->cut->sources = sources;
        sources[c->cut->source_count] = *source;
        c->map[i] = (uint32_t)c->cut->source_count++;
    }
    return IW_OK;
}

static bool is_all_of_it(const struct cutter *c)
{
    return c->opts->from_ns == 0 && c->opts->to_ns >= longest_ns(c->from) &&
           c->cut->cpu_count == c->from->cpu_count;
}

/* A part began when the whole of it was so far. */
static iw_status keep_wall_clock(const struct cutter *c)
{
    struct iwi_wall wall;
    char text[32];

    if (!iwi_recording_wall(c->from, &wall)) {
        return IW_OK;
    }
    snprintf(text, sizeof text, "%" PRId64,
             wall.start_ns + c->opts->from_ns + wall_gain_ns(&wall, c->opts->from_ns));
    return iw_recording_set(c->log, c->cut, "start_wall_ns", text);
}

static iw_status copy_attributes(struct cutter *c)
{
    const bool is_whole = is_all_of_it(c);

    for (size_t i = 0; i < c->from->attribute_count; i++) {
        const iw_attribute *attribute = &c->from->attributes[i];

        if (is_whole || !iwi_is_of_the_whole(attribute->name)) {
            IW_TRY(iw_recording_set(c->log, c->cut, attribute->name, attribute->value));
        }
    }
    return is_whole ? IW_OK : keep_wall_clock(c);
}

static iw_status make_head(struct cutter *c)
{
    size_t cpu_count;

    c->map = iwi_new_array(c->log, c->from->source_count, sizeof *c->map);
    c->total_ns = iwi_new_array(c->log, c->from->source_count, sizeof *c->total_ns);
    c->is_taken = iwi_new_array(c->log, c->from->cpu_count, sizeof *c->is_taken);
    if (c->map == NULL || c->total_ns == NULL || c->is_taken == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(choose_cpus(c, &cpu_count));
    IW_TRY(iw_recording_new(c->log, cpu_count, &c->cut));
    c->cut->probe = c->from->probe;
    c->cut->attribution = c->from->attribution;
    c->cut->quantum_ns = c->from->quantum_ns;
    IW_TRY(copy_sources(c));
    return copy_attributes(c);
}

/* ---- detours ---- */

/* Takes what lies within the time, of sources that stay; what is dropped leaves a hole in its place. */
static iw_status take_piece(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    struct cutter *c = arg;
    const int64_t from_ns = iwi_max(start_ns, c->opts->from_ns), to_ns = iwi_min(end_ns, c->opts->to_ns);

    if (c->is_dropped != NULL && c->is_dropped[source]) {
        IW_TRY(iwi_detour_close(&c->builder));
        iwi_detour_open(&c->builder, iwi_max(end_ns, c->opts->from_ns) - c->opts->from_ns);
        return IW_OK;
    }
    return iwi_detour_add(&c->builder, c->map[source], to_ns - from_ns);
}

static bool has_dropped_source(const struct cutter *c, const struct iwi_detour_row *row)
{
    bool is_found = c->is_dropped != NULL && c->is_dropped[row->cpu->source[row->detour]];

    for (size_t part = row->part; c->is_dropped != NULL && part < row->part_end; part++) {
        is_found = is_found || c->is_dropped[row->cpu->part_source[part]];
    }
    return is_found;
}

static iw_status cut_detour(struct cutter *c, const struct iwi_detour_row *row)
{
    const int64_t start_ns = row->cpu->start_ns[row->detour];
    const int64_t end_ns = start_ns + row->cpu->duration_ns[row->detour];
    const int64_t from_ns = c->opts->from_ns;

    if (end_ns < from_ns || start_ns >= c->opts->to_ns) {
        return IW_OK;
    }
    if (start_ns >= from_ns && end_ns <= c->opts->to_ns && !has_dropped_source(c, row)) {
        return iwi_detour_copy(&c->builder, row, -from_ns, c->map);
    }
    iwi_detour_open(&c->builder, iwi_max(start_ns, from_ns) - from_ns);
    IW_TRY(iwi_detour_pieces(row, take_piece, c));
    return iwi_detour_close(&c->builder);
}

static iw_status cut_samples(const struct cutter *c, const iw_detours *from, iw_detours *to)
{
    size_t first = 0, end;

    while (first < from->sample_count && from->sample_start_ns[first] < c->opts->from_ns) {
        first++;
    }
    for (end = first; end < from->sample_count && from->sample_start_ns[end] < c->opts->to_ns; end++) {
    }
    to->sample_start_ns = iwi_new_array(c->log, end - first, sizeof *to->sample_start_ns);
    to->sample = iwi_new_array(c->log, end - first, sizeof *to->sample);
    if (to->sample_start_ns == NULL || to->sample == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = first; i < end; i++) {
        to->sample_start_ns[i - first] = from->sample_start_ns[i] - c->opts->from_ns;
        to->sample[i - first] = from->sample[i];
    }
    to->sample_count = end - first;
    return IW_OK;
}

/* Detours that found no room lie behind the end of a CPU. */
static iw_status cut_cpu(struct cutter *c, const iw_detours *from, iw_detours *to)
{
    const int64_t end_ns = iwi_min(from->length_ns, c->opts->to_ns);

    to->cpu = from->cpu;
    to->length_ns = end_ns - c->opts->from_ns;
    to->t_min_ns = from->t_min_ns;
    to->threshold_ns = fmax(from->threshold_ns, (double)c->opts->at_least_ns);
    to->dropped = end_ns == from->length_ns ? from->dropped : 0;
    c->builder = (struct iwi_detour_builder){
        .log = c->log, .cpu = to, .total_ns = c->total_ns, .at_least_ns = c->opts->at_least_ns};
    for (struct iwi_detour_row row = iwi_detour_first(from); row.detour < from->count;
         iwi_detour_next(&row)) {
        const size_t count = to->count;

        IW_TRY(cut_detour(c, &row));
        c->kept_count += to->count > count;
    }
    return cut_samples(c, from, to);
}

/* ---- all of it ---- */

static iw_status check_opts(const struct cutter *c)
{
    const iw_cut_opts *opts = c->opts;

    if (opts->from_ns < 0 || opts->from_ns >= opts->to_ns) {
        return iwi_fail(c->log, IW_ERR_RANGE,
                        "nothing is left between %" PRId64 " ns and %" PRId64 " ns; write a later end",
                        opts->from_ns, opts->to_ns);
    }
    if (iw_probe_has_quanta(c->from->probe) &&
        (opts->keep_count > 0 || opts->drop_count > 0 || opts->at_least_ns > 0)) {
        return iwi_fail(
            c->log, IW_ERR_USAGE,
            "'%s' was recorded with %s, whose samples do not separate detours; cut it by time and CPU only",
            c->name, iw_probe_name(c->from->probe));
    }
    return iwi_recording_check(c->log, c->name, c->from, IW_ERR_RANGE);
}

static iw_status check_rest(const struct cutter *c, const iw_edit *before)
{
    char list[LIST_SIZE];
    iw_edit after = {0};

    iwi_edit_count(&after, c->cut);
    if (after.detour_count + after.sample_count > 0 || before->detour_count + before->sample_count == 0) {
        return IW_OK;
    }
    if (iw_probe_has_quanta(c->from->probe)) {
        return iwi_fail(c->log, IW_ERR_RANGE, "nothing is left: no sample of '%s' starts in that time",
                        c->name);
    }
    return iwi_fail(c->log, IW_ERR_RANGE,
                    "nothing is left of the %" PRIu64 " detours of '%s'; its sources are %s",
                    before->detour_count, c->name, iwi_list_sources(c->from, list, sizeof list));
}

static iw_status cut_all(struct cutter *c)
{
    iw_detours *to;

    IW_TRY(make_head(c));
    to = c->cut->cpus;
    for (size_t i = 0; i < c->from->cpu_count; i++) {
        if (c->is_taken[i]) {
            IW_TRY(cut_cpu(c, &c->from->cpus[i], to++));
        }
    }
    return IW_OK;
}

/* What was made goes to the caller, or away if there was a failure. */
static iw_status end(struct cutter *c, iw_status status, iw_recording **recording_p)
{
    free(c->map);
    free(c->total_ns);
    free(c->is_taken);
    if (status != IW_OK) {
        iw_recording_free(c->cut);
        return status;
    }
    *recording_p = c->cut;
    return IW_OK;
}

iw_status iw_recording_cut(const iw_log *log, const char *name, const iw_recording *recording,
                           const iw_cut_opts *given, iw_recording **recording_p, iw_edit *edit_p)
{
    iw_cut_opts known = IW_CUT_OPTS_INIT;
    const iw_cut_opts *opts = &known;
    struct cutter c = {.log = log, .name = name, .from = recording, .opts = opts};
    iw_edit before = {.kind = IW_EDIT_CUT};
    bool *is_dropped;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_CUT_OPTS_INIT", given, &known));
    IW_TRY(check_opts(&c));
    iwi_edit_count(&before, recording);
    IW_TRY(iwi_source_filter(log, name, recording, opts, &is_dropped));
    c.is_dropped = is_dropped;
    status = cut_all(&c);
    if (status == IW_OK) {
        status = check_rest(&c, &before);
    }
    free(is_dropped);
    IW_TRY(end(&c, status, recording_p));
    before.kept_count = c.kept_count;
    *edit_p = before;
    return IW_OK;
}

iw_status iwi_recording_drop(const iw_log *log, const iw_recording *recording, const bool *is_dropped,
                             iw_recording **recording_p)
{
    const iw_cut_opts opts = IW_CUT_OPTS_INIT;
    struct cutter c = {.log = log, .from = recording, .opts = &opts, .is_dropped = is_dropped};

    return end(&c, cut_all(&c), recording_p);
}

/* The part [from_ns, to_ns) of it, also if that holds no detour. */
static iw_status recording_cut_time(const iw_log *log, const char *name, const iw_recording *recording,
                                    int64_t from_ns, int64_t to_ns, iw_recording **recording_p)
{
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    struct cutter c = {.log = log, .name = name, .from = recording, .opts = &opts};

    opts.from_ns = from_ns;
    opts.to_ns = to_ns;
    IW_TRY(check_opts(&c));
    return end(&c, cut_all(&c), recording_p);
}

iw_status iw_recording_keep_cpus(const iw_log *log, const char *name, const iw_cpu_set *cpus,
                                 iw_recording **recording)
{
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    uint32_t *numbers;
    iw_recording *cut;
    iw_edit edit;
    iw_status status;

    if (cpus == NULL) {
        return IW_OK;
    }
    numbers = iwi_new_array(log, iw_cpu_set_count(cpus), sizeof *numbers);
    if (numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        if (iw_cpu_set_has(cpus, cpu)) {
            numbers[opts.cpu_count++] = cpu;
        }
    }
    opts.cpus = numbers;
    status = iw_recording_cut(log, name, *recording, &opts, &cut, &edit);
    free(numbers);
    IW_TRY(status);
    iw_recording_free(*recording);
    *recording = cut;
    return IW_OK;
}

/* Recordings of several nodes on one time: that of their wall clocks. */

/* ---- what a recording says ---- */

static bool read_number(const iw_recording *recording, const char *name, double *value_p)
{
    const char *text = iw_recording_get(recording, name);
    char *end;
    double value;

    if (text == NULL) {
        return false;
    }
    value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value)) {
        return false;
    }
    *value_p = value;
    return true;
}

/* A double has not enough digits for ns since 1970. */
static bool read_start(const iw_recording *recording, int64_t *start_ns_p)
{
    const char *text = iw_recording_get(recording, "start_wall_ns");
    char *end;
    long long value;

    if (text == NULL) {
        return false;
    }
    value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || value <= 0 || value > INT64_MAX / 2) {
        return false;
    }
    *start_ns_p = value;
    return true;
}

bool iwi_recording_wall(const iw_recording *recording, struct iwi_wall *wall_p)
{
    static const double MOST_DRIFT_PPB = 1e6; /* a kernel slews by 1,000 ppm at most */
    const char *synchronised = iw_recording_get(recording, "wall_synchronised");
    struct iwi_wall wall = {.error_ns = NAN};
    double ppb = 0.0;

    if (!read_start(recording, &wall.start_ns)) {
        return false;
    }
    if (read_number(recording, "wall_drift_ppb", &ppb) && fabs(ppb) <= MOST_DRIFT_PPB) {
        wall.drift = ppb * 1e-9;
    }
    (void)read_number(recording, "wall_error_ns", &wall.error_ns);
    wall.is_synchronised = synchronised != NULL && strcmp(synchronised, "yes") == 0;
    *wall_p = wall;
    return true;
}

/* What the wall clock gains on the recording's own in the first `ns` of it. */
static int64_t wall_gain_ns(const struct iwi_wall *wall, int64_t ns)
{
    return llround(wall->drift * (double)ns);
}

/* ---- the time that all watched ---- */

static iw_status find_window(const iw_log *log, const char *const *names, iw_recording *const *recordings,
                             size_t count, struct iwi_wall *walls, iw_wall_window *window)
{
    int64_t to_ns = INT64_MAX;
    size_t last = 0, first = 0;

    *window = (iw_wall_window){0};
    for (size_t i = 0; i < count; i++) {
        const int64_t length_ns = iwi_common_length_ns(recordings[i]);
        int64_t end_ns;

        if (!iwi_recording_wall(recordings[i], &walls[i])) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "'%s' has no wall-clock time (start_wall_ns), so it cannot be aligned with "
                            "others; record that node again, or remove the file",
                            names[i]);
        }
        end_ns = walls[i].start_ns + length_ns + wall_gain_ns(&walls[i], length_ns);
        last = walls[i].start_ns > window->from_wall_ns ? i : last;
        first = end_ns < to_ns ? i : first;
        window->from_wall_ns = iwi_max(window->from_wall_ns, walls[i].start_ns);
        to_ns = iwi_min(to_ns, end_ns);
        window->error_ns = fmax(window->error_ns, walls[i].error_ns);
        window->unsynchronised += !walls[i].is_synchronised;
    }
    if (to_ns <= window->from_wall_ns) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the recordings have no time in common: '%s' ended %.3g s before '%s' began; record "
                        "all nodes at the same time",
                        names[first], (double)(window->from_wall_ns - to_ns) * 1e-9, names[last]);
    }
    window->length_ns = to_ns - window->from_wall_ns;
    return IW_OK;
}

/* ---- cutting ---- */

/* Puts what happened where the wall clock has it. Durations stay as they are, and what touched still does:
 * the wall clock gains less than a thousandth of a detour in it. */
static void follow_wall(iw_detours *cpu, const struct iwi_wall *wall, int64_t length_ns)
{
    int64_t end_ns = 0;

    for (size_t i = 0; i < cpu->count; i++) {
        cpu->start_ns[i] = iwi_max(end_ns, cpu->start_ns[i] + wall_gain_ns(wall, cpu->start_ns[i]));
        end_ns = cpu->start_ns[i] + cpu->duration_ns[i];
    }
    for (size_t i = 0; i < cpu->sample_count; i++) {
        cpu->sample_start_ns[i] += wall_gain_ns(wall, cpu->sample_start_ns[i]);
    }
    cpu->length_ns = iwi_max(length_ns, end_ns);
}

static iw_status set_number(const iw_log *log, iw_recording *recording, const char *name, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, value);
    return iw_recording_set(log, recording, name, text);
}

/* Own time t at which the wall clock has gained so much: t + drift t = wall_ns. */
static int64_t own_ns(const struct iwi_wall *wall, int64_t wall_ns)
{
    return llround((double)wall_ns / (1.0 + wall->drift));
}

static iw_status cut_one(const iw_log *log, const char *name, const struct iwi_wall *wall,
                         const iw_wall_window *window, iw_recording **recording)
{
    const int64_t from_ns = own_ns(wall, window->from_wall_ns - wall->start_ns);
    const int64_t to_ns =
        iwi_min(from_ns + own_ns(wall, window->length_ns), iwi_common_length_ns(*recording));
    iw_recording *cut;

    IW_TRY(recording_cut_time(log, name, *recording, from_ns, to_ns, &cut));
    for (size_t i = 0; i < cut->cpu_count; i++) {
        follow_wall(&cut->cpus[i], wall, window->length_ns);
    }
    iw_recording_free(*recording);
    *recording = cut;
    IW_TRY(set_number(log, cut, "start_wall_ns", window->from_wall_ns));
    return set_number(log, cut, "wall_drift_ppb", 0); /* its times are those of the wall clock now */
}

iw_status iw_recordings_cut_to_wall(const iw_log *log, const char *const *names, iw_recording **recordings,
                                    size_t count, iw_wall_window *window_p)
{
    struct iwi_wall *walls = iwi_new_array(log, count, sizeof *walls);
    iw_wall_window window;
    iw_status status =
        walls != NULL ? find_window(log, names, recordings, count, walls, &window) : IW_ERR_NOMEM;

    for (size_t i = 0; i < count && status == IW_OK; i++) {
        status = cut_one(log, names[i], &walls[i], &window, &recordings[i]);
    }
    free(walls);
    if (status == IW_OK) {
        *window_p = window;
    }
    return status;
}
