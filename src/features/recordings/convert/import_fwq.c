/* Fixed work quanta of LLNL's fwq, fwq-th and fwq-mpi: cycles of each quantum, worker after worker.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "features/recordings/convert/convert.h"
#include "features/recordings/convert/convert_rows.h"
#include "kit/files/io/convert_text.h"

#define LENGTHENED \
    1.001 /* the sum of quanta may exceed the time around them by this; clocks are read in between */

enum { MOST_WORKERS = 65536 };

struct worker {
    uint64_t cycles; /* of its run; 0: not said */
    double seconds;
    uint32_t cpu; /* UINT32_MAX: several, or not said */
    size_t first, count;
};

struct reader {
    const struct iwi_import *in;
    struct iwi_lines lines;
    struct worker *workers;
    size_t worker_count, worker_capacity;
    size_t section_count; /* workers whose quanta have begun */
    double *cycles;       /* of all quanta */
    size_t count, capacity;
};

static iw_status fail(const struct reader *r, const char *problem)
{
    return iwi_fail(r->in->log, r->lines.has_newline ? IW_ERR_FORMAT : IW_ERR_TRUNCATED, "'%s:%zu': %s",
                    r->in->path, r->lines.number, problem);
}

/* "Speed: process 0, cycles 8853355, seconds 0.004216, GHz 2.1", of threads too. */
static bool take_speed(struct iwi_piece *line)
{
    return iwi_take_prefix(line, "Speed: process ") || iwi_take_prefix(line, "Speed: thread ");
}

static bool matches(const char *data, size_t size)
{
    struct iwi_lines lines = iwi_lines_of(data, size);
    struct iwi_piece line;

    return iwi_next_line(&lines, &line) && take_speed(&line);
}

/* ---- lines ---- */

/* The next word without a comma behind it. */
static struct iwi_piece next_item(struct iwi_piece *line)
{
    struct iwi_piece word = iwi_next_word(line);

    if (word.end > word.at && word.end[-1] == ',') {
        word.end--;
    }
    return word;
}

static iw_status add_worker(struct reader *r, const struct worker *worker)
{
    if (r->worker_count == MOST_WORKERS) {
        return fail(r, "more than 65536 workers");
    }
    IW_TRY(
        iwi_grow(r->in->log, (void **)&r->workers, &r->worker_capacity, r->worker_count + 1, sizeof *worker));
    r->workers[r->worker_count++] = *worker;
    return IW_OK;
}

static iw_status read_speed(struct reader *r, struct iwi_piece line)
{
    struct worker worker = {.cpu = UINT32_MAX};
    uint64_t number;
    const bool is_good = iwi_read_u64(next_item(&line), &number) && number == r->worker_count &&
                         iwi_piece_is(next_item(&line), "cycles") &&
                         iwi_read_u64(next_item(&line), &worker.cycles) && worker.cycles > 0 &&
                         iwi_piece_is(next_item(&line), "seconds") &&
                         iwi_read_real(next_item(&line), &worker.seconds) && worker.seconds > 0;

    if (!is_good || r->section_count > 0) {
        return fail(
            r, "expected 'Speed: process N, cycles C, seconds S, ...', from process 0, before all quanta");
    }
    return add_worker(r, &worker);
}

/* "Process 0 running on CPUs 3" */
static iw_status begin_section(struct reader *r, struct iwi_piece line)
{
    struct worker *worker;
    uint64_t number;

    if (r->section_count == r->worker_count || !iwi_read_u64(next_item(&line), &number) ||
        number != r->section_count || !iwi_take_prefix(&line, " running on CPUs ")) {
        return fail(r, "expected 'Process N running on CPUs LIST', in the same order as the speeds");
    }
    worker = &r->workers[r->section_count];
    if (!iwi_read_u32(iwi_trim_blanks(line), &worker->cpu)) {
        worker->cpu = UINT32_MAX;
    }
    worker->first = r->count;
    r->section_count++;
    return IW_OK;
}

/* Without any head all quanta are of one worker. */
static iw_status read_quantum(struct reader *r, struct iwi_piece text)
{
    uint64_t cycles;

    if (!iwi_read_u64(text, &cycles) || cycles == 0) {
        return fail(r, "expected the cycles of a quantum");
    }
    if (r->worker_count == 0) {
        IW_TRY(add_worker(r, &(struct worker){.cpu = UINT32_MAX}));
        r->section_count = 1;
    }
    if (r->section_count == 0) {
        return fail(r, "expected 'Process N running on CPUs LIST' before its quanta");
    }
    IW_TRY(iwi_grow(r->in->log, (void **)&r->cycles, &r->capacity, r->count + 1, sizeof *r->cycles));
    r->cycles[r->count++] = (double)cycles;
    r->workers[r->section_count - 1].count++;
    return IW_OK;
}

static iw_status read_line(struct reader *r, struct iwi_piece line)
{
    if (take_speed(&line)) {
        return read_speed(r, line);
    }
    if (iwi_take_prefix(&line, "Process ") || iwi_take_prefix(&line, "Thread ")) {
        return begin_section(r, line);
    }
    return read_quantum(r, line);
}

/* All workers have as many quanta, so that a file that was cut off is noticed. */
static iw_status check_counts(const struct reader *r)
{
    if (r->count == 0) {
        return iwi_fail(r->in->log, IW_ERR_TRUNCATED, "'%s' has no quanta", r->in->path);
    }
    for (size_t i = 0; i < r->worker_count; i++) {
        if (r->workers[i].count != r->workers[0].count) {
            return iwi_fail(r->in->log, IW_ERR_TRUNCATED,
                            "'%s': process %zu has %zu quanta, but process 0 has %zu", r->in->path, i,
                            r->workers[i].count, r->workers[0].count);
        }
    }
    return r->lines.has_newline ? IW_OK : fail(r, "the last line is cut off");
}

static iw_status read_lines(struct reader *r)
{
    struct iwi_piece line;

    while (iwi_next_line(&r->lines, &line)) {
        line = iwi_trim_blanks(line);
        if (line.at != line.end) {
            IW_TRY(read_line(r, line));
        }
    }
    return check_counts(r);
}

/* ---- quanta ---- */

/* Numbers of CPUs, where each worker has one of its own; else workers are numbered. */
static bool have_own_cpus(const struct reader *r, uint32_t *cpus)
{
    for (size_t i = 0; i < r->worker_count; i++) {
        cpus[i] = r->workers[i].cpu;
    }
    iwi_sort(cpus, r->worker_count, iwi_compare_u32);
    for (size_t i = 1; i < r->worker_count; i++) {
        if (cpus[i] == cpus[i - 1]) {
            return false;
        }
    }
    return cpus[r->worker_count - 1] != UINT32_MAX;
}

/* Where a quantum begins: behind those before it, and the time between them in equal parts. */
static iw_status lay_out(const struct reader *r, const struct worker *worker, double *start_ns,
                         struct iwi_quanta *quanta)
{
    const double *cycles = &r->cycles[worker->first];
    double sum = 0, ns_per_cycle, between;

    for (size_t i = 0; i < worker->count; i++) {
        sum += cycles[i];
    }
    if (worker->cycles > 0 && sum > LENGTHENED * (double)worker->cycles) {
        return iwi_fail(r->in->log, IW_ERR_FORMAT,
                        "'%s': the quanta of a process take more cycles than its whole run", r->in->path);
    }
    between = worker->cycles > 0 ? fmax((double)worker->cycles - sum, 0) / (double)worker->count : 0;
    ns_per_cycle =
        worker->cycles > 0 ? worker->seconds * 1e9 / (double)worker->cycles : (double)r->in->length_ns / sum;
    quanta->start_ns = &start_ns[worker->first];
    quanta->sample = &r->cycles[worker->first];
    quanta->count = worker->count;
    sum = 0;
    for (size_t i = 0; i < worker->count; i++) {
        quanta->start_ns[i] = sum * ns_per_cycle;
        sum += cycles[i] + between;
        quanta->sample[i] *= ns_per_cycle;
    }
    quanta->length_ns = sum * ns_per_cycle;
    return IW_OK;
}

static double least_sample(const struct reader *r)
{
    double least = r->cycles[0];

    for (size_t i = 1; i < r->count; i++) {
        least = fmin(least, r->cycles[i]);
    }
    return least;
}

static iw_status fill(struct reader *r, double *start_ns, uint32_t *cpus, struct iwi_quanta *quanta,
                      iw_recording **recording_p)
{
    const bool has_cpus = have_own_cpus(r, cpus);

    for (size_t i = 0; i < r->worker_count; i++) {
        quanta[i].cpu = has_cpus ? r->workers[i].cpu : (uint32_t)i;
        IW_TRY(lay_out(r, &r->workers[i], start_ns, &quanta[i]));
    }
    return iwi_quanta_to_recording(r->in->log, r->in->path, IW_PROBE_FWQ, least_sample(r), quanta,
                                   r->worker_count, recording_p);
}

static iw_status build(struct reader *r, iw_recording **recording_p)
{
    double *start_ns = iwi_new_array(r->in->log, r->count, sizeof *start_ns);
    uint32_t *cpus = iwi_new_array(r->in->log, r->worker_count, sizeof *cpus);
    struct iwi_quanta *quanta = iwi_new_array(r->in->log, r->worker_count, sizeof *quanta);
    iw_status status = start_ns != NULL && cpus != NULL && quanta != NULL ? IW_OK : IW_ERR_NOMEM;

    status = status == IW_OK ? fill(r, start_ns, cpus, quanta, recording_p) : status;
    free(start_ns);
    free(cpus);
    free(quanta);
    return status;
}

static iw_status read_fwq(const struct iwi_import *in, iw_recording **recording_p)
{
    struct reader r = {.in = in, .lines = iwi_lines_of(in->data, in->size)};
    iw_status status = read_lines(&r);

    if (status == IW_OK && r.workers[0].cycles == 0 && in->length_ns == 0) {
        status = iwi_fail(in->log, IW_ERR_USAGE,
                          "'%s' counts cycles of unknown length: give the length of all quanta (`length_ns`)",
                          in->path);
    }
    status = status == IW_OK ? build(&r, recording_p) : status;
    free(r.workers);
    free(r.cycles);
    return status;
}

const struct iwi_convert_ops iwi_import_fwq = {
    .about = {.name = "fwq", .summary = "LLNL's", .can_read = true},
    .in_words = "FWQ",
    .is_foreign = true,
    .matches = matches,
    .read = read_fwq,
};
