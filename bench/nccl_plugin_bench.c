/* What a call of the plugin for NCCL costs the thread that makes it, and what an operation costs in all.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     nccl_plugin_bench PLUGIN.so [OPERATIONS]
 *
 * Calls are those of a collective on two channels as NCCL makes them, from 1 and 4 threads with a
 * communicator each. CPU time of the calling threads counts, so that it matters little how busy the machine
 * is. `room`: as many operations at a time as the ring holds, then a pause in which they are written; `full`:
 * no pause, so that most find no room.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nccl/interface.h"

enum { CHANNELS = 2, CALLS = 2 + 3 * CHANNELS, MOST_THREADS = 4, BATCH = 8000, PAUSE_MS = 250 };

static const struct iwi_nccl_profiler_v5 *plugin;

struct caller {
    void *context;
    uint64_t operations;
    double cpu_s;
};

struct run {
    unsigned threads;
    uint64_t operations; /* of all threads */
    bool has_room;
};

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void pause_ms(long ms)
{
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void quiet_log(int level, unsigned long flags, const char *file, int line, const char *format, ...)
{
    (void)level;
    (void)flags;
    (void)file;
    (void)line;
    (void)format;
}

/* Enqueued, then its kernel runs on its channels. */
static void run_operation(void *context, uint64_t gpu_ns)
{
    struct iwi_nccl_event_v5 event = {.type = IWI_NCCL_COLL}, kernel = {.type = IWI_NCCL_KERNEL_CH};
    union iwi_nccl_state_args args = {.gpu_ns = gpu_ns + 1000};
    void *handles[CHANNELS];

    event.coll.func = "AllReduce";
    event.coll.datatype = "ncclBfloat16";
    event.coll.count = 1 << 20;
    event.coll.channels = CHANNELS;
    (void)plugin->start_event(context, &kernel.parent, &event);
    (void)plugin->stop_event(kernel.parent);
    for (int i = 0; i < CHANNELS; i++) {
        kernel.kernel.channel = (uint8_t)i;
        kernel.kernel.gpu_ns = gpu_ns;
        (void)plugin->start_event(context, &handles[i], &kernel);
    }
    for (int i = 0; i < CHANNELS; i++) {
        (void)plugin->record_state(handles[i], IWI_NCCL_KERNEL_CH_STOP, &args);
        (void)plugin->stop_event(handles[i]);
    }
}

static void *call(void *arg)
{
    struct caller *caller = arg;
    const double before_s = seconds_of(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t i = 0; i < caller->operations; i++) {
        run_operation(caller->context, 1 + i * 2000);
    }
    caller->cpu_s += seconds_of(CLOCK_THREAD_CPUTIME_ID) - before_s;
    return NULL;
}

static void call_side_by_side(struct caller *callers, const struct run *run, uint64_t operations)
{
    pthread_t threads[MOST_THREADS];

    for (unsigned i = 0; i < run->threads; i++) {
        callers[i].operations = operations / run->threads;
        if (pthread_create(&threads[i], NULL, call, &callers[i]) != 0) {
            exit(1);
        }
    }
    for (unsigned i = 0; i < run->threads; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* Lines and bytes of the one file in the folder; removes it. */
static void count_file(const char *folder, uint64_t *lines, uint64_t *bytes)
{
    char path[512] = "";
    DIR *dir = opendir(folder);
    FILE *file;

    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    file = fopen(path, "r");
    *lines = *bytes = 0;
    for (int c; file != NULL && (c = getc(file)) != EOF; (*bytes)++) {
        *lines += c == '\n';
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    (void)unlink(path);
}

static void measure(const char *folder, const struct run *run)
{
    const double before_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    struct caller callers[MOST_THREADS] = {{.context = NULL}};
    double calling_s = 0, all_s;
    uint64_t lines, bytes;

    for (unsigned i = 0; i < run->threads; i++) {
        int mask;

        (void)plugin->init(&callers[i].context, 42, &mask, "dp", 1, (int)run->threads, (int)i, quiet_log);
    }
    for (uint64_t done = 0; done < run->operations; done += run->has_room ? BATCH : run->operations) {
        call_side_by_side(callers, run, run->has_room ? BATCH : run->operations);
        if (run->has_room) {
            pause_ms(PAUSE_MS);
        }
    }
    for (unsigned i = 0; i < run->threads; i++) {
        (void)plugin->finalize(callers[i].context);
        calling_s += callers[i].cpu_s;
    }
    all_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - before_s;
    count_file(folder, &lines, &bytes);
    (void)printf("%7u  %-4s  %10" PRIu64 "  %7.0f  %12.0f  %10" PRIu64 "  %14.0f  %8.0f\n", run->threads,
                 run->has_room ? "room" : "full", run->operations,
                 1e9 * calling_s / (double)(run->operations * CALLS),
                 1e9 * calling_s / (double)run->operations, run->operations - lines,
                 lines > 0 ? 1e9 * (all_s - calling_s) / (double)lines : 0,
                 lines > 0 ? (double)bytes / (double)lines : 0);
}

static long resident_kib(void)
{
    char line[256] = "", *second = NULL;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file != NULL) {
        second = fgets(line, sizeof line, file) != NULL ? strchr(line, ' ') : NULL;
        (void)fclose(file);
    }
    return second != NULL ? strtol(second, NULL, 10) * sysconf(_SC_PAGESIZE) / 1024 : 0;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/iw_nccl_bench_XXXXXX";
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const uint64_t operations = argc > 2 ? strtoull(argv[2], NULL, 10) / BATCH * BATCH : UINT64_C(10) * BATCH;
    const long before_kib = resident_kib();

    plugin = library != NULL ? dlsym(library, "ncclProfiler_v6") : NULL;
    if (plugin == NULL || operations == 0 || mkdtemp(folder) == NULL ||
        setenv("IDLEWAVE_NCCL_DIR", folder, 1) != 0) {
        (void)fprintf(stderr, "usage: nccl_plugin_bench libnccl-profiler-idlewave.so [OPERATIONS, from %d]\n",
                      BATCH);
        return 2;
    }
    (void)printf(
        "threads  ring  operations  ns/call  ns/operation  not written  writer ns/line  bytes/line\n");
    for (unsigned threads = 1; threads <= MOST_THREADS; threads *= MOST_THREADS) {
        measure(folder, &(struct run){threads, operations, true});
        measure(folder, &(struct run){threads, operations, false});
    }
    (void)printf("resident: %ld KiB more than before\n", resident_kib() - before_kib);
    (void)printf("an operation is %d calls\n", CALLS);
    return rmdir(folder) == 0 ? 0 : 1;
}
