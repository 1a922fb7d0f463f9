/* A training job from its files: the timeline, and the sizes beside it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "features/explain/stragglers/pipeline.h"
#include "kit/files/io/input.h"
#include "kit/files/io/yaml_doc.h"

/* ---- the file of sizes: how many GPUs there were ---- */

struct sizes {
    uint32_t replicas, stages, chunks;
};

static iw_status check_size(const struct iwi_yaml_map *map, const char *key, uint32_t size, const char *what,
                            uint32_t there)
{
    return size == there
               ? IW_OK
               : iwi_yaml_fail(map->yaml, iwi_yaml_get(map, key)->line, IW_ERR_FORMAT,
                               "%s %" PRIu32 ", but the timeline has %" PRIu32 " %s", key, size, there, what);
}

static iw_status read_document(struct iwi_yaml *yaml, struct iw_straggler_job *job)
{
    static const struct iwi_yaml_row size_rows[] = {
        IWI_YAML_ROW(struct sizes, "dp_size", replicas, iwi_yaml_count, .least = 1),
        IWI_YAML_ROW(struct sizes, "pp_size", stages, iwi_yaml_count, .least = 1),
        IWI_YAML_ROW(struct sizes, "vpp_size", chunks, iwi_yaml_count, .least = 1),
        {.key = "trial_name"},
        {.key = "run_id"},
        {.key = "dsp_size"},
        {.key = "tp_size"},
        {.key = "world_size", .size = sizeof job->gpus, .least = 1},
    };
    struct sizes sizes = {1, 1, 1};
    const struct iwi_yaml_value *name, *gpus;
    struct iwi_yaml_map map;
    const char *text;

    IW_TRY(iwi_yaml_find(yaml, iwi_yaml_root(yaml), IWI_YAML_ROWS(size_rows), &map));
    IW_TRY(iwi_yaml_read(&map, &sizes));
    IW_TRY(check_size(&map, "dp_size", sizes.replicas, "replicas", job->replica_count));
    IW_TRY(check_size(&map, "pp_size", sizes.stages, "stages", job->stage_count));
    IW_TRY(check_size(&map, "vpp_size", sizes.chunks, "chunk of a stage", 1));
    gpus = iwi_yaml_get(&map, "world_size");
    if (gpus != NULL) {
        IW_TRY(iwi_yaml_count(gpus, &job->gpus));
    }
    name = iwi_yaml_get(&map, "trial_name");
    if (name != NULL) {
        IW_TRY(iwi_yaml_string(name, &text));
        (void)snprintf(job->name, sizeof job->name, "%s", text);
    }
    return IW_OK;
}

iw_status iwi_straggler_read_meta(struct iw_straggler_job *job, const char *file, const char *data,
                                  size_t size)
{
    struct iwi_yaml yaml;
    iw_status status = iwi_yaml_open(job->log, file, data, size, "dp_size: 4", &yaml);

    if (status == IW_OK) {
        status = read_document(&yaml, job);
        iwi_yaml_close(&yaml);
    }
    return status;
}

/* ---- a job from its files ---- */

static iw_status read_timeline(struct iw_straggler_job *job, const char *path)
{
#if IW_HAVE_YAJL
    return iwi_straggler_read_events(job, path);
#else
    return iwi_fail(job->log, IW_ERR_UNSUPPORTED,
                    "'%s' is a JSON trace, which this idlewave cannot read: rebuild it with libyajl-dev",
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
