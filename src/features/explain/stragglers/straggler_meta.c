/* The file of sizes that comes with a timeline of training: how many GPUs there were.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>

#include "features/explain/stragglers/straggler_events.h"
#include "kit/files/io/yaml_doc.h"

enum { TRIAL_NAME, RUN_ID, DP_SIZE, DSP_SIZE, PP_SIZE, TP_SIZE, VPP_SIZE, WORLD_SIZE, KEYS };

static const struct iwi_yaml_key keys[KEYS] = {
    [TRIAL_NAME] = {"trial_name", NULL}, [RUN_ID] = {"run_id", NULL},         [DP_SIZE] = {"dp_size", NULL},
    [DSP_SIZE] = {"dsp_size", NULL},     [PP_SIZE] = {"pp_size", NULL},       [TP_SIZE] = {"tp_size", NULL},
    [VPP_SIZE] = {"vpp_size", NULL},     [WORLD_SIZE] = {"world_size", NULL},
};

/* 1 if it is not there. */
static iw_status read_size(struct iwi_yaml *yaml, const struct iwi_yaml_entry *entries, unsigned key,
                           uint32_t *size_p)
{
    const char *text;
    char *end;
    unsigned long value;

    *size_p = 1;
    if (entries[key].value == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_yaml_text(yaml, entries[key].value, keys[key].name, &text));
    value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value < 1 || value > UINT32_MAX) {
        return iwi_yaml_fail(yaml, entries[key].line, IW_ERR_FORMAT, "key '%s': '%.40s' is no size",
                             keys[key].name, text);
    }
    *size_p = (uint32_t)value;
    return IW_OK;
}

static iw_status check_size(struct iwi_yaml *yaml, const struct iwi_yaml_entry *entries, unsigned key,
                            const char *what, uint32_t there)
{
    uint32_t size;

    IW_TRY(read_size(yaml, entries, key, &size));
    return size == there ? IW_OK
                         : iwi_yaml_fail(yaml, entries[key].line, IW_ERR_FORMAT,
                                         "%s %" PRIu32 ", but the timeline has %" PRIu32 " %s",
                                         keys[key].name, size, there, what);
}

static iw_status read_document(struct iwi_yaml *yaml, struct iw_straggler_job *job)
{
    struct iwi_yaml_entry entries[KEYS];
    const char *name = NULL;

    IW_TRY(iwi_yaml_mapping(yaml, iwi_yaml_root(yaml), keys, KEYS, entries));
    IW_TRY(check_size(yaml, entries, DP_SIZE, "replicas", job->replica_count));
    IW_TRY(check_size(yaml, entries, PP_SIZE, "stages", job->stage_count));
    IW_TRY(check_size(yaml, entries, VPP_SIZE, "chunk of a stage", 1));
    if (entries[WORLD_SIZE].value != NULL) {
        IW_TRY(read_size(yaml, entries, WORLD_SIZE, &job->gpus));
    }
    if (entries[TRIAL_NAME].value != NULL) {
        IW_TRY(iwi_yaml_text(yaml, entries[TRIAL_NAME].value, "trial_name", &name));
        (void)snprintf(job->name, sizeof job->name, "%s", name);
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
