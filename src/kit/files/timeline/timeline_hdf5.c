/* Timelines in HDF5 files (docs/reference/formats/timeline.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/files/recording/noise_hdf5.h"
#include "kit/files/recording/noise_hdf5_layout.h"
#include "kit/timeline/timeline.h"

#define TIMELINE_FORMAT "idlewave.timeline/1"

enum { TIMELINE_PATH_BYTES = 64 };

/* ---- reading; nothing in files is trusted ---- */

static const struct iwi_h5_words timeline_words = {
    .format = TIMELINE_FORMAT,
    .kind = "timeline",
    .not_hdf5 = "timeline: make one with 'idlewave simulate'",
};

/* Sums of numbers of steps do not overflow below it. */
#define MOST_STEPS (UINT64_C(1) << 62)

static iw_status bad(const struct iwi_h5 *h5, const char *what)
{
    return iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': %s", h5->path, what);
}

static iw_status read_column(struct iwi_h5 *h5, const char *where, enum iwi_h5_kind kind, uint64_t count,
                             void **array_p, uint64_t *count_p)
{
    return iwi_h5_read_dataset(h5, where, iwi_h5_file_type(kind), iwi_h5_memory_type(kind),
                               iwi_h5_kinds[kind].name, count, array_p, count_p);
}

static iw_status read_u32(const struct iwi_h5 *h5, const char *where, const char *name, uint32_t *value_p)
{
    return iwi_h5_read_numbers(h5, where, name, IWI_H5_U32, 1, value_p);
}

/* ---- what is known of the run ---- */

static iw_status read_short_text(struct iwi_h5 *h5, const char *name, char *text, size_t size)
{
    char *read;

    IW_TRY(iwi_h5_read_text(h5, "/", name, &read));
    if (strlen(read) >= size) {
        free(read);
        return bad(h5, "'origin', 'title' or 'net' is too long");
    }
    memcpy(text, read, strlen(read) + 1);
    free(read);
    return IW_OK;
}

/* Files of idlewave 0.2 do not have it. */
static iw_status read_net(struct iwi_h5 *h5, iw_timeline_about *about)
{
    about->net[0] = '\0';
    return H5Aexists_by_name(h5->file, "/", "net", H5P_DEFAULT) > 0
               ? read_short_text(h5, "net", about->net, sizeof about->net)
               : IW_OK;
}

/* Files of idlewave 0.1 do not have it. */
static iw_status read_noiseless(const struct iwi_h5 *h5, iw_time *noiseless_ps_p)
{
    *noiseless_ps_p = 0;
    if (H5Aexists_by_name(h5->file, "/", "noiseless_ps", H5P_DEFAULT) == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_h5_read_numbers(h5, "/", "noiseless_ps", IWI_H5_I64, 1, noiseless_ps_p));
    if (*noiseless_ps_p < 0) {
        return bad(h5, "it would end before it begins without noise");
    }
    return IW_OK;
}

static iw_status read_about(struct iwi_h5 *h5, iw_timeline *timeline)
{
    iw_timeline_about *about = &timeline->about;
    uint32_t is_periodic;

    IW_TRY(read_short_text(h5, "origin", about->origin, sizeof about->origin));
    IW_TRY(read_short_text(h5, "title", about->title, sizeof about->title));
    IW_TRY(read_net(h5, about));
    IW_TRY(read_u32(h5, "/", "ranks", &about->ranks));
    IW_TRY(iwi_h5_read_numbers(h5, "/", "dims", IWI_H5_U32, IW_TIMELINE_DIMS, about->dims));
    IW_TRY(read_u32(h5, "/", "is_periodic", &is_periodic));
    IW_TRY(read_u32(h5, "/", "distance", &about->distance));
    IW_TRY(read_u32(h5, "/", "sigma", &about->sigma));
    IW_TRY(read_noiseless(h5, &about->noiseless_ps));
    IW_TRY(iwi_h5_read_numbers(h5, "/", "end_ps", IWI_H5_I64, 1, &timeline->end_ps));
    IW_TRY(iwi_h5_read_numbers(h5, "/", "steps", IWI_H5_U64, 1, &timeline->step_count));
    about->is_periodic = is_periodic != 0;
    if (about->ranks == 0 || timeline->end_ps < 0) {
        return bad(h5, "it has no ranks, or ends before it begins");
    }
    if (timeline->end_ps > IWI_TIMELINE_MOST_END_PS || timeline->step_count > MOST_STEPS) {
        return bad(h5, "it is longer than 40 hours, or has more steps than can be counted");
    }
    iwi_about_set_grid(about);
    return IW_OK;
}

/* ---- the exact window ---- */

static iw_status check_starts(const struct iwi_h5 *h5, struct iwi_exact *exact)
{
    if (exact->starts[0] != 0) {
        return bad(h5, "/exact/start does not begin with 0");
    }
    for (uint32_t i = 0; i < exact->rank_count; i++) {
        if (exact->starts[i + 1] < exact->starts[i]) {
            return bad(h5, "/exact/start does not ascend");
        }
    }
    exact->step_count = exact->starts[exact->rank_count];
    return IW_OK;
}

/* Numbers of steps go on from the first one of the rank; a run has no more than all steps. */
static iw_status check_first_steps(const struct iwi_h5 *h5, const struct iwi_exact *exact, uint64_t steps)
{
    for (uint32_t i = 0; i < exact->rank_count; i++) {
        if (exact->first_steps[i] > steps - (exact->starts[i + 1] - exact->starts[i])) {
            return bad(h5, "/exact/first_step has a number beyond the steps of the run");
        }
    }
    return IW_OK;
}

static iw_status read_times(struct iwi_h5 *h5, struct iwi_exact *exact, int state)
{
    char where[TIMELINE_PATH_BYTES];
    uint64_t count;
    void *array;
    iw_time *times;

    snprintf(where, sizeof where, "/exact/%s_ps",
             state == IW_STATES ? "begin" : iw_state_name((iw_state)state));
    IW_TRY(read_column(h5, where, IWI_H5_I64, exact->step_count, &array, &count));
    times = array;
    for (uint64_t i = 0; i < count; i++) {
        *(state == IW_STATES ? &exact->steps[i].begin_ps : &exact->steps[i].state_ps[state]) = times[i];
    }
    free(array);
    return IW_OK;
}

/* Sums of their times must not overflow, and steps of a rank must follow each other. */
static iw_status check_steps(const struct iwi_h5 *h5, const struct iwi_exact *exact, iw_time end_ps)
{
    for (uint32_t rank = 0; rank < exact->rank_count; rank++) {
        iw_time last_ps = 0;

        for (uint64_t i = exact->starts[rank]; i < exact->starts[rank + 1]; i++) {
            const iw_step *step = &exact->steps[i];
            iw_time at_ps = step->begin_ps;

            if (at_ps < last_ps || at_ps > end_ps) {
                return bad(h5, "a step in /exact begins before the one before it ends, or after the run");
            }
            for (int state = 0; state < IW_STATES; state++) {
                if (step->state_ps[state] < 0 || step->state_ps[state] > end_ps - at_ps) {
                    return bad(h5, "a time in /exact is negative or goes beyond the end of the run");
                }
                at_ps += step->state_ps[state];
            }
            last_ps = at_ps;
        }
    }
    return IW_OK;
}

static iw_status read_window(struct iwi_h5 *h5, const iw_timeline_about *about, struct iwi_exact *exact)
{
    uint64_t ranks;
    void *array;

    IW_TRY(iwi_h5_require(h5, "/exact"));
    IW_TRY(read_u32(h5, "/exact", "first_rank", &exact->first_rank));
    IW_TRY(read_column(h5, "/exact/first_step", IWI_H5_U64, UINT64_MAX, &array, &ranks));
    exact->first_steps = array;
    if (exact->first_rank >= about->ranks || ranks > about->ranks) {
        return bad(h5, "the window in /exact has more ranks than the run");
    }
    exact->rank_count = (uint32_t)ranks;
    IW_TRY(read_column(h5, "/exact/start", IWI_H5_U64, ranks + 1, &array, &ranks));
    exact->starts = array;
    return check_starts(h5, exact);
}

static iw_status read_exact(struct iwi_h5 *h5, iw_timeline *timeline)
{
    struct iwi_exact *exact = &timeline->exact;

    IW_TRY(read_window(h5, &timeline->about, exact));
    if (exact->step_count > timeline->step_count ||
        exact->step_count > h5->budget_bytes / (IW_STATES * sizeof(iw_time))) {
        return bad(h5, "/exact claims more steps than the run has or a file of this size can hold");
    }
    IW_TRY(check_first_steps(h5, exact, timeline->step_count));
    exact->steps = iwi_new_array(h5->log, exact->step_count, sizeof *exact->steps);
    if (exact->steps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (int state = 0; state <= IW_STATES; state++) {
        IW_TRY(read_times(h5, exact, state));
    }
    return check_steps(h5, exact, timeline->end_ps);
}

/* ---- the raster ---- */

static iw_status read_plane(struct iwi_h5 *h5, const char *channel, int state, const struct iwi_level *level,
                            uint16_t **plane_p)
{
    char where[TIMELINE_PATH_BYTES];
    uint64_t count;
    void *array;

    snprintf(where, sizeof where, "/raster/0/%s_%s", channel, iw_state_name((iw_state)state));
    IW_TRY(read_column(h5, where, IWI_H5_U16, (uint64_t)level->rows * level->columns, &array, &count));
    *plane_p = array;
    return IW_OK;
}

static bool is_possible(const struct iwi_level *level, uint32_t ranks)
{
    return level->rows > 0 && level->rows <= IWI_TIMELINE_MOST_SIDE && level->columns > 0 &&
           level->columns <= IWI_TIMELINE_MOST_SIDE && level->ranks_per_row > 0 &&
           (ranks - 1) / level->ranks_per_row + 1 == level->rows && level->bin_ps > 0 &&
           level->bin_ps <= iwi_level_most_bin(level->columns);
}

/* The finest level only: the others follow from it. */
static iw_status read_raster(struct iwi_h5 *h5, iw_timeline *timeline)
{
    struct iwi_level *level = &timeline->levels[0];

    IW_TRY(iwi_h5_require(h5, "/raster/0"));
    IW_TRY(read_u32(h5, "/raster/0", "rows", &level->rows));
    IW_TRY(read_u32(h5, "/raster/0", "columns", &level->columns));
    IW_TRY(read_u32(h5, "/raster/0", "ranks_per_row", &level->ranks_per_row));
    IW_TRY(iwi_h5_read_numbers(h5, "/raster/0", "bin_ps", IWI_H5_I64, 1, &level->bin_ps));
    if (!is_possible(level, timeline->about.ranks)) {
        return bad(h5, "the shape of /raster/0 does not fit the run");
    }
    timeline->level_count = 1;
    for (int state = 0; state < IW_STATES; state++) {
        IW_TRY(read_plane(h5, "mean", state, level, &level->mean[state]));
        IW_TRY(read_plane(h5, "max", state, level, &level->max[state]));
    }
    return iwi_levels_make(h5->log, timeline);
}

/* ---- the file ---- */

static iw_status read_parts(struct iwi_h5 *h5, void *arg)
{
    iw_timeline *timeline = arg;

    IW_TRY(read_about(h5, timeline));
    IW_TRY(read_exact(h5, timeline));
    return read_raster(h5, timeline);
}

iw_status iw_timeline_read(const iw_log *log, const char *path, iw_timeline **timeline_p)
{
    iw_timeline *timeline = iwi_new_array(log, 1, sizeof *timeline);
    iw_status status;

    if (timeline == NULL) {
        return IW_ERR_NOMEM;
    }
    H5E_BEGIN_TRY
    {
        status = iwi_h5_read_file(log, path, &timeline_words, read_parts, timeline);
    }
    H5E_END_TRY;
    if (status != IW_OK) {
        iw_timeline_free(timeline);
        return status;
    }
    *timeline_p = timeline;
    return IW_OK;
}

static iw_status read_nothing(struct iwi_h5 *h5, void *arg)
{
    (void)h5;
    (void)arg;
    return IW_OK;
}

bool iw_timeline_is_file(const char *path)
{
    iw_status status;

    if (!iwi_noise_hdf5_matches(path)) {
        return false;
    }
    H5E_BEGIN_TRY
    {
        status = iwi_h5_read_file(NULL, path, &timeline_words, read_nothing, NULL);
    }
    H5E_END_TRY;
    return status == IW_OK;
}

/* ---- datasets ---- */

static iw_status write_column(const struct iwi_h5 *h5, const char *where, enum iwi_h5_kind kind,
                              uint64_t count, const void *values)
{
    const hsize_t size = count, chunk = count == 0                      ? 1
                                        : count < IWI_H5_MOST_OWN_CHUNK ? count
                                                                        : IWI_H5_MOST_OWN_CHUNK;
    iw_status status = IW_OK;
    hid_t dataset;

    IW_TRY(iwi_h5_create_dataset(h5, where, iwi_h5_file_type(kind), chunk));
    dataset = H5Dopen2(h5->file, where, H5P_DEFAULT);
    if (dataset < 0 || H5Dset_extent(dataset, &size) < 0 ||
        (count > 0 &&
         H5Dwrite(dataset, iwi_h5_memory_type(kind), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)) {
        status = iwi_h5_fail(h5, IW_ERR_IO, "cannot write %s", where);
    }
    if (dataset >= 0 && H5Dclose(dataset) < 0 && status == IW_OK) {
        status = iwi_h5_fail(h5, IW_ERR_IO, "cannot write %s", where);
    }
    return status;
}

/* ---- the exact window ---- */

/* Begins for state IW_STATES, else times in that state. */
static void copy_times(const struct iwi_exact *exact, int state, iw_time *times)
{
    for (uint64_t i = 0; i < exact->step_count; i++) {
        times[i] = state == IW_STATES ? exact->steps[i].begin_ps : exact->steps[i].state_ps[state];
    }
}

static iw_status write_times(const struct iwi_h5 *h5, const struct iwi_exact *exact, iw_time *times)
{
    char where[TIMELINE_PATH_BYTES];

    for (int state = 0; state <= IW_STATES; state++) {
        copy_times(exact, state, times);
        snprintf(where, sizeof where, "/exact/%s_ps",
                 state == IW_STATES ? "begin" : iw_state_name((iw_state)state));
        IW_TRY(write_column(h5, where, IWI_H5_I64, exact->step_count, times));
    }
    return IW_OK;
}

static iw_status write_exact(const struct iwi_h5 *h5, const struct iwi_exact *exact)
{
    iw_time *times;
    iw_status status;

    IW_TRY(iwi_h5_create_group(h5, "/exact"));
    IW_TRY(iwi_h5_create_numbers(h5, "/exact", "first_rank", IWI_H5_U32, 1, &exact->first_rank));
    IW_TRY(write_column(h5, "/exact/first_step", IWI_H5_U64, exact->rank_count, exact->first_steps));
    IW_TRY(write_column(h5, "/exact/start", IWI_H5_U64, (uint64_t)exact->rank_count + 1, exact->starts));
    times = iwi_new_array(h5->log, exact->step_count, sizeof *times);
    if (times == NULL) {
        return IW_ERR_NOMEM;
    }
    status = write_times(h5, exact, times);
    free(times);
    return status;
}

/* ---- the raster ---- */

static iw_status write_plane(const struct iwi_h5 *h5, size_t number, const char *channel, int state,
                             const struct iwi_level *level, const uint16_t *plane)
{
    char where[TIMELINE_PATH_BYTES];

    snprintf(where, sizeof where, "/raster/%zu/%s_%s", number, channel, iw_state_name((iw_state)state));
    return write_column(h5, where, IWI_H5_U16, (uint64_t)level->rows * level->columns, plane);
}

static iw_status write_level(const struct iwi_h5 *h5, size_t number, const struct iwi_level *level)
{
    char where[TIMELINE_PATH_BYTES];

    snprintf(where, sizeof where, "/raster/%zu", number);
    IW_TRY(iwi_h5_create_group(h5, where));
    IW_TRY(iwi_h5_create_numbers(h5, where, "rows", IWI_H5_U32, 1, &level->rows));
    IW_TRY(iwi_h5_create_numbers(h5, where, "columns", IWI_H5_U32, 1, &level->columns));
    IW_TRY(iwi_h5_create_numbers(h5, where, "ranks_per_row", IWI_H5_U32, 1, &level->ranks_per_row));
    IW_TRY(iwi_h5_create_numbers(h5, where, "bin_ps", IWI_H5_I64, 1, &level->bin_ps));
    for (int state = 0; state < IW_STATES; state++) {
        IW_TRY(write_plane(h5, number, "mean", state, level, level->mean[state]));
        IW_TRY(write_plane(h5, number, "max", state, level, level->max[state]));
    }
    return IW_OK;
}

/* ---- the file ---- */

static iw_status write_about(const struct iwi_h5 *h5, const iw_timeline *timeline)
{
    const iw_timeline_about *about = &timeline->about;
    const uint32_t is_periodic = about->is_periodic;

    IW_TRY(iwi_h5_create_text(h5, "/", "format", TIMELINE_FORMAT));
    IW_TRY(iwi_h5_create_text(h5, "/", "origin", about->origin));
    IW_TRY(iwi_h5_create_text(h5, "/", "title", about->title));
    IW_TRY(iwi_h5_create_text(h5, "/", "net", about->net));
    IW_TRY(iwi_h5_create_numbers(h5, "/", "ranks", IWI_H5_U32, 1, &about->ranks));
    IW_TRY(iwi_h5_create_numbers(h5, "/", "dims", IWI_H5_U32, IW_TIMELINE_DIMS, about->dims));
    IW_TRY(iwi_h5_create_numbers(h5, "/", "is_periodic", IWI_H5_U32, 1, &is_periodic));
    IW_TRY(iwi_h5_create_numbers(h5, "/", "distance", IWI_H5_U32, 1, &about->distance));
    IW_TRY(iwi_h5_create_numbers(h5, "/", "sigma", IWI_H5_U32, 1, &about->sigma));
    IW_TRY(iwi_h5_create_numbers(h5, "/", "noiseless_ps", IWI_H5_I64, 1, &about->noiseless_ps));
    IW_TRY(iwi_h5_create_numbers(h5, "/", "end_ps", IWI_H5_I64, 1, &timeline->end_ps));
    return iwi_h5_create_numbers(h5, "/", "steps", IWI_H5_U64, 1, &timeline->step_count);
}

static iw_status write_content(struct iwi_h5 *h5, const char *name, const iw_timeline *timeline,
                               struct iwi_h5_image *image)
{
    IW_TRY(iwi_h5_new_file(h5, name, image));
    IW_TRY(write_about(h5, timeline));
    IW_TRY(write_exact(h5, &timeline->exact));
    IW_TRY(iwi_h5_create_group(h5, "/raster"));
    for (size_t i = 0; i < timeline->level_count; i++) {
        IW_TRY(write_level(h5, i, &timeline->levels[i]));
    }
    return IW_OK;
}

static iw_status write_file(const iw_log *log, const iw_timeline *timeline, const char *path)
{
    struct iwi_h5 h5 = {.log = log, .path = path, .file = IWI_H5_NO_ID};
    struct iwi_h5_image image = {NULL};
    struct iwi_output output;
    iw_status status;

    IW_TRY(iwi_output_open(log, path, IWI_OUTPUT_REGULAR, &output));
    status = write_content(&h5, output.temporary, timeline, &image);
    if (h5.file >= 0 && H5Fclose(h5.file) < 0 && status == IW_OK) {
        status = iwi_h5_fail(&h5, IW_ERR_IO, "cannot write");
    }
    status = status == IW_OK ? iwi_h5_write_image(&h5, &image, &output) : status;
    iwi_output_release(&output);
    free(image.bytes);
    return status;
}

iw_status iw_timeline_write(const iw_log *log, const iw_timeline *timeline, const char *path)
{
    iw_status status;

    if (timeline->level_count == 0) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s': the timeline is not finished", path);
    }
    H5E_BEGIN_TRY
    {
        status = write_file(log, timeline, path);
    }
    H5E_END_TRY;
    return status;
}
