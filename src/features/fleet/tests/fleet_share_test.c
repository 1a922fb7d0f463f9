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
#include "support/made_recording.h"
#include "support/support.h"

enum { NODES = 30, CPUS = 6, DIGESTS = NODES + 7, PROCESSES_MOST = 7 };

/* ---- a link ---- */

struct message {
    struct message *next;
    uint32_t from, to, channel;
    size_t bytes;
    char data[];
};

/* All messages under way, in the order of sending. */
struct post_office {
    pthread_mutex_t lock;
    struct message *first, **last_p;
};

struct end {
    struct post_office *office;
    uint32_t rank;
};

struct iw_link_request {
    uint32_t from, channel;
    void *data;
    bool is_send; /* done */
    size_t bytes;
};

static iw_link_request *request_of(uint32_t from, uint32_t channel, void *data, size_t bytes, bool is_send)
{
    iw_link_request *request = malloc(sizeof *request);

    assert_non_null(request);
    *request = (iw_link_request){from, channel, data, is_send, bytes};
    return request;
}

static iw_status post(void *arg, const iw_log *log, uint32_t to, uint32_t channel, const void *data,
                      size_t bytes, iw_link_request **request_p)
{
    const struct end *end = arg;
    struct message *message = malloc(sizeof *message + bytes);

    (void)log;
    assert_non_null(message);
    *message = (struct message){NULL, end->rank, to, channel, bytes};
    if (bytes > 0) {
        memcpy(message->data, data, bytes);
    }
    pthread_mutex_lock(&end->office->lock);
    *end->office->last_p = message;
    end->office->last_p = &message->next;
    pthread_mutex_unlock(&end->office->lock);
    *request_p = request_of(0, channel, NULL, bytes, true);
    return IW_OK;
}

static iw_status expect(void *arg, const iw_log *log, uint32_t from, uint32_t channel, void *data,
                        size_t bytes, iw_link_request **request_p)
{
    (void)arg;
    (void)log;
    *request_p = request_of(from, channel, data, bytes, false);
    return IW_OK;
}

/* Where the first message for this end is kept, or NULL; the office is locked. */
static struct message **find(const struct end *end, uint32_t from, uint32_t channel)
{
    for (struct message **p = &end->office->first; *p != NULL; p = &(*p)->next) {
        if ((*p)->from == from && (*p)->to == end->rank && (*p)->channel == channel) {
            return p;
        }
    }
    return NULL;
}

static void deliver(struct post_office *office, struct message **p, const iw_link_request *request)
{
    struct message *message = *p;

    assert_int_equal(message->bytes, request->bytes);
    if (message->bytes > 0) {
        memcpy(request->data, message->data, message->bytes);
    }
    *p = message->next;
    if (message->next == NULL) {
        office->last_p = p;
    }
    free(message);
}

static iw_status look(void *arg, const iw_log *log, iw_link_request *request, bool *is_done_p)
{
    const struct end *end = arg;

    (void)log;
    *is_done_p = request->is_send;
    if (!*is_done_p) {
        struct message **p;

        pthread_mutex_lock(&end->office->lock);
        p = find(end, request->from, request->channel);
        *is_done_p = p != NULL;
        if (p != NULL) {
            deliver(end->office, p, request);
        }
        pthread_mutex_unlock(&end->office->lock);
    }
    if (*is_done_p) {
        free(request);
    }
    return IW_OK;
}

static iw_status probe(void *arg, const iw_log *log, uint32_t from, uint32_t channel, bool *is_there_p,
                       size_t *bytes_p)
{
    const struct end *end = arg;
    struct message **p;

    (void)log;
    pthread_mutex_lock(&end->office->lock);
    p = find(end, from, channel);
    *is_there_p = p != NULL;
    *bytes_p = p != NULL ? (*p)->bytes : 0;
    pthread_mutex_unlock(&end->office->lock);
    return IW_OK;
}

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
    struct end end;
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
    struct post_office office = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct process all[PROCESSES_MOST] = {{.at = 0}};

    office.last_p = &office.first;
    for (uint32_t i = 0; i < processes; i++) {
        const size_t first = (size_t)DIGESTS * i / processes, end = (size_t)DIGESTS * (i + 1) / processes;

        all[i] = (struct process){
            .end = {&office, i}, .first = first, .last = end - 1, .is_in_parts = is_in_parts};
        all[i].link = (iw_link){.rank = i,
                                .size = processes,
                                .nodes = 1,
                                .most_threads = UINT32_MAX,
                                .most_channels = 1000,
                                .arg = &all[i].end,
                                .send = post,
                                .receive = expect,
                                .test = look,
                                .probe = probe};
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
