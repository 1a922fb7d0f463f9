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
#include "core/sim/plan.h"
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

/* seconds = messages x (trials + those of redraws + 1 without noise) x seconds a message + redraws
 *               + touching memory
 *
 * Cells of one kind differ in their ranks and trials only. How long a message takes is measured on the
 * largest of them, made smaller (fewer repetitions, then fewer ranks) until it is a small part of the work.
 */

/* Messages of all samples together, and of one: seconds at worst. */
static const double MOST_SAMPLED = 0x1p24, LEAST_SAMPLE = 0x1p12, LARGEST_SAMPLE = 0x1p21;
static const double SAMPLED_SHARE = 1.0 / 64; /* of the work of a kind, at most */

/* Where a sample would take too long (schedules cannot be made smaller); docs/validation/performance.md. */
static const double FLOW_SCHEDULE_S = 100e-9, EVENT_S = 2.6e-6;

/* The smallest sample of a trace is the whole of it, and most of that would go into ordering its steps. */
static const double TRACE_S = 10e-9;

/* An operation of a rank in training; docs/validation/training.md. */
static const double TRAINING_S = 14e-9;

static const double TRIAL_S = 0.5e-6;           /* starting a trial, and summing it up */
static const double TOUCH_S_PER_BYTE = 0.25e-9; /* the system clears new pages */

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

/* False: it is as small as it gets. Fewer segments are as large as many. */
static bool halve_pattern(iw_pattern *pattern)
{
    if (pattern->repeat > 1) {
        pattern->repeat /= 2;
    } else if (pattern->segment_bytes > 0 && pattern->bytes / 2 >= pattern->segment_bytes) {
        pattern->bytes /= 2;
    } else if (pattern->ranks <= 2) {
        return false;
    } else {
        pattern->ranks /= 2;
        pattern->root %= pattern->ranks;
    }
    return true;
}

/* Of a trial on all lanes. */
static double sample_messages(const iw_program *program, const iw_cell *cell)
{
    return (double)iw_program_messages(program) * price_lanes(program, cell->trials);
}

/* The pattern of a task, made smaller until a trial on all lanes has at most `most_messages`; where it cannot
 * be (a grid of given dimensions), as small as it gets. */
static iw_status make_sample(const iw_log *log, const struct iwi_inputs *inputs, const iw_cell *cell,
                             double most_messages, iw_program **program_p)
{
    const char *operations = inputs->study->works[cell->work].operations;
    iw_pattern pattern = iwi_cell_pattern(inputs, cell);
    iw_program *program = NULL;

    pattern.delay_count = 0; /* they name ranks and steps that a smaller one may not have */
    IW_TRY(iw_program_from_pattern(log, operations, &pattern, &program));
    while (sample_messages(program, cell) > most_messages && halve_pattern(&pattern)) {
        iw_program *smaller = NULL;

        if (iw_program_from_pattern(NULL, operations, &pattern, &smaller) != IW_OK) {
            break;
        }
        iw_program_free(program);
        program = smaller;
    }
    *program_p = program;
    return IW_OK;
}

static iw_status scale_net(const iw_log *log, const iw_study *study, const iw_cell *cell, iw_net *net_p)
{
    *net_p = study->systems[cell->system].net;
    return iw_net_scale(log, net_p, cell->net_scale);
}

/* Of the trials and the one without noise, the fastest of three: whatever else goes on only adds. */
static iw_status time_program(const struct iwi_inputs *inputs, const iw_cell *cell, const iw_program *program,
                              double *message_s_p)
{
    const double messages = fmax(1.0, (double)iw_program_messages(program));
    const double enough_s = 2e-3;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    double best_s = HUGE_VAL, spent_s = 0.0;
    iw_net net;

    opts.seed = cell->seed;
    opts.trials = price_lanes(program, cell->trials);
    opts.threads = 1; /* this one */
    IW_TRY(scale_net(NULL, inputs->study, cell, &net));
    for (int run = 0; run < 3 && spent_s < enough_s; run++) {
        const double begin_s = iwi_thread_cpu_s();
        iw_sim_result *result = NULL;

        IW_TRY(iw_simulate(NULL, program, &net, iwi_inputs_noise(inputs, cell), &opts, &result));
        iw_sim_result_free(result);
        best_s = fmin(best_s, iwi_thread_cpu_s() - begin_s);
        spent_s += iwi_thread_cpu_s() - begin_s;
    }
    *message_s_p = best_s / (messages * (double)(opts.trials + 1));
    return IW_OK;
}

static double guess_schedule(const iw_program *program)
{
    const iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwi_plan plan;
    double message_s = EVENT_S;

    if (iwi_plan_init(NULL, program, iw_net_builtin("chic"), &opts, &plan) == IW_OK) { /* any will do */
        message_s = plan.engine == IW_ENGINE_EVENT ? EVENT_S : FLOW_SCHEDULE_S;
        iwi_plan_release(&plan);
    }
    return message_s;
}

/* By the model that `simulate --dry-run` has, where even the smallest sample would take too long. */
static iw_status forecast_program(const struct iwi_inputs *inputs, const iw_cell *cell,
                                  const iw_program *program, double *message_s_p)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_forecast forecast;
    iw_net net;

    opts.trials = cell->trials;
    opts.threads = 1;
    IW_TRY(scale_net(NULL, inputs->study, cell, &net));
    IW_TRY(iw_forecast_make(NULL, program, &net, iwi_inputs_noise(inputs, cell), &opts, &forecast));
    *message_s_p = forecast.message_s;
    return IW_OK;
}

/* What fails here will fail, and be told, when the cell is run. */
static iw_status sample_kind(const iw_log *log, const struct iwi_inputs *inputs, const struct kind *kind,
                             double most_messages, double *message_s_p)
{
    const iw_cell *cell = &inputs->study->cells[kind->largest->cell];
    const iw_program *schedule = inputs->schedules[cell->work];
    iw_program *sample = NULL;
    iw_status status;

    if (inputs->study->works[cell->work].is_trace || inputs->study->works[cell->work].training != NULL) {
        *message_s_p = inputs->study->works[cell->work].is_trace ? TRACE_S : TRAINING_S;
        return IW_OK;
    }
    if (schedule != NULL && (double)kind->largest->messages * EVENT_S > LARGEST_SAMPLE * FLOW_SCHEDULE_S) {
        *message_s_p = guess_schedule(schedule);
        return IW_OK;
    }
    if (schedule == NULL) {
        IW_TRY(make_sample(log, inputs, cell, most_messages, &sample));
    }
    if (sample != NULL && sample_messages(sample, cell) > MOST_SAMPLED) {
        status = forecast_program(inputs, cell, sample, message_s_p);
    } else {
        status = time_program(inputs, cell, sample != NULL ? sample : schedule, message_s_p);
    }
    *message_s_p = status == IW_OK ? *message_s_p : EVENT_S;
    iw_program_free(sample);
    return IW_OK;
}

/* Of one kind. */
struct price {
    double message_s, redraws_s; /* redraws: of a cell, without their trials */
};

/* Drawing the recordings of a cell anew, and fitting laws to them, as often as its interval takes; 0 where
 * nothing is extrapolated. What fails here will be told when the cell is run. */
static double redraw_seconds(const struct iwi_inputs *inputs, const iw_cell *cell)
{
    const iw_noise_set *set = iwi_inputs_set(inputs, cell);
    const double begin_s = iwi_thread_cpu_s();
    iw_noise *noise = NULL;

    if (iw_certainty_trials(set, cell->trials) == 0 ||
        iw_noise_set_make(NULL, set, NULL, cell->seed, 1, &noise) != IW_OK) {
        return 0.0;
    }
    iw_noise_free(noise);
    return IW_CERTAINTY_REDRAWS * (iwi_thread_cpu_s() - begin_s);
}

static double seconds_of(const struct iwi_inputs *inputs, const struct iwi_task *task,
                         const struct price *price)
{
    const iw_cell *cell = &inputs->study->cells[task->cell];
    const uint64_t redrawn = iw_certainty_trials(iwi_inputs_set(inputs, cell), cell->trials);

    return ((double)task->messages * price->message_s + TRIAL_S) * (double)(cell->trials + redrawn + 1) +
           (redrawn > 0 ? price->redraws_s : 0.0) + 2.0 * TOUCH_S_PER_BYTE * (double)task->bytes;
}

static iw_status price_kind(const iw_log *log, const struct iwi_inputs *inputs, const struct kind *kind,
                            size_t kinds)
{
    const double fair = fmin(LARGEST_SAMPLE, MOST_SAMPLED / (double)kinds);
    const double most = fmax(LEAST_SAMPLE, fmin(fair, SAMPLED_SHARE * kind->work));
    struct price price = {0.0, 0.0};

    IW_TRY(sample_kind(log, inputs, kind, most, &price.message_s));
    price.redraws_s = redraw_seconds(inputs, &inputs->study->cells[kind->largest->cell]);
    for (size_t i = 0; i < kind->count; i++) {
        struct iwi_task *task = kind->tasks[i];

        task->seconds = seconds_of(inputs, task, &price);
    }
    return IW_OK;
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

static iw_status price_all(const iw_log *log, const struct iwi_inputs *inputs, struct iwi_task *const *order,
                           size_t count)
{
    size_t kinds = 0;

    for (size_t i = 0; i < count; i += next_kind(inputs->study, order + i, count - i).count) {
        kinds++;
    }
    for (size_t i = 0; i < count;) {
        const struct kind kind = next_kind(inputs->study, order + i, count - i);

        IW_TRY(price_kind(log, inputs, &kind, kinds));
        i += kind.count;
    }
    return IW_OK;
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

iw_status iwi_tasks_price(const iw_log *log, struct iwi_inputs *inputs, struct iwi_tasks *tasks)
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

        status = price_all(log, inputs, order, count);
        iwi_sort(tasks->items, tasks->count, compare_seconds);
    }
    free(keyed);
    free(order);
    return status;
}
