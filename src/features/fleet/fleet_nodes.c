/* Adding nodes to a fleet: names, cells, columns, facts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/fleet.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/short_number.h"
#include "features/fleet/fleet_cells.h"
#include "features/fleet/fleet_share.h"
#include "features/fleet/node_digest.h"

/* ======== names of sources ======== */

iw_source iwi_fleet_pattern(const iw_source *source)
{
    iw_source pattern = {.kind = source->kind};
    size_t used = 0;

    for (const char *c = source->name; *c != '\0'; c++) {
        if (!isdigit((unsigned char)*c)) {
            pattern.name[used++] = *c;
        } else if (used == 0 || pattern.name[used - 1] != '*') {
            pattern.name[used++] = '*';
        }
    }
    return pattern;
}

static int compare_sources(const iw_source *a, const iw_source *b)
{
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->name, b->name);
}

/* Where the name is or belongs among the sorted ones; they begin with name 1. */
static size_t name_place_of(const struct iwi_fleet_cells *cells, const iw_source *source)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, cells->name_count - 1,
                  compare_sources(&cells->names[cells->sorted_names[at]].source, source) < 0);
    return at;
}

/* Names are few hundreds, and each is looked for once. */
static iw_status find_family(const iw_log *log, struct iwi_fleet_cells *cells, const iw_source *source,
                             uint32_t name, uint32_t *family_p)
{
    const iw_source pattern = iwi_fleet_pattern(source);

    for (size_t i = 1; i < cells->family_count; i++) {
        if (compare_sources(&cells->families[i].pattern, &pattern) == 0) {
            cells->families[i].has_other_names = true;
            *family_p = (uint32_t)i;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(log, (void **)&cells->families, &cells->family_capacity, cells->family_count + 1,
                    sizeof *cells->families));
    cells->families[cells->family_count] = (struct iwi_fleet_family){.pattern = pattern, .first_name = name};
    *family_p = (uint32_t)cells->family_count++;
    return IW_OK;
}

iw_status iwi_fleet_find_name(const iw_log *log, struct iwi_fleet_cells *cells, const iw_source *source,
                              uint32_t *name_p)
{
    const size_t place = name_place_of(cells, source), sorted = cells->name_count - 1;
    const uint32_t name = (uint32_t)cells->name_count;
    uint32_t family;

    if (place < sorted && compare_sources(&cells->names[cells->sorted_names[place]].source, source) == 0) {
        *name_p = cells->sorted_names[place];
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&cells->names, &cells->name_capacity, cells->name_count + 1,
                    sizeof *cells->names));
    IW_TRY(iwi_grow(log, (void **)&cells->sorted_names, &cells->sorted_capacity, sorted + 1,
                    sizeof *cells->sorted_names));
    IW_TRY(find_family(log, cells, source, name, &family));
    cells->names[cells->name_count++] = (struct iwi_fleet_name){*source, family};
    memmove(&cells->sorted_names[place + 1], &cells->sorted_names[place],
            (sorted - place) * sizeof *cells->sorted_names);
    cells->sorted_names[place] = name;
    *name_p = name;
    return IW_OK;
}

/* ======== cells ======== */

/* Columns may take so much before those of the largest CPU numbers are put off: where parts of nodes can be
 * read again at little cost, and elsewhere. */
static const size_t MOST_PART_BYTES = (size_t)80 << 20, MOST_COLUMN_BYTES = (size_t)512 << 20;

/* A source of a digest and the family that it belongs to. */
struct member {
    uint32_t family, name;
    size_t source;
};

/* One node while it is added. */
struct iwi_fleet_scratch {
    size_t member_capacity, sum_capacity;
    struct member *members;
    iw_digest_cell *sums; /* of a family, by CPU; no stretches: it did not come there */
};

/* ---- columns ---- */

static size_t place_of(const struct iwi_fleet_cells *cells, uint32_t cpu)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, cells->column_count, cells->columns[at].cpu < cpu);
    return at;
}

const struct iwi_fleet_column *iwi_fleet_column_of(const struct iwi_fleet_cells *cells, uint32_t cpu)
{
    const size_t place = place_of(cells, cpu);

    return place < cells->column_count && cells->columns[place].cpu == cpu ? &cells->columns[place] : NULL;
}

iw_status iwi_fleet_add_column(const iw_log *log, struct iwi_fleet_cells *cells, uint32_t cpu,
                               struct iwi_fleet_column **column_p)
{
    const size_t next = cells->next_column; /* CPUs come in order */
    const size_t place =
        next < cells->column_count && cells->columns[next].cpu == cpu ? next : place_of(cells, cpu);

    if (place == cells->column_count || cells->columns[place].cpu != cpu) {
        IW_TRY(iwi_grow(log, (void **)&cells->columns, &cells->column_capacity, cells->column_count + 1,
                        sizeof *cells->columns));
        memmove(&cells->columns[place + 1], &cells->columns[place],
                (cells->column_count - place) * sizeof *cells->columns);
        cells->columns[place] = (struct iwi_fleet_column){.cpu = cpu};
        cells->column_count++;
        IW_TRY(iwi_grow(log, (void **)&cells->columns[place].cells, &cells->columns[place].capacity,
                        cells->room, sizeof *cells->columns->cells));
    }
    cells->next_column = place + 1;
    *column_p = &cells->columns[place];
    return IW_OK;
}

static size_t bytes_of(const struct iwi_fleet_column *column)
{
    return column->count * sizeof *column->cells + column->length_count * sizeof *column->lengths;
}

void iwi_fleet_empty_column(struct iwi_fleet_cells *cells, struct iwi_fleet_column *column)
{
    cells->column_bytes -= bytes_of(column);
    free(column->cells);
    free(column->lengths);
    *column = (struct iwi_fleet_column){.cpu = column->cpu};
}

void iwi_fleet_drop_last_column(struct iwi_fleet_cells *cells)
{
    struct iwi_fleet_column *last = &cells->columns[--cells->column_count];

    cells->end_cpu = last->cpu;
    iwi_fleet_empty_column(cells, last);
}

iw_status iwi_fleet_fill_column(const iw_log *log, struct iwi_fleet_cells *cells,
                                struct iwi_fleet_column *column, const struct iwi_fleet_column *more)
{
    IW_TRY(iwi_grow(log, (void **)&column->lengths, &column->length_capacity,
                    column->length_count + more->length_count, sizeof *column->lengths));
    IW_TRY(iwi_grow(log, (void **)&column->cells, &column->capacity, column->count + more->count,
                    sizeof *column->cells));
    cells->column_bytes += bytes_of(more);
    if (more->length_count > 0) {
        memcpy(&column->lengths[column->length_count], more->lengths,
               more->length_count * sizeof *more->lengths);
    }
    if (more->count > 0) {
        memcpy(&column->cells[column->count], more->cells, more->count * sizeof *more->cells);
    }
    column->length_count += more->length_count;
    column->count += more->count;
    return IW_OK;
}

void iwi_fleet_drop_columns(struct iwi_fleet_cells *cells, uint32_t first_cpu)
{
    while (cells->column_count > 0) {
        iwi_fleet_drop_last_column(cells);
    }
    cells->first_cpu = first_cpu;
    cells->end_cpu = IW_CPU_SET_MOST;
}

static bool is_in_columns(const struct iwi_fleet_cells *cells, uint32_t cpu)
{
    return cpu >= cells->first_cpu && cpu < cells->end_cpu;
}

/* ---- one family of a node ---- */

/* Sums of two sources of a family on the same CPU. */
static void merge(const struct iwi_digest_octave *octave, iw_digest_cell *to, const iw_digest_cell *from)
{
    to->stretches |= from->stretches;
    for (size_t i = 0; i < IW_DIGEST_LONGEST; i++) {
        to->all[i] = iwi_digest_code(iwi_digest_value_in(octave, to->all[i]) +
                                     iwi_digest_value_in(octave, from->all[i]));
        to->steady[i] = iwi_digest_code(iwi_digest_value_in(octave, to->steady[i]) +
                                        iwi_digest_value_in(octave, from->steady[i]));
    }
    to->all[IW_DIGEST_LONGEST] = from->all[IW_DIGEST_LONGEST] > to->all[IW_DIGEST_LONGEST]
                                     ? from->all[IW_DIGEST_LONGEST]
                                     : to->all[IW_DIGEST_LONGEST];
    to->steady[IW_DIGEST_LONGEST] = from->steady[IW_DIGEST_LONGEST] > to->steady[IW_DIGEST_LONGEST]
                                        ? from->steady[IW_DIGEST_LONGEST]
                                        : to->steady[IW_DIGEST_LONGEST];
}

/* Sums by CPU of the family's members [begin, end). */
static void sum_family(const struct iwi_fleet_cells *cells, const iw_digest *digest, size_t begin, size_t end)
{
    struct iwi_fleet_scratch *scratch = cells->scratch;

    memset(scratch->sums, 0, digest->cpu_count * sizeof *scratch->sums);
    for (size_t m = begin; m < end; m++) {
        const iw_digest_source *source = &digest->sources[scratch->members[m].source];

        for (size_t i = 0; i < source->cell_count; i++) {
            iw_digest_cell *sum = &scratch->sums[source->cells[i].cpu];

            if (sum->stretches == 0) {
                *sum = source->cells[i];
            } else {
                merge(&cells->octave, sum, &source->cells[i]);
            }
        }
    }
}

/* What is exact in the digest, and which of the members took most. */
static void add_exactly(const struct iwi_fleet_cells *cells, const iw_digest *digest, size_t begin,
                        size_t end, struct iwi_fleet_node_cell *cell)
{
    uint64_t by_length[IW_DIGEST_LENGTHS] = {0};
    int64_t most_ns = -1;
    iw_detour_lengths lengths;

    for (size_t m = begin; m < end; m++) {
        const iw_digest_source *source = &digest->sources[cells->scratch->members[m].source];

        cell->all[IW_DIGEST_COUNT] += (double)source->count;
        cell->all[IW_DIGEST_BUSY] += (double)source->busy_ns;
        cell->all[IW_DIGEST_LONGEST] = fmax(cell->all[IW_DIGEST_LONGEST], (double)source->longest_ns);
        for (size_t i = 0; i < IW_DIGEST_LENGTHS; i++) {
            by_length[i] += source->by_length[i];
        }
        if (source->busy_ns > most_ns) {
            most_ns = source->busy_ns;
            cell->name = cells->scratch->members[m].name;
        }
    }
    lengths = iw_digest_lengths(by_length, cell->all[IW_DIGEST_LONGEST]);
    cell->median_ns = (float)lengths.median_ns;
    cell->p99_ns = (float)lengths.p99_ns;
}

static iw_status add_node_cell(const iw_log *log, struct iwi_fleet_cells *cells, uint32_t node,
                               const iw_digest *digest, size_t begin, size_t end)
{
    struct iwi_fleet_node_cell cell = {.family = cells->scratch->members[begin].family, .node = node};
    struct iwi_digest_sums steady = {{0.0}};

    for (size_t i = 0; i < digest->cpu_count; i++) {
        const iw_digest_cell *sum = &cells->scratch->sums[i];
        const double busy_ns = iwi_digest_value_in(&cells->octave, sum->all[IW_DIGEST_BUSY]);
        struct iwi_digest_sums own;

        if (sum->stretches == 0) {
            continue;
        }
        for (size_t k = 0; k < IW_DIGEST_SUMS; k++) {
            own.of[k] = iwi_digest_value_in(&cells->octave, sum->steady[k]);
        }
        iwi_digest_sums_add(&steady, &own);
        cell.stretches |= sum->stretches;
        if (busy_ns > cell.top_ns) {
            cell.top_ns = (float)busy_ns;
            cell.top_cpu = digest->cpus[i].cpu;
        }
    }
    for (size_t k = 0; k < IW_DIGEST_SUMS; k++) {
        cell.steady[k] = (float)steady.of[k];
    }
    add_exactly(cells, digest, begin, end, &cell);
    if (cell.stretches == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&cells->cells, &cells->capacity, cells->count + 1, sizeof *cells->cells));
    cells->cells[cells->count++] = cell;
    return IW_OK;
}

static iw_status add_column_cells(const iw_log *log, struct iwi_fleet_cells *cells, uint32_t node,
                                  const iw_digest *digest, uint32_t family)
{
    for (size_t i = 0; i < digest->cpu_count; i++) {
        const iw_digest_cell *sum = &cells->scratch->sums[i];
        struct iwi_fleet_cell cell = {family, node, sum->stretches, {0}, {0}};
        struct iwi_fleet_column *column;

        if (sum->stretches == 0 || !is_in_columns(cells, digest->cpus[i].cpu)) {
            continue;
        }
        memcpy(cell.all, sum->all, sizeof cell.all);
        memcpy(cell.steady, sum->steady, sizeof cell.steady);
        IW_TRY(iwi_fleet_add_column(log, cells, digest->cpus[i].cpu, &column));
        IW_TRY(iwi_grow(log, (void **)&column->cells, &column->capacity, column->count + 1,
                        sizeof *column->cells));
        column->cells[column->count++] = cell;
        cells->column_bytes += sizeof cell;
    }
    return IW_OK;
}

/* ---- a node ---- */

IWI_COMPARE(by_family, struct member, IWI_RISING(family), IWI_RISING(source))

/* Which families the node has, and room for their sums. */
static iw_status list_members(const iw_log *log, struct iwi_fleet_cells *cells, const iw_digest *digest)
{
    struct iwi_fleet_scratch *scratch = cells->scratch;

    IW_TRY(iwi_grow(log, (void **)&scratch->members, &scratch->member_capacity, digest->source_count,
                    sizeof *scratch->members));
    IW_TRY(iwi_grow(log, (void **)&scratch->sums, &scratch->sum_capacity, digest->cpu_count + 1,
                    sizeof *scratch->sums));
    for (size_t i = 0; i < digest->source_count; i++) {
        uint32_t name = 0;

        if (i > 0) {
            IW_TRY(iwi_fleet_find_name(log, cells, &digest->sources[i].source, &name));
        }
        scratch->members[i] = (struct member){cells->names[name].family, name, i};
    }
    iwi_sort(scratch->members, digest->source_count, by_family);
    return IW_OK;
}

static iw_status add_lengths(const iw_log *log, struct iwi_fleet_cells *cells, uint32_t node,
                             const iw_digest *digest, bool is_new)
{
    for (size_t i = 0; i < digest->cpu_count; i++) {
        const iw_digest_cpu *cpu = &digest->cpus[i];
        struct iwi_fleet_length length = {node, (float)cpu->length_ns};
        struct iwi_fleet_column *column;

        cells->nodes_with[cpu->cpu] += is_new;
        if (!is_in_columns(cells, cpu->cpu)) {
            continue;
        }
        IW_TRY(iwi_fleet_add_column(log, cells, cpu->cpu, &column));
        IW_TRY(iwi_grow(log, (void **)&column->lengths, &column->length_capacity, column->length_count + 1,
                        sizeof *column->lengths));
        column->lengths[column->length_count++] = length;
        cells->column_bytes += sizeof length;
    }
    return IW_OK;
}

iw_status iwi_fleet_add_cells(const iw_log *log, struct iwi_fleet_cells *cells, uint32_t node,
                              const iw_digest *digest, bool is_new)
{
    size_t end;

    IW_TRY(list_members(log, cells, digest));
    IW_TRY(add_lengths(log, cells, node, digest, is_new));
    if (is_new) {
        IW_TRY(iwi_grow(log, (void **)&cells->first_cell, &cells->first_capacity, node + 2,
                        sizeof *cells->first_cell));
        cells->first_cell[node] = cells->count;
    }
    for (size_t begin = 0; begin < digest->source_count; begin = end) {
        const uint32_t family = cells->scratch->members[begin].family;

        for (end = begin + 1; end < digest->source_count && cells->scratch->members[end].family == family;
             end++) {
        }
        sum_family(cells, digest, begin, end);
        if (is_new) {
            IW_TRY(add_node_cell(log, cells, node, digest, begin, end));
        }
        IW_TRY(add_column_cells(log, cells, node, digest, family));
    }
    if (is_new) {
        cells->first_cell[node + 1] = cells->count;
    }
    if (is_new && cells->stream != NULL && cells->stream->want != NULL &&
        cells->column_bytes > cells->most_bytes) { /* when all nodes are known, it is known what fits */
        iwi_fleet_drop_columns(cells, 0);
        cells->end_cpu = 0;
    }
    while (cells->stream != NULL && cells->column_bytes > cells->most_bytes && cells->column_count > 1) {
        iwi_fleet_drop_last_column(cells);
    }
    return IW_OK;
}

/* ---- life ---- */

iw_status iwi_fleet_cells_new(const iw_log *log, struct iwi_fleet_cells **cells_p)
{
    struct iwi_fleet_cells *cells = iwi_new_array(log, 1, sizeof *cells);

    if (cells == NULL) {
        return IW_ERR_NOMEM;
    }
    *cells_p = cells;
    cells->most_bytes = MOST_COLUMN_BYTES;
    cells->end_cpu = IW_CPU_SET_MOST;
    iwi_digest_octave_fill(&cells->octave);
    cells->scratch = iwi_new_array(log, 1, sizeof *cells->scratch);
    cells->nodes_with = iwi_new_array(log, IW_CPU_SET_MOST, sizeof *cells->nodes_with);
    if (cells->scratch == NULL || cells->nodes_with == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_grow(log, (void **)&cells->names, &cells->name_capacity, 1, sizeof *cells->names));
    IW_TRY(iwi_grow(log, (void **)&cells->families, &cells->family_capacity, 1, sizeof *cells->families));
    cells->names[0] = (struct iwi_fleet_name){.family = 0};
    cells->families[0] = (struct iwi_fleet_family){.first_name = 0};
    cells->name_count = cells->family_count = 1;
    return IW_OK;
}

/* Of several processes, each has its own columns and, while they are exchanged, those for others. */
void iwi_fleet_set_stream(struct iwi_fleet_cells *cells, const iw_digest_stream *stream,
                          struct iwi_fleet_share *share)
{
    cells->stream = stream;
    cells->share = share;
    if (stream->want != NULL && cells->most_bytes > MOST_PART_BYTES) {
        cells->most_bytes = MOST_PART_BYTES;
    }
    cells->most_bytes /= share != NULL ? 2 : 1;
}

void iwi_fleet_cells_free(struct iwi_fleet_cells *cells)
{
    if (cells == NULL) {
        return;
    }
    iwi_fleet_drop_columns(cells, 0);
    iwi_fleet_share_close(cells->share);
    iwi_fleet_facts_release(&cells->facts);
    if (cells->scratch != NULL) {
        free(cells->scratch->members);
        free(cells->scratch->sums);
    }
    free(cells->scratch);
    free(cells->older.numbers);
    free(cells->nodes_with);
    free(cells->columns);
    free(cells->first_cell);
    free(cells->cells);
    free(cells->names);
    free(cells->sorted_names);
    free(cells->families);
    free(cells);
}

/* ======== nodes ======== */

iw_status iw_fleet_new(const iw_log *log, const char *name, iw_fleet **fleet_p)
{
    iw_fleet *fleet = iwi_new_array(log, 1, sizeof *fleet);
    iw_status status;

    if (fleet == NULL) {
        return IW_ERR_NOMEM;
    }
    fleet->name = strdup(name);
    status = fleet->name != NULL ? iwi_fleet_cells_new(log, &fleet->cells)
                                 : iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a folder");
    if (status != IW_OK) {
        iw_fleet_free(fleet);
        return status;
    }
    *fleet_p = fleet;
    return IW_OK;
}

void iw_fleet_free(iw_fleet *fleet)
{
    if (fleet == NULL) {
        return;
    }
    for (size_t i = 0; i < fleet->node_count; i++) {
        free(fleet->nodes[i].name);
    }
    for (size_t i = 0; i < fleet->unreadable_count; i++) {
        free(fleet->unreadable[i].name);
        free(fleet->unreadable[i].reason);
    }
    for (size_t i = 0; i < fleet->group_count; i++) {
        free(fleet->groups[i].value);
    }
    free(fleet->name);
    free(fleet->nodes);
    free(fleet->unreadable);
    free(fleet->sources);
    free(fleet->findings);
    free(fleet->differences);
    free(fleet->groups);
    iwi_fleet_cells_free(fleet->cells);
    free(fleet);
}

char *iw_node_name(const iw_log *log, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(name);
    const bool has_ending = length > 3 && strcmp(name + length - 3, ".h5") == 0;
    char *copy = strndup(name, has_ending ? length - 3 : length);

    if (copy == NULL) {
        iwi_error(log, "out of memory for the name of a node");
    }
    return copy;
}

/* ---- a node ---- */

static iw_status add_node(const iw_log *log, iw_fleet *fleet, const iw_digest *digest)
{
    iw_fleet_node node = {.cpu_count = digest->cpu_count,
                          .start_ns = digest->start_ns,
                          .is_busy = iw_digest_get(digest, IWI_DIGEST_BUSY_KEY) != NULL};

    for (size_t i = 0; i < digest->cpu_count; i++) {
        node.watched_ns += (double)digest->cpus[i].length_ns;
    }
    IW_TRY(iwi_grow(log, (void **)&fleet->nodes, &fleet->cells->node_capacity, fleet->node_count + 1,
                    sizeof *fleet->nodes));
    node.name = strdup(digest->node);
    if (node.name == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a node");
    }
    fleet->nodes[fleet->node_count++] = node;
    return IW_OK;
}

iw_status iw_fleet_add_digest(const iw_log *log, iw_fleet *fleet, const iw_digest *digest)
{
    IW_TRY(add_node(log, fleet, digest));
    IW_TRY(iwi_fleet_add_cells(log, fleet->cells, (uint32_t)(fleet->node_count - 1), digest, true));
    return iwi_fleet_add_facts(log, fleet, digest);
}

iw_status iw_fleet_add(const iw_log *log, iw_fleet *fleet, const char *path, const iw_recording *recording)
{
    char *name = iw_node_name(log, path);
    iw_digest *digest = NULL;
    iw_status status;

    if (name == NULL) {
        return IW_ERR_NOMEM;
    }
    status = iw_digest_make(log, name, recording, &digest);
    status = status == IW_OK ? iw_fleet_add_digest(log, fleet, digest) : status;
    iw_digest_free(digest);
    free(name);
    return status;
}

iw_status iwi_fleet_note_unreadable(const iw_log *log, iw_fleet *fleet, char *name, const char *reason)
{
    const iw_fleet_unreadable file = {name, strdup(reason)};

    if (file.name == NULL || file.reason == NULL ||
        iwi_grow(log, (void **)&fleet->unreadable, &fleet->cells->unreadable_capacity,
                 fleet->unreadable_count + 1, sizeof *fleet->unreadable) != IW_OK) {
        free(file.name);
        free(file.reason);
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a file");
    }
    fleet->unreadable[fleet->unreadable_count++] = file;
    return IW_OK;
}

iw_status iw_fleet_add_unreadable(const iw_log *log, iw_fleet *fleet, const char *path, const char *reason)
{
    return iwi_fleet_note_unreadable(log, fleet, iw_node_name(log, path), reason);
}

const char *iw_fleet_metric_name(iw_fleet_metric metric)
{
    static const char *const names[IW_FLEET_METRICS] = {"share", "rate", "longest"};

    return metric < IW_FLEET_METRICS ? names[metric] : "?";
}

/* ======== facts of nodes ======== */

/* Settings that digests have, and facts of the recordings themselves. */
static const char *const facts[] = {
    "kernel",   "cpu_model", "hypervisor", "smt",  "governor", "clocksource", "clock",  "tick_hz",
    "isolated", "nohz_full", "probe",      "rung", "version",  "cpus",        "length", "threshold"};

enum { FACTS = sizeof facts / sizeof facts[0], VALUE_SIZE = 256 };

/* Lengths with two digits, thresholds to the nearest power of ten: what is measured is never exactly alike.
 */
static void describe(const char *fact, const iw_digest *digest, char buf[VALUE_SIZE])
{
    const char *value;

    buf[0] = '\0';
    if (strcmp(fact, "probe") == 0) {
        snprintf(buf, VALUE_SIZE, "%s", iw_probe_name(digest->probe));
    } else if (strcmp(fact, "rung") == 0) {
        snprintf(buf, VALUE_SIZE, "%s", iw_attribution_level_name(digest->attribution));
    } else if (strcmp(fact, "cpus") == 0) {
        snprintf(buf, VALUE_SIZE, "%zu", digest->cpu_count);
    } else if (digest->cpu_count > 0 && strcmp(fact, "length") == 0) {
        snprintf(buf, VALUE_SIZE, "%s s", iwi_short((double)digest->cpus[0].length_ns / 1e9, 2).text);
    } else if (digest->cpu_count > 0 && strcmp(fact, "threshold") == 0) {
        snprintf(buf, VALUE_SIZE, "about %.0f ns", pow(10.0, round(log10(fmax(digest->threshold_ns, 1.0)))));
    } else {
        value = iw_digest_get(digest, fact);
        snprintf(buf, VALUE_SIZE, "%s", value != NULL ? iwi_attribute_text(fact, value) : "");
    }
}

/* Number of that value, added if new. A fleet has few. */
static iw_status find_value(const iw_log *log, struct iwi_fleet_known_facts *f, const char *value,
                            uint32_t *number_p)
{
    size_t number = 0;

    while (number < f->value_count && strcmp(f->values[number], value) != 0) {
        number++;
    }
    *number_p = (uint32_t)number;
    if (number < f->value_count) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&f->values, &f->value_capacity, number + 1, sizeof *f->values));
    f->values[number] = strdup(value);
    if (f->values[number] == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a fact about a node");
    }
    f->value_count++;
    return IW_OK;
}

iw_status iwi_fleet_add_facts(const iw_log *log, iw_fleet *fleet, const iw_digest *digest)
{
    struct iwi_fleet_known_facts *f = &fleet->cells->facts;
    const size_t first = (fleet->node_count - 1) * FACTS;

    IW_TRY(iwi_grow(log, (void **)&f->of_node, &f->capacity, first + FACTS, sizeof *f->of_node));
    for (size_t i = 0; i < FACTS; i++) {
        char value[VALUE_SIZE];

        describe(facts[i], digest, value);
        IW_TRY(find_value(log, f, value, &f->of_node[first + i]));
    }
    return IW_OK;
}

iw_status iwi_fleet_put_facts(const iw_log *log, const struct iwi_fleet_cells *cells, size_t node,
                              struct iwi_parcel *parcel)
{
    const struct iwi_fleet_known_facts *f = &cells->facts;

    for (size_t i = 0; i < FACTS; i++) {
        IW_TRY(iwi_parcel_put_text(log, parcel, f->values[f->of_node[node * FACTS + i]]));
    }
    return IW_OK;
}

iw_status iwi_fleet_take_facts(const iw_log *log, iw_fleet *fleet, struct iwi_parcel *parcel)
{
    struct iwi_fleet_known_facts *f = &fleet->cells->facts;
    const size_t first = (fleet->node_count - 1) * FACTS;

    IW_TRY(iwi_grow(log, (void **)&f->of_node, &f->capacity, first + FACTS, sizeof *f->of_node));
    for (size_t i = 0; i < FACTS; i++) {
        const char *value;

        IW_TRY(iwi_parcel_take_text(log, parcel, &value));
        IW_TRY(find_value(log, f, value, &f->of_node[first + i]));
    }
    return IW_OK;
}

void iwi_fleet_facts_release(struct iwi_fleet_known_facts *f)
{
    for (size_t i = 0; i < f->value_count; i++) {
        free(f->values[i]);
    }
    free(f->values);
    free(f->of_node);
}

/* ---- groups ---- */

static void add_member(iw_fleet_group *group, const iw_fleet_node *node)
{
    if (group->first_count < sizeof group->first / sizeof group->first[0]) {
        group->first[group->first_count++] = node->name;
    }
    group->node_count++;
}

IWI_COMPARE(larger_group_first, iw_fleet_group, IWI_FALLING(node_count))

static iw_status append_group(const iw_log *log, iw_fleet *fleet, const iw_fleet_group *group,
                              const char *value)
{
    IW_TRY(iwi_grow(log, (void **)&fleet->groups, &fleet->cells->group_capacity, fleet->group_count + 1,
                    sizeof *fleet->groups));
    fleet->groups[fleet->group_count] = *group;
    fleet->groups[fleet->group_count].value = strdup(value);
    if (fleet->groups[fleet->group_count].value == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a fact about a node");
    }
    fleet->group_count++;
    return IW_OK;
}

static iw_status group_by(const iw_log *log, iw_fleet *fleet, size_t fact, iw_fleet_group *by_value)
{
    const struct iwi_fleet_known_facts *f = &fleet->cells->facts;
    const size_t first = fleet->group_count;
    size_t different = 0;

    memset(by_value, 0, f->value_count * sizeof *by_value);
    for (size_t node = 0; node < fleet->node_count; node++) {
        iw_fleet_group *group = &by_value[f->of_node[node * FACTS + fact]];

        group->fact = facts[fact];
        different += group->node_count == 0;
        add_member(group, &fleet->nodes[node]);
    }
    for (size_t i = 0; i < f->value_count && different > 1; i++) {
        if (by_value[i].node_count > 0) {
            IW_TRY(append_group(log, fleet, &by_value[i], f->values[i]));
        }
    }
    if (fleet->group_count > first) {
        iwi_sort(&fleet->groups[first], fleet->group_count - first, larger_group_first);
    }
    return IW_OK;
}

iw_status iwi_fleet_find_groups(const iw_log *log, iw_fleet *fleet)
{
    const struct iwi_fleet_known_facts *f = &fleet->cells->facts;
    iw_fleet_group *by_value = iwi_new_array(log, f->value_count, sizeof *by_value);
    iw_status status = by_value != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t fact = 0; fact < FACTS && status == IW_OK && f->of_node != NULL; fact++) {
        status = group_by(log, fleet, fact, by_value);
    }
    free(by_value);
    return status;
}
