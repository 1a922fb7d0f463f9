/* Writes noise files for the tests of the command: iw_make_recording KIND FILE [START_NS]. The same on every
 * machine.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "support/made_recording.h"

static const int64_t SECOND_NS = 1000000000;

/* Uniform in (0, 1): draw `index` of a stream. */
static double unit(uint32_t stream, uint64_t index)
{
    return iwi_draw_unit((struct iwi_draw_id){1, 0, IWI_DRAW_TEST, stream, 0}, index);
}

/* Four detours that one can count on one's fingers. */
static iw_recording *make_tiny(void)
{
    iw_recording *recording = iwt_recording(2, SECOND_NS);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer");
    const uint32_t thread = iwt_source(recording, IW_CLASS_THREAD, "cron, \"daily\"");

    iwt_attribute(recording, "host", "node07");
    iwt_attribute(recording, "kernel", "6.1.0-18-amd64");
    iwt_attribute(recording, "clock", "tsc");
    recording->cpus[1].cpu = 5;
    iwt_detour(recording, 0, 100000000, 2000, tick);
    iwt_detour(recording, 0, 500000000, 2000000, thread);
    iwt_part(recording, 0, thread, 1990000);
    iwt_part(recording, 0, tick, 10000);
    iwt_detour(recording, 0, 900000000, 3000, tick);
    iwt_detour(recording, 1, 250000000, 1000, tick);
    return recording;
}

/* Detours of one CPU of a virtual machine, before they are put in order. */
struct raw {
    int64_t start_ns, duration_ns;
    uint32_t source;
};

static int compare_raw(const void *a, const void *b)
{
    const struct raw *x = a, *y = b;

    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Appends what does not overlap with what is there. */
static void put_in_order(iw_recording *recording, size_t cpu, struct raw *raw, size_t count)
{
    int64_t free_ns = 0;

    qsort(raw, count, sizeof *raw, compare_raw);
    for (size_t i = 0; i < count; i++) {
        if (raw[i].start_ns >= free_ns &&
            raw[i].start_ns + raw[i].duration_ns < recording->cpus[cpu].length_ns) {
            iwt_detour(recording, cpu, raw[i].start_ns, raw[i].duration_ns, raw[i].source);
            free_ns = raw[i].start_ns + raw[i].duration_ns + 1;
        }
    }
}

enum { TICKS = 60 * 250, WORKERS = 60 * 12, STEALS = 60, DAEMONS = 60, BACKUPS = 60 * 5 };

static void fill_node_cpu(iw_recording *recording, size_t cpu, const uint32_t sources[5], struct raw *raw)
{
    const uint32_t stream = (uint32_t)cpu + 1;
    size_t n = 0;

    for (uint64_t i = 0; i < TICKS; i++) {
        raw[n++] =
            (struct raw){(int64_t)i * 4000000 + (int64_t)cpu * 1300000 + (int64_t)(20000 * unit(stream, i)),
                         (int64_t)(1500 * pow(unit(stream + 10, i), -0.4)), sources[0]};
    }
    for (uint64_t i = 0; i < WORKERS; i++) {
        raw[n++] = (struct raw){(int64_t)(6e10 * unit(stream + 20, i)),
                                (int64_t)(4000 + 30000 * unit(stream + 30, i)), sources[1]};
    }
    for (uint64_t i = 0; i < STEALS; i++) {
        raw[n++] = (struct raw){(int64_t)(6e10 * unit(stream + 40, i)),
                                (int64_t)(100000 * pow(unit(stream + 50, i), -0.8)), sources[2]};
    }
    for (uint64_t i = 0; i < DAEMONS; i++) {
        if ((unit(60, i) < 0.5) == (cpu == 0)) {
            raw[n++] = (struct raw){(int64_t)i * SECOND_NS + 777, 250000, sources[3]};
        }
    }
    for (uint64_t i = 0; i < BACKUPS && sources[4] != 0; i++) {
        raw[n++] = (struct raw){(int64_t)(6e10 * unit(stream + 60, i)),
                                (int64_t)(200000 + 100000 * unit(stream + 70, i)), sources[4]};
    }
    put_in_order(recording, cpu, raw, n);
}

/* A minute of two CPUs of a virtual machine: ticks, workers, its host, and a daemon that changes CPUs; if
 * wanted, a backup too. */
static iw_recording *make_node(bool has_backup)
{
    iw_recording *recording = iwt_recording(2, 60 * SECOND_NS);
    const uint32_t sources[5] = {iwt_source(recording, IW_CLASS_IRQ, "local_timer"),
                                 iwt_source(recording, IW_CLASS_THREAD, "kworker/1:2-events_power_efficient"),
                                 iwt_source(recording, IW_CLASS_HARDWARE, ""),
                                 iwt_source(recording, IW_CLASS_THREAD, "collectd"),
                                 has_backup ? iwt_source(recording, IW_CLASS_THREAD, "backup") : 0};
    struct raw *raw = calloc(TICKS + WORKERS + STEALS + DAEMONS + BACKUPS, sizeof *raw);

    iwt_attribute(recording, "host", "node07");
    iwt_attribute(recording, "kernel", "6.1.0-18-amd64");
    iwt_attribute(recording, "clock", "tsc");
    iwt_attribute(recording, "date", "2026-11-15T01:02:03Z");
    iwt_attribute(recording, "hypervisor", "KVMKVMKVM");
    iwt_attribute(recording, "governor", "powersave");
    iwt_attribute(recording, "steal_ms", "0:120,1:90");
    for (size_t cpu = 0; raw != NULL && cpu < 2; cpu++) {
        fill_node_cpu(recording, cpu, sources, raw);
    }
    free(raw);
    return recording;
}

/* Sixty-four CPUs, each noisier than the one before; twenty sources. */
static iw_recording *make_many(void)
{
    iw_recording *recording = iwt_recording(64, SECOND_NS);
    char name[16];

    for (size_t cpu = 0; cpu < 64; cpu++) {
        snprintf(name, sizeof name, "thread%zu", cpu % 20);
        for (size_t i = 0; i < cpu; i++) {
            iwt_detour(recording, cpu, (int64_t)(i * 15000000), 50000,
                       iwt_source(recording, IW_CLASS_THREAD, name));
        }
    }
    recording->cpus[3].dropped = 17;
    return recording;
}

/* A hundred quanta of about 1 ms on each of two CPUs. */
static iw_recording *make_quanta(iw_probe probe)
{
    iw_recording *recording = iwt_recording(2, SECOND_NS / 10);

    recording->probe = probe;
    recording->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    recording->quantum_ns = 1000000;
    for (size_t cpu = 0; cpu < 2; cpu++) {
        for (int64_t i = 0; i < 100; i++) {
            const double loss_ns = i % 10 == 0 ? 5000.0 * pow(unit((uint32_t)cpu, (uint64_t)i), -1.0) : 0.0;

            iwt_sample(recording, cpu, i * 1000000,
                       probe == IW_PROBE_FWQ ? 1000000.0 + loss_ns : floor(5000.0 - loss_ns / 200.0));
        }
    }
    return recording;
}

/* Two CPUs on which compilers ran, and little else. */
static iw_recording *make_busy(void)
{
    iw_recording *recording = iwt_recording(2, 10 * SECOND_NS);
    const uint32_t compiler = iwt_source(recording, IW_CLASS_THREAD, "cc1");
    const uint32_t worker = iwt_source(recording, IW_CLASS_THREAD, "kworker/0:1");

    iwt_attribute(recording, "host", "node07");
    iwt_attribute(recording, "load_elapsed_ms", "10200");
    iwt_attribute(recording, "load_cpus", "2");
    iwt_attribute(recording, "load_users_ms", "7400");
    iwt_attribute(recording, "load_services_ms", "60");
    iwt_attribute(recording, "load_kernel_ms", "40");
    iwt_attribute(recording, "load_users", "cc1=7100,ninja=300");
    iwt_attribute(recording, "kernel_threads", "kworker/0:1");
    for (int64_t i = 0; i < 1000; i++) {
        iwt_detour(recording, (size_t)(i % 2), i * 10000000, i % 50 == 0 ? 20000 : 7000000,
                   i % 50 == 0 ? worker : compiler);
    }
    return recording;
}

static iw_recording *make(const char *kind)
{
    if (strcmp(kind, "busy") == 0) {
        return make_busy();
    }
    if (strcmp(kind, "tiny") == 0) {
        return make_tiny();
    }
    if (strcmp(kind, "node") == 0 || strcmp(kind, "backup") == 0) {
        return make_node(strcmp(kind, "backup") == 0);
    }
    if (strcmp(kind, "many") == 0) {
        return make_many();
    }
    if (strcmp(kind, "fwq") == 0 || strcmp(kind, "ftq") == 0) {
        return make_quanta(strcmp(kind, "fwq") == 0 ? IW_PROBE_FWQ : IW_PROBE_FTQ);
    }
    return strcmp(kind, "quiet") == 0 ? iwt_recording(1, 60 * SECOND_NS) : NULL;
}

int main(int argc, char **argv)
{
    iw_recording *recording = argc == 3 || argc == 4 ? make(argv[1]) : NULL;
    iw_status status;

    if (recording == NULL) {
        (void)fputs("usage: iw_make_recording tiny|node|backup|busy|many|fwq|ftq|quiet FILE [START_NS]\n",
                    stderr);
        return 64;
    }
    if (argc == 4) {
        iwt_attribute(recording, "start_wall_ns", argv[3]);
    }
    status = iw_recording_save(NULL, recording, argv[2]);
    iw_recording_free(recording);
    return status == IW_OK ? 0 : 1;
}
