/* A fleet that several processes judge together gets the same answer as one that a single process judges.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The processes are threads here, and the link between them is memory.
 */
#include <idlewave/doc.h>
#include <idlewave/fleet.h>
#include <idlewave/internal/link.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "features/fleet/fleet_cells.h"
#include "support/made_link.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { NODES = 30, CPUS = 6, DIGESTS = NODES + 7, MOST_PROCESSES = 7 };

/* ---- digests ---- */

/* A tick, a worker with numbers in its name, and on node 11 a daemon on one CPU. Names are met in another
 * order by each process, kernels too. */
static iw_digest *digest_of(size_t number)
{
    const size_t node = number % NODES;
    iw_recording *recording = iwt_recording(node % 9 == 8 ? CPUS - 2 : CPUS, INT64_C(2000000000));
    char worker[32], name[32];
    uint32_t sources[3];
    iw_digest *digest = NULL;

    snprintf(worker, sizeof worker, "kworker/%zu:%zu", node % 4, node % 3);
    sources[node % 2] = iwt_source(recording, IW_CLASS_THREAD, worker);
    sources[1 - node % 2] = iwt_source(recording, IW_CLASS_IRQ, "local_timer");
    sources[2] = iwt_source(recording, IW_CLASS_THREAD, node == 11 ? "collectd" : "rcuc/0");
    iwt_attribute(recording, "kernel", node < 20 ? "6.1" : node % 2 == 0 ? "6.6" : "6.8");
    for (size_t cpu = 0; cpu < recording->cpu_count; cpu++) {
        for (int64_t i = 0; i < 200; i++) {
            iwt_detour(recording, cpu, i * 10000000, 5000 + (int64_t)(node * 7 % 11) * 20, sources[0]);
            iwt_detour(recording, cpu, i * 10000000 + 2000000, 4000 + (int64_t)node * 10, sources[1]);
            if ((node == 11 && cpu == 4) || i % 50 == 0) {
                iwt_detour(recording, cpu, i * 10000000 + 4000000, 300000, sources[2]);
            }
        }
    }
    snprintf(name, sizeof name, "n%02zu", node);
    assert_ok(iw_digest_make(NULL, name, recording, &digest));
    digest->start_ns = number < NODES ? 2 : 1; /* older ones come last */
    iw_recording_free(recording);
    return digest;
}

/* ---- processes ---- */

struct process {
    pthread_t thread;
    struct iwt_end end;
    iw_link link;
    size_t first, last, at; /* of the digests */
    unsigned settlings;
    bool is_in_parts; /* columns one by one */
    char *answer;     /* of the first */
};

static iw_status go_back(const iw_log *log, void *arg)
{
    struct process *p = arg;

    (void)log;
    p->at = p->first;
    return IW_OK;
}

static iw_status next(const iw_log *log, void *arg, iw_digest **digest_p)
{
    struct process *p = arg;

    (void)log;
    *digest_p = p->at < p->last ? digest_of(p->at++) : NULL;
    return IW_OK;
}

/* The first time each finds that one digest more is its own. */
static iw_status settle(const iw_log *log, void *arg, bool *is_other_p)
{
    struct process *p = arg;

    (void)log;
    *is_other_p = p->settlings++ == 0;
    p->last += *is_other_p;
    return IW_OK;
}

static void *judge(void *arg)
{
    const iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    struct process *p = arg;
    const iw_digest_stream stream = {
        .arg = p, .rewind = go_back, .next = next, .link = &p->link, .settle = settle};
    iw_fleet *fleet = NULL;
    char path[32];

    snprintf(path, sizeof path, "d/bad%u.h5", (unsigned)p->link.rank);
    assert_ok(iw_fleet_new(NULL, "d", &fleet));
    if (p->is_in_parts) {
        fleet->cells->most_bytes = 1;
    }
    assert_ok(iw_fleet_read(NULL, fleet, &stream));
    assert_ok(iw_fleet_add_unreadable(NULL, fleet, path, "it is damaged"));
    assert_ok(iw_fleet_merge(NULL, fleet));
    assert_ok(iw_fleet_judge(NULL, fleet, &opts));
    if (p->link.rank == 0) {
        size_t size;
        FILE *out = open_memstream(&p->answer, &size);

        assert_non_null(out);
        assert_int_equal(fleet->node_count, NODES);
        assert_int_equal(fleet->unreadable_count, p->link.size);
        fleet->unreadable_count = 0; /* the same for any number of processes */
        assert_ok(iw_doc_write(NULL, iw_fleet_doc(fleet), IW_DOC_JSON, NULL, out));
        assert_int_equal(fclose(out), 0);
        fleet->unreadable_count = p->link.size;
    }
    iw_fleet_free(fleet);
    return NULL;
}

/* The answer of so many processes. */
static char *answer_of(uint32_t processes, bool is_in_parts)
{
    struct iwt_post_office office;
    struct process all[MOST_PROCESSES] = {{.at = 0}};

    iwt_open_office(&office);
    for (uint32_t i = 0; i < processes; i++) {
        const size_t first = (size_t)DIGESTS * i / processes, end = (size_t)DIGESTS * (i + 1) / processes;

        all[i] = (struct process){
            .end = {&office, i}, .first = first, .last = end - 1, .is_in_parts = is_in_parts};
        all[i].link = iwt_link(&office, &all[i].end, i, processes);
    }
    for (uint32_t i = 1; i < processes; i++) {
        assert_int_equal(pthread_create(&all[i].thread, NULL, judge, &all[i]), 0);
    }
    (void)judge(&all[0]);
    for (uint32_t i = 1; i < processes; i++) {
        assert_int_equal(pthread_join(all[i].thread, NULL), 0);
    }
    assert_null(office.first);
    return all[0].answer;
}

static void the_answer_does_not_depend_on_processes(void **state)
{
    static const uint32_t counts[] = {1, 2, 3, 4, 7};
    char *alone = answer_of(1, false);

    (void)state;
    assert_non_null(strstr(alone, "collectd"));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (int is_in_parts = 0; is_in_parts < 2; is_in_parts++) {
            char *together = answer_of(counts[i], is_in_parts);

            assert_string_equal(together, alone);
            free(together);
        }
    }
    free(alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_answer_does_not_depend_on_processes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
