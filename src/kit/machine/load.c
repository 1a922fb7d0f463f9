/* Reads CPU times of all processes, and tells whose they are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/machine/load.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/sysfile.h"

enum { STAT_SIZE = 1024, CGROUP_SIZE = 8192, FIELDS = 20, SHOWN = 5 };

/* Fields of /proc/PID/stat behind the name, from 0 (proc(5) counts them from 3). */
enum {
    FIELD_PARENT = 1,
    FIELD_FLAGS = 6,
    FIELD_USER = 11,
    FIELD_SYSTEM,
    FIELD_CHILD_USER,
    FIELD_CHILD_SYSTEM,
    FIELD_START = 19
};

static const uint64_t KERNEL_THREAD = 0x00200000; /* PF_KTHREAD of include/linux/sched.h */

/* What no process accounts for counts as users' from this share on: the kernel counts some times by ticks
 * and others exactly, and these differ. */
static const double UNACCOUNTED = 0.03;

/* ---- one process ---- */

/* Containers, and steps of batch jobs, are started by services and belong to users. */
static bool is_of_user(const char *group)
{
    static const char *const words[] = {"slurmstepd", "/docker-", "/libpod-", "/crio-", "/cri-containerd-"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(group, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static enum iwi_load_kind kind_of(const char *root, unsigned long pid, uint64_t flags)
{
    char path[64], group[CGROUP_SIZE];

    if ((flags & KERNEL_THREAD) != 0) {
        return IWI_LOAD_KERNEL;
    }
    snprintf(path, sizeof path, "/proc/%lu/cgroup", pid);
    if (iwi_sysfile_whole(root, path, group, sizeof group) < 0) {
        return IWI_LOAD_USER;
    }
    return (strstr(group, ":/system.slice/") != NULL || strstr(group, ":/init.scope") != NULL) &&
                   !is_of_user(group)
               ? IWI_LOAD_SERVICE
               : IWI_LOAD_USER;
}

/* "(kworker/3:1-events)": as tracing names it, "kworker/3:1"; without signs that separate. */
static void take_name(const char *begin, const char *end, char name[IWI_LOAD_NAME_SIZE])
{
    size_t used = 0;

    if (strncmp(begin, "kworker/", strlen("kworker/")) == 0) {
        const size_t length = strcspn(begin, "-+)");

        end = begin + length < end ? begin + length : end;
    }
    for (; begin < end && used + 1 < IWI_LOAD_NAME_SIZE; begin++) {
        name[used++] = (char)(isprint((unsigned char)*begin) && strchr(",=", *begin) == NULL ? *begin : '?');
    }
    name[used] = '\0';
}

static bool read_fields(const char *text, uint64_t fields[FIELDS])
{
    text += strspn(text, " ");
    for (size_t i = 0; i < FIELDS; i++) {
        const size_t length = strcspn(text, " \n");

        if (length == 0) {
            return false;
        }
        fields[i] = strtoull(text, NULL, 10); /* the state is a letter: 0 */
        text += length;
        text += strspn(text, " ");
    }
    return true;
}

static bool read_process(const char *root, unsigned long pid, struct iwi_load_process *process)
{
    char path[64], text[STAT_SIZE];
    const char *begin, *end;
    uint64_t fields[FIELDS];

    snprintf(path, sizeof path, "/proc/%lu/stat", pid);
    if (!iwi_sysfile_line(root, path, text, sizeof text)) {
        return false;
    }
    begin = strchr(text, '(');
    end = strrchr(text, ')');
    if (begin == NULL || end == NULL || end < begin || !read_fields(end + 1, fields)) {
        return false;
    }
    *process = (struct iwi_load_process){
        .pid = pid,
        .parent = (unsigned long)fields[FIELD_PARENT],
        .start = fields[FIELD_START],
        .ticks = fields[FIELD_USER] + fields[FIELD_SYSTEM],
        .child_ticks = fields[FIELD_CHILD_USER] + fields[FIELD_CHILD_SYSTEM],
        .kind = kind_of(root, pid, fields[FIELD_FLAGS]),
    };
    take_name(begin + 1, end, process->name);
    return true;
}

/* ---- all of them ---- */

struct collector {
    const iw_log *log;
    const char *root;
    struct iwi_load_reading *reading;
    iw_status status;
};

static void take_process(void *arg, unsigned long pid)
{
    struct collector *c = arg;
    struct iwi_load_reading *reading = c->reading;
    struct iwi_load_process process;
    void *processes;

    if (c->status != IW_OK || !read_process(c->root, pid, &process)) {
        return; /* it has ended meanwhile */
    }
    processes = reading->processes;
    c->status =
        iwi_grow(c->log, &processes, &reading->capacity, reading->count + 1, sizeof *reading->processes);
    if (c->status == IW_OK) {
        reading->processes = processes;
        reading->processes[reading->count++] = process;
    }
}

IWI_COMPARE(compare_pids, struct iwi_load_process, IWI_RISING(pid))

/* "cpu3 user nice system idle ...": those that programs and kernel threads used. */
static uint64_t read_cpu_ticks(const char *root, const uint32_t *cpus, size_t cpu_count)
{
    char key[24], text[STAT_SIZE];
    uint64_t sum = 0;

    for (size_t i = 0; i < cpu_count; i++) {
        const char *at = text;

        snprintf(key, sizeof key, "cpu%u", cpus[i]);
        if (!iwi_sysfile_value(root, "/proc/stat", key, ' ', text, sizeof text)) {
            return 0;
        }
        for (int k = 0; k < 3; k++) {
            char *end;

            sum += strtoull(at, &end, 10);
            at = end;
        }
    }
    return sum;
}

iw_status iwi_load_read(const iw_log *log, const char *root, const uint32_t *cpus, size_t cpu_count,
                        struct iwi_load_reading *reading)
{
    struct collector c = {log, root, reading, IW_OK};

    *reading = (struct iwi_load_reading){.cpu_ticks = read_cpu_ticks(root, cpus, cpu_count)};
    iwi_sysfile_each_number(root, "/proc", take_process, &c);
    iwi_sort(reading->processes, reading->count, compare_pids);
    return c.status;
}

void iwi_load_release(struct iwi_load_reading *reading)
{
    free(reading->processes);
    *reading = (struct iwi_load_reading){.count = 0};
}

/* ---- what happened in between ---- */

static const struct iwi_load_process *find(const struct iwi_load_reading *reading, unsigned long pid)
{
    const struct iwi_load_process key = {.pid = pid};

    return iwi_find(&key, reading->processes, reading->count, compare_pids);
}

/* What a process used since: all of it, if it is new. */
static struct iwi_load_process used_since(const struct iwi_load_reading *before,
                                          const struct iwi_load_process *process)
{
    const struct iwi_load_process *old = find(before, process->pid);
    struct iwi_load_process used = *process;

    if (old != NULL && old->start == process->start) {
        used.ticks -= old->ticks < used.ticks ? old->ticks : used.ticks;
        used.child_ticks -= old->child_ticks < used.child_ticks ? old->child_ticks : used.child_ticks;
    }
    return used;
}

struct sums {
    double living[IWI_LOAD_KINDS], ended[IWI_LOAD_KINDS];
    double own;
};

static void add_up(const struct iwi_load_process *used, size_t count, unsigned long own_pid,
                   struct sums *sums)
{
    *sums = (struct sums){.own = 0.0};
    for (size_t i = 0; i < count; i++) {
        if (used[i].pid == own_pid) {
            sums->own += (double)used[i].ticks;
        } else {
            sums->living[used[i].kind] += (double)used[i].ticks;
            sums->ended[used[i].kind] += (double)used[i].child_ticks;
        }
    }
}

/* Of children that have ended the times before the first reading count too: no more than what the CPUs have
 * left over is theirs. Returns the part of their times that counts. */
static double share_out(const struct sums *sums, double cpu_ticks, double whole_ticks,
                        double ticks[IWI_LOAD_KINDS])
{
    const double others = fmax(cpu_ticks - sums->own, 0.0);
    double ended = 0.0, rest = others, scale;

    for (int kind = 0; kind < IWI_LOAD_KINDS; kind++) {
        ended += sums->ended[kind];
        rest -= sums->living[kind];
    }
    rest = fmax(rest, 0.0);
    scale = ended > rest ? rest / ended : 1.0;
    for (int kind = 0; kind < IWI_LOAD_KINDS; kind++) {
        ticks[kind] = sums->living[kind] + scale * sums->ended[kind];
    }
    rest -= scale * ended;
    if (rest > UNACCOUNTED * whole_ticks) { /* hidden from this user, or outside of this container */
        ticks[IWI_LOAD_USER] += rest;
    }
    for (int kind = 0; kind < IWI_LOAD_KINDS; kind++) { /* some of it was on other CPUs */
        ticks[kind] = fmin(ticks[kind], others);
    }
    return scale;
}

IWI_COMPARE(compare_names, struct iwi_load_process, IWI_TEXT(name))

IWI_COMPARE(compare_ticks, struct iwi_load_process, IWI_FALLING(ticks), IWI_TEXT(name))

/* Programs of users become one row a name, with all that they and their children used; how many names. */
static size_t join_users(struct iwi_load_process *used, size_t count, unsigned long own_pid,
                         double child_part)
{
    size_t names = 0;

    iwi_sort(used, count, compare_names);
    for (size_t i = 0; i < count; i++) {
        const uint64_t child_ticks = (uint64_t)(child_part * (double)used[i].child_ticks);
        const uint64_t ticks = used[i].ticks + child_ticks;

        if (used[i].kind != IWI_LOAD_USER || used[i].pid == own_pid || ticks == 0) {
            continue;
        }
        if (names == 0 || strcmp(used[names - 1].name, used[i].name) != 0) {
            used[names] = used[i];
            used[names].child_ticks = 0;
            used[names++].ticks = 0;
        }
        used[names - 1].ticks += ticks;
        used[names - 1].child_ticks += child_ticks;
    }
    iwi_sort(used, names, compare_ticks);
    return names;
}

/* Its name alone would blame the one who only started them: sources are named by who ran. */
static bool is_by_children(const struct iwi_load_process *joined)
{
    return joined->child_ticks > joined->ticks / 2;
}

static void list_users(const struct iwi_load_process *users, size_t count, double tick_ms,
                       struct iwi_load_used *load)
{
    size_t length = 0;

    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const int written =
            snprintf(load->users + length, sizeof load->users - length, "%s%s%s=%.0f", i > 0 ? "," : "",
                     is_by_children(&users[i]) ? "children of " : "", users[i].name,
                     fmin(tick_ms * (double)users[i].ticks, load->ms[IWI_LOAD_USER]));

        if (written < 0 || (size_t)written >= sizeof load->users - length) {
            load->users[length] = '\0';
            break;
        }
        length += (size_t)written;
    }
}

void iwi_load_between(const struct iwi_load_reading *before, struct iwi_load_reading *after,
                      unsigned long own_pid, double tick_ms, double whole_ms, struct iwi_load_used *load)
{
    const double cpu_ticks =
        after->cpu_ticks > before->cpu_ticks ? (double)(after->cpu_ticks - before->cpu_ticks) : 0.0;
    double ticks[IWI_LOAD_KINDS], child_part;
    struct sums sums;

    *load = (struct iwi_load_used){.users = ""};
    for (size_t i = 0; i < after->count; i++) {
        after->processes[i] = used_since(before, &after->processes[i]);
    }
    add_up(after->processes, after->count, own_pid, &sums);
    child_part = share_out(&sums, cpu_ticks, whole_ms / tick_ms, ticks);
    for (int kind = 0; kind < IWI_LOAD_KINDS; kind++) {
        load->ms[kind] = tick_ms * ticks[kind];
    }
    if (after->count > 0) {
        list_users(after->processes, join_users(after->processes, after->count, own_pid, child_part), tick_ms,
                   load);
    }
}

size_t iwi_load_users(const struct iwi_load_reading *reading, unsigned long own_pid, uint32_t *pids)
{
    size_t count = 0;

    for (size_t i = 0; i < reading->count; i++) {
        const struct iwi_load_process *process = &reading->processes[i];
        const struct iwi_load_process *parent = find(reading, process->parent);

        if (process->kind == IWI_LOAD_USER && process->pid != own_pid &&
            (parent == NULL || parent->kind != IWI_LOAD_USER)) {
            pids[count++] = (uint32_t)process->pid;
        }
    }
    return count;
}

bool iwi_load_is_kernel(const struct iwi_load_reading *reading, const char *name)
{
    if (strncmp(name, "kworker/", strlen("kworker/")) == 0) { /* they come and go */
        return true;
    }
    for (size_t i = 0; i < reading->count; i++) {
        if (reading->processes[i].kind == IWI_LOAD_KERNEL && strcmp(reading->processes[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}
