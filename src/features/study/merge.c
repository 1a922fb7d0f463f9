/* Joins the results of several folders into one file, in the order of the cells' ids.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The order makes the file the same whoever ran which shard, and in which order they are joined.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/order.h"
#include "core/base/output.h"
#include "features/study/files/study_line.h"
#include "features/study/folder.h"
#include "kit/files/io/paths.h"

/* One line of some results file. */
struct line {
    char id[IW_CELL_ID_SIZE];
    const char *text;
    size_t length; /* with the newline */
    size_t file;
};

struct source_file {
    char *path, *text;
};

struct gathered {
    struct source_file *files;
    size_t file_count, file_capacity;
    struct line *lines;
    size_t line_count, line_capacity;
};

/* ---- gathering ---- */

static void gathered_release(struct gathered *g)
{
    for (size_t i = 0; i < g->file_count; i++) {
        free(g->files[i].path);
        free(g->files[i].text);
    }
    free(g->files);
    free(g->lines);
}

static iw_status add_line(const iw_log *log, struct gathered *g, const char *path, size_t number,
                          const char *text, size_t length)
{
    iw_cell_result cell;
    struct line *line;

    IW_TRY(iwi_grow(log, (void **)&g->lines, &g->line_capacity, g->line_count + 1, sizeof *g->lines));
    IW_TRY(iwi_cell_line_read(log, path, number, text, length - 1, &cell));
    line = &g->lines[g->line_count++];
    *line = (struct line){.text = text, .length = length, .file = g->file_count - 1};
    memcpy(line->id, cell.id, sizeof line->id);
    iwi_cell_result_release(&cell);
    return IW_OK;
}

/* What is behind the last newline was cut off and does not count. */
static iw_status add_lines(const iw_log *log, struct gathered *g, const char *path, const char *text,
                           size_t size)
{
    const char *end;

    for (size_t number = 1; (end = memchr(text, '\n', size)) != NULL; number++) {
        const size_t length = (size_t)(end - text) + 1;

        IW_TRY(add_line(log, g, path, number, text, length));
        text += length;
        size -= length;
    }
    return IW_OK;
}

static iw_status add_file(const iw_log *log, const char *dir, const char *name, void *arg)
{
    struct gathered *g = arg;
    struct source_file *file;
    size_t size = 0;

    IW_TRY(iwi_grow(log, (void **)&g->files, &g->file_capacity, g->file_count + 1, sizeof *g->files));
    file = &g->files[g->file_count];
    *file = (struct source_file){.path = iwi_path_join(log, dir, name)};
    if (file->path == NULL) {
        return IW_ERR_NOMEM;
    }
    g->file_count++;
    IW_TRY(iwi_read_text(log, file->path, &file->text, &size));
    return file->text != NULL ? add_lines(log, g, file->path, file->text, size) : IW_OK;
}

static iw_status gather(const iw_log *log, const char *dir, struct gathered *g)
{
    const size_t files_before = g->file_count;

    IW_TRY(iwi_folder_each_results(log, dir, add_file, g));
    if (g->file_count == files_before) {
        return iwi_fail(log, IW_ERR_IO, "'%s' has no results of a study", dir);
    }
    return IW_OK;
}

/* ---- joining ---- */

IWI_COMPARE(compare_lines, struct line, IWI_TEXT(id), IWI_RISING(file))

/* Sorts, and keeps one line of each cell. */
static iw_status join(const iw_log *log, struct gathered *g)
{
    size_t kept = 0;

    iwi_sort(g->lines, g->line_count, compare_lines);
    for (size_t i = 0; i < g->line_count; i++) {
        const struct line *line = &g->lines[i], *last = kept > 0 ? &g->lines[kept - 1] : NULL;

        if (last == NULL || strcmp(last->id, line->id) != 0) {
            g->lines[kept++] = *line;
        } else if (last->length != line->length || memcmp(last->text, line->text, line->length) != 0) {
            return iwi_fail(log, IW_ERR_FORMAT,
                            "cell %s has different results in '%s' and '%s': remove one of the files, or run "
                            "both with one version of idlewave",
                            line->id, g->files[last->file].path, g->files[line->file].path);
        }
    }
    g->line_count = kept;
    return IW_OK;
}

static iw_status write_lines(const iw_log *log, const struct gathered *g, const char *path)
{
    size_t size = 0, used = 0;
    char *text;
    iw_status status;

    for (size_t i = 0; i < g->line_count; i++) {
        size += g->lines[i].length;
    }
    text = iwi_new_array(log, size, 1);
    if (text == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < g->line_count; i++) {
        memcpy(text + used, g->lines[i].text, g->lines[i].length);
        used += g->lines[i].length;
    }
    status = iwi_write_bytes(log, path, text, size);
    free(text);
    return status;
}

/* ---- are they of one study? ---- */

IWI_COMPARE(compare_cell_ids, iw_cell, IWI_TEXT(id))

static bool are_cells_equal(iw_study *a, iw_study *b)
{
    bool are_equal = a->cell_count == b->cell_count;

    iwi_sort(a->cells, a->cell_count, compare_cell_ids);
    iwi_sort(b->cells, b->cell_count, compare_cell_ids);
    for (size_t i = 0; are_equal && i < a->cell_count; i++) {
        are_equal = compare_cell_ids(&a->cells[i], &b->cells[i]) == 0;
    }
    return are_equal;
}

/* The texts differ; do the cells? A study that cannot be read here (its files are elsewhere) counts as
 * another one. */
static bool have_equal_cells(const char *path, const char *other_path)
{
    iw_study *study = NULL, *other = NULL;
    const bool are_equal = iw_study_load(NULL, path, &study) == IW_OK &&
                           iw_study_load(NULL, other_path, &other) == IW_OK && are_cells_equal(study, other);

    iw_study_free(study);
    iw_study_free(other);
    return are_equal;
}

static iw_status compare_studies(const iw_log *log, const char *path, const char *other_path)
{
    char *text = NULL, *other = NULL;
    size_t size = 0, other_size = 0;
    iw_status status = iwi_read_text(log, path, &text, &size);

    if (status == IW_OK) {
        status = iwi_read_text(log, other_path, &other, &other_size);
    }
    if (status == IW_OK && text != NULL && other != NULL &&
        (size != other_size || memcmp(text, other, size) != 0) && !have_equal_cells(path, other_path)) {
        status = iwi_fail(log, IW_ERR_FORMAT,
                          "'%s' and '%s' are different studies: merge only parts of the same study", path,
                          other_path);
    }
    free(text);
    free(other);
    return status;
}

static iw_status check_same_study(const iw_log *log, const char *dir, const char *other_dir)
{
    char *path = iwi_path_join(log, dir, "study.yaml"), *other = iwi_path_join(log, other_dir, "study.yaml");
    const iw_status status = path != NULL && other != NULL ? compare_studies(log, path, other) : IW_ERR_NOMEM;

    free(path);
    free(other);
    return status;
}

/* ---- the target ---- */

struct locked {
    struct iwi_results_file *files;
    size_t count, capacity;
};

static iw_status lock_file(const iw_log *log, const char *dir, const char *name, void *arg)
{
    struct locked *locked = arg;

    IW_TRY(
        iwi_grow(log, (void **)&locked->files, &locked->capacity, locked->count + 1, sizeof *locked->files));
    IW_TRY(iwi_results_file_open(log, dir, name, &locked->files[locked->count]));
    locked->count++;
    return IW_OK;
}

static void unlock_files(struct locked *locked)
{
    for (size_t i = 0; i < locked->count; i++) {
        iwi_results_file_close(&locked->files[i]);
    }
    free(locked->files);
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat info_a, info_b;

    return stat(a, &info_a) == 0 && stat(b, &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
           info_a.st_ino == info_b.st_ino;
}

/* The results of all folders and those that the target holds itself. */
static iw_status gather_all(const iw_log *log, const char *const *dirs, size_t count, const char *dir,
                            struct gathered *g)
{
    bool has_target = false;

    for (size_t i = 0; i < count; i++) {
        IW_TRY(check_same_study(log, dirs[0], dirs[i]));
        IW_TRY(gather(log, dirs[i], g));
        has_target |= is_same_folder(dirs[i], dir);
    }
    if (!has_target) {
        IW_TRY(check_same_study(log, dirs[0], dir));
        IW_TRY(iwi_folder_each_results(log, dir, add_file, g));
    }
    return join(log, g);
}

/* The target's files of shards are in the one file now. */
static iw_status write_target(const iw_log *log, const char *from, const char *dir, const struct gathered *g,
                              const struct locked *locked)
{
    char name[64], *path;
    iw_status status;

    iwi_results_file_name(0, 1, 0, name);
    path = iwi_path_join(log, dir, name);
    status = path != NULL ? write_lines(log, g, path) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = iwi_folder_copy_description(log, from, dir);
    }
    for (size_t i = 0; status == IW_OK && i < locked->count; i++) {
        if (strcmp(locked->files[i].path, path) != 0) {
            (void)unlink(locked->files[i].path);
        }
    }
    free(path);
    return status;
}

iw_status iw_study_merge(const iw_log *log, const char *const *dirs, size_t count, const char *dir)
{
    struct gathered g = {.files = NULL};
    struct locked locked = {.files = NULL};
    iw_status status;

    if (count == 0) {
        return iwi_fail(log, IW_ERR_USAGE, "no folders to merge");
    }
    status = iwi_folder_each_results(log, dir, lock_file, &locked);
    if (status == IW_OK) {
        status = gather_all(log, dirs, count, dir, &g);
    }
    if (status == IW_OK) {
        status = iwi_folder_ensure(log, dir, IWI_FOLDER_MADE_WITH_PARENTS);
    }
    if (status == IW_OK) {
        status = write_target(log, dirs[0], dir, &g, &locked);
    }
    unlock_files(&locked);
    gathered_release(&g);
    return status;
}
