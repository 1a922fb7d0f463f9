/* Writes timelines as HDF5 files (docs/reference/formats/timeline.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>

#include <stdio.h>
#include <stdlib.h>

#include "kit/files/recording/noise_hdf5_create.h"
#include "kit/files/timeline/timeline_hdf5.h"
#include "kit/timeline/timeline.h"

/* ---- datasets ---- */

static iw_status write_column(const struct iwi_h5 *h5, const char *where, enum iwi_h5_kind kind,
                              uint64_t count, const void *values)
{
    const hsize_t size = count, chunk = count == 0                     ? 1
                                        : count < IWI_H5_MAX_OWN_CHUNK ? count
                                                                       : IWI_H5_MAX_OWN_CHUNK;
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
    char where[IWI_TIMELINE_PATH_BYTES];

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
    char where[IWI_TIMELINE_PATH_BYTES];

    snprintf(where, sizeof where, "/raster/%zu/%s_%s", number, channel, iw_state_name((iw_state)state));
    return write_column(h5, where, IWI_H5_U16, (uint64_t)level->rows * level->columns, plane);
}

static iw_status write_level(const struct iwi_h5 *h5, size_t number, const struct iwi_level *level)
{
    char where[IWI_TIMELINE_PATH_BYTES];

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

    IW_TRY(iwi_h5_create_text(h5, "/", "format", IWI_TIMELINE_FORMAT));
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
