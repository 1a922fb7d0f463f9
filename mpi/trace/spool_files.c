/* Finds the spool files that a run left, and tells usable ones from others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/spool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/order.h"
#include "mpi/trace/archive.h"

struct listing {
    struct iwi_spool_files *spool;
    const char *folder;
    struct iwi_recovered *skipped; /* where to tell of files left out */
    char *text;
    size_t text_size;
};

static bool fail(struct listing *r, const char *path, const char *why)
{
    (void)snprintf(r->text, r->text_size, "'%s': %s", path, why);
    return false;
}

bool iwi_spool_grow(void **array_p, size_t *capacity_p, size_t need, size_t element)
{
    if (need <= *capacity_p) {
        return true;
    }
    size_t capacity = *capacity_p * 2 + 64;
    void *grown = realloc(*array_p, capacity * element);
    if (grown == NULL) {
        return false;
    }
    *array_p = grown;
    *capacity_p = capacity;
    return true;
}

/* Leaves the file out. One without a head is of a thread that could not begin: nothing is lost with it. */
static void skip(struct listing *r, const struct iwi_spool_file *file, bool is_empty)
{
    if (r->skipped->skipped_files++ == 0) {
        (void)snprintf(r->skipped->skipped_text, sizeof r->skipped->skipped_text, "'%.400s': %s", file->path,
                       is_empty ? "nothing was recorded in it"
                                : "not a spool file of this version; left there");
    }
    if (is_empty && iwi_spool_grow((void **)&r->spool->empty, &r->spool->empty_capacity,
                                   r->spool->empty_count + 1, sizeof *r->spool->empty)) {
        r->spool->empty[r->spool->empty_count++] = *file;
    }
}

/* `is_usable_p`: to be read; false with true given: it is skipped. */
static bool read_head(struct listing *r, struct iwi_spool_file *file, bool *is_usable_p)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a pipe must not stop us */
    ssize_t got = fd >= 0 ? read(fd, &file->head, sizeof file->head) : -1;

    if (fd >= 0) {
        (void)close(fd);
    }
    const struct iwi_spool_head *head = &file->head;
    bool is_whole = got == (ssize_t)sizeof *head;
    *is_usable_p = is_whole && head->magic == IWI_SPOOL_MAGIC && head->version == IWI_SPOOL_VERSION;
    if (!*is_usable_p) {
        skip(r, file, got == 0 || (is_whole && head->magic == 0));
        return true;
    }
    if (head->call_digest != iwi_call_digest) {
        return fail(r, file->path,
                    "written by the tracer of another MPI or version; take that one's idlewave-trace-finish");
    }
    if (head->rank >= head->world_size ||
        (r->spool->rank_count != 0 && head->world_size != r->spool->rank_count)) {
        return fail(r, file->path, "is not of the same run as the other files");
    }
    r->spool->rank_count = head->world_size;
    return true;
}

IWI_COMPARE(by_rank_and_thread, struct iwi_spool_file, IWI_RISING(head.rank), IWI_RISING(head.thread))

static bool fail_skipped(struct listing *r)
{
    (void)snprintf(r->text, r->text_size, "%s", r->skipped->skipped_text);
    return false;
}

static bool list_files(struct listing *r)
{
    char spool[PATH_MAX - 300];
    bool is_fine = true;

    (void)snprintf(spool, sizeof spool, "%s/spool", r->folder);
    DIR *folder = opendir(spool);
    if (folder == NULL) {
        return fail(r, spool, errno == ENOENT ? "there is nothing unfinished" : "cannot be read");
    }
    const struct dirent *entry;
    while (is_fine && (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): our own stream
        if (entry->d_name[0] == '.') {
            continue;
        }
        if (!iwi_spool_grow((void **)&r->spool->files, &r->spool->capacity, r->spool->count + 1,
                            sizeof *r->spool->files)) {
            is_fine = fail(r, spool, "no memory");
            break;
        }
        bool is_usable = false;
        struct iwi_spool_file *file = &r->spool->files[r->spool->count];
        (void)snprintf(file->path, sizeof file->path, "%s/%.255s", spool, entry->d_name);
        is_fine = read_head(r, file, &is_usable);
        r->spool->count += is_usable;
    }
    (void)closedir(folder);
    if (is_fine && r->spool->count == 0) {
        return r->skipped->skipped_files > 0 ? fail_skipped(r) : fail(r, spool, "is empty");
    }
    if (is_fine) {
        iwi_sort(r->spool->files, r->spool->count, by_rank_and_thread);
    }
    return is_fine;
}

bool iwi_spool_files_list(struct iwi_spool_files *spool, const char *folder, struct iwi_recovered *skipped,
                          char *text, size_t size)
{
    struct listing listing = {
        .spool = spool, .folder = folder, .skipped = skipped, .text = text, .text_size = size};

    return list_files(&listing);
}
