/* Plans and loops of the tests that really inject.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "injecting.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/order.h"
#include "support/support.h"

enum { DETOURS = 100, GAPS = 100000 };

iw_inject_plan *iwt_periodic_plan(iw_sync sync, int64_t period_ns, int64_t duration_ns)
{
    const iw_inject_opts opts = {.sync = sync, .time_scale = 1, .most_share = 0, .is_uncompensated = true};
    const iw_inject_costs costs = {0};
    const iw_inject_facts facts = {.made_count = DETOURS, .length_ns = DETOURS * period_ns};
    int64_t start[DETOURS], duration[DETOURS];
    iw_inject_plan *plan;

    for (int64_t i = 0; i < DETOURS; i++) {
        start[i] = i * period_ns;
        duration[i] = duration_ns;
    }
    assert_ok(iwi_plan_new(NULL, &opts, &costs, &facts, start, duration, DETOURS, &plan));
    return plan;
}

struct iwt_seen iwt_watch(int64_t duration_ns, int64_t least_ns)
{
    int64_t *gaps = calloc(GAPS, sizeof *gaps);
    const int64_t first = iwi_now_ns();
    struct iwt_seen seen = {0};
    int64_t last = first;

    assert_non_null(gaps);
    while (last < first + duration_ns) {
        const int64_t now = iwi_now_ns();

        if (now - last >= least_ns && seen.count < GAPS) {
            gaps[seen.count++] = now - last;
            seen.sum_ns += (double)(now - last);
        }
        last = now;
    }
    seen.elapsed_ns = last - first;
    iwi_sort(gaps, seen.count, iwi_compare_i64);
    seen.median_ns = seen.count > 0 ? (double)gaps[seen.count / 2] : 0;
    free(gaps);
    return seen;
}

bool iwt_meet_more(iw_injector *injector, uint64_t made_count)
{
    uint64_t now = made_count;

    for (int i = 0; i < 200 && now <= made_count; i++) {
        (void)iwt_watch(50000000, 1000);
        injector->ops->hold(injector);
        now = injector->counts.made_count;
        injector->ops->release(injector);
    }
    return now > made_count;
}

void iwt_keep_out_too_long(iw_injector *injector)
{
    injector->ops->hold(injector);
    while (iwi_now_ns() < injector->next.deadline_ns + 3000000) {
    }
    injector->ops->release(injector);
}

static size_t count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    size_t count = 0;

    assert_non_null(tasks);
    for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(tasks);
    return count;
}

size_t iwt_thread_count(size_t expected)
{
    size_t count = count_threads();

    for (int i = 0; i < 5000 && count != expected; i++) {
        (void)usleep(1000);
        count = count_threads();
    }
    return count;
}
