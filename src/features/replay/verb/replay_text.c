/* What `replay` says about noise before it is made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>

#include "features/replay/verb/replay_plan.h"

struct text {
    char chars[24];
};

static const char *time_of(double ns, struct text *text)
{
    return iw_format_time((iw_time)(ns * (double)IW_PS_PER_NS), text->chars, sizeof text->chars);
}

static double percent(double part, double whole)
{
    return whole > 0.0 ? 100.0 * part / whole : 100.0;
}

void replay_summary(const struct replay *replay, char *text, size_t size)
{
    const iw_inject_facts *facts = iw_inject_plan_facts(replay->plans[0]);
    struct text floor, p50, p99;
    int used;

    used = snprintf(text, size,
                    "%s: floor %s, deadline error %s (1 of 100 above %s); as recorded %.1f %% of events and "
                    "%.1f %% of noise time, the rest merged; %.3g %% of the time is noise",
                    iw_back_end_name((iw_back_end)replay->opts->injection.back_end),
                    time_of(replay->costs.floor_ns, &floor), time_of(replay->costs.late_p50_ns, &p50),
                    time_of(replay->costs.late_p99_ns, &p99),
                    percent((double)facts->as_recorded_count, (double)facts->event_count),
                    percent(facts->as_recorded_ns, facts->noise_ns),
                    percent(facts->made_ns, (double)facts->length_ns));
    if (replay->is_of_file && used > 0 && (size_t)used < size) {
        (void)snprintf(text + used, size - (size_t)used,
                       "; recorded CPUs, which ranks of a host meet in turns: %zu",
                       replay->recording->cpu_count);
    }
}

static void describe_use(const struct replay *replay, const iw_inject_facts *facts)
{
    struct text length, used;

    (void)printf("trace            %s", time_of((double)facts->length_ns, &length));
    if (replay->inject.most_share > 0.0) {
        (void)printf(", of which a run uses %s",
                     time_of((double)facts->length_ns * replay->inject.most_share, &used));
    }
    (void)printf("\n");
    if (replay->is_of_file) {
        (void)printf("recorded CPUs    %zu, which ranks of a host meet in turns\n",
                     replay->recording->cpu_count);
    }
}

void replay_describe(const struct replay *replay)
{
    const iw_inject_facts *facts = iw_inject_plan_facts(replay->plans[0]);
    const iw_inject_costs *costs = &replay->costs;
    struct text a, b;

    (void)printf("back end         %s\n", iw_back_end_name((iw_back_end)replay->opts->injection.back_end));
    (void)printf("floor            %s\n", time_of(costs->floor_ns, &a));
    (void)printf("overhead         %s, subtracted from each detour\n", time_of(costs->overhead_ns, &a));
    (void)printf("deadline error   %s, 1 of 100 above %s\n", time_of(costs->late_p50_ns, &a),
                 time_of(costs->late_p99_ns, &b));
    describe_use(replay, facts);
    (void)printf("events           %" PRIu64 ", as recorded %.1f %%\n", facts->event_count,
                 percent((double)facts->as_recorded_count, (double)facts->event_count));
    (void)printf("noise time       %s, as recorded %.1f %%\n", time_of(facts->noise_ns, &a),
                 percent(facts->as_recorded_ns, facts->noise_ns));
    (void)printf("to be made       %" PRIu64 " detours, %s\n", facts->made_count,
                 time_of(facts->made_ns, &a));
    (void)printf("share of time    %.4g %%\n", percent(facts->made_ns, (double)facts->length_ns));
}
