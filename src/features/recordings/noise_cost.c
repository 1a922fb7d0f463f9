/* What collectives pay for the noise of a recording, by simulation.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Many of them run back to back on a built-in network. Counted is what the second half takes: detours under
 * way when a run begins are paid once a run, not once a collective. `simulate` with the same options prints
 * the same numbers as "steady".
 */
#include "features/recordings/noise_report.h"

#include <math.h>

#include "core/base/base.h"
#include "core/noise/recording_noise.h"
#include "core/sim/later_half.h"
#include "core/stats/mean_interval.h"
#include "kit/facts/length_bins.h"
#include "kit/facts/longest.h"

static const char NETWORK[] = "hdr-fat-tree";

enum {
    RANKS_LOG2 = 10,
    MOST_RANKS_LOG2 = 14, /* more would take longer than people wait for a verdict */
    TRIALS = 16,          /* side by side on two threads */
    REPEAT = 100,
    SEARCH_REPEAT = 25, /* a power of two is found with fewer messages */
    MOST_ROUNDS = 6000  /* of one simulation: few ranks take about as long for one as many */
};

/* From this slowdown on barriers count as slow. */
static const double SLOW = 0.05;

/* A simulation that should meet fewer detours of some length may well meet none (5 %). */
static const double FEW_HITS = 3.0;

/* Few collectives that are so much slower meet as much noise as many others, and many would take long. */
static const double MUCH_SLOWER = 100.0;
enum { FEW = 10 };

/* Of a longer recording the beginning is taken: so many give the answer in a moment. */
static const double MOST_DETOURS = 4e6;

/* What is used of the recording, as noise and as what a place meets of it. */
struct inquiry {
    const iw_net *net;
    iw_noise *noise;
    double watched_s, share;
    int64_t longest_room[IWI_LONGEST_ROOM];
    struct iwi_longest longest;
    struct iwi_length_bins bins;
};

struct job {
    const char *operation;
    uint64_t bytes, repeat;
    uint32_t ranks;
};

struct answer {
    iw_estimate slowdown; /* of the second half; the interval counts the trials */
    bool is_bound, is_rare;
    double rare; /* what detours cost that come too rarely for so short a simulation */
    uint64_t repeat;
};

/* ---- the noise ---- */

static int64_t used_ns_of(const iw_recording *recording)
{
    int64_t shortest_ns = recording->cpu_count > 0 ? recording->cpus[0].length_ns : 0;
    double detours = 0.0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        shortest_ns = iwi_min(shortest_ns, recording->cpus[i].length_ns);
        detours += (double)recording->cpus[i].count;
    }
    return detours > MOST_DETOURS ? (int64_t)((double)shortest_ns * (MOST_DETOURS / detours)) : shortest_ns;
}

static iw_status make_noise(const iw_recording *recording, int64_t used_ns, iw_noise **noise_p)
{
    const char *const name = "recording";
    iw_status status;

    IW_TRY(iw_noise_new(NULL, noise_p));
    status = iwi_noise_add_input(NULL, *noise_p,
                                 &(struct iwi_recorded_input){name, &name, &recording, 1, used_ns});
    if (status != IW_OK) {
        iw_noise_free(*noise_p);
    }
    return status;
}

static void count_detours(const iw_recording *recording, int64_t used_ns, struct inquiry *inquiry)
{
    inquiry->watched_s = 1e-9 * (double)used_ns * (double)recording->cpu_count;
    inquiry->longest = (struct iwi_longest){inquiry->longest_room, IWI_LONGEST_ROOM, 0, 0};
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        for (size_t k = 0; k < cpu->count && cpu->start_ns[k] < used_ns; k++) {
            iwi_longest_add(&inquiry->longest, cpu->duration_ns[k]);
            iwi_bins_add(&inquiry->bins, cpu->duration_ns[k], 1.0 / inquiry->watched_s, 1.0);
            inquiry->share += 1e-9 * (double)cpu->duration_ns[k] / inquiry->watched_s;
        }
    }
}

/* ---- one simulation ---- */

static iw_status run(const struct inquiry *inquiry, const struct job *job, uint64_t repeat,
                     iw_sim_result **result_p)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program;
    iw_status status;

    pattern.ranks = job->ranks;
    pattern.bytes = job->bytes;
    pattern.repeat = repeat;
    pattern.nodes = iw_net_nodes(inquiry->net);
    opts.trials = TRIALS;
    IW_TRY(iw_program_from_pattern(NULL, job->operation, &pattern, &program));
    status = iw_simulate(NULL, program, inquiry->net, inquiry->noise, &opts, result_p);
    iw_program_free(program);
    return status;
}

/* Beyond the reach of the recording the slowdown is a lower bound, as `simulate` has it. The lower end counts
 * the trials, and that the few longest detours may have come by luck. */
static void count_unseen(const struct inquiry *inquiry, const iw_sim_result *whole, struct answer *answer)
{
    const double quiet_s = (double)whole->noiseless_ps / (double)IW_PS_PER_S;
    const double value = answer->slowdown.value;
    struct iwi_length_bins bins = {0};
    double slowdown = 0.0, phases, longest_s, luck;

    for (uint64_t i = 0; i < whole->trials; i++) {
        slowdown += ((double)whole->makespan_ps[i] / (double)whole->noiseless_ps - 1.0) / TRIALS;
    }
    iwi_bins_add_all(&bins, &inquiry->bins, (double)whole->ranks);
    phases = iwi_bins_phases(&bins, quiet_s, slowdown);
    longest_s = iwi_bins_longest_s(&bins, quiet_s / phases);
    answer->is_bound =
        iwi_unseen_slowdown(&inquiry->longest, (double)whole->ranks / inquiry->watched_s,
                            &(struct iwi_met_job){quiet_s, phases, longest_s}) > iwi_unseen_allowed(slowdown);
    if (answer->is_bound) {
        luck = (1.0 - iwi_bins_least_part(&bins, quiet_s, phases)) * value;
        answer->slowdown.low = value - hypot(value - answer->slowdown.low, luck);
    }
}

/* Detours longer than barriers delay all ranks by their length, each time: by their share of the time of all
 * ranks. How many are met is told by the time without noise, which does not hang on those that were met. */
static void count_rare(const struct inquiry *inquiry, const iw_sim_result *whole, const iw_sim_result *half,
                       struct answer *answer)
{
    const double quiet_s = (double)(whole->noiseless_ps - half->noiseless_ps) / (double)IW_PS_PER_S;
    const double met_s = (double)half->trials * quiet_s * (double)whole->ranks;
    struct iwi_length_bins met = {0};

    iwi_bins_add_all(&met, &inquiry->bins, met_s / inquiry->watched_s);
    for (size_t i = iwi_bins_rare_from(&met, FEW_HITS); i < IWI_LENGTH_BINS; i++) {
        answer->rare += (double)whole->ranks * inquiry->bins.lost[i];
    }
    answer->is_rare = answer->rare > iwi_unseen_allowed(answer->slowdown.value);
}

static iw_status simulate(const struct inquiry *inquiry, const struct job *job, uint64_t repeat,
                          struct answer *answer_p)
{
    iw_sim_result *whole, *half;
    double slowdowns[TRIALS] = {0.0};
    iw_status status;

    IW_TRY(run(inquiry, job, repeat, &whole));
    status = run(inquiry, job, repeat / 2, &half);
    if (status == IW_OK) {
        status = iwi_later_half(whole, half, slowdowns) ? IW_OK : IW_ERR_RANGE;
        *answer_p = (struct answer){.slowdown = iwi_mean_estimate(slowdowns, TRIALS), .repeat = repeat};
        count_unseen(inquiry, whole, answer_p);
        count_rare(inquiry, whole, half, answer_p);
        if (answer_p->is_bound || answer_p->is_rare) {
            answer_p->slowdown.low = fmax(0.0, answer_p->slowdown.low);
            answer_p->slowdown.high = INFINITY;
        }
        iw_sim_result_free(half);
    }
    iw_sim_result_free(whole);
    return status;
}

static iw_status ask(const struct inquiry *inquiry, const struct job *job, struct answer *answer_p)
{
    if (job->repeat > FEW) {
        IW_TRY(simulate(inquiry, job, FEW, answer_p));
        if (answer_p->slowdown.value >= MUCH_SLOWER) {
            return IW_OK;
        }
    }
    return simulate(inquiry, job, job->repeat, answer_p);
}

/* ---- from how many ranks on? ---- */

/* As many messages on all numbers of ranks, so that all simulations take about as long. */
static uint64_t repeat_on(uint32_t ranks_log2)
{
    const int64_t messages = (int64_t)SEARCH_REPEAT * RANKS_LOG2 << RANKS_LOG2;
    const int64_t repeat =
        iwi_min(messages / ((int64_t)ranks_log2 << ranks_log2), MOST_ROUNDS / (int64_t)ranks_log2);

    return repeat < 2 ? 2 : (uint64_t)repeat / 2 * 2;
}

/* Few ranks lose what each of them loses, since detours hardly meet: with that the search begins. `slow` and
 * `quick`: numbers of ranks, as powers of two, on which barriers are known to be, or taken for. */
static iw_status search(const struct inquiry *inquiry, int quick, int slow, uint32_t *from_ranks_p)
{
    int probe = inquiry->share > 0.0 ? (int)fmin(ceil(log2(SLOW / inquiry->share)), slow) : slow;

    while (slow - quick > 1) {
        struct answer answer;
        bool is_slow;

        probe = probe <= quick ? quick + 1 : probe >= slow ? slow - 1 : probe;
        IW_TRY(ask(inquiry, &(struct job){"barrier", 1, repeat_on((uint32_t)probe), UINT32_C(1) << probe},
                   &answer));
        is_slow = fmax(answer.slowdown.value, answer.rare) >= SLOW;
        *(is_slow ? &slow : &quick) = probe;
        probe += is_slow ? -1 : 1;
    }
    *from_ranks_p = slow <= MOST_RANKS_LOG2 ? UINT32_C(1) << slow : 0;
    return IW_OK;
}

/* ---- all of it ---- */

static iw_status find(const struct inquiry *inquiry, iw_noise_cost *cost)
{
    struct answer barrier, allreduce;

    IW_TRY(ask(inquiry, &(struct job){"barrier", 1, REPEAT, UINT32_C(1) << RANKS_LOG2}, &barrier));
    IW_TRY(simulate(inquiry, &(struct job){"allreduce", 8, REPEAT, UINT32_C(1) << RANKS_LOG2}, barrier.repeat,
                    &allreduce));
    cost->repeat = barrier.repeat;
    cost->barrier_slowdown = barrier.slowdown;
    cost->allreduce_slowdown = allreduce.slowdown;
    cost->is_bound = barrier.is_bound || allreduce.is_bound;
    cost->is_rare = barrier.is_rare || allreduce.is_rare;
    return fmax(barrier.slowdown.value, barrier.rare) >= SLOW
               ? search(inquiry, 0, RANKS_LOG2, &cost->from_ranks)
               : search(inquiry, RANKS_LOG2, MOST_RANKS_LOG2 + 1, &cost->from_ranks);
}

iw_status iwi_noise_cost_find(const iw_recording *recording, iw_noise_cost *cost_p)
{
    const int64_t used_ns = used_ns_of(recording);
    struct inquiry inquiry = {.net = iw_net_builtin(NETWORK)};
    iw_noise_cost cost = {.network = NETWORK,
                          .ranks = UINT32_C(1) << RANKS_LOG2,
                          .most_ranks = UINT32_C(1) << MOST_RANKS_LOG2,
                          .trials = TRIALS,
                          .used_ns = (double)used_ns};
    iw_status status;

    *cost_p = (iw_noise_cost){.network = NULL};
    if (used_ns > 0) {
        count_detours(recording, used_ns, &inquiry);
    }
    if (!(inquiry.share > 0.0)) {
        return IW_OK;
    }
    status = make_noise(recording, used_ns, &inquiry.noise);
    if (status == IW_OK) {
        status = find(&inquiry, &cost);
        iw_noise_free(inquiry.noise);
    }
    if (status == IW_OK) {
        *cost_p = cost;
    }
    return status == IW_ERR_NOMEM ? status : IW_OK;
}
