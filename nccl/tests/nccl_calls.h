/* Calls of the plugin for NCCL as NCCL makes them, and what it wrote.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_NCCL_CALLS_H
#define IWT_NCCL_CALLS_H

#include <dirent.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "nccl/interface.h"
#include "support/support.h"

#define GPU_AHEAD_NS INT64_C(123456789012345) /* the GPU's timer began at another time */

static const struct iwi_nccl_profiler_v4 *v4;
static const struct iwi_nccl_profiler_v5 *v5;
static char folder[64];
static _Atomic unsigned warnings, notes;
static _Atomic uint64_t told_lost; /* by the note at the end */

static inline void log_line(int level, unsigned long flags, const char *file, int line, const char *format,
                            ...)
{
    (void)flags;
    (void)file;
    (void)line;
    if (strstr(format, "operations are missing in") != NULL) {
        va_list args;

        va_start(args, format);
        told_lost = va_arg(args, uint64_t);
        va_end(args);
    }
    warnings += level == IWI_NCCL_LOG_WARN;
    notes += level == IWI_NCCL_LOG_INFO;
}

static inline uint64_t gpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)(now.tv_sec * INT64_C(1000000000) + now.tv_nsec - GPU_AHEAD_NS);
}

/* ---- a communicator of one rank ---- */

static inline void *open_comm(uint64_t id, int rank)
{
    void *context = NULL;
    int mask = -1;

    assert_int_equal(v5->init(&context, id, &mask, "dp \"0\"", 2, 4, rank, log_line), IWI_NCCL_SUCCESS);
    assert_non_null(context);
    assert_int_equal(mask, IWI_NCCL_COLL | IWI_NCCL_P2P | IWI_NCCL_KERNEL_CH);
    return context;
}

static inline void *start_coll(void *context, const char *func, size_t count, uint8_t channels)
{
    struct iwi_nccl_event_v5 event = {.type = IWI_NCCL_COLL};
    void *handle = NULL;

    event.coll.func = func;
    event.coll.datatype = "ncclBfloat16";
    event.coll.count = count;
    event.coll.channels = channels;
    assert_int_equal(v5->start_event(context, &handle, &event), IWI_NCCL_SUCCESS);
    return handle;
}

static inline void *start_kernel(void *context, void *parent, uint8_t channel, uint64_t at_ns)
{
    struct iwi_nccl_event_v5 event = {.type = IWI_NCCL_KERNEL_CH, .parent = parent};
    void *handle = NULL;

    event.kernel.channel = channel;
    event.kernel.gpu_ns = at_ns;
    assert_int_equal(v5->start_event(context, &handle, &event), IWI_NCCL_SUCCESS);
    return handle;
}

static inline void stop_kernel(void *handle, uint64_t at_ns)
{
    union iwi_nccl_state_args args = {.gpu_ns = at_ns};

    assert_int_equal(v5->record_state(handle, IWI_NCCL_KERNEL_CH_STOP, &args), IWI_NCCL_SUCCESS);
    assert_int_equal(v5->stop_event(handle), IWI_NCCL_SUCCESS);
}

/* As NCCL does: enqueued, then the kernel runs on its channels. */
static inline void run_coll(void *context, const char *func, uint64_t took_ns)
{
    void *coll = start_coll(context, func, 1000, 2);
    const uint64_t at_ns = gpu_ns() - took_ns;
    void *kernels[2];

    assert_int_equal(v5->stop_event(coll), IWI_NCCL_SUCCESS);
    for (uint8_t i = 0; i < 2; i++) {
        kernels[i] = start_kernel(context, coll, i, at_ns + i);
    }
    for (uint8_t i = 0; i < 2; i++) {
        stop_kernel(kernels[i], at_ns + took_ns - i);
    }
}

/* ---- what was written ---- */

/* All lines of the one file in the folder, as an array. */
static inline json_t *lines(void)
{
    json_t *all = json_array();
    DIR *dir = opendir(folder);
    char path[512] = "";
    char line[4096];
    FILE *file;

    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.') {
            assert_string_equal(path, "");
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        }
    }
    (void)closedir(dir);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        json_t *value = json_loads(line, 0, NULL);

        assert_non_null(value);
        assert_int_equal(json_array_append_new(all, value), 0);
    }
    (void)fclose(file);
    return all;
}

static inline int64_t number(const json_t *line, const char *object, const char *key)
{
    const json_t *value = json_object_get(json_object_get(line, object), key);

    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static inline int64_t kernel_time(const json_t *line, const char *perf, const char *key)
{
    const json_t *times = json_object_get(json_object_get(line, perf), "event_trace_ts");

    return json_integer_value(
        json_object_get(json_array_get(json_object_get(times, "kernel_events"), 0), key));
}

/* ---- each test has a folder of its own ---- */

static inline int set_up(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/iw_nccl_XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    warnings = notes = 0;
    told_lost = 0;
    (void)unsetenv("IDLEWAVE_NCCL_MAX_BYTES");
    return setenv("IDLEWAVE_NCCL_DIR", folder, 1);
}

static inline int tear_down(void **state)
{
    char command[256];

    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Loads the plugin. */
static inline bool load_plugin(void)
{
    void *plugin = dlopen(IWT_NCCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);

    if (plugin == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    v4 = dlsym(plugin, "ncclProfiler_v4");
    v5 = dlsym(plugin, "ncclProfiler_v6");
    return v4 != NULL && v5 != NULL && dlsym(plugin, "ncclProfiler_v5") != NULL;
}

#endif
