/* Writes a file of digests for tests of large fleets: iw_make_digests FILE NODES CPUS
 * [BAD [SEED [WEEKS [FACTOR]]]]. The same on every machine.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes that are alike but for log-normal differences. Sums of detours are drawn, not detours: a fleet of
 * 100,000 nodes of 128 CPUs would have 10^12 of them. Every NODES/BAD-th node is bad in one of five ways, and
 * is printed. With WEEKS each node has a digest for each of so many weeks, from 2026-09-07 on, which differ
 * by a few per cent; bad nodes are bad in the last one only, and kworkers come FACTOR times as often in it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/digest.h>

#include "core/base/rng.h"
#include "features/fleet/node_digest.h"

static const double LENGTH_S = 60.0;
enum { BAD_KINDS = 5 };

struct kind {
    iw_class class;
    const char *name;
    double rate_hz, typical_ns, spread; /* of nodes, log-normal */
    bool is_on_first_only;
};

static const struct kind kinds[] = {
    {IW_CLASS_IRQ, "local_timer", 250.0, 2e3, 0.03, false},
    {IW_CLASS_SOFTIRQ, "TIMER", 60.0, 1.5e3, 0.1, false},
    {IW_CLASS_SOFTIRQ, "SCHED", 40.0, 3e3, 0.15, false},
    {IW_CLASS_SOFTIRQ, "RCU", 10.0, 4e3, 0.2, false},
    {IW_CLASS_THREAD, "kworker", 20.0, 8e3, 0.2, false},
    {IW_CLASS_IRQ, "eno1", 100.0, 6e3, 0.2, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], TIMER = 0, KWORKER = 4, ENO1 = 5 };

struct maker {
    struct iwi_draw_id draw;
    uint64_t index;
    double kworker_factor, week_factor[8]; /* of this week */
    iw_digest *digest;
    iw_digest_cell all; /* of the CPU */
};

static double unit(struct maker *m)
{
    return iwi_draw_unit(m->draw, m->index++);
}

static double normal(struct maker *m)
{
    return sqrt(-2.0 * log(unit(m))) * cos(6.283185307179586 * unit(m));
}

static void put_sums(iw_digest_cell *cell, double count, double busy_ns, double longest_ns)
{
    const double square_ns2 = 2.0 * busy_ns * busy_ns / count, steady = 0.8 * (1.0 - 1.5 / sqrt(count));
    const double all[IW_DIGEST_SUMS] = {count, busy_ns, square_ns2, longest_ns};

    for (size_t i = 0; i < IW_DIGEST_SUMS; i++) {
        cell->all[i] = iwi_digest_code(all[i]);
        cell->steady[i] = iwi_digest_code(i == IW_DIGEST_LONGEST ? 0.7 * all[i] : steady * all[i]);
    }
}

static void add_up(iw_digest_cell *to, const iw_digest_cell *cell)
{
    to->stretches |= cell->stretches;
    for (size_t i = 0; i < IW_DIGEST_SUMS; i++) {
        const double a = iw_digest_value(to->all[i]), b = iw_digest_value(cell->all[i]),
                     c = iw_digest_value(to->steady[i]), d = iw_digest_value(cell->steady[i]);

        to->all[i] = iwi_digest_code(i == IW_DIGEST_LONGEST ? fmax(a, b) : a + b);
        to->steady[i] = iwi_digest_code(i == IW_DIGEST_LONGEST ? fmax(c, d) : c + d);
    }
}

static void must(iw_status status)
{
    if (status != IW_OK) {
        (void)fprintf(stderr, "iw_make_digests: %d\n", (int)status);
        exit(EXIT_FAILURE);
    }
}

/* Exponential durations: as many in each bin as expected, up to that of the longest. */
static void add_lengths(iw_digest_source *source, double count, double typical_ns, double longest_ns)
{
    double before = 0.0;

    for (int bin = 0; bin <= ilogb(longest_ns) && bin < IW_DIGEST_LENGTHS; bin++) {
        const bool is_last = bin == ilogb(longest_ns);
        const double until = is_last ? count : round(-count * expm1(-exp2(bin + 1) / typical_ns));

        source->by_length[bin] += (uint64_t)(until - before);
        before = until;
    }
}

/* Exponential durations: so many of them, their sum, the longest. */
static void add_cell(struct maker *m, size_t source, double rate_hz, double typical_ns)
{
    const double expected = rate_hz * LENGTH_S,
                 count = fmax(1.0, round(expected + sqrt(expected) * normal(m))),
                 busy_ns = typical_ns * fmax(count + sqrt(count) * normal(m), 0.3 * count),
                 longest_ns = fmin(typical_ns * (log(count) - log(-log(unit(m)))), busy_ns);
    iw_digest_source *s = &m->digest->sources[source];
    iw_digest_cell cell = {.cpu = (uint32_t)(m->digest->cpu_count - 1),
                           .stretches = (1U << IW_DIGEST_STRETCHES) - 1};

    put_sums(&cell, count, busy_ns, longest_ns);
    s->count += (uint64_t)count;
    s->busy_ns += (int64_t)busy_ns;
    s->longest_ns = (int64_t)fmax((double)s->longest_ns, longest_ns);
    add_lengths(s, count, typical_ns, longest_ns);
    add_lengths(&m->digest->sources[0], count, typical_ns, longest_ns);
    add_up(&m->all, &cell);
    must(iwi_digest_add_cell(NULL, s, &cell));
}

static void add_cpu(struct maker *m, uint32_t cpu, const double mild[KINDS], int bad)
{
    iw_digest_source *all = &m->digest->sources[0];

    must(iwi_digest_add_cpu(NULL, m->digest, cpu, (int64_t)(LENGTH_S * 1e9)));
    m->all = (iw_digest_cell){.cpu = cpu};
    for (size_t i = 0; i < KINDS; i++) {
        const uint32_t first = bad == 2 && i == ENO1 ? 1 : 0; /* an interrupt on the wrong CPU */
        const double faster = bad == 3 && i == TIMER ? 2.0 : i == KWORKER ? m->kworker_factor : 1.0;

        if (!kinds[i].is_on_first_only || cpu == first) {
            add_cell(m, i + 1, faster * m->week_factor[i] * mild[i] * kinds[i].rate_hz, kinds[i].typical_ns);
        }
    }
    if (bad == 4 && cpu == 1) {
        add_cell(m, KINDS + 1, 0.5, 4e6);
    } else if (bad == 1) {
        add_cell(m, KINDS + 1, 20.0, 1e5);
    } else if (bad == 5) {
        add_cell(m, KINDS + 1, 1.0, 3e5);
    }
    must(iwi_digest_add_cell(NULL, all, &m->all));
    all->count += (uint64_t)iw_digest_value(m->all.all[IW_DIGEST_COUNT]);
    all->busy_ns += (int64_t)iw_digest_value(m->all.all[IW_DIGEST_BUSY]);
    all->longest_ns = (int64_t)fmax((double)all->longest_ns, iw_digest_value(m->all.all[IW_DIGEST_LONGEST]));
}

static iw_digest *make_node(struct maker *m, const char *name, uint32_t cpus, int bad)
{
    static const char *const culprits[] = {"", "collectd", "", "", "watchdog", IW_SOURCE_UNSEEN};
    const uint64_t week = m->draw.trial;
    double mild[KINDS];

    m->index = 0;
    m->draw.trial = 0; /* a node is the same in all weeks */
    must(iwi_digest_new(NULL, name, &m->digest));
    must(iwi_digest_set(NULL, m->digest, "kernel", "6.1.0-18-amd64"));
    for (size_t i = 0; i < KINDS; i++) {
        iw_source source = {.kind = kinds[i].class};

        snprintf(source.name, sizeof source.name, "%s", kinds[i].name);
        must(iwi_digest_add_source(NULL, m->digest, &source));
        mild[i] = exp(kinds[i].spread * normal(m));
    }
    if (culprits[bad][0] != '\0') {
        iw_source source = {.kind = bad == 5 ? IW_CLASS_HARDWARE : IW_CLASS_THREAD};

        snprintf(source.name, sizeof source.name, "%s", culprits[bad]);
        must(iwi_digest_add_source(NULL, m->digest, &source));
    }
    m->draw.trial = week;
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        add_cpu(m, cpu, mild, bad);
    }
    return m->digest;
}

/* Weeks differ by 3 %, in each source alike on all nodes. */
static void begin_week(struct maker *m, unsigned long week, unsigned long weeks, double kworker_factor)
{
    m->draw.rank = UINT32_MAX;
    m->draw.trial = week;
    m->index = 0;
    m->kworker_factor = kworker_factor;
    for (size_t i = 0; i < KINDS; i++) {
        m->week_factor[i] = weeks > 0 ? exp(0.03 * normal(m)) : 1.0;
    }
}

static void write_node(struct maker *m, iw_digest_writer *writer, unsigned long node, unsigned long week,
                       unsigned long weeks, uint32_t cpus, int bad)
{
    iw_digest *digest;
    char name[32];

    m->draw.rank = (uint32_t)node;
    snprintf(name, sizeof name, "n%06lu", node);
    digest = make_node(m, name, cpus, bad);
    digest->start_ns =
        weeks > 0 ? (INT64_C(1788739200) + (int64_t)week * 604800 + (int64_t)node) * 1000000000 : 0;
    must(iw_digest_writer_add(writer, digest));
    iw_digest_free(digest);
    if (bad > 0) {
        (void)printf("%s %d\n", name, bad);
    }
}

int main(int argc, char **argv)
{
    const unsigned long nodes = argc > 3 ? strtoul(argv[2], NULL, 10) : 0,
                        cpus = argc > 3 ? strtoul(argv[3], NULL, 10) : 0,
                        bad_count = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    const unsigned long weeks = argc > 6 ? strtoul(argv[6], NULL, 10) : 0;
    struct maker m = {.draw = {.seed = argc > 5 ? strtoul(argv[5], NULL, 10) : 1, .purpose = IWI_DRAW_TEST}};
    iw_digest_writer *writer;

    if (nodes == 0 || cpus == 0 || cpus > 8192) {
        (void)fprintf(stderr, "usage: iw_make_digests FILE NODES CPUS [BAD [SEED [WEEKS [FACTOR]]]]\n");
        return EXIT_FAILURE;
    }
    must(iw_digest_writer_open(NULL, argv[1], &writer));
    for (unsigned long week = 0; week < (weeks > 0 ? weeks : 1); week++) {
        const bool is_last = week + 1 >= weeks;

        begin_week(&m, week, weeks, is_last && argc > 7 ? strtod(argv[7], NULL) : 1.0);
        for (unsigned long node = 0; node < nodes; node++) {
            const unsigned long apart = nodes / (bad_count + 1);
            const bool is_bad =
                is_last && apart > 0 && node > 0 && node % apart == 0 && node / apart <= bad_count;

            write_node(&m, writer, node, week, weeks, (uint32_t)cpus,
                       is_bad ? 1 + (int)((node / apart - 1) % BAD_KINDS) : 0);
        }
    }
    must(iw_digest_writer_close(writer, true));
    return EXIT_SUCCESS;
}
