/* How much crosses the borders of blocks: counted on a sample of ranks and rounds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/program/trace_program.h"
#include "core/sim/split/forecast.h"

enum { SAMPLED_ROUNDS = 32, SAMPLED_RANKS = 64, SAMPLED_SENDS = 4096, LARGEST_FAN = SAMPLED_SENDS };

/* Of a round: values that leave the block [first, end), by a sample of its ranks. */
static double leaving(const struct iwi_operation *op, uint64_t index, const struct iwi_round *round,
                      uint32_t first, uint32_t end)
{
    const uint32_t fan = round->fan > 0 ? round->fan : 1;
    const uint32_t count = end - first, few = SAMPLED_SENDS / fan;
    const uint32_t most = few < SAMPLED_RANKS ? few : SAMPLED_RANKS, samples = count < most ? count : most;
    struct iwi_msg *messages = calloc(2 * (size_t)fan, sizeof *messages);
    struct iwi_role role = {.sends = messages};
    double left = 0.0;

    if (messages == NULL) {
        return 0.0;
    }
    role.recvs = messages + fan;
    for (uint32_t n = 0; n < samples; n++) {
        const uint32_t rank = first + (uint32_t)((uint64_t)n * count / samples);

        op->algorithm->role(op, index, rank, &role);
        for (uint32_t s = 0; s < role.send_count; s++) {
            left += role.sends[s].peer < first || role.sends[s].peer >= end;
        }
    }
    free(messages);
    return samples == 0 ? 0.0 : left * count / samples;
}

/* The most that leaves one of three blocks: the first, one in the middle, the last. */
static double leaving_most(const struct iwi_operation *op, uint64_t index, const struct iwi_round *round,
                           uint32_t members)
{
    const uint64_t blocks[] = {0, members / 2, members - 1};
    double most = 0.0;

    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++) {
        const uint32_t first = (uint32_t)(op->ranks * blocks[k] / members),
                       end = (uint32_t)(op->ranks * (blocks[k] + 1) / members);

        most = fmax(most, round->fan <= LARGEST_FAN
                              ? leaving(op, index, round, first, end)
                              : (double)(end - first) * round->fan * (1.0 - 1.0 / members));
    }
    return most;
}

/* Ranks that do something in the round. */
static double active_ranks(const struct iwi_round *round)
{
    double active = 0.0;

    for (uint32_t k = 0; k < round->range_count; k++) {
        active += round->active[k].count;
    }
    return active;
}

/* Of one operation over all ranks. A sender and its receiver work one after the other, whoever has
 * them: a round is no faster than two ranks. */
static struct iwi_border_traffic crossing_of(const struct iwi_operation *op, uint32_t members)
{
    const uint64_t rounds = op->algorithm->round_count(op);
    const uint64_t samples = rounds < SAMPLED_ROUNDS ? rounds : SAMPLED_ROUNDS;
    struct iwi_border_traffic crossing = {0};
    double active = 0.0, busiest = 0.0;
    uint64_t crossed = 0;

    for (uint64_t n = 0; n < samples; n++) {
        const uint64_t index = n * rounds / samples;
        struct iwi_round round;
        double left;

        op->algorithm->round(op, index, &round);
        left = leaving_most(op, index, &round, members);
        crossing.values += left * (double)rounds / (double)samples;
        crossed += left > 0.0;
        active += active_ranks(&round);
        busiest += fmax(active_ranks(&round) / members, fmin(active_ranks(&round), 2.0));
    }
    crossing.exchanges = samples == 0 ? 0 : crossed * rounds / samples;
    crossing.share = active > 0.0 ? busiest / active : 1.0 / members;
    return crossing;
}

static void add(struct iwi_border_traffic *sum, const struct iwi_border_traffic *more, uint64_t times)
{
    sum->values += more->values * (double)times;
    sum->exchanges += more->exchanges * times;
    sum->share = fmax(sum->share, more->share);
}

/* Collectives over all ranks; inside replicas only where these are cut, half of all messages then. */
static struct iwi_border_traffic crossing_of_trace(const struct iwi_trace_program *trace, uint32_t members)
{
    struct iwi_border_traffic *each = calloc(trace->operation_count + 1, sizeof *each);
    bool *is_known = calloc(trace->operation_count + 1, sizeof *is_known);
    struct iwi_border_traffic sum = {.share = 1.0 / members};

    for (uint64_t k = 0; each != NULL && is_known != NULL && k < trace->collective_count; k++) {
        const struct iwi_trace_collective *collective = &trace->collectives[k];
        const uint32_t op = collective->operation;

        if (iwi_trace_is_world(trace, collective->comm)) {
            if (!is_known[op]) {
                each[op] = crossing_of(&trace->operations[op], members);
                is_known[op] = true;
            }
            add(&sum, &each[op], 1);
        }
    }
    if (trace->replicas < members) {
        sum.values += 0.5 * (double)trace->messages / members;
        sum.exchanges += trace->messages / members / 16;
    }
    free(each);
    free(is_known);
    return sum;
}

struct iwi_border_traffic iwi_border_traffic_of(const iw_program *program, uint32_t members)
{
    struct iwi_border_traffic sum = {.share = 1.0 / members};

    if (program->trace != NULL) {
        return crossing_of_trace(program->trace, members);
    }
    for (size_t k = 0; k < program->operation_count; k++) {
        const struct iwi_border_traffic one = crossing_of(&program->operations[k], members);

        add(&sum, &one, program->repeat);
    }
    if (program->schedule != NULL) { /* nobody knows without looking at all of it: half */
        sum.values = 0.25 * (double)program->schedule->first_node[program->ranks] / members;
        sum.exchanges = (uint64_t)sum.values / 16;
    }
    return sum;
}
