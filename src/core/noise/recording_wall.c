/* Recordings of several nodes on one time: that of their wall clocks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/recording_wall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/noise/recording_cut.h"
#include "core/noise/recording_head.h"

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

int64_t iwi_wall_gain_ns(const struct iwi_wall *wall, int64_t ns)
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
                            "'%s' does not say when it was made by the wall clock (start_wall_ns), so it "
                            "cannot be aligned with others: record that node again, or take it out",
                            names[i]);
        }
        end_ns = walls[i].start_ns + length_ns + iwi_wall_gain_ns(&walls[i], length_ns);
        last = walls[i].start_ns > window->from_wall_ns ? i : last;
        first = end_ns < to_ns ? i : first;
        window->from_wall_ns = iwi_max(window->from_wall_ns, walls[i].start_ns);
        to_ns = iwi_min(to_ns, end_ns);
        window->error_ns = fmax(window->error_ns, walls[i].error_ns);
        window->unsynchronised += !walls[i].is_synchronised;
    }
    if (to_ns <= window->from_wall_ns) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the recordings have no time in common: '%s' ended %.3g s before '%s' began. Record "
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
        cpu->start_ns[i] = iwi_max(end_ns, cpu->start_ns[i] + iwi_wall_gain_ns(wall, cpu->start_ns[i]));
        end_ns = cpu->start_ns[i] + cpu->duration_ns[i];
    }
    for (size_t i = 0; i < cpu->sample_count; i++) {
        cpu->sample_start_ns[i] += iwi_wall_gain_ns(wall, cpu->sample_start_ns[i]);
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

    IW_TRY(iwi_recording_cut_time(log, name, *recording, from_ns, to_ns, &cut));
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
