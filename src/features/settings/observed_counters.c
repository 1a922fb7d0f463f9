/* What the kernel's counters say: read several times, and what rose in between.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/sysfile.h"
#include "features/settings/observed.h"
#include "kit/machine/proc_counts.h"

enum { STAT_FIELDS = 8, LINE_SIZE = 512, IDLE_FIELD = 3, IOWAIT_FIELD = 4, STEAL_FIELD = 7 };
enum { STAT_SIZE = 1 << 21, MOST_WINDOWS = 64 }; /* of /proc/stat; as many bits as marks have */

/* One reading. */
struct reading {
    double uptime_s;
    struct iwi_proc_counts counts;
    uint64_t (*times)[STAT_FIELDS]; /* of /proc/stat, by place of the CPU */
};

bool iwi_is_copied_twice(const char *root)
{
    return root[0] != '\0' && iwi_sysfile_exists(root, "/later/proc");
}

/* Lines "cpu3 user nice system idle iowait irq softirq steal", in ticks of the clock; zeros where not told.
 */
static void take_times(const char *text, const uint32_t *cpus, size_t count, uint64_t (*times)[STAT_FIELDS])
{
    /* the first one, "cpu", is the sum */
    for (const char *line = strchr(text, '\n'); line != NULL && strncmp(++line, "cpu", 3) == 0;) {
        char *next;
        const uint32_t cpu = (uint32_t)strtoul(line + 3, &next, 10);
        const uint32_t *found = next > line + 3 ? iwi_find(&cpu, cpus, count, iwi_compare_u32) : NULL;

        for (int i = 0; found != NULL && i < STAT_FIELDS; i++) {
            times[found - cpus][i] = strtoull(next, &next, 10);
        }
        line = strchr(line, '\n');
    }
}

static iw_status read_once(const iw_log *log, const char *root, const uint32_t *cpus, size_t count,
                           struct reading *reading)
{
    char line[LINE_SIZE], *text = iwi_new_array(log, STAT_SIZE, 1);

    reading->times = iwi_new_array(log, count, sizeof *reading->times);
    if (reading->times == NULL || text == NULL) {
        free(text);
        return IW_ERR_NOMEM;
    }
    reading->uptime_s =
        iwi_sysfile_line(root, "/proc/uptime", line, sizeof line) ? strtod(line, NULL) : (double)NAN;
    if (iwi_sysfile_whole(root, "/proc/stat", text, STAT_SIZE) > 0) {
        take_times(text, cpus, count, reading->times);
    }
    free(text);
    return iwi_proc_counts_read(log, root, cpus, count, &reading->counts);
}

static void release(struct reading *reading)
{
    iwi_proc_counts_release(&reading->counts);
    free(reading->times);
}

static void pause_ns(int64_t ns)
{
    struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static struct iwi_seen_cpu cpu_of(const struct reading *before, const struct reading *after, size_t place,
                                  double seconds)
{
    struct iwi_seen_cpu cpu = {after->counts.cpus[place], seconds, (double)NAN, (double)NAN, 0};
    double sum = 0.0, part[STAT_FIELDS];

    for (int i = 0; i < STAT_FIELDS; i++) {
        const uint64_t old = before->times[place][i], now = after->times[place][i];

        part[i] = now > old ? (double)(now - old) : 0.0;
        sum += part[i];
    }
    if (sum > 0.0) {
        cpu.idle = (part[IDLE_FIELD] + part[IOWAIT_FIELD]) / sum;
        cpu.steal = part[STEAL_FIELD] / sum;
    }
    return cpu;
}

static bool is_same_layout(const struct iwi_proc_counts *a, const struct iwi_proc_counts *b)
{
    bool is_same = a->row_count == b->row_count;

    for (size_t i = 0; is_same && i < a->row_count; i++) {
        is_same = strcmp(a->names[i], b->names[i]) == 0;
    }
    return is_same;
}

/* Marks the window in which counters rose. Where rows came or went meanwhile nothing is marked: then less is
 * said. */
static void mark_rises(const struct reading *before, const struct reading *after, size_t window,
                       uint64_t *marks)
{
    const struct iwi_proc_counts *old = &before->counts, *now = &after->counts;
    const size_t count = is_same_layout(old, now) ? now->row_count * now->cpu_count : 0;

    for (size_t i = 0; i < count; i++) {
        marks[i] |= (uint64_t)(now->counts[i] != old->counts[i]) << window;
    }
}

/* What rose on one CPU from the first reading to the last. */
static iw_status take_rises(const iw_log *log, const struct reading *before, const struct reading *after,
                            size_t place, const uint64_t *marks, struct iwi_observed *seen)
{
    const struct iwi_proc_counts *counts = &after->counts;
    const bool is_marked = before->counts.row_count == counts->row_count;
    size_t from = 0;

    for (size_t row = 0; row < counts->row_count; row++) {
        const uint64_t rise = iwi_proc_counts_rise(&before->counts, counts, row, place, &from);
        struct iwi_seen_row *made;
        iw_source source;

        if (rise == 0 || !iwi_source_of_counter(counts->names[row], &source)) {
            continue;
        }
        made = iwi_observed_row(log, seen, source.kind, source.name, (uint32_t)place);
        if (made == NULL) {
            return IW_ERR_NOMEM;
        }
        made->count += rise;
        made->slots[0] |= is_marked ? marks[row * counts->cpu_count + place] : 1;
    }
    return IW_OK;
}

static iw_status compare(const iw_log *log, const struct reading *before, const struct reading *after,
                         const uint64_t *marks, struct iwi_observed *seen)
{
    const double seconds = after->uptime_s - before->uptime_s;

    if (!(seconds > 0.0) || after->counts.row_count == 0) {
        return IW_OK;
    }
    for (size_t place = 0; place < after->counts.cpu_count; place++) {
        seen->seen_cpus[place] = cpu_of(before, after, place, seconds);
        iw_cpu_set_add(&seen->cpus, after->counts.cpus[place]);
        IW_TRY(take_rises(log, before, after, place, marks, seen));
    }
    seen->by = IWI_SEEN_BY_COUNTERS;
    seen->cpu_count = after->counts.cpu_count;
    seen->tells[IW_CLASS_IRQ] = seen->tells[IW_CLASS_SOFTIRQ] = seen->tells[IW_CLASS_NMI] = true;
    return IW_OK;
}

/* Where the copy of a window's end is: "ROOT/later", "ROOT/later2"; false: there is none. */
static bool name_copy(const char *root, size_t window, char path[PATH_MAX])
{
    char number[24] = "";

    if (window > 0) {
        snprintf(number, sizeof number, "%zu", window + 1);
    }
    return snprintf(path, PATH_MAX, "%s/later%s", root, number) < PATH_MAX &&
           iwi_sysfile_exists(path, "/proc");
}

static size_t count_windows(const char *root, int64_t watch_ns)
{
    const int64_t seconds = watch_ns / IWI_BURST_NS;
    char path[PATH_MAX];
    size_t count = 0;

    while (count < MOST_WINDOWS && iwi_is_copied_twice(root) && name_copy(root, count, path)) {
        count++;
    }
    return count > 0 ? count : (size_t)iwi_min(iwi_max(seconds, 1), MOST_WINDOWS);
}

/* One reading after the other, from the first on; the last one is kept. */
static iw_status watch(const iw_log *log, const char *root, int64_t watch_ns, const struct reading *first,
                       struct reading *last, struct iwi_observed *seen)
{
    const struct iwi_proc_counts *counts = &first->counts;
    const size_t rows = counts->row_count;
    uint64_t *marks = iwi_new_array(log, rows * counts->cpu_count + 1, sizeof *marks);
    iw_status status = marks != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t window = 0; window < seen->slot_count && status == IW_OK; window++) {
        struct reading next = {.times = NULL};
        char path[PATH_MAX];

        snprintf(path, sizeof path, "%s", root);
        if (!iwi_is_copied_twice(root) || !name_copy(root, window, path)) {
            pause_ns(watch_ns / (int64_t)seen->slot_count);
        }
        status = read_once(log, path, counts->cpus, counts->cpu_count, &next);
        if (status == IW_OK && next.counts.row_count == rows) {
            mark_rises(window == 0 ? first : last, &next, window, marks);
        }
        release(last);
        *last = next;
    }
    if (status == IW_OK) {
        status = compare(log, first, last, marks, seen);
    }
    free(marks);
    return status;
}

iw_status iwi_observe_counters(const iw_log *log, const char *root, const iw_cpu_set *online,
                               int64_t watch_ns, struct iwi_observed *seen)
{
    const size_t count = iw_cpu_set_count(online);
    struct reading first = {.times = NULL}, last = {.times = NULL};
    uint32_t *cpus;
    iw_status status = IW_OK;

    *seen = (struct iwi_observed){.by = IWI_SEEN_BY_NONE, .slot_count = count_windows(root, watch_ns)};
    seen->seen_cpus = iwi_new_array(log, count, sizeof *seen->seen_cpus);
    cpus = iwi_new_array(log, count, sizeof *cpus);
    if (seen->seen_cpus == NULL || cpus == NULL) {
        free(cpus);
        return IW_ERR_NOMEM;
    }
    for (uint32_t cpu = 0, n = 0; n < count; cpu++) {
        if (iw_cpu_set_has(online, cpu)) {
            cpus[n++] = cpu;
        }
    }
    status = read_once(log, root, cpus, count, &first);
    if (status == IW_OK) {
        status = watch(log, root, watch_ns, &first, &last, seen);
    }
    release(&first);
    release(&last);
    free(cpus);
    return status;
}
