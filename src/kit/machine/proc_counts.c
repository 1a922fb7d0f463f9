/* Reads counts of interrupts from /proc, and tells what rose between two readings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/machine/proc_counts.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/sysfile.h"

enum { MOST_LINES = 12 };

static const char BLANKS[] = " \t\n";

/* ---- reading ---- */

/* A file while it is read: which place of the result each of its columns belongs to. */
struct table {
    const iw_log *log;
    const char *prefix; /* of names */
    struct iwi_proc_counts *counts;
    size_t *places; /* of each column; cpu_count: of a CPU that is not wanted */
    size_t column_count, capacity;
};

static size_t place_of(const struct iwi_proc_counts *counts, uint64_t cpu)
{
    size_t place = 0;

    while (place < counts->cpu_count && counts->cpus[place] != cpu) {
        place++;
    }
    return place;
}

/* A decimal number at *text_p, which is moved behind it. */
static bool read_number(const char **text_p, uint64_t *number_p)
{
    const char *at = *text_p + strspn(*text_p, BLANKS);
    char *end;

    if (isdigit((unsigned char)*at) == 0) {
        return false;
    }
    *number_p = strtoull(at, &end, 10);
    *text_p = end;
    return *end == '\0' || strchr(BLANKS, *end) != NULL;
}

/* "   CPU0   CPU2": CPUs that are offline have no column. */
static iw_status read_head(struct table *table, const char *line)
{
    uint64_t cpu;

    for (;;) {
        void *places = table->places;

        line += strspn(line, BLANKS);
        if (strncmp(line, "CPU", 3) != 0) {
            return IW_OK;
        }
        line += 3;
        if (!read_number(&line, &cpu)) {
            return IW_OK;
        }
        IW_TRY(
            iwi_grow(table->log, &places, &table->capacity, table->column_count + 1, sizeof *table->places));
        table->places = places;
        table->places[table->column_count++] = place_of(table->counts, cpu);
    }
}

/* What a device calls its interrupt stands last, behind two blanks at least. */
static const char *last_field(const char *text)
{
    const char *field = text + strspn(text, BLANKS);

    for (const char *gap = strstr(field, "  "); gap != NULL; gap = strstr(field, "  ")) {
        const char *next = gap + strspn(gap, BLANKS);

        if (*next == '\0') {
            break;
        }
        field = next;
    }
    return field;
}

/* Signs that part the fields of our text, and all that does not print, become '_'. */
static void clean(char name[IWI_COUNT_NAME_SIZE])
{
    size_t length = strlen(name);

    while (length > 0 && strchr(BLANKS, name[length - 1]) != NULL) {
        name[--length] = '\0';
    }
    for (size_t i = 0; i < length; i++) {
        const unsigned char sign = (unsigned char)name[i];

        name[i] = sign < ' ' || sign > '~' || strchr("=,;", sign) != NULL ? '_' : name[i];
    }
}

static iw_status make_row(struct iwi_proc_counts *counts, const iw_log *log)
{
    void *names = counts->names, *numbers = counts->counts;
    iw_status status;

    IW_TRY(iwi_grow(log, &names, &counts->name_capacity, counts->row_count + 1, sizeof *counts->names));
    counts->names = names;
    status = iwi_grow(log, &numbers, &counts->count_capacity, (counts->row_count + 1) * counts->cpu_count,
                      sizeof *counts->counts);
    counts->counts = numbers;
    return status;
}

/* "  24:   1   0  IO-APIC   5-edge   ACPI:Ged". Lines with fewer numbers than CPUs, as ERR and MIS, are not
 * of CPUs; they are passed over, and so is anything else. */
static iw_status read_row(struct table *table, const char *line)
{
    struct iwi_proc_counts *counts = table->counts;
    const char *label = line + strspn(line, BLANKS), *colon = strchr(label, ':'), *rest;
    const bool is_numbered = isdigit((unsigned char)*label) != 0;
    uint64_t *row, number;

    if (colon == NULL || colon == label) {
        return IW_OK;
    }
    IW_TRY(make_row(counts, table->log));
    row = counts->counts + counts->row_count * counts->cpu_count;
    memset(row, 0, counts->cpu_count * sizeof *row);
    rest = colon + 1;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!read_number(&rest, &number)) {
            return IW_OK;
        }
        if (table->places[i] < counts->cpu_count) {
            row[table->places[i]] = number;
        }
    }
    (void)snprintf(counts->names[counts->row_count], IWI_COUNT_NAME_SIZE, "%s%.*s%s%s", table->prefix,
                   (int)(colon - label), label, is_numbered ? " " : "", is_numbered ? last_field(rest) : "");
    clean(counts->names[counts->row_count++]);
    return IW_OK;
}

static iw_status read_table(struct table *table, FILE *in)
{
    char *line = NULL;
    size_t capacity = 0;
    iw_status status = IW_OK;

    if (getline(&line, &capacity, in) >= 0) {
        status = read_head(table, line);
    }
    while (status == IW_OK && table->column_count > 0 && getline(&line, &capacity, in) >= 0) {
        status = read_row(table, line);
    }
    free(line);
    return status;
}

static iw_status read_file(const iw_log *log, const char *root, const char *path, const char *prefix,
                           struct iwi_proc_counts *counts)
{
    struct table table = {.log = log, .prefix = prefix, .counts = counts};
    FILE *in = iwi_sysfile_open(root, path);
    iw_status status;

    if (in == NULL) {
        return IW_OK;
    }
    status = read_table(&table, in);
    free(table.places);
    (void)fclose(in);
    return status;
}

iw_status iwi_proc_counts_read(const iw_log *log, const char *root, const uint32_t *cpus, size_t cpu_count,
                               struct iwi_proc_counts *counts)
{
    *counts = (struct iwi_proc_counts){.cpu_count = cpu_count};
    counts->cpus = iwi_new_array(log, cpu_count, sizeof *counts->cpus);
    if (counts->cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(counts->cpus, cpus, cpu_count * sizeof *cpus);
    IW_TRY(read_file(log, root, "/proc/interrupts", "", counts));
    return read_file(log, root, "/proc/softirqs", "softirq ", counts);
}

void iwi_proc_counts_release(struct iwi_proc_counts *counts)
{
    free(counts->cpus);
    free(counts->names);
    free(counts->counts);
    *counts = (struct iwi_proc_counts){0};
}

/* ---- what rose ---- */

struct rise {
    size_t row; /* of the later reading */
    uint64_t count;
};

/* Rows keep their order, but some may come or go: asked for in order, the search begins where it ended. */
static const uint64_t *find_row(const struct iwi_proc_counts *counts, const char *name, size_t *from_p)
{
    for (size_t i = 0; i < counts->row_count; i++) {
        const size_t row = (*from_p + i) % counts->row_count;

        if (strcmp(counts->names[row], name) == 0) {
            *from_p = row + 1;
            return counts->counts + row * counts->cpu_count;
        }
    }
    return NULL;
}

/* The kernel counts most of them in 32 bits: the timer's go round after 50 days at 1000 Hz. A count that fell
 * otherwise is of another device that got the number. */
static uint64_t difference(uint64_t before, uint64_t after)
{
    const uint32_t round = (uint32_t)after - (uint32_t)before;

    if (after >= before) {
        return after - before;
    }
    return before <= UINT32_MAX && round <= INT32_MAX ? round : 0;
}

uint64_t iwi_proc_counts_rise(const struct iwi_proc_counts *before, const struct iwi_proc_counts *after,
                              size_t row, size_t place, size_t *from_p)
{
    const uint64_t *old = find_row(before, after->names[row], from_p);

    return difference(old != NULL ? old[place] : 0, after->counts[row * after->cpu_count + place]);
}

IWI_COMPARE(by_count, struct rise, IWI_FALLING(count), IWI_RISING(row))

static void write_cpu(const struct iwi_proc_counts *before, const struct iwi_proc_counts *after, size_t place,
                      struct rise *rises, bool *is_first_p, FILE *out)
{
    size_t count = 0, from = 0;

    for (size_t row = 0; row < after->row_count; row++) {
        const uint64_t rise = iwi_proc_counts_rise(before, after, row, place, &from);

        if (rise > 0) {
            rises[count++] = (struct rise){row, rise};
        }
    }
    if (count == 0) {
        return;
    }
    iwi_sort(rises, count, by_count);
    (void)fprintf(out, "%s%" PRIu32 ":", *is_first_p ? "" : ";", after->cpus[place]);
    for (size_t i = 0; i < count && i < MOST_LINES; i++) {
        (void)fprintf(out, "%s%s=%" PRIu64, i > 0 ? "," : "", after->names[rises[i].row], rises[i].count);
    }
    *is_first_p = false;
}

iw_status iwi_proc_counts_text(const iw_log *log, const struct iwi_proc_counts *before,
                               const struct iwi_proc_counts *after, char **text_p)
{
    struct rise *rises = iwi_new_array(log, after->row_count, sizeof *rises);
    char *text = NULL;
    bool is_first = true;
    size_t size;
    FILE *out;

    if (rises == NULL) {
        return IW_ERR_NOMEM;
    }
    out = open_memstream(&text, &size);
    for (size_t i = 0; out != NULL && i < after->cpu_count; i++) {
        write_cpu(before, after, i, rises, &is_first, out);
    }
    free(rises);
    if (out == NULL || fclose(out) != 0) {
        free(text);
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory");
    }
    *text_p = text;
    return IW_OK;
}
