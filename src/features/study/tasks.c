/* Cells to run: dealt to shards by messages, ranks and trials, and what each will cost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/noise_set.h>
#include <idlewave/sim.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/order.h"
#include "core/noise/stream.h"
#include "core/program/program.h"
#include "core/program/trace_program.h"
#include "core/sim/choose.h"
#include "core/sim/flow/flow_state.h"
#include "features/simulate/simulate.h"
#include "features/study/cells.h"
#include "features/study/files/study_line.h"

/* ======== dealing ======== */

/* A copy, prefixed by the name of its task, of each message goes to `to`. */
struct iwi_task_log {
    iw_log log; /* hand &log on */
    const iw_log *to;
    char name[IWI_TASK_NAME_SIZE];
};

/* ---- names ---- */

void iwi_task_name(const iw_study *study, const struct iwi_task *task, char buf[IWI_TASK_NAME_SIZE])
{
    const iw_cell *cell = &study->cells[task->cell];

    snprintf(buf, IWI_TASK_NAME_SIZE, "cell %zu: system %.80s, %.100s, %" PRIu32 " ranks", task->cell + 1,
             study->systems[cell->system].name, study->works[cell->work].name, cell->ranks);
}

static void write_named(void *arg, iw_log_level level, const char *text)
{
    const struct iwi_task_log *task_log = arg;
    char line[2048];

    if (task_log->to != NULL && task_log->to->write != NULL) {
        snprintf(line, sizeof line, "%s: %s", task_log->name, text);
        task_log->to->write(task_log->to->arg, level, line);
    }
}

static void task_log_init(const iw_log *to, const iw_study *study, const struct iwi_task *task,
                          struct iwi_task_log *task_log)
{
    task_log->log = (iw_log){write_named, task_log};
    task_log->to = to;
    iwi_task_name(study, task, task_log->name);
}

/* ---- dealing ---- */

/* Programs of traces take a while to make. Tasks are in the order of the cells still. */
static const struct iwi_task *find_same_trace(const iw_study *study, const struct iwi_task *tasks,
                                              const iw_cell *cell)
{
    const iw_cell *cells = study->cells;

    for (size_t i = 0; study->works[cell->work].is_trace && &cells[i] < cell; i++) {
        if (cells[i].work == cell->work && cells[i].ranks == cell->ranks) {
            return &tasks[i];
        }
    }
    return NULL;
}

static iw_status count_messages(const iw_log *log, struct iwi_inputs *inputs, struct iwi_task *tasks,
                                struct iwi_task *task)
{
    const iw_cell *cell = &inputs->study->cells[task->cell];
    const struct iwi_task *same = find_same_trace(inputs->study, tasks, cell);
    struct iwi_cell_program program;
    struct iwi_task_log task_log;

    if (same != NULL) {
        task->messages = same->messages;
        return IW_OK;
    }
    task_log_init(log, inputs->study, task, &task_log);
    if (inputs->study->works[cell->work].training != NULL) {
        return iwi_cell_count_training(&task_log.log, inputs->study, cell, &task->messages);
    }
    IW_TRY(iwi_inputs_add_schedule(&task_log.log, inputs, cell));
    IW_TRY(iwi_cell_program_init(&task_log.log, inputs, cell, &program));
    task->messages = iw_program_messages(program.program);
    iwi_cell_program_release(&program);
    return IW_OK;
}

struct weighed {
    struct iwi_task task;
    const char *id;
    double weight;
};

/* In messages: starting a rank is like one, starting a trial and summing it up like 30. */
static double weight_of(const iw_cell *cell, const struct iwi_task *task)
{
    return (double)cell->trials * ((double)task->messages + (double)cell->ranks + 30.0);
}

/* Heaviest first; ties by id, not by place in the file. */
IWI_COMPARE(compare_weights, struct weighed, IWI_FALLING(weight), IWI_TEXT(id))

static uint32_t least_loaded(const double *loads, uint32_t shards)
{
    uint32_t least = 0;

    for (uint32_t s = 1; s < shards; s++) {
        least = loads[s] < loads[least] ? s : least;
    }
    return least;
}

/* Heaviest first, each to the shard that has least so far: no shard gets more than the even part and one
 * cell. Keeps those of `shard`. */
static void keep_shard(const struct weighed *order, size_t count, double *loads, uint32_t shard,
                       uint32_t shards, struct iwi_tasks *tasks)
{
    tasks->count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t owner = least_loaded(loads, shards);

        loads[owner] += order[i].weight;
        if (owner == shard) {
            tasks->items[tasks->count++] = order[i].task;
        }
    }
}

static iw_status deal(const iw_log *log, const iw_study *study, uint32_t shard, uint32_t shards,
                      struct iwi_tasks *tasks)
{
    const size_t count = tasks->count;
    struct weighed *order = iwi_new_array(log, count, sizeof *order);
    double *loads = iwi_new_array(log, shards, sizeof *loads);
    const iw_status status = order != NULL && loads != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        for (size_t i = 0; i < count; i++) {
            const iw_cell *cell = &study->cells[tasks->items[i].cell];

            order[i] = (struct weighed){tasks->items[i], cell->id, weight_of(cell, &tasks->items[i])};
        }
        iwi_sort(order, count, compare_weights);
        keep_shard(order, count, loads, shard, shards, tasks);
    }
    free(order);
    free(loads);
    return status;
}

iw_status iwi_tasks_init(const iw_log *log, struct iwi_inputs *inputs, uint32_t shard, uint32_t shards,
                         struct iwi_tasks *tasks)
{
    iw_status status;

    *tasks = (struct iwi_tasks){.items = NULL};
    if (shard >= shards) {
        return iwi_fail(log, IW_ERR_USAGE, "no shard %" PRIu64 " of %" PRIu32, (uint64_t)shard + 1, shards);
    }
    tasks->count = inputs->study->cell_count;
    tasks->items = iwi_new_array(log, tasks->count, sizeof *tasks->items);
    status = tasks->items != NULL ? IW_OK : IW_ERR_NOMEM;
    for (size_t i = 0; status == IW_OK && i < tasks->count; i++) {
        tasks->items[i].cell = i;
        status = count_messages(log, inputs, tasks->items, &tasks->items[i]);
    }
    if (status == IW_OK) {
        status = deal(log, inputs->study, shard, shards, tasks);
    }
    if (status != IW_OK) {
        iwi_tasks_release(tasks);
    }
    return status;
}

iw_status iwi_tasks_keep_shard(const iw_log *log, const iw_study *study, uint32_t part, uint32_t parts,
                               struct iwi_tasks *tasks)
{
    return deal(log, study, part, parts, tasks);
}

void iwi_tasks_release(struct iwi_tasks *tasks)
{
    free(tasks->items);
    *tasks = (struct iwi_tasks){.items = NULL};
}

/* ---- finding ---- */

IWI_COMPARE(compare_ids, char *const, strcmp(*left, *right))

static iw_status mark_found(const iw_log *log, const iw_study *study, const iw_cell_result *results,
                            size_t count, struct iwi_tasks *tasks)
{
    const char **ids = iwi_new_array(log, count, sizeof(const char *));

    if (ids == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = results[i].id;
    }
    iwi_sort(ids, count, compare_ids);
    for (size_t i = 0; i < tasks->count; i++) {
        struct iwi_task *task = &tasks->items[i];
        const char *id = study->cells[task->cell].id;

        task->is_found = iwi_find(&id, ids, count, compare_ids) != NULL;
        tasks->found += task->is_found;
    }
    free(ids);
    return IW_OK;
}

iw_status iwi_tasks_find(const iw_log *log, const iw_study *study, const char *dir, struct iwi_tasks *tasks)
{
    iw_cell_result *results = NULL;
    size_t count = 0;
    iw_status status;

    IW_TRY(iwi_cell_results_load(log, dir, &results, &count));
    status = mark_found(log, study, results, count, tasks);
    iwi_cell_results_free(results, count);
    return status;
}

/* ======== memory ======== */

enum {
    SCHEDULE_BYTES = 200, /* of a stored operation: both engines keep less */
    TRACED_BYTES = 100    /* of an operation of a trace: as stored, and as steps while these are made */
};

/* Trials side by side, at most. */
static uint32_t price_lanes(const iw_program *program, uint64_t trials)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.trials = trials;
    return iwi_choose_lanes(program, NULL, IW_ENGINE_FLOW, &opts);
}

static uint64_t price_bytes(const iw_program *program, const iw_noise *noise, uint64_t trials)
{
    const uint64_t state = iwi_rank_bytes(program, noise, IWI_KEPT_FOR_ENDS) * program->ranks;
    uint64_t stored = 0;

    if (program->schedule != NULL) {
        stored = SCHEDULE_BYTES * program->schedule->first_node[program->ranks];
    } else if (program->trace != NULL) {
        stored = TRACED_BYTES * program->trace->schedule->first_node[program->trace->base];
    }
    return state * price_lanes(program, trials) + stored + trials * 4 * sizeof(double);
}

/* ======== time ======== */

/* Cells of one kind differ in their ranks and trials only. The largest of them is sampled, as
 * `simulate --dry-run` does; parts of it run shorter where there are many kinds, and before a run, also where
 * there is little work. What it takes by messages is shared out, what it takes besides all cells do.
 */

/* Of all samples; of one part, at least; and before a run, of the work of a kind. */
static const double MOST_SAMPLED_S = 1.0, LEAST_SAMPLE_S = 0.1e-3, SAMPLED_SHARE = 1.0 / 64;

enum { SAMPLED_PARTS = 3 };

/* A message of which nothing is known yet. */
static const double MESSAGE_S = 4e-9;

/* An operation of a rank in training; docs/validation/training.md. */
static const double TRAINING_S = 14e-9;

/* Starting a trial and summing it up; writing the line of a cell, safely. */
static const double TRIAL_S = 0.5e-6, LINE_S = 0.3e-3;

/* What a run keeps of operations, and of each rank. */
enum { TRAINING_BYTES = 1 << 24, TRAINING_RANK_BYTES = 400 };

/* ---- time ---- */

/* One kind: the tasks from `first` to `end` of an array of pointers. */
struct kind {
    struct iwi_task *const *tasks;
    size_t count;
    const struct iwi_task *largest;
    double work; /* messages of all trials */
};

/* What cells of a kind take: for each message of a trial, and each for itself. */
struct price {
    double message_s, cell_s;
};

/* How exactly it is to be known. */
struct pricing {
    const struct iwi_inputs *inputs;
    bool is_estimate; /* somebody asks for it; else it is for dealing cells to threads */
    size_t kinds;
    const iw_noise_set *counted; /* the last one whose recordings were, and what that took; simulating: */
    struct iwi_certainty_effort effort;
    double simulated_s; /* besides so long for the trials */
};

/* Intervals count recordings, which takes as long for all cells that have them. */
static iw_status sample_certainty(struct pricing *pricing, const iw_certainty_question *q,
                                  const iw_forecast *all, const struct iwi_sampled *sampled, double enough_s,
                                  struct iwi_certainty_effort *effort)
{
    const double begin_s = iwi_process_cpu_s();
    iw_noise *noise;

    if (pricing->counted == q->set) {
        *effort = pricing->effort;
        effort->simulating_s *= all->cpu_s / pricing->simulated_s;
        return IW_OK;
    }
    IW_TRY(iw_noise_set_make(NULL, q->set, NULL, q->opts->seed, 0, &noise));
    iw_noise_free(noise);
    IW_TRY(iwi_certainty_sample(NULL, q, all, sampled, iwi_process_cpu_s() - begin_s, enough_s, effort));
    pricing->counted = q->set;
    pricing->effort = *effort;
    pricing->simulated_s = all->cpu_s;
    return IW_OK;
}

static iw_status sample_program(struct pricing *pricing, const iw_cell *cell, const iw_program *program,
                                double enough_s, struct price *price)
{
    const struct iwi_inputs *inputs = pricing->inputs;
    const double trial_messages = fmax(1.0, (double)iw_program_messages(program)) * (double)cell->trials;
    struct iwi_certainty_effort effort = {0.0, 0.0};
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_net net = inputs->study->systems[cell->system].net;
    struct iwi_sampled sampled;
    iw_forecast all;

    opts.seed = cell->seed;
    opts.trials = cell->trials;
    opts.threads = 1;
    opts.node_speeds = iwi_inputs_speeds(inputs, cell);
    IW_TRY(iw_net_scale(NULL, &net, cell->net_scale));
    IW_TRY(iwi_forecast_parts(NULL, program, &net, iwi_inputs_noise(inputs, cell), &opts, enough_s, &all,
                              &sampled));
    if (pricing->is_estimate) {
        const iw_certainty_question question = {
            .set = iwi_inputs_set(inputs, cell), .program = program, .net = &net, .opts = &opts};

        IW_TRY(sample_certainty(pricing, &question, &all, &sampled, enough_s, &effort));
    }
    price->message_s = (all.cpu_s + effort.simulating_s) / trial_messages;
    price->cell_s += effort.counting_s;
    return IW_OK;
}

/* What fails here will fail, and be told, when the cell is run. */
static void sample_cell(struct pricing *pricing, const iw_cell *cell, double enough_s, struct price *price)
{
    const double begin_s = iwi_process_cpu_s();
    struct iwi_cell_program program;

    if (iwi_cell_program_init(NULL, pricing->inputs, cell, &program) == IW_OK) {
        price->cell_s += iwi_process_cpu_s() - begin_s;
        (void)sample_program(pricing, cell, program.program, enough_s, price);
        iwi_cell_program_release(&program);
    }
}

static void sample_training(const struct pricing *pricing, const struct iwi_task *task, double enough_s,
                            struct price *price)
{
    const iw_cell *cell = &pricing->inputs->study->cells[task->cell];
    double seconds;

    if (iwi_cell_time_training(pricing->inputs, cell, enough_s, &seconds) == IW_OK) {
        price->message_s = seconds / (fmax(1.0, (double)task->messages) * (double)cell->trials);
    }
}

static void price_kind(struct pricing *pricing, const struct kind *kind)
{
    const iw_study *study = pricing->inputs->study;
    const iw_cell *cell = &study->cells[kind->largest->cell];
    const bool is_training = study->works[cell->work].training != NULL;
    const double even_s = MOST_SAMPLED_S / SAMPLED_PARTS / (double)pricing->kinds;
    const double little_s = SAMPLED_SHARE * kind->work * MESSAGE_S;
    const double most_s = pricing->is_estimate ? even_s : fmin(even_s, little_s);
    const double enough_s = fmax(LEAST_SAMPLE_S, fmin(most_s, IWI_SAMPLE_S));
    struct price price = {is_training ? TRAINING_S : MESSAGE_S, LINE_S};

    if (!is_training) {
        sample_cell(pricing, cell, enough_s, &price);
    } else if (pricing->is_estimate) {
        sample_training(pricing, kind->largest, enough_s, &price);
    }
    for (size_t i = 0; i < kind->count; i++) {
        struct iwi_task *task = kind->tasks[i];

        task->seconds =
            ((double)task->messages * price.message_s + TRIAL_S) * (double)study->cells[task->cell].trials +
            price.cell_s;
    }
}

/* ---- kinds ---- */

struct keyed {
    const iw_cell *cell;
    struct iwi_task *task;
};

static int compare_kinds(const iw_cell *a, const iw_cell *b)
{
    if (a->system != b->system) {
        return a->system < b->system ? -1 : 1;
    }
    if (a->work != b->work) {
        return a->work < b->work ? -1 : 1;
    }
    if (a->bytes != b->bytes) {
        return a->bytes < b->bytes ? -1 : 1;
    }
    if (a->sync != b->sync) {
        return a->sync < b->sync ? -1 : 1;
    }
    return (a->net_scale > b->net_scale) - (a->net_scale < b->net_scale);
}

IWI_COMPARE(compare_keyed, struct keyed, compare_kinds(left->cell, right->cell))

/* Fills `order` with the tasks that are not found, those of one kind side by side; returns their number. */
static size_t sort_by_kind(const iw_study *study, struct iwi_tasks *tasks, struct keyed *keyed,
                           struct iwi_task **order)
{
    size_t count = 0;

    for (size_t i = 0; i < tasks->count; i++) {
        if (!tasks->items[i].is_found) {
            keyed[count++] = (struct keyed){&study->cells[tasks->items[i].cell], &tasks->items[i]};
        }
    }
    iwi_sort(keyed, count, compare_keyed);
    for (size_t i = 0; i < count; i++) {
        order[i] = keyed[i].task;
    }
    return count;
}

/* The kind that begins at tasks[0], of the `count` that are left. */
static struct kind next_kind(const iw_study *study, struct iwi_task *const *tasks, size_t count)
{
    const iw_cell *first = &study->cells[tasks[0]->cell];
    struct kind kind = {.tasks = tasks, .largest = tasks[0]};

    while (kind.count < count && compare_kinds(first, &study->cells[tasks[kind.count]->cell]) == 0) {
        const struct iwi_task *task = tasks[kind.count++];

        kind.largest = task->messages > kind.largest->messages ? task : kind.largest;
        kind.work += (double)task->messages * (double)study->cells[task->cell].trials;
    }
    return kind;
}

static void price_all(const struct iwi_inputs *inputs, struct iwi_task *const *order, size_t count,
                      bool is_estimate)
{
    struct pricing pricing = {.inputs = inputs, .is_estimate = is_estimate};

    for (size_t i = 0; i < count; i += next_kind(inputs->study, order + i, count - i).count) {
        pricing.kinds++;
    }
    for (size_t i = 0; i < count;) {
        const struct kind kind = next_kind(inputs->study, order + i, count - i);

        price_kind(&pricing, &kind);
        i += kind.count;
    }
}

/* The program of a cell, kept for those that differ from it in other things: tasks of one weight are side by
 * side. */
struct kept_program {
    const iw_cell *cell; /* NULL: none yet */
    struct iwi_cell_program program;
};

static iw_status keep_program(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                              struct kept_program *kept)
{
    if (kept->cell != NULL && kept->cell->work == cell->work && kept->cell->ranks == cell->ranks &&
        kept->cell->bytes == cell->bytes) {
        return IW_OK;
    }
    iwi_cell_program_release(&kept->program);
    *kept = (struct kept_program){.cell = NULL};
    IW_TRY(iwi_cell_program_init(log, inputs, cell, &kept->program));
    kept->cell = cell;
    return IW_OK;
}

static iw_status weigh_memory(const iw_log *log, struct iwi_inputs *inputs, struct iwi_task *task,
                              struct kept_program *kept)
{
    const iw_cell *cell = &inputs->study->cells[task->cell];
    struct iwi_task_log task_log;

    task_log_init(log, inputs->study, task, &task_log);
    IW_TRY(iwi_inputs_add_noise(&task_log.log, inputs, cell));
    if (inputs->study->works[cell->work].training != NULL) {
        task->bytes = TRAINING_BYTES + TRAINING_RANK_BYTES * cell->ranks;
        return IW_OK;
    }
    IW_TRY(keep_program(&task_log.log, inputs, cell, kept));
    task->bytes = price_bytes(kept->program.program, iwi_inputs_noise(inputs, cell), cell->trials);
    return IW_OK;
}

IWI_COMPARE(compare_seconds, struct iwi_task, IWI_FALLING(seconds), IWI_RISING(cell))

iw_status iwi_tasks_price(const iw_log *log, struct iwi_inputs *inputs, bool is_estimate,
                          struct iwi_tasks *tasks)
{
    struct keyed *keyed = iwi_new_array(log, tasks->count, sizeof *keyed);
    struct iwi_task **order = iwi_new_array(log, tasks->count, sizeof(struct iwi_task *));
    struct kept_program kept = {.cell = NULL};
    iw_status status = keyed != NULL && order != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; status == IW_OK && i < tasks->count; i++) {
        if (!tasks->items[i].is_found) {
            status = weigh_memory(log, inputs, &tasks->items[i], &kept);
        }
    }
    iwi_cell_program_release(&kept.program);
    if (status == IW_OK) {
        const size_t count = sort_by_kind(inputs->study, tasks, keyed, order);

        price_all(inputs, order, count, is_estimate);
        iwi_sort(tasks->items, tasks->count, compare_seconds);
    }
    free(keyed);
    free(order);
    return status;
}
