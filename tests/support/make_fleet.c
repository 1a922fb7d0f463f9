/* Writes a folder of noise files for tests: iw_make_fleet FOLDER NODES [BAD [SECONDS [SEED]]]. The same on
 * every machine.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes of 2 CPUs that are alike but for log-normal differences of rates and durations. The first BAD of five
 * kinds of bad nodes (see bad_kinds) are at places spread over the fleet, and are printed, a line each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "support/made_recording.h"

enum { CPUS = 2, BAD_KINDS = 5, MOST_DETOURS = 200000 };

enum bad { GOOD, DAEMON, INTERRUPT, FAST_TICK, LONG_RARE, FIRMWARE };

static const char *const bad_kinds[] = {
    [GOOD] = "",
    [DAEMON] = "thread/collectd on all CPUs",
    [INTERRUPT] = "irq/eno1 on CPU 1 instead of 0",
    [FAST_TICK] = "irq/local_timer at twice the rate",
    [LONG_RARE] = "softirq/RCU on CPU 1 with rare long detours",
    [FIRMWARE] = "hardware/no kernel event now and then",
};

struct raw {
    double start_ns, duration_ns;
    uint32_t source;
};

struct maker {
    struct iwi_draw_id draw;
    uint64_t index;
    double length_ns;
    iw_recording *recording;
    struct raw *raw;
    size_t count;
};

static double unit(struct maker *m)
{
    return iwi_draw_unit(m->draw, m->index++);
}

static double normal(struct maker *m)
{
    const double radius = sqrt(-2.0 * log(unit(m)));

    return radius * cos(6.283185307179586 * unit(m));
}

static double mild(struct maker *m, double spread)
{
    return exp(spread * normal(m));
}

static void add(struct maker *m, double start_ns, double duration_ns, uint32_t source)
{
    if (m->count < MOST_DETOURS && start_ns + duration_ns < m->length_ns && duration_ns >= 1.0) {
        m->raw[m->count++] = (struct raw){start_ns, duration_ns, source};
    }
}

static void add_periodic(struct maker *m, double rate_hz, double duration_ns, uint32_t source)
{
    for (double at_ns = unit(m) * 1e9 / rate_hz; at_ns < m->length_ns; at_ns += 1e9 / rate_hz) {
        add(m, at_ns, duration_ns * mild(m, 0.1), source);
    }
}

/* Exponential durations, or with `sigma` > 0 log-normal ones. */
static void add_random(struct maker *m, double rate_hz, double typical_ns, double sigma, uint32_t source)
{
    for (double at_ns = -log(unit(m)) * 1e9 / rate_hz; at_ns < m->length_ns;
         at_ns -= log(unit(m)) * 1e9 / rate_hz) {
        add(m, at_ns, sigma > 0.0 ? typical_ns * mild(m, sigma) : -typical_ns * log(unit(m)), source);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct raw *x = a, *y = b;

    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Detours that overlap come one after the other. */
static void put_down(struct maker *m, size_t cpu)
{
    int64_t free_ns = 0;

    qsort(m->raw, m->count, sizeof *m->raw, by_start);
    for (size_t i = 0; i < m->count; i++) {
        const int64_t start_ns = (int64_t)iwi_max((int64_t)m->raw[i].start_ns, free_ns),
                      duration_ns = (int64_t)m->raw[i].duration_ns;

        if ((double)(start_ns + duration_ns) < m->length_ns) {
            iwt_detour(m->recording, cpu, start_ns, duration_ns, m->raw[i].source);
            free_ns = start_ns + duration_ns + 1;
        }
    }
    m->count = 0;
}

static void fill_cpu(struct maker *m, size_t cpu, enum bad bad, const double mild_by_source[4])
{
    iw_recording *r = m->recording;
    char worker[32];

    snprintf(worker, sizeof worker, "kworker/%zu:%d", cpu, (int)(3.0 * unit(m)));
    add_periodic(m, bad == FAST_TICK ? 500.0 : 250.0, 2000.0 * mild_by_source[0],
                 iwt_source(r, IW_CLASS_IRQ, "local_timer"));
    add_random(m, 20.0 * mild_by_source[1], 8e3, 0.0, iwt_source(r, IW_CLASS_THREAD, worker));
    add_random(m, 10.0 * mild_by_source[2], 4e3, 1.0, iwt_source(r, IW_CLASS_SOFTIRQ, "RCU"));
    if (cpu == (bad == INTERRUPT ? 1U : 0U)) {
        add_random(m, 100.0 * mild_by_source[3], 6e3, 0.0, iwt_source(r, IW_CLASS_IRQ, "eno1"));
    }
    if (unit(m) < 0.02) { /* a job that any node runs now and then, for a second */
        const double start_ns = unit(m) * m->length_ns;

        for (int i = 0; i < 100; i++) {
            add(m, start_ns + unit(m) * 1e9, 200e3 * mild(m, 0.5), iwt_source(r, IW_CLASS_THREAD, "cron"));
        }
    }
    if (bad == DAEMON) {
        add_random(m, 20.0, 100e3, 0.5, iwt_source(r, IW_CLASS_THREAD, "collectd"));
    } else if (bad == LONG_RARE && cpu == 1) {
        add_random(m, 0.5, 4e6, 0.2, iwt_source(r, IW_CLASS_SOFTIRQ, "RCU"));
    } else if (bad == FIRMWARE) {
        add_random(m, 1.0, 300e3, 0.1, iwt_source(r, IW_CLASS_HARDWARE, IW_SOURCE_UNSEEN));
    }
    put_down(m, cpu);
}

static void write_node(struct maker *m, const char *path, const char *name, enum bad bad)
{
    double mild_by_source[4];

    m->recording = iwt_recording(CPUS, (int64_t)m->length_ns);
    iwt_attribute(m->recording, "host", name);
    iwt_attribute(m->recording, "kernel", "6.1.0-18-amd64");
    for (size_t i = 0; i < 4; i++) {
        mild_by_source[i] = mild(m, i == 0 ? 0.03 : 0.2);
    }
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        fill_cpu(m, cpu, bad, mild_by_source);
    }
    if (iw_recording_save(NULL, m->recording, path) != IW_OK) {
        (void)fprintf(stderr, "cannot write %s\n", path);
        exit(EXIT_FAILURE);
    }
    iw_recording_free(m->recording);
}

int main(int argc, char **argv)
{
    const unsigned long nodes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0,
                        bad_count = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    struct maker m = {.length_ns = (argc > 4 ? strtod(argv[4], NULL) : 60.0) * 1e9,
                      .draw = {.seed = argc > 5 ? strtoul(argv[5], NULL, 10) : 1, .purpose = IWI_DRAW_TEST}};

    if (nodes == 0 || bad_count > BAD_KINDS) {
        (void)fprintf(stderr, "usage: iw_make_fleet FOLDER NODES [BAD [SECONDS [SEED]]]\n");
        return EXIT_FAILURE;
    }
    m.raw = calloc(MOST_DETOURS, sizeof *m.raw);
    (void)mkdir(argv[1], 0777);
    for (unsigned long node = 0; m.raw != NULL && node < nodes; node++) {
        const unsigned long apart = nodes / (bad_count + 1), number = node / (apart > 0 ? apart : 1);
        const bool is_bad = node > 0 && node % (apart > 0 ? apart : 1) == 0 && number <= bad_count;
        char name[32], path[4096];

        m.draw.rank = (uint32_t)node;
        m.index = 0;
        snprintf(name, sizeof name, "n%04lu", node);
        snprintf(path, sizeof path, "%s/%s.h5", argv[1], name);
        write_node(&m, path, name, is_bad ? (enum bad)number : GOOD);
        if (is_bad) {
            (void)printf("%s %s\n", name, bad_kinds[number]);
        }
    }
    free(m.raw);
    return EXIT_SUCCESS;
}
