/* The table of a job: events collected, checked, and laid out by step, worker and operation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/stragglers/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Transfers may begin before the last one had come, as clocks have it: by no more than this. */
#define CLOCK_ERROR_PS (10 * IW_PS_PER_MS)

static const struct {
    const char *name;
    bool computes;
} ops[IWI_PIPE_OPS] = {
    [IWI_PIPE_FORWARD] = {"forward-compute", true},
    [IWI_PIPE_BACKWARD] = {"backward-compute", true},
    [IWI_PIPE_FORWARD_SEND] = {"forward-send", false},
    [IWI_PIPE_BACKWARD_SEND] = {"backward-send", false},
    [IWI_PIPE_FORWARD_RECV] = {"forward-recv", false},
    [IWI_PIPE_BACKWARD_RECV] = {"backward-recv", false},
    [IWI_PIPE_GATHER] = {"params-all-gather", false},
    [IWI_PIPE_COLLECT] = {"gc", true},
    [IWI_PIPE_LAYERNORM] = {"layernorm-grads-all-reduce", false},
    [IWI_PIPE_EMBEDDING] = {"embedding-grads-all-reduce", false},
    [IWI_PIPE_SCATTER] = {"grads-reduce-scatter", false},
    [IWI_PIPE_CLIP] = {"optimizer-clip-main-grad", false},
    [IWI_PIPE_OPTIMIZER] = {"optimizer", true},
};

const char *iwi_pipe_op_name(unsigned op)
{
    return op < IWI_PIPE_OPS ? ops[op].name : NULL;
}

bool iwi_pipe_op_computes(unsigned op)
{
    return ops[op].computes;
}

bool iwi_pipe_has(const struct iw_straggler_job *job, unsigned op, uint32_t stage)
{
    const bool is_first = stage == 0, is_last = stage + 1 == job->stage_count;

    switch (op) {
    case IWI_PIPE_FORWARD_SEND:
    case IWI_PIPE_BACKWARD_RECV: return !is_last;
    case IWI_PIPE_FORWARD_RECV:
    case IWI_PIPE_BACKWARD_SEND: return !is_first;
    case IWI_PIPE_EMBEDDING: return is_first || is_last;
    default: return true;
    }
}

struct iw_straggler_job *iwi_pipe_new(const iw_log *log, const char *name)
{
    struct iw_straggler_job *job = iwi_new_array(log, 1, sizeof *job);

    if (job != NULL) {
        job->log = log;
        (void)snprintf(job->name, sizeof job->name, "%s", name);
    }
    return job;
}

void iw_straggler_job_free(struct iw_straggler_job *job)
{
    if (job == NULL) {
        return;
    }
    free(job->events);
    free(job->left_out);
    free(job->step_numbers);
    free(job->replica_numbers);
    free(job->ranks);
    free(job->lengths_ps);
    free(job->step_begins_ps);
    free(job->step_ends_ps);
    free(job->turns);
    free(job->leads);
    free(job);
}

/* ---- steps left out ---- */

struct iwi_pipe_span {
    uint32_t first, last;
    bool was_seen;
};

static bool read_number(const char **text_p, uint32_t *number_p)
{
    char *end;
    unsigned long long value;

    if (**text_p < '0' || **text_p > '9') {
        return false;
    }
    value = strtoull(*text_p, &end, 10);
    *text_p = end;
    *number_p = (uint32_t)value;
    return value <= UINT32_MAX;
}

static bool read_span(const char **text_p, struct iwi_pipe_span *span)
{
    *span = (struct iwi_pipe_span){0};
    if (!read_number(text_p, &span->first)) {
        return false;
    }
    span->last = span->first;
    if (**text_p == '-') {
        (*text_p)++;
        if (!read_number(text_p, &span->last) || span->last < span->first) {
            return false;
        }
    }
    return true;
}

iw_status iwi_pipe_leave_out(struct iw_straggler_job *job, const char *text)
{
    const char *at = text;

    do {
        struct iwi_pipe_span span;

        at += at != text; /* the comma */
        if (!read_span(&at, &span) || (*at != ',' && *at != '\0')) {
            return iwi_fail(job->log, IW_ERR_USAGE,
                            "steps to leave out: '%s' is no list of numbers, such as 31,32 or 0-15", text);
        }
        IW_TRY(iwi_grow(job->log, (void **)&job->left_out, &job->left_out_capacity, job->left_out_count + 1,
                        sizeof job->left_out[0]));
        job->left_out[job->left_out_count++] = span;
    } while (*at == ',');
    return IW_OK;
}

static bool is_left_out(struct iw_straggler_job *job, uint32_t step)
{
    bool is_out = false;

    for (size_t i = 0; i < job->left_out_count; i++) {
        if (step >= job->left_out[i].first && step <= job->left_out[i].last) {
            is_out = job->left_out[i].was_seen = true;
        }
    }
    return is_out;
}

iw_status iwi_pipe_add(struct iw_straggler_job *job, const struct iwi_pipe_event *event)
{
    if (is_left_out(job, event->step)) {
        return IW_OK;
    }
    if (event->length_ps < -CLOCK_ERROR_PS || event->length_ps > IW_TIME_INPUT_MAX) {
        return iwi_fail(job->log, IW_ERR_RANGE,
                        "'%s': step %" PRIu32 ", rank %" PRIu32 ": %s takes %" PRId64
                        " ps: less than -10 ms or more than ten days",
                        job->name, event->step, event->rank, iwi_pipe_op_name(event->op), event->length_ps);
    }
    IW_TRY(iwi_grow(job->log, (void **)&job->events, &job->event_capacity, job->event_count + 1,
                    sizeof job->events[0]));
    job->events[job->event_count++] = *event;
    job->longest_ps = iwi_max(job->longest_ps, event->length_ps);
    return IW_OK;
}

/* ---- the whole ---- */

static iw_status check_left_out(const struct iw_straggler_job *job)
{
    for (size_t i = 0; i < job->left_out_count; i++) {
        if (!job->left_out[i].was_seen) {
            return iwi_fail(job->log, IW_ERR_USAGE, "'%s' has no step %" PRIu32 " that could be left out",
                            job->name, job->left_out[i].first);
        }
    }
    return IW_OK;
}

iw_status iwi_pipe_finish(struct iw_straggler_job *job)
{
    iw_status status;

    IW_TRY(check_left_out(job));
    if (job->event_count == 0) {
        return iwi_fail(job->log, IW_ERR_FORMAT, "'%s' has no events of training, such as 'forward-compute'",
                        job->name);
    }
    status = iwi_pipe_lay_out(job);
    free(job->events);
    job->events = NULL;
    job->event_count = job->event_capacity = 0;
    return status;
}
