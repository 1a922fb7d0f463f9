/* Digests of nodes whose run queues others watched: how long threads of each process waited for a CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A collector asked the kernel for sums several times a second, and kept of each process the mean wait
 * between two questions: how many such means there were, their sum, their variance and the largest. Each
 * stands for one wait at least, so these are lower bounds of the number of waits, of their time, and of the
 * longest. When in the recording a wait came is not known, so bursts count; nor is on which CPU, so the node
 * counts as one.
 */
#include <idlewave/fleet.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/fleet/node_digest.h"
#include "kit/files/io/digest_magic.h"
#include "kit/files/io/input.h"

enum { MOST_PROCESSES = 10000 };
#define LONGEST_NS 864e12 /* 240 h, as of recordings */
#define MOST_WAITS 1e15

/* All processes of one name. */
struct waits {
    char name[IW_SOURCE_NAME_SIZE];
    struct iwi_digest_sums sums;
    uint32_t stretches;
};

struct reader {
    const iw_log *log;
    const char *path;
    size_t process; /* for messages */
    int64_t start_ns, end_ns;
    size_t count, capacity;
    struct waits *waits; /* by name; the first of all processes */
};

static iw_status fail(const struct reader *r, const char *problem)
{
    return iwi_fail(r->log, IW_ERR_FORMAT, "'%s': process %zu of its statistics: %s", r->path, r->process + 1,
                    problem);
}

/* ---- one process ---- */

static bool read_number(const json_t *object, const char *key, double most, double *value_p)
{
    const json_t *value = json_object_get(object, key);

    *value_p = json_number_value(value);
    return json_is_number(value) && isfinite(*value_p) && *value_p >= 0 && *value_p <= most;
}

/* Of a single wait there is no variance: it is null. */
static iw_status read_sums(const struct reader *r, const json_t *process, struct iwi_digest_sums *sums_p)
{
    const json_t *waits = json_object_get(process, "runq_latency_stats_ns");
    struct iwi_digest_sums sums = {{0}};
    double variance;

    if (!read_number(waits, "count", MOST_WAITS, &sums.of[IW_DIGEST_COUNT])) {
        return fail(r, "'runq_latency_stats_ns' has no 'count' of waits");
    }
    if (sums.of[IW_DIGEST_COUNT] < 1) {
        *sums_p = (struct iwi_digest_sums){{0}};
        return IW_OK;
    }
    if (!read_number(waits, "sum_ns", LONGEST_NS, &sums.of[IW_DIGEST_BUSY]) ||
        !read_number(waits, "max_ns", LONGEST_NS, &sums.of[IW_DIGEST_LONGEST])) {
        return fail(r, "'sum_ns' and 'max_ns' of its waits must be numbers of ns, at most 240 h");
    }
    if (!read_number(waits, "variance_ns2", LONGEST_NS * LONGEST_NS, &variance)) {
        variance = 0;
    }
    sums.of[IW_DIGEST_SQUARE] = sums.of[IW_DIGEST_BUSY] * sums.of[IW_DIGEST_BUSY] / sums.of[IW_DIGEST_COUNT] +
                                variance * (sums.of[IW_DIGEST_COUNT] - 1);
    *sums_p = sums;
    return IW_OK;
}

static iw_status read_times(const struct reader *r, const json_t *process, int64_t *first_p, int64_t *last_p)
{
    const json_t *first = json_object_get(process, "first_seen_ts_ns"),
                 *last = json_object_get(process, "last_seen_ts_ns");

    *first_p = json_integer_value(first);
    *last_p = json_integer_value(last);
    if (!json_is_integer(first) || !json_is_integer(last) || *first_p <= 0 || *last_p < *first_p) {
        return fail(r, "'first_seen_ts_ns' and 'last_seen_ts_ns' must be times, in this order");
    }
    return IW_OK;
}

/* ---- all of them ---- */

static iw_status find_waits(struct reader *r, const char *name, struct waits **waits_p)
{
    for (size_t i = 1; i < r->count; i++) {
        if (strcmp(r->waits[i].name, name) == 0) {
            *waits_p = &r->waits[i];
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(r->log, (void **)&r->waits, &r->capacity, r->count + 1, sizeof *r->waits));
    *waits_p = &r->waits[r->count++];
    **waits_p = (struct waits){.stretches = 0};
    snprintf((*waits_p)->name, sizeof(*waits_p)->name, "%s", name);
    return IW_OK;
}

/* Stretches between first and last sight: it is not known that it came in each of them. */
static uint32_t stretches_of(const struct reader *r, int64_t first_ns, int64_t last_ns)
{
    const double length = (double)(r->end_ns - r->start_ns);
    uint32_t stretches = 0;

    for (int i = 0; i < IW_DIGEST_STRETCHES; i++) {
        const double from = length * i / IW_DIGEST_STRETCHES, to = length * (i + 1) / IW_DIGEST_STRETCHES;

        if ((double)(first_ns - r->start_ns) <= to && (double)(last_ns - r->start_ns) >= from) {
            stretches |= 1U << i;
        }
    }
    return stretches;
}

static iw_status add_process(struct reader *r, const json_t *process)
{
    const char *comm = json_string_value(json_object_get(process, "comm"));
    struct iwi_digest_sums sums;
    struct waits *waits;
    char name[IW_SOURCE_NAME_SIZE];
    int64_t first_ns, last_ns;
    uint32_t stretches;

    if (comm == NULL) {
        return fail(r, "'comm' is missing");
    }
    IW_TRY(read_sums(r, process, &sums));
    if (sums.of[IW_DIGEST_COUNT] < 1) {
        return IW_OK;
    }
    IW_TRY(read_times(r, process, &first_ns, &last_ns));
    stretches = stretches_of(r, first_ns, last_ns);
    snprintf(name, sizeof name, "%.40s waiting", comm);
    IW_TRY(find_waits(r, name, &waits));
    for (int i = 0; i < 2; i++) {
        iwi_digest_sums_add(&waits->sums, &sums);
        waits->stretches |= stretches;
        waits = &r->waits[0];
    }
    return IW_OK;
}

static iw_status find_length(struct reader *r, const json_t *processes)
{
    const json_t *process;

    json_array_foreach(processes, r->process, process)
    {
        int64_t first_ns, last_ns;

        IW_TRY(read_times(r, process, &first_ns, &last_ns));
        r->start_ns = r->process == 0 ? first_ns : iwi_min(r->start_ns, first_ns);
        r->end_ns = iwi_max(r->end_ns, last_ns);
    }
    if (r->end_ns - r->start_ns < 1 || (double)(r->end_ns - r->start_ns) > LONGEST_NS) {
        return iwi_fail(r->log, IW_ERR_RANGE, "'%s': its processes were not seen for 1 ns to 240 h", r->path);
    }
    return IW_OK;
}

static iw_status read_processes(struct reader *r, const json_t *processes)
{
    const json_t *process;

    if (!json_is_array(processes) || json_array_size(processes) == 0 ||
        json_array_size(processes) > MOST_PROCESSES) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s' has no statistics of 1 to %d processes", r->path,
                        MOST_PROCESSES);
    }
    IW_TRY(find_length(r, processes));
    IW_TRY(iwi_grow(r->log, (void **)&r->waits, &r->capacity, 1, sizeof *r->waits));
    r->waits[r->count++] = (struct waits){.stretches = 0};
    json_array_foreach(processes, r->process, process)
    {
        IW_TRY(add_process(r, process));
    }
    return IW_OK;
}

/* ---- as a digest ---- */

static iw_status add_waits(const iw_log *log, iw_digest *digest, size_t number, const struct waits *waits)
{
    iw_digest_cell cell = {.stretches = waits->stretches};
    iw_digest_source *source;
    iw_source named = {.kind = IW_CLASS_UNKNOWN};

    if (number > 0) {
        snprintf(named.name, sizeof named.name, "%s", waits->name);
        IW_TRY(iwi_digest_add_source(log, digest, &named));
    }
    if (waits->stretches == 0) {
        return IW_OK;
    }
    source = &digest->sources[number];
    source->count = (uint64_t)waits->sums.of[IW_DIGEST_COUNT];
    source->busy_ns = llround(fmin(waits->sums.of[IW_DIGEST_BUSY], 1e18));
    source->longest_ns = llround(waits->sums.of[IW_DIGEST_LONGEST]);
    for (size_t i = 0; i < IW_DIGEST_SUMS; i++) {
        cell.all[i] = cell.steady[i] = iwi_digest_code(waits->sums.of[i]);
    }
    return iwi_digest_add_cell(log, source, &cell);
}

static iw_status fill_digest(const struct reader *r, iw_digest *digest)
{
    digest->start_ns = r->start_ns;
    digest->probe = IW_PROBE_WATCH;
    digest->attribution = IW_ATTRIBUTION_LEVEL_BPF;
    IW_TRY(iwi_digest_set(r->log, digest, "imported_from", "run queue statistics"));
    IW_TRY(iwi_digest_set(r->log, digest, IWI_DIGEST_BUSY_KEY, "yes"));
    IW_TRY(iwi_digest_add_cpu(r->log, digest, 0, r->end_ns - r->start_ns));
    for (size_t i = 0; i < r->count; i++) {
        IW_TRY(add_waits(r->log, digest, i, &r->waits[i]));
    }
    return IW_OK;
}

/* The collector's messages stand before and behind the object. */
static iw_status parse(const struct reader *r, const char *data, size_t size, json_t **root_p)
{
    const char *key = memmem(data, size, IWI_RUNQ_KEY, sizeof IWI_RUNQ_KEY - 1), *begin = key;
    json_error_t error;

    while (begin != NULL && begin > data && *begin != '{') {
        begin--;
    }
    if (begin == NULL || *begin != '{') {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s' has no run queue statistics", r->path);
    }
    *root_p = json_loadb(begin, size - (size_t)(begin - data),
                         JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
    return *root_p != NULL
               ? IW_OK
               : iwi_fail(r->log, IW_ERR_FORMAT, "'%s': its statistics are truncated or not JSON: %s",
                          r->path, error.text);
}

iw_status iwi_runq_digest(const iw_log *log, const char *path, const char *node, const char *data,
                          size_t size, iw_digest **digest_p)
{
    struct reader r = {.log = log, .path = path};
    iw_digest *digest = NULL;
    json_t *root = NULL;
    iw_status status = parse(&r, data, size, &root);

    status = status == IW_OK ? read_processes(&r, json_object_get(root, IWI_RUNQ_NAME)) : status;
    status = status == IW_OK ? iwi_digest_new(log, node, &digest) : status;
    status = status == IW_OK ? fill_digest(&r, digest) : status;
    json_decref(root);
    free(r.waits);
    if (status != IW_OK) {
        iw_digest_free(digest);
        return status;
    }
    *digest_p = digest;
    return IW_OK;
}

iw_status iw_digest_import(const iw_log *log, const char *path, iw_digest **digest_p)
{
    struct iwi_input input;
    char *node, *ending;
    iw_status status;

    node = iw_node_name(log, path);
    if (node == NULL) {
        return IW_ERR_NOMEM;
    }
    ending = strrchr(node, '.');
    if (ending != NULL && strcmp(ending, ".out") == 0) {
        *ending = '\0';
    }
    status = iwi_input_open(log, path, &input);
    if (status == IW_OK) {
        status = iwi_runq_digest(log, path, node, input.data, input.size, digest_p);
        iwi_input_close(&input);
    }
    free(node);
    return status;
}
