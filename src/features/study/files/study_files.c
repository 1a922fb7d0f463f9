/* The results files of a folder, read line by line, each cell once.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/lookup.h"
#include "features/study/files/study_line.h"
#include "kit/files/io/paths.h"

/* Cells so far, and a table that finds them by their id. */
struct collection {
    const iw_log *log;
    iw_cell_result *cells;
    size_t count, capacity;
    struct iwi_lookup by_id;
};

void iwi_results_file_name(uint32_t shard, uint32_t shards, uint32_t writer, char buf[64])
{
    char of_shard[32] = "", of_writer[16] = "";

    if (shards > 1) {
        snprintf(of_shard, sizeof of_shard, "-%" PRIu32 "-of-%" PRIu32, shard + 1, shards);
    }
    if (writer > 0) {
        snprintf(of_writer, sizeof of_writer, "-p%" PRIu32, writer + 1);
    }
    snprintf(buf, 64, "results%s%s.jsonl", of_shard, of_writer);
}

void iwi_cell_results_free(iw_cell_result *cells, size_t count)
{
    for (size_t i = 0; cells != NULL && i < count; i++) {
        iwi_cell_result_release(&cells[i]);
    }
    free(cells);
}

/* What is no number is equal to itself here. */
static bool is_same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool is_same_summary(const iw_summary *a, const iw_summary *b)
{
    return a->count == b->count && is_same_number(a->min, b->min) && is_same_number(a->q1, b->q1) &&
           is_same_number(a->median, b->median) && is_same_number(a->q3, b->q3) &&
           is_same_number(a->max, b->max) && is_same_number(a->mean, b->mean) &&
           is_same_number(a->median_low, b->median_low) && is_same_number(a->median_high, b->median_high) &&
           is_same_number(a->mean_low, b->mean_low) && is_same_number(a->mean_high, b->mean_high);
}

/* Names are for people and do not count. */
static bool is_same_result(const iw_cell_result *a, const iw_cell_result *b)
{
    return a->ranks == b->ranks && a->bytes == b->bytes && a->trials == b->trials && a->seed == b->seed &&
           a->messages == b->messages && a->sync == b->sync && is_same_number(a->net_scale, b->net_scale) &&
           is_same_number(a->noiseless_ns, b->noiseless_ns) && is_same_number(a->p5_ns, b->p5_ns) &&
           is_same_number(a->p95_ns, b->p95_ns) && is_same_summary(&a->makespan_ns, &b->makespan_ns) &&
           is_same_number(a->recording.slowdown_low, b->recording.slowdown_low) &&
           is_same_number(a->recording.slowdown_high, b->recording.slowdown_high);
}

/* Takes the cell over, whatever comes of it. */
static iw_status add_cell(struct collection *c, const char *path, size_t number, iw_cell_result *cell)
{
    const uint64_t hash = strtoull(cell->id, NULL, 16);
    iw_status status;
    uint32_t known;

    for (size_t at = 0; (known = iwi_lookup_next(&c->by_id, hash, &at)) != IWI_LOOKUP_NONE;) {
        if (strcmp(c->cells[known].id, cell->id) == 0) {
            break;
        }
    }
    if (known == IWI_LOOKUP_NONE) {
        status = iwi_grow(c->log, (void **)&c->cells, &c->capacity, c->count + 1, sizeof *c->cells);
        status = status == IW_OK ? iwi_lookup_add(c->log, &c->by_id, hash, (uint32_t)c->count) : status;
        if (status == IW_OK) {
            c->cells[c->count++] = *cell;
            return IW_OK;
        }
    } else {
        status =
            is_same_result(cell, &c->cells[known])
                ? IW_OK
                : iwi_fail(c->log, IW_ERR_FORMAT,
                           "'%s:%zu': cell %s is there already with another result; delete the line that "
                           "was not made by this version, and run the study again",
                           path, number, cell->id);
    }
    iwi_cell_result_release(cell);
    return status;
}

/* ---- files ---- */

/* A line without its newline was cut off: whoever resumes the study writes it again. */
static iw_status read_lines(struct collection *c, const char *path, FILE *in)
{
    iw_status status = IW_OK;
    char *line = NULL;
    size_t size = 0, number = 0;
    ssize_t length;

    while (status == IW_OK && (length = getline(&line, &size, in)) > 0 && line[length - 1] == '\n') {
        iw_cell_result cell;

        number++;
        status = iwi_cell_line_read(c->log, path, number, line, (size_t)length - 1, &cell);
        if (status == IW_OK) {
            status = add_cell(c, path, number, &cell);
        }
    }
    if (status == IW_OK && ferror(in)) {
        status = iwi_fail(c->log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    free(line);
    return status;
}

/* Not a pipe, which would stop us for ever. NULL: errno tells. */
static FILE *open_regular(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;

    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
        (void)close(fd);
        errno = EINVAL;
        return NULL;
    }
    return fd >= 0 ? fdopen(fd, "r") : NULL;
}

static iw_status read_file(struct collection *c, const char *dir, const char *name)
{
    char *path = iwi_path_join(c->log, dir, name);
    iw_status status;
    FILE *in;

    if (path == NULL) {
        return IW_ERR_NOMEM;
    }
    in = open_regular(path);
    if (in == NULL) {
        status = iwi_fail(c->log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    } else {
        status = read_lines(c, path, in);
        (void)fclose(in);
    }
    free(path);
    return status;
}

/* The number from `text` on, and where it ends; 0: none, or too large. */
static uint32_t read_number(const char *text, const char **end_p)
{
    uint32_t number = 0;

    for (; *text >= '0' && *text <= '9' && number < UINT32_MAX / 100; text++) {
        number = number * 10 + (uint32_t)(*text - '0');
    }
    *end_p = text;
    return number;
}

/* Steps over `text` if it is there. */
static bool skip(const char **at, const char *text)
{
    const size_t length = strlen(text);
    const bool is_there = strncmp(*at, text, length) == 0;

    *at += is_there ? length : 0;
    return is_there;
}

int iwi_is_results_file(const struct dirent *entry)
{
    const char *at = entry->d_name;
    uint32_t shard = 1, shards = 1, writer = 1;
    char name[64];

    if (!skip(&at, "results")) {
        return 0;
    }
    if (at[0] == '-' && at[1] != 'p') {
        shard = read_number(at + 1, &at);
        if (!skip(&at, "-of-")) {
            return 0;
        }
        shards = read_number(at, &at);
    }
    if (skip(&at, "-p")) {
        writer = read_number(at, &at);
    }
    if (shard < 1 || shards < 1 || writer < 1) {
        return 0;
    }
    iwi_results_file_name(shard - 1, shards, writer - 1, name); /* nothing else before or behind it */
    return strcmp(entry->d_name, name) == 0;
}

iw_status iwi_cell_results_load(const iw_log *log, const char *dir, iw_cell_result **cells_p, size_t *count_p)
{
    struct collection c = {.log = log};
    struct dirent **entries = NULL;
    const int entry_count = scandir(dir, &entries, iwi_is_results_file, alphasort);
    iw_status status = IW_OK;

    if (entry_count < 0 && errno != ENOENT) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", dir, strerror(errno));
    }
    for (int i = 0; i < entry_count; i++) {
        if (status == IW_OK) {
            status = read_file(&c, dir, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    iwi_lookup_release(&c.by_id);
    if (status != IW_OK) {
        iwi_cell_results_free(c.cells, c.count);
        return status;
    }
    *cells_p = c.cells;
    *count_p = c.count;
    return IW_OK;
}
