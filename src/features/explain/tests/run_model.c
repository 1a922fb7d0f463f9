/* A small model of training on GPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "run_model.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "support/support.h"

enum { COMPUTE = 7, PAIRS = 8, ALL = 9, PAIR_EACH = 5, BUCKET_EACH = 9 };

#define LAUNCH_PS (5 * IW_PS_PER_US)
#define KERNEL_PS (200 * IW_PS_PER_US)
#define TRANSFER_PS (60 * IW_PS_PER_US)
#define NOTABLE_GAP_PS (30 * IW_PS_PER_US)

struct rank {
    iw_time host_ps;
    iw_time computed_ps, pair_ps, all_ps; /* ends of what its streams did last */
    iw_time needed_ps;                    /* end of the collective that the next kernel waits for */
    uint32_t pairs, all;                  /* groups */
    struct iwi_stretch stretch;           /* not added yet; empty: none */
};

struct run {
    const struct iwt_model *model;
    struct iwi_visits *visits;
    struct rank *ranks;
    unsigned without;
    uint32_t step;
    uint64_t draws, sequence;
};

/* The same for every rank and kernel, whatever is left out. */
static iw_time drawn(const struct run *run, uint32_t rank, uint32_t kernel, uint32_t what, iw_time below_ps)
{
    const struct iwi_draw_id id = {
        .seed = run->model->seed, .trial = what, .purpose = IWI_DRAW_TEST, .rank = rank};

    return (iw_time)(iwi_draw(id, (uint64_t)run->step << 32 | kernel) % (uint64_t)below_ps);
}

static void pause_of(struct run *run, uint32_t rank, enum iwi_pause_cause cause, bool is_on_host,
                     iw_time begin_ps, iw_time end_ps)
{
    const struct iwi_pause pause = {.rank = rank,
                                    .step = run->step,
                                    .cause = (uint8_t)cause,
                                    .is_on_host = is_on_host,
                                    .begin_ps = begin_ps,
                                    .end_ps = end_ps};

    assert_ok(iwi_visits_add_pause(run->visits, &pause));
}

static void pause_host(struct run *run, uint32_t rank, enum iwi_pause_cause cause, iw_time length_ps)
{
    struct rank *of = &run->ranks[rank];

    if (length_ps > 0 && (run->without & 1U << cause) == 0) {
        if (cause != IWI_PAUSE_LAUNCH) { /* nobody saw what the host did */
            pause_of(run, rank, cause, true, of->host_ps, of->host_ps + length_ps);
        }
        of->host_ps += length_ps;
    }
}

static void flush(struct run *run, struct rank *of)
{
    if (of->stretch.end_ps > of->stretch.begin_ps) {
        assert_ok(iwi_visits_add_stretch(run->visits, &of->stretch));
    }
    of->stretch.end_ps = of->stretch.begin_ps;
}

static void add_kernel(struct run *run, uint32_t rank, iw_time start_ps, iw_time end_ps)
{
    struct rank *of = &run->ranks[rank];

    if (run->model->is_merged && of->stretch.end_ps > of->stretch.begin_ps &&
        of->stretch.end_ps == start_ps && of->stretch.step == run->step) {
        of->stretch.end_ps = end_ps;
        return;
    }
    flush(run, of);
    of->stretch =
        (struct iwi_stretch){.rank = rank,
                             .step = run->step,
                             .stream = COMPUTE,
                             .begin_ps = start_ps,
                             .end_ps = end_ps,
                             .queued_ps = run->model->has_launches ? iwi_max(1, start_ps - of->host_ps) : 0};
}

static void compute(struct run *run, uint32_t rank, uint32_t kernel)
{
    const struct iwt_model *model = run->model;
    struct rank *of = &run->ranks[rank];
    const iw_time length_ps = KERNEL_PS + drawn(run, rank, kernel, 1, 4 * IW_PS_PER_US);
    const bool is_slow = rank == model->slow_rank && (run->without & 1U << IWI_PAUSE_SLOW) == 0;
    iw_time start_ps, end_ps;

    if (drawn(run, rank, kernel, 2, 1024) == 0) {
        pause_host(run, rank, IWI_PAUSE_LAUNCH, model->late_ps);
    }
    if (run->step % 3 == 1 && rank == run->step % model->ranks && kernel == model->kernels / 2) {
        pause_host(run, rank, IWI_PAUSE_GC, model->collection_ps);
    }
    of->host_ps += LAUNCH_PS + drawn(run, rank, kernel, 3, IW_PS_PER_US);
    start_ps = iwi_max(of->host_ps, iwi_max(of->computed_ps, of->needed_ps));
    end_ps = start_ps + length_ps + (is_slow ? length_ps / 5 : 0);
    if (is_slow) {
        pause_of(run, rank, IWI_PAUSE_SLOW, false, start_ps + length_ps, end_ps);
    }
    if (start_ps == of->host_ps && start_ps - iwi_max(of->computed_ps, of->needed_ps) > NOTABLE_GAP_PS) {
        pause_of(run, rank, IWI_PAUSE_LAUNCH, false, iwi_max(of->computed_ps, of->needed_ps), start_ps);
    }
    add_kernel(run, rank, start_ps, end_ps);
    of->computed_ps = end_ps;
    of->needed_ps = INT64_MIN;
}

/* Ranks first ... first + count - 1 meet; what they compute next waits for it if `is_needed`. */
static void meet(struct run *run, uint32_t first, uint32_t count, uint16_t stream, bool is_needed)
{
    iw_time enter_ps[1024], met_ps = INT64_MIN;

    assert_true(count <= 1024);
    for (uint32_t i = 0; i < count; i++) {
        struct rank *of = &run->ranks[first + i];

        of->host_ps += LAUNCH_PS;
        enter_ps[i] =
            iwi_max(iwi_max(of->host_ps, of->computed_ps), stream == PAIRS ? of->pair_ps : of->all_ps);
        met_ps = iwi_max(met_ps, enter_ps[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct rank *of = &run->ranks[first + i];
        const iw_time leave_ps = met_ps + TRANSFER_PS;
        const struct iwi_visit visit = {
            .rank = first + i,
            .group = stream == PAIRS ? of->pairs : of->all,
            .op = IWI_VISIT_ALLREDUCE,
            .stream = stream,
            .step = run->step,
            .sequence = run->sequence,
            .bytes = UINT64_C(1) << 20,
            .enter_ps = enter_ps[i],
            .leave_ps = leave_ps,
            .queued_ps = run->model->has_launches ? iwi_max(1, enter_ps[i] - of->host_ps) : 0,
            .ready_ps = run->model->has_launches ? iwi_max(1, enter_ps[i] - of->computed_ps) : 0};

        assert_ok(iwi_visits_add(run->visits, &visit));
        *(stream == PAIRS ? &of->pair_ps : &of->all_ps) = leave_ps;
        of->needed_ps = is_needed ? leave_ps : of->needed_ps;
    }
}

/* The host reads the norm of the gradients. */
static void wait_for_device(struct run *run, uint32_t rank)
{
    struct rank *of = &run->ranks[rank];
    const struct iwi_host_wait wait = {
        .rank = rank, .step = run->step, .begin_ps = of->host_ps, .end_ps = of->all_ps + IW_PS_PER_US};

    if (run->model->has_launches) {
        assert_ok(iwi_visits_add_host_wait(run->visits, &wait));
    }
    of->host_ps = wait.end_ps;
}

static void run_step(struct run *run)
{
    const struct iwt_model *model = run->model;

    for (uint32_t rank = 0; rank < model->ranks; rank++) {
        const struct iwi_visit_step step = {
            .rank = rank, .number = run->step, .begin_ps = run->ranks[rank].host_ps};

        assert_ok(iwi_visits_add_step(run->visits, &step));
    }
    pause_host(run, 1, IWI_PAUSE_LOADER, model->loading_ps);
    for (uint32_t kernel = 0; kernel < model->kernels; kernel++) {
        for (uint32_t rank = 0; rank < model->ranks; rank++) {
            compute(run, rank, kernel);
        }
        run->sequence++;
        for (uint32_t rank = 0; kernel % PAIR_EACH == PAIR_EACH - 1 && rank < model->ranks; rank += 2) {
            meet(run, rank, 2, PAIRS, true);
        }
        if (kernel % BUCKET_EACH == BUCKET_EACH - 1) {
            meet(run, 0, model->ranks, ALL, false);
        }
    }
    run->sequence++;
    meet(run, 0, model->ranks, ALL, true);
    for (uint32_t rank = 0; rank < model->ranks; rank++) {
        wait_for_device(run, rank);
    }
}

static void make_groups(struct run *run)
{
    uint32_t *members = iwi_new_array(NULL, run->model->ranks, sizeof *members);

    assert_non_null(members);
    for (uint32_t rank = 0; rank < run->model->ranks; rank++) {
        assert_ok(iwi_visits_rank(run->visits, rank, rank % 8 < 4 ? "left" : "right", &members[rank]));
        run->ranks[rank].needed_ps = INT64_MIN;
    }
    for (uint32_t rank = 0; rank < run->model->ranks; rank++) {
        assert_ok(iwi_visits_group(run->visits, "all", members, run->model->ranks, run->model->ranks,
                                   &run->ranks[rank].all));
        assert_ok(
            iwi_visits_group(run->visits, "pair", members + (rank & ~1U), 2, 2, &run->ranks[rank].pairs));
    }
    free(members);
}

void iwt_model_run(const struct iwt_model *model, unsigned without, struct iwi_visits *visits,
                   iw_time *steps_ps)
{
    struct run run = {.model = model, .visits = visits, .without = without};
    iw_time before_ps = 0;

    run.ranks = iwi_new_array(NULL, model->ranks, sizeof *run.ranks);
    assert_non_null(run.ranks);
    iwi_visits_init(visits, NULL, "model");
    make_groups(&run);
    for (; run.step < model->steps; run.step++) {
        run_step(&run);
        steps_ps[run.step] = run.ranks[0].all_ps - before_ps;
        before_ps = run.ranks[0].all_ps;
    }
    for (uint32_t rank = 0; rank < model->ranks; rank++) {
        flush(&run, &run.ranks[rank]);
    }
    free(run.ranks);
}
