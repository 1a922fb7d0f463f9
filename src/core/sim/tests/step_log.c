/* Keeps the steps of a run, to be compared.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "step_log.h"

#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "support/support.h"

static void keep(void *arg, uint32_t rank, const iw_step *step)
{
    struct iwt_step_log *log = arg;

    if (log->count == log->capacity) {
        log->capacity = 2 * log->capacity + 64;
        log->steps = realloc(log->steps, log->capacity * sizeof *log->steps);
        assert_non_null(log->steps);
    }
    log->steps[log->count++] = (struct iwt_logged_step){rank, *step};
}

void iwt_step_log_release(struct iwt_step_log *log)
{
    free(log->steps);
    *log = (struct iwt_step_log){.count = 0};
}

/* Steps of one rank come in their order: a stable sort by rank keeps it. */
static void sort_by_rank(struct iwt_step_log *log, uint32_t ranks)
{
    struct iwt_logged_step *sorted = calloc(log->count + 1, sizeof *sorted);
    size_t *next = calloc((size_t)ranks + 1, sizeof *next);

    assert_non_null(sorted);
    assert_non_null(next);
    for (size_t i = 0; i < log->count; i++) {
        assert_true(log->steps[i].rank < ranks);
        next[log->steps[i].rank + 1]++;
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        next[rank + 1] += next[rank];
    }
    for (size_t i = 0; i < log->count; i++) {
        sorted[next[log->steps[i].rank]++] = log->steps[i];
    }
    free(next);
    free(log->steps);
    log->steps = sorted;
    log->capacity = log->count + 1;
}

static void check_sums(const struct iwt_step_log *log, const iw_sim_result *result)
{
    size_t i = 0;

    for (uint32_t rank = 0; rank < result->ranks; rank++) {
        iw_time at = 0;

        for (; i < log->count && log->steps[i].rank == rank; i++) {
            assert_int_equal(log->steps[i].step.begin_ps, at);
            for (int state = 0; state < IW_STATES; state++) {
                assert_true(log->steps[i].step.state_ps[state] >= 0);
            }
            at = iw_step_end(&log->steps[i].step);
        }
        assert_int_equal(at, result->end_ps[rank]);
    }
}

iw_sim_result *iwt_run_steps(const iw_program *program, const iw_net *net, const iw_noise *noise,
                             const iw_sim_opts *opts, struct iwt_step_log *log)
{
    iw_sim_opts telling = *opts;
    iw_sim_result *result;

    telling.steps = (iw_step_sink){keep, log};
    result = iwt_run(program, net, noise, &telling);
    sort_by_rank(log, result->ranks);
    check_sums(log, result);
    return result;
}

void iwt_assert_same_steps(const struct iwt_step_log *a, const struct iwt_step_log *b, const char *what,
                           uint64_t seed)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct iwt_logged_step *x = &a->steps[i], *y = &b->steps[i];

        if (x->rank != y->rank || x->step.begin_ps != y->step.begin_ps ||
            memcmp(x->step.state_ps, y->step.state_ps, sizeof x->step.state_ps) != 0) {
            fail_msg("%s %llu: step %zu of all, of ranks %u and %u, begins at %lld and %lld ps, waits %lld "
                     "and %lld ps",
                     what, (unsigned long long)seed, i, x->rank, y->rank, (long long)x->step.begin_ps,
                     (long long)y->step.begin_ps, (long long)x->step.state_ps[IW_STATE_WAIT],
                     (long long)y->step.state_ps[IW_STATE_WAIT]);
        }
    }
}
