/* Chooses the engine and brings the program into the form it needs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/engine.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/base/base.h"
#include "core/net/cost.h"
#include "core/net/memory.h"
#include "core/sim/check.h"
#include "core/sim/plan.h"

/* Arrays over ranks: on huge pages where they are large. */

enum { HUGE_PAGE = 2 << 20 };

/* Large arrays get huge pages where the kernel gives them: streaming over them is what the flow engine does.
 */
void *iwi_rank_array_new(const iw_log *log, size_t count, size_t element_size)
{
    const size_t bytes = count * element_size;
    void *memory;

    if (bytes < 4 * (size_t)HUGE_PAGE || count > SIZE_MAX / element_size) {
        return iwi_new_array(log, count, element_size);
    }
    memory = aligned_alloc(HUGE_PAGE, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (memory == NULL) {
        (void)iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu bytes", bytes);
        return NULL;
    }
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* a hint: without it all is slower, nothing is wrong */
    return memory;
}

/* LogGOPSim's rules know graphs only. */
static iw_status plan_loggopsim(const iw_log *log, const iw_program *program, iw_rendezvous rendezvous,
                                struct iwi_plan *plan)
{
    struct iwi_schedule *in_order = NULL;
    iw_status status;

    if (rendezvous != IW_RENDEZVOUS_IDEAL) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules have no control messages: remove `rendezvous`");
    }
    if (program->schedule != NULL && !program->schedule->is_in_order) {
        plan->schedule = program->schedule;
        return IW_OK;
    }
    if (program->schedule == NULL) {
        IW_TRY(iwi_program_unroll(log, program, &in_order));
    }
    status = iwi_schedule_to_dag(log, in_order != NULL ? in_order : program->schedule, &plan->own_schedule);
    iwi_schedule_free(in_order);
    plan->schedule = plan->own_schedule;
    return status;
}

static iw_status plan_event(const iw_log *log, const iw_program *program, struct iwi_plan *plan)
{
    if (program->schedule == NULL) {
        IW_TRY(iwi_program_unroll(log, program, &plan->own_schedule));
    }
    plan->schedule = program->schedule != NULL ? program->schedule : plan->own_schedule;
    return IW_OK;
}

/* As steps or, where these cannot order it, stored message by message. */
static iw_status plan_trace(const iw_log *log, const iw_program *program, const iw_net *net,
                            struct iwi_plan *plan)
{
    IW_TRY(iwi_trace_compile(log, program->trace, net, IWI_ORDER_DEEP, plan->note, sizeof plan->note,
                             &plan->code));
    if (plan->code != NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_program_unroll(log, program, &plan->own_schedule));
    plan->own_schedule->facts = iwi_schedule_facts(plan->own_schedule);
    plan->schedule = plan->own_schedule;
    plan->runs_stored = true;
    return IW_OK;
}

/* UINT64_MAX: it is not for one of its operations that an engine refuses the schedule. */
static void note_refusal(struct iwi_plan *plan, const struct iwi_schedule *schedule, const char *refusal,
                         uint64_t node)
{
    uint32_t rank = 0;

    if (schedule == NULL || node == UINT64_MAX) {
        (void)snprintf(plan->note, sizeof plan->note, "%s", refusal);
        return;
    }
    while (schedule->first_node[rank + 1] <= node) {
        rank++;
    }
    (void)snprintf(plan->note, sizeof plan->note, "%s; the first is operation %" PRIu64 " of rank %" PRIu32,
                   refusal, node - schedule->first_node[rank], rank);
}

static iw_status plan_graph(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                            struct iwi_plan *plan)
{
    struct iwi_graph_refusal refusal;

    IW_TRY(iwi_graph_new(log, schedule, net, &refusal, &plan->graph));
    if (plan->graph == NULL) {
        note_refusal(plan, schedule, refusal.why, refusal.node);
    } else {
        plan->schedule = schedule;
    }
    return IW_OK;
}

/* Sets plan->note, and no schedule, if the flow engine cannot run it. */
static iw_status plan_flow(const iw_log *log, const iw_program *program, const iw_net *net,
                           const iw_sim_opts *opts, struct iwi_plan *plan)
{
    const struct iwi_schedule *schedule = program->schedule;
    const char *refusal;

    if (program->compute_bytes > 0 && iwi_memory_saturates(&net->memory, program->ranks)) {
        (void)snprintf(plan->note, sizeof plan->note,
                       "ranks that share memory bandwidth must run in time order");
        return IW_OK;
    }
    if (iw_net_is_noisy(net) && iwi_may_rendezvous(program, net)) {
        (void)snprintf(plan->note, sizeof plan->note,
                       "some messages use rendezvous, and the network delays each part of them");
        return IW_OK;
    }
    if (program->trace != NULL) {
        return plan_trace(log, program, net, plan);
    }
    if (schedule == NULL) {
        return IW_OK;
    }
    if (!schedule->is_in_order && opts->parallel == IW_PARALLEL_RANKS) {
        (void)snprintf(plan->note, sizeof plan->note,
                       "the flow engine uses one thread for the ranks of an unordered graph");
        return IW_OK;
    }
    if (!schedule->is_in_order) {
        return plan_graph(log, schedule, net, plan);
    }
    refusal = iwi_flow_refusal(schedule);
    if (refusal != NULL) {
        (void)snprintf(plan->note, sizeof plan->note, "%s", refusal);
        return IW_OK;
    }
    plan->schedule = schedule;
    plan->runs_stored = true;
    return iwi_turn_plan_new(log, schedule, net, &plan->turns);
}

/* Sets plan->window, or plan->note if the window engine cannot run it. */
static iw_status plan_window(const iw_log *log, const iw_program *program, const iw_net *net,
                             const iw_sim_opts *opts, struct iwi_plan *plan)
{
    const char *refusal = NULL;
    uint64_t node = UINT64_MAX;

    if (program->compute_bytes > 0) {
        refusal = "compute phases move bytes";
    } else if (iw_net_is_noisy(net) && iwi_may_rendezvous(program, net)) {
        refusal = "some messages use rendezvous, and the network delays each part of them";
    } else if (iwi_tells_steps(opts)) {
        refusal = "steps are written in time order";
    } else {
        IW_TRY(plan_event(log, program, plan));
        refusal = iwi_window_refusal(plan->schedule, net, &node);
    }
    if (refusal == NULL) {
        IW_TRY(iwi_window_plan_new(log, plan->schedule, net, opts->rendezvous, &plan->window));
        if (plan->window->immediate != NULL) {
            note_refusal(plan, plan->schedule, plan->window->immediate, plan->window->immediate_node);
        }
        return IW_OK;
    }
    if (opts->engine == IW_ENGINE_WINDOW ||
        (program->schedule != NULL && !program->schedule->is_in_order)) { /* else flow has said why not */
        note_refusal(plan, plan->schedule, refusal, node);
    }
    return IW_OK;
}

/* The fastest engine that is wanted and can run it; leaves plan->engine as it was, and says why, if none can.
 */
static iw_status plan_without_queue(const iw_log *log, const iw_program *program, const iw_net *net,
                                    const iw_sim_opts *opts, struct iwi_plan *plan)
{
    if (iwi_net_has_queues(net)) {
        (void)snprintf(plan->note, sizeof plan->note, "messages wait for NICs in time order");
        return IW_OK;
    }
    if (opts->engine != IW_ENGINE_WINDOW) {
        IW_TRY(plan_flow(log, program, net, opts, plan));
        if (plan->note[0] == '\0' || plan->schedule != NULL) {
            plan->engine = IW_ENGINE_FLOW;
            return IW_OK;
        }
    }
    if (opts->engine != IW_ENGINE_FLOW) {
        IW_TRY(plan_window(log, program, net, opts, plan));
        plan->engine = plan->window != NULL ? IW_ENGINE_WINDOW : plan->engine;
    }
    return IW_OK;
}

static iw_status plan_engine(const iw_log *log, const iw_program *program, const iw_net *net,
                             const iw_sim_opts *opts, struct iwi_plan *plan)
{
    if (opts->rules == IW_RULES_LOGGOPSIM) {
        if (opts->engine == IW_ENGINE_FLOW || opts->engine == IW_ENGINE_WINDOW) {
            return iwi_fail(log, IW_ERR_UNSUPPORTED, "LogGOPSim's rules need the event engine");
        }
        plan->engine = IW_ENGINE_EVENT;
        return plan_loggopsim(log, program, opts->rendezvous, plan);
    }
    if (opts->engine != IW_ENGINE_EVENT) {
        IW_TRY(plan_without_queue(log, program, net, opts, plan));
        if (plan->engine != IW_ENGINE_AUTO) {
            return IW_OK;
        }
        if (opts->engine != IW_ENGINE_AUTO) {
            return iwi_fail(log, IW_ERR_UNSUPPORTED,
                            "the %s engine cannot run this: %s; use the event engine",
                            iw_engine_name(opts->engine), plan->note);
        }
    }
    plan->engine = IW_ENGINE_EVENT;
    return plan->schedule != NULL ? IW_OK : plan_event(log, program, plan);
}

/* Engines that run stored operations tell it themselves, when they have run. */
static void warn_unreceived(const iw_log *log, const struct iwi_plan *plan)
{
    if (plan->code != NULL) {
        iwi_warn_unreceived(log, plan->code->program->schedule, &plan->code->unreceived);
    }
}

iw_status iwi_plan_init(const iw_log *log, const iw_program *program, const iw_net *net,
                        const iw_sim_opts *opts, struct iwi_plan *plan)
{
    iw_status status;

    *plan = (struct iwi_plan){.rules = opts->rules};
    status = plan_engine(log, program, net, opts, plan);
    if (status != IW_OK) {
        iwi_plan_release(plan);
        return status;
    }
    warn_unreceived(log, plan);
    return IW_OK;
}

void iwi_plan_release(struct iwi_plan *plan)
{
    iwi_graph_free(plan->graph);
    iwi_turn_plan_free(plan->turns);
    iwi_trace_code_free(plan->code);
    iwi_window_plan_free(plan->window);
    free(plan->own_trace);
    iwi_schedule_free(plan->own_schedule);
    *plan = (struct iwi_plan){.engine = IW_ENGINE_AUTO};
}

const char *iwi_partition_refusal(const struct iwi_plan *plan)
{
    if (plan->graph != NULL) {
        return "the flow engine uses one thread for the ranks of an unordered graph";
    }
    if (plan->window != NULL && plan->window->immediate != NULL) {
        return plan->note;
    }
    if (plan->engine != IW_ENGINE_EVENT) {
        return NULL;
    }
    if (plan->rules == IW_RULES_LOGGOPSIM) {
        return "LogGOPSim's rules run all ranks in time order";
    }
    return plan->note[0] != '\0' ? plan->note : "the event engine runs all ranks in time order";
}

/* A stored schedule as a trace program of one replica without collectives. */
static iw_status wrap_schedule(const iw_log *log, const iw_program *program, struct iwi_plan *plan)
{
    plan->own_trace = iwi_new_array(log, 1, sizeof *plan->own_trace);
    if (plan->own_trace == NULL) {
        return IW_ERR_NOMEM;
    }
    plan->own_trace->base = plan->schedule->ranks;
    plan->own_trace->replicas = 1;
    plan->own_trace->schedule = plan->own_schedule != NULL ? plan->own_schedule : program->schedule;
    return IW_OK;
}

iw_status iwi_plan_for_members(const iw_log *log, const iw_program *program, const iw_net *net,
                               uint32_t members, struct iwi_plan *plan)
{
    const bool is_cut = program->trace != NULL && plan->code != NULL && members > program->trace->replicas;
    char note[sizeof plan->note];

    if (members == 1 || (!plan->runs_stored && !is_cut)) {
        return IW_OK;
    }
    iwi_trace_code_free(plan->code);
    plan->code = NULL;
    if (!is_cut) {
        IW_TRY(wrap_schedule(log, program, plan));
    }
    IW_TRY(iwi_trace_compile(log, is_cut ? program->trace : plan->own_trace, net, IWI_ORDER_TURNS, note,
                             sizeof note, &plan->code));
    if (!is_cut) {
        warn_unreceived(log, plan);
    }
    return IW_OK;
}

const char *iw_engine_name(iw_engine engine)
{
    static const char *const names[] = {"auto", "event", "flow", "window"};

    return engine < sizeof names / sizeof names[0] ? names[engine] : NULL;
}
