/* Fleets in memory, for tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "made_fleet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draws.h"
#include "features/fleet/node_digest.h"
#include "support.h"

enum { CPUS = 2, SOURCES = 7 };

enum law { EXPONENTIAL, POWER, LOGNORMAL };

struct maker {
    const struct iwt_fleet *wanted;
    uint64_t state;
    double length_s;
    iw_digest *digest;
    struct iwi_digest_counter all; /* of the CPU */
};

static double mild(struct maker *m)
{
    return exp(m->wanted->spread * iwt_normal(&m->state));
}

static void count(struct maker *m, struct iwi_digest_counter *counter, double at, double time_ns)
{
    iwi_digest_count(counter, at, time_ns);
    iwi_digest_count(&m->all, at, time_ns);
}

static void add_cell(struct maker *m, iw_class kind, const char *name,
                     const struct iwi_digest_counter *counter)
{
    iw_source source = {.kind = kind};
    size_t number = 1;

    snprintf(source.name, sizeof source.name, "%s", name);
    while (number < m->digest->source_count &&
           strcmp(m->digest->sources[number].source.name, source.name) != 0) {
        number++;
    }
    if (number == m->digest->source_count) {
        assert_ok(iwi_digest_add_source(NULL, m->digest, &source));
    }
    assert_ok(iwi_digest_put(NULL, m->digest, number, counter));
}

static double duration(struct maker *m, enum law law, double typical_ns)
{
    switch (law) {
    case EXPONENTIAL: return -typical_ns * log(iwt_unit(&m->state));
    case POWER: return typical_ns * pow(iwt_unit(&m->state), -1.0 / m->wanted->tail);
    default: return typical_ns * exp(1.2 * iwt_normal(&m->state));
    }
}

static void add_random(struct maker *m, iw_class kind, const char *name, double rate_hz, enum law law,
                       double typical_ns)
{
    struct iwi_digest_counter counter = {.by_length = {0}};

    for (double at_s = 0.0;;) {
        at_s -= log(iwt_unit(&m->state)) / rate_hz;
        if (at_s >= m->length_s) {
            break;
        }
        count(m, &counter, at_s / m->length_s, duration(m, law, typical_ns));
    }
    add_cell(m, kind, name, &counter);
}

/* Counted by stretches: one by one it would take most of the time. */
static void add_tick(struct maker *m, double rate_hz, double time_ns)
{
    const double each = floor(rate_hz * m->length_s / IW_DIGEST_STRETCHES);
    const struct iwi_digest_sums sums = {{each, each * time_ns, each * time_ns * time_ns, time_ns}};
    struct iwi_digest_counter counter = {.by_length = {0}};

    for (size_t i = 0; i < IW_DIGEST_STRETCHES; i++) {
        counter.by_stretch[i] = sums;
        iwi_digest_sums_add(&m->all.by_stretch[i], &sums);
    }
    add_cell(m, IW_CLASS_IRQ, "local_timer", &counter);
}

static void add_bursts(struct maker *m)
{
    struct iwi_digest_counter counter = {.by_length = {0}};
    const double rate_hz = m->wanted->bursts_an_hour / 3600.0;

    for (double at_s = 0.0; rate_hz > 0.0;) {
        at_s -= log(iwt_unit(&m->state)) / rate_hz;
        if (at_s >= m->length_s) {
            break;
        }
        for (int i = 0; i < 100; i++) {
            const double place = (at_s + iwt_unit(&m->state)) / m->length_s;

            count(m, &counter, fmin(place, 0.999), duration(m, LOGNORMAL, 100e3));
        }
    }
    add_cell(m, IW_CLASS_THREAD, "cron", &counter);
}

static void add_cpu(struct maker *m, uint32_t cpu, const double mild_by_source[SOURCES])
{
    char name[IW_SOURCE_NAME_SIZE];

    memset(&m->all, 0, sizeof m->all);
    assert_ok(iwi_digest_add_cpu(NULL, m->digest, cpu, (int64_t)(m->length_s * 1e9)));
    add_tick(m, 250.0, 2000.0 * (1.0 + 0.2 * (mild_by_source[0] - 1.0)));
    snprintf(name, sizeof name, "kworker/%u:%d", cpu, (int)(3 * iwt_unit(&m->state)));
    add_random(m, IW_CLASS_THREAD, name, 5.0 * mild_by_source[1], EXPONENTIAL, 10e3);
    if (cpu == 0) {
        add_random(m, IW_CLASS_IRQ, "eno1", 10.0 * mild_by_source[2], EXPONENTIAL, 5e3);
    }
    add_random(m, IW_CLASS_SOFTIRQ, "RCU", 2.0 * mild_by_source[3], POWER, 3e3);
    add_random(m, IW_CLASS_THREAD, "slurmd", 0.3 * mild_by_source[4], LOGNORMAL, 100e3);
    add_random(m, IW_CLASS_HARDWARE, IW_SOURCE_UNSEEN, 0.01 * mild_by_source[5], EXPONENTIAL, 50e3);
    add_bursts(m);
    assert_ok(iwi_digest_put(NULL, m->digest, 0, &m->all));
}

iw_fleet *iwt_fleet(const struct iwt_fleet *wanted)
{
    struct maker m = {.wanted = wanted, .state = wanted->seed * 1000003};
    iw_fleet *fleet = NULL;

    assert_ok(iw_fleet_new(NULL, "made", &fleet));
    for (size_t node = 0; node < wanted->node_count; node++) {
        double mild_by_source[SOURCES];
        char name[32];

        m.length_s = wanted->has_mixed_lengths ? 20.0 + 40.0 * iwt_unit(&m.state) : 60.0;
        for (size_t i = 0; i < SOURCES; i++) {
            mild_by_source[i] = mild(&m);
        }
        snprintf(name, sizeof name, "n%04zu", node);
        assert_ok(iwi_digest_new(NULL, name, &m.digest));
        for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
            add_cpu(&m, cpu, mild_by_source);
        }
        assert_ok(iw_fleet_add_digest(NULL, fleet, m.digest));
        iw_digest_free(m.digest);
    }
    return fleet;
}
