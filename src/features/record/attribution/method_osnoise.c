/* The method of the osnoise tracer: the kernel itself tells who took how much, what nests in it not included.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The tracer's own load is switched off (NO_OSNOISE_WORKLOAD, kernels from 6.2 on): it then reports on
 * whatever runs. That option is one for all of the machine, so it is changed only while nobody else uses the
 * tracer, and put back.
 */
#include <dirent.h>
#include <fcntl.h>
#include <hwloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "features/record/attribution/attribution.h"
#include "features/record/kernel/kernel_events.h"
#include "features/record/kernel/tracefs.h"
#include "features/record/kernel/tracefs_instance.h"
#include "kit/machine/softirq_name.h"

static const char OPTIONS[] = "osnoise/options", LOAD[] = "OSNOISE_WORKLOAD",
                  NO_LOAD[] = "NO_OSNOISE_WORKLOAD";

enum { SETTING_SIZE = 4096, TRACER_PATH_SIZE = 320 };

/* ---- records ---- */

/* Without its load, the tracer reports on the measuring thread, too. */
static iw_status take_thread(const struct iwi_kernel_record *record)
{
    char comm[IW_SOURCE_NAME_SIZE];
    int64_t ns, pid;

    if (!iwi_record_number(record, 0, &ns) || !iwi_record_number(record, 1, &pid) ||
        !iwi_record_text(record, 2, comm, sizeof comm) ||
        pid == record->events->method->watched[record->place].tid) {
        return IW_OK;
    }
    iwi_thread_name(pid, comm, sizeof comm);
    return iwi_record_share(record, ns, IW_CLASS_THREAD, comm);
}

static iw_status take_irq(const struct iwi_kernel_record *record)
{
    char name[IW_SOURCE_NAME_SIZE];
    int64_t ns, number;

    if (!iwi_record_number(record, 0, &ns) || !iwi_record_number(record, 1, &number) ||
        !iwi_record_text(record, 2, name, sizeof name)) {
        return IW_OK;
    }
    iwi_irq_name(number, name, sizeof name);
    return iwi_record_share(record, ns, IW_CLASS_IRQ, name);
}

static iw_status take_softirq(const struct iwi_kernel_record *record)
{
    char name[IW_SOURCE_NAME_SIZE];
    int64_t ns, vector;

    if (!iwi_record_number(record, 0, &ns) || !iwi_record_number(record, 1, &vector)) {
        return IW_OK;
    }
    iwi_softirq_name(vector, name, sizeof name);
    return iwi_record_share(record, ns, IW_CLASS_SOFTIRQ, name);
}

static iw_status take_nmi(const struct iwi_kernel_record *record)
{
    int64_t ns;

    return iwi_record_number(record, 0, &ns)
               ? iwi_record_share(record, ns, IW_CLASS_NMI, record->event->point->source)
               : IW_OK;
}

const struct iwi_tracepoint iwi_osnoise_tracepoints[] = {
    {"osnoise/thread_noise", take_thread, {"duration", "pid", "comm"}, NULL},
    {"osnoise/irq_noise", take_irq, {"duration", "vector", "desc"}, NULL},
    {"osnoise/softirq_noise", take_softirq, {"duration", "vector"}, NULL},
    {"osnoise/nmi_noise", take_nmi, {"duration"}, "nmi"},
};
const size_t iwi_osnoise_tracepoint_count =
    sizeof iwi_osnoise_tracepoints / sizeof iwi_osnoise_tracepoints[0];

/* ---- may it be used? ---- */

/* A whole word of a text of words. */
static bool has_word(const char *text, const char *word)
{
    static const char blanks[] = " \t\n";
    const size_t length = strlen(word);

    for (text += strspn(text, blanks); *text != '\0'; text += strspn(text, blanks)) {
        const size_t size = strcspn(text, blanks);

        if (size == length && memcmp(text, word, length) == 0) {
            return true;
        }
        text += size;
    }
    return false;
}

static bool is_traced_by(int tracing, const char *path)
{
    char tracer[64];

    return iwi_tracefs_read(tracing, path, tracer, sizeof tracer) &&
           (has_word(tracer, "osnoise") || has_word(tracer, "timerlat"));
}

/* Who uses the tracer: "" for nobody. */
static void find_user(int tracing, char *path, size_t size)
{
    const int fd = openat(tracing, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    bool is_used;

    snprintf(path, size, "current_tracer");
    is_used = is_traced_by(tracing, path);
    while (!is_used && folder != NULL && (entry = readdir(folder)) != NULL) {
        snprintf(path, size, "instances/%s/current_tracer", entry->d_name);
        is_used = is_traced_by(tracing, path);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    } else if (fd >= 0) {
        (void)close(fd);
    }
    if (!is_used) {
        path[0] = '\0';
    }
}

/* The tracer looks at the CPUs listed in osnoise/cpus only. */
static bool watches_all(const struct iwi_method *method, const char *list)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    bool is_in = set != NULL && hwloc_bitmap_list_sscanf(set, list) == 0;

    for (size_t i = 0; is_in && i < method->count; i++) {
        is_in = hwloc_bitmap_isset(set, method->watched[i].cpu) != 0;
    }
    hwloc_bitmap_free(set);
    return is_in;
}

static iw_status check(struct iwi_method *method, int tracing, bool *has_load_p)
{
    char setting[SETTING_SIZE], user[TRACER_PATH_SIZE];

    if (!iwi_tracefs_read(tracing, "available_tracers", setting, sizeof setting) ||
        !has_word(setting, "osnoise")) {
        return iwi_method_refuse(method, "this kernel has no osnoise tracer (CONFIG_OSNOISE_TRACER)");
    }
    if (!iwi_tracefs_read(tracing, OPTIONS, setting, sizeof setting) ||
        (!has_word(setting, LOAD) && !has_word(setting, NO_LOAD))) {
        return iwi_method_refuse(method,
                                 "this kernel's osnoise tracer always runs its own load (before 6.2)");
    }
    *has_load_p = has_word(setting, LOAD);
    find_user(tracing, user, sizeof user);
    if (user[0] != '\0') {
        return iwi_method_refuse(method, "the osnoise tracer is in use (%s of tracefs)", user);
    }
    if (iwi_tracefs_read(tracing, "osnoise/cpus", setting, sizeof setting) && !watches_all(method, setting)) {
        return iwi_method_refuse(method, "osnoise/cpus of tracefs excludes measured CPUs: it is '%.*s'",
                                 (int)strcspn(setting, "\n"), setting);
    }
    return IW_OK;
}

/* ---- the method ---- */

static iw_status set_up(struct iwi_method *method)
{
    struct iwi_tracefs_instance *instance;
    struct iwi_undo load = {.is_removal = false};
    bool has_load = false;

    IW_TRY(iwi_tracefs_instance_new(method));
    instance = method->state;
    IW_TRY(check(method, instance->tracing, &has_load));
    IW_TRY(iwi_kernel_events_of(method, instance->tracing, iwi_osnoise_tracepoints,
                                iwi_osnoise_tracepoint_count, &instance->events));
    load.folder = instance->tracing;
    snprintf(load.path, sizeof load.path, "%s", OPTIONS);
    snprintf(load.text, sizeof load.text, "%s", LOAD);
    IW_TRY(iwi_tracefs_instance_make(instance, &load, has_load ? 1 : 0));
    if (has_load && !iwi_tracefs_write(instance->tracing, OPTIONS, NO_LOAD)) {
        return iwi_method_refuse(method, "cannot write '%s' to %s of tracefs", NO_LOAD, OPTIONS);
    }
    IW_TRY(iwi_tracefs_instance_set(instance, "current_tracer", "osnoise"));
    return iwi_tracefs_instance_start(instance);
}

static iw_status open_osnoise(struct iwi_method *method)
{
    const iw_status status = set_up(method);

    if (status != IW_OK) {
        iwi_tracefs_instance_close(method);
    }
    return status;
}

const struct iwi_method_ops iwi_method_osnoise = {.attribution = IW_ATTRIBUTION_LEVEL_OSNOISE,
                                                  .sees_all = true,
                                                  .open = open_osnoise,
                                                  .drain = iwi_tracefs_instance_drain,
                                                  .close = iwi_tracefs_instance_close};
