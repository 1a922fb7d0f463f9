/* What readers find in files, rows or quanta, to the CPUs of recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/convert/convert_rows.h"

#include <idlewave/time.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/order.h"

iw_status iwi_rows_add(const iw_log *log, struct iwi_rows *rows, const struct iwi_row *row)
{
    IW_TRY(iwi_grow(log, (void **)&rows->rows, &rows->capacity, rows->count + 1, sizeof *row));
    rows->rows[rows->count++] = *row;
    return IW_OK;
}

iw_status iwi_rows_add_facts(const iw_log *log, struct iwi_rows *rows, const struct iwi_cpu_facts *facts)
{
    IW_TRY(iwi_grow(log, (void **)&rows->facts, &rows->fact_capacity, rows->fact_count + 1, sizeof *facts));
    rows->facts[rows->fact_count++] = *facts;
    return IW_OK;
}

void iwi_rows_release(struct iwi_rows *rows)
{
    free(rows->rows);
    free(rows->facts);
    *rows = (struct iwi_rows){.rows = NULL};
}

iw_status iwi_recording_set_cpus(const iw_log *log, iw_recording *recording, size_t count)
{
    iw_detours *cpus = iwi_new_array(log, count, sizeof *cpus);

    if (cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    free(recording->cpus);
    recording->cpus = cpus;
    recording->cpu_count = count;
    return IW_OK;
}

IWI_COMPARE(by_place, struct iwi_row, IWI_RISING(cpu), IWI_RISING(start_ns), IWI_RISING(duration_ns))

IWI_COMPARE(by_cpu, struct iwi_cpu_facts, IWI_RISING(cpu))

/* Most files are in order already. */
static void sort(struct iwi_rows *rows)
{
    size_t i = 1;

    while (i < rows->count && by_place(&rows->rows[i - 1], &rows->rows[i]) <= 0) {
        i++;
    }
    if (i < rows->count) {
        iwi_sort(rows->rows, rows->count, by_place);
    }
    iwi_sort(rows->facts, rows->fact_count, by_cpu);
}

/* Joins overlapping detours; the longer one gives the source. Returns how many are left. */
static size_t unite(struct iwi_row *rows, size_t count)
{
    size_t last = 0;
    int64_t longest_ns = count > 0 ? rows[0].duration_ns : 0;

    for (size_t i = 1; i < count; i++) {
        struct iwi_row *open = &rows[last];

        if (rows[i].cpu == open->cpu && rows[i].start_ns < open->start_ns + open->duration_ns) {
            const int64_t end_ns =
                iwi_max(open->start_ns + open->duration_ns, rows[i].start_ns + rows[i].duration_ns);

            open->duration_ns = end_ns - open->start_ns;
            open->source = rows[i].duration_ns > longest_ns ? rows[i].source : open->source;
            longest_ns = iwi_max(longest_ns, rows[i].duration_ns);
        } else {
            rows[++last] = rows[i];
            longest_ns = rows[i].duration_ns;
        }
    }
    return count > 0 ? last + 1 : 0;
}

static iw_status copy_detours(const iw_log *log, const struct iwi_row *rows, size_t count, iw_detours *cpu)
{
    cpu->start_ns = iwi_new_array(log, count, sizeof *cpu->start_ns);
    cpu->duration_ns = iwi_new_array(log, count, sizeof *cpu->duration_ns);
    cpu->source = iwi_new_array(log, count, sizeof *cpu->source);
    if (cpu->start_ns == NULL || cpu->duration_ns == NULL || cpu->source == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        cpu->start_ns[i] = rows[i].start_ns;
        cpu->duration_ns[i] = rows[i].duration_ns;
        cpu->source[i] = rows[i].source;
    }
    cpu->count = count;
    return IW_OK;
}

static iw_status copy_quanta(const iw_log *log, const struct iwi_row *rows, size_t count, iw_detours *cpu)
{
    cpu->sample_start_ns = iwi_new_array(log, count, sizeof *cpu->sample_start_ns);
    cpu->sample = iwi_new_array(log, count, sizeof *cpu->sample);
    if (cpu->sample_start_ns == NULL || cpu->sample == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        cpu->sample_start_ns[i] = rows[i].start_ns;
        cpu->sample[i] = rows[i].sample;
    }
    cpu->sample_count = count;
    return IW_OK;
}

/* One CPU of the sorted rows and facts; both indices move behind what is of it. */
struct walk {
    size_t row, fact;
};

static bool has_more(const struct iwi_rows *rows, const struct walk *walk)
{
    return walk->row < rows->count || walk->fact < rows->fact_count;
}

static uint32_t next_cpu(const struct iwi_rows *rows, const struct walk *walk)
{
    const uint32_t of_row = walk->row < rows->count ? rows->rows[walk->row].cpu : UINT32_MAX;
    const uint32_t of_fact = walk->fact < rows->fact_count ? rows->facts[walk->fact].cpu : UINT32_MAX;

    return of_row < of_fact ? of_row : of_fact;
}

static void skip_cpu(const struct iwi_rows *rows, struct walk *walk, uint32_t cpu)
{
    while (walk->row < rows->count && rows->rows[walk->row].cpu == cpu) {
        walk->row++;
    }
    while (walk->fact < rows->fact_count && rows->facts[walk->fact].cpu == cpu) {
        walk->fact++;
    }
}

static size_t count_cpus(const struct iwi_rows *rows)
{
    struct walk walk = {0, 0};
    size_t count = 0;

    for (; has_more(rows, &walk); count++) {
        skip_cpu(rows, &walk, next_cpu(rows, &walk));
    }
    return count;
}

static int64_t last_end_ns(const struct iwi_rows *rows)
{
    int64_t end_ns = 0;

    for (size_t i = 0; i < rows->count; i++) {
        end_ns = iwi_max(end_ns, rows->rows[i].start_ns + rows->rows[i].duration_ns);
    }
    return end_ns;
}

/* The last facts that were told of a CPU count. */
static void copy_facts(const struct iwi_cpu_facts *facts, size_t count, iw_detours *cpu)
{
    if (count > 0) {
        const struct iwi_cpu_facts *last = &facts[count - 1];

        cpu->length_ns = last->length_ns > 0 ? last->length_ns : cpu->length_ns;
        cpu->t_min_ns = last->t_min_ns;
        cpu->threshold_ns = last->threshold_ns;
        cpu->dropped = last->dropped;
    }
}

iw_status iwi_rows_fill(const iw_log *log, struct iwi_rows *rows, iw_recording *recording)
{
    struct walk walk = {0, 0};
    int64_t end_ns;

    sort(rows);
    rows->count = rows->want_union ? unite(rows->rows, rows->count) : rows->count;
    end_ns = last_end_ns(rows);
    IW_TRY(iwi_recording_set_cpus(log, recording, count_cpus(rows)));
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const struct walk begin = walk;
        const struct iwi_row *first = rows->count > 0 ? &rows->rows[begin.row] : NULL;
        iw_detours *cpu = &recording->cpus[i];

        cpu->cpu = next_cpu(rows, &walk);
        cpu->length_ns = end_ns;
        skip_cpu(rows, &walk, cpu->cpu);
        IW_TRY(rows->is_quanta ? copy_quanta(log, first, walk.row - begin.row, cpu)
                               : copy_detours(log, first, walk.row - begin.row, cpu));
        if (walk.fact > begin.fact) {
            copy_facts(&rows->facts[begin.fact], walk.fact - begin.fact, cpu);
        }
    }
    return IW_OK;
}

/* ---- quanta of FWQ and FTQ ---- */

IWI_COMPARE(by_cpu_of_quanta, struct iwi_quanta, IWI_RISING(cpu))

static double best_of(const struct iwi_quanta *quanta, iw_probe probe)
{
    double best = quanta->sample[0];

    for (size_t i = 1; i < quanta->count; i++) {
        best = probe == IW_PROBE_FWQ ? fmin(best, quanta->sample[i]) : fmax(best, quanta->sample[i]);
    }
    return best;
}

static double loss_of(iw_probe probe, double quantum_ns, double sample, double best)
{
    if (probe == IW_PROBE_FWQ) {
        return sample - best;
    }
    return best > 0 ? (1 - sample / best) * quantum_ns : 0;
}

/* Of FWQ, t_min is the work at best; of FTQ it is one unit of work. */
static void find_detours(const struct iwi_quanta *quanta, iw_probe probe, double quantum_ns, iw_detours *cpu)
{
    const double best = best_of(quanta, probe);

    cpu->t_min_ns = probe == IW_PROBE_FWQ ? best : quantum_ns / fmax(best, 1);
    cpu->threshold_ns = cpu->t_min_ns;
    for (size_t i = 0; i < quanta->count; i++) {
        const int64_t next_ns = i + 1 < quanta->count ? cpu->sample_start_ns[i + 1] : cpu->length_ns;
        const int64_t lost_ns = iwi_min(llround(loss_of(probe, quantum_ns, quanta->sample[i], best)),
                                        next_ns - cpu->sample_start_ns[i]);

        if (lost_ns > 0) {
            cpu->start_ns[cpu->count] = cpu->sample_start_ns[i];
            cpu->duration_ns[cpu->count++] = lost_ns;
        }
    }
}

static iw_status fill_cpu(const iw_log *log, const struct iwi_quanta *quanta, iw_probe probe,
                          double quantum_ns, iw_detours *cpu)
{
    cpu->cpu = quanta->cpu;
    cpu->length_ns = llround(quanta->length_ns);
    cpu->sample_start_ns = iwi_new_array(log, quanta->count, sizeof *cpu->sample_start_ns);
    cpu->sample = iwi_new_array(log, quanta->count, sizeof *cpu->sample);
    cpu->start_ns = iwi_new_array(log, quanta->count, sizeof *cpu->start_ns);
    cpu->duration_ns = iwi_new_array(log, quanta->count, sizeof *cpu->duration_ns);
    cpu->source = iwi_new_array(log, quanta->count, sizeof *cpu->source);
    if (cpu->sample_start_ns == NULL || cpu->sample == NULL || cpu->start_ns == NULL ||
        cpu->duration_ns == NULL || cpu->source == NULL) {
        return IW_ERR_NOMEM;
    }
    cpu->sample_count = quanta->count;
    for (size_t i = 0; i < quanta->count; i++) {
        cpu->sample_start_ns[i] = iwi_min(llround(quanta->start_ns[i]), cpu->length_ns);
        cpu->sample[i] = quanta->sample[i];
    }
    find_detours(quanta, probe, quantum_ns, cpu);
    return IW_OK;
}

static iw_status check_length(const iw_log *log, const char *path, const struct iwi_quanta *cpus,
                              size_t count)
{
    const int64_t most_ns = IW_TIME_INPUT_MAX / IW_PS_PER_NS;

    for (size_t i = 0; i < count; i++) {
        if (!(cpus[i].length_ns <= (double)most_ns)) {
            return iwi_fail(log, IW_ERR_RANGE, "'%s': the quanta of a CPU take longer than 240h", path);
        }
    }
    return IW_OK;
}

iw_status iwi_quanta_to_recording(const iw_log *log, const char *path, iw_probe probe, double quantum_ns,
                                  struct iwi_quanta *cpus, size_t count, iw_recording **recording_p)
{
    iw_recording *recording;
    iw_status status;

    IW_TRY(check_length(log, path, cpus, count));
    IW_TRY(iw_recording_new(log, 0, &recording));
    iwi_sort(cpus, count, by_cpu_of_quanta);
    status = iwi_recording_set_cpus(log, recording, count);
    for (size_t i = 0; i < count && status == IW_OK; i++) {
        status = fill_cpu(log, &cpus[i], probe, quantum_ns, &recording->cpus[i]);
    }
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    recording->probe = probe;
    recording->quantum_ns = iwi_max(llround(quantum_ns), 1);
    *recording_p = recording;
    return IW_OK;
}
