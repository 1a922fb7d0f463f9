/* A training job from its files: the timeline, and the sizes beside it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/stragglers/straggler_events.h"
#include "kit/files/io/input.h"
#include "kit/files/io/yaml_doc.h"

static iw_status read_timeline(struct iw_straggler_job *job, const char *path)
{
#if IW_HAVE_YAJL
    return iwi_straggler_read_events(job, path);
#else
    return iwi_fail(job->log, IW_ERR_UNSUPPORTED,
                    "'%s': this idlewave was built without yajl (libyajl-dev) and cannot read JSON traces",
                    path);
#endif
}

static iw_status read_meta(struct iw_straggler_job *job, const char *path)
{
    struct iwi_input input;
    iw_status status;

    IW_TRY(iwi_input_open(job->log, path, &input));
    status = iwi_straggler_read_meta(job, path, input.data, input.size);
    iwi_input_close(&input);
    return status;
}

static iw_status fill(struct iw_straggler_job *job, const char *path, const char *meta, const char *left_out)
{
    if (left_out != NULL) {
        IW_TRY(iwi_pipe_leave_out(job, left_out));
    }
    IW_TRY(read_timeline(job, path));
    IW_TRY(iwi_pipe_finish(job));
    return meta != NULL ? read_meta(job, meta) : IW_OK;
}

iw_status iw_straggler_load(const iw_log *log, const char *path, const char *meta, const char *left_out,
                            iw_straggler_job **job_p)
{
    char name[IW_STRAGGLER_NAME_SIZE];
    struct iw_straggler_job *job;
    iw_status status;

    iwi_name_of_path(path, name, sizeof name);
    job = iwi_pipe_new(log, name);
    status = job != NULL ? fill(job, path, meta, left_out) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        *job_p = job;
    } else {
        iw_straggler_job_free(job);
    }
    return status;
}
