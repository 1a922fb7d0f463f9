/* One process reads the spool files of all ranks and writes the archive.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/order.h"
#include "mpi/trace/archive.h"
#include "mpi/trace/folder.h"
#include "mpi/trace/record.h"

struct iwi_spool_file {
    char path[PATH_MAX];
    struct iwi_spool_head head;
};

struct iwi_spool_files {
    struct iwi_spool_file *files; /* by rank and thread */
    size_t count, capacity;
    struct iwi_spool_file *empty; /* to be removed with the others */
    size_t empty_count, empty_capacity;
    uint32_t rank_count; /* of the run */
};

/* Finds the spool files that a run left, and tells usable ones from others. */

struct listing {
    struct iwi_spool_files *spool;
    const char *folder;
    struct iwi_recovered *skipped; /* where to tell of files left out */
    char *text;
    size_t text_size;
};

static bool list_fail(struct listing *r, const char *path, const char *why)
{
    (void)snprintf(r->text, r->text_size, "'%s': %s", path, why);
    return false;
}

/* Makes room for `need` elements of that size; false: no memory. */
static bool iwi_spool_grow(void **array_p, size_t *capacity_p, size_t need, size_t element)
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
                                : "not a spool file of this version; it was kept");
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
    *is_usable_p = is_whole && head->magic == IWI_SPOOL_MAGIC &&
                   head->version >= IWI_SPOOL_OLDEST && head->version <= IWI_SPOOL_VERSION;
    if (!*is_usable_p) {
        skip(r, file, got == 0 || (is_whole && head->magic == 0));
        return true;
    }
    if (head->call_digest != iwi_call_digest) {
        return list_fail(
            r, file->path,
            "written by the tracer of another MPI or version; use the idlewave-trace-finish of that one");
    }
    if (head->rank >= head->world_size ||
        (r->spool->rank_count != 0 && head->world_size != r->spool->rank_count)) {
        return list_fail(r, file->path, "belongs to another run than the other files");
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
        return list_fail(r, spool, errno == ENOENT ? "it holds no unfinished trace" : "cannot be read");
    }
    const struct dirent *entry;
    while (is_fine && (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): our own stream
        if (entry->d_name[0] == '.') {
            continue;
        }
        if (!iwi_spool_grow((void **)&r->spool->files, &r->spool->capacity, r->spool->count + 1,
                            sizeof *r->spool->files)) {
            is_fine = list_fail(r, spool, "no memory");
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
        return r->skipped->skipped_files > 0 ? fail_skipped(r) : list_fail(r, spool, "is empty");
    }
    if (is_fine) {
        iwi_sort(r->spool->files, r->spool->count, by_rank_and_thread);
    }
    return is_fine;
}

/* Lists what is in FOLDER/spool; both arrays are to be freed. On failure `text` says why. */
static bool iwi_spool_files_list(struct iwi_spool_files *spool, const char *folder,
                                 struct iwi_recovered *skipped, char *text, size_t size)
{
    struct listing listing = {
        .spool = spool, .folder = folder, .skipped = skipped, .text = text, .text_size = size};

    return list_files(&listing);
}

/* ---- the archive ---- */

/* A communicator as one rank knows it. */
struct known_comm {
    uint32_t rank, local;
    uint32_t id; /* in the archive */
    struct iwi_archive_comm comm;
};

struct recovery {
    const char *folder;
    struct iwi_spool_files spool;
    struct known_comm *known;
    size_t known_count, known_capacity;
    struct iwi_archive_comm *comms;
    uint32_t comm_count;
    struct iwi_archive_place *places;
    struct iwi_archive_rank *ranks;
    uint64_t largest_bytes; /* of the spool files */
    bool has_failed;        /* to write a file */
    char *text;
    size_t text_size;
};

static bool fail(struct recovery *r, const char *path, const char *why)
{
    (void)snprintf(r->text, r->text_size, "'%s': %s", path, why);
    return false;
}

/* More communicators than a process can have: damaged. */
#define MOST_COMMS (UINT32_C(1) << 24)

static bool keep_comm(struct recovery *r, uint32_t rank, const struct iwi_record_comm *record)
{
    size_t members = (size_t)record->size + record->remote_size;

    if (record->comm >= MOST_COMMS) {
        return true;
    }
    if (!iwi_spool_grow((void **)&r->known, &r->known_capacity, r->known_count + 1, sizeof *r->known)) {
        return false;
    }
    struct known_comm *known = &r->known[r->known_count];
    *known = (struct known_comm){.rank = rank, .local = record->comm, .id = UINT32_MAX};
    known->comm = (struct iwi_archive_comm){.global = record->global,
                                            .size = record->size,
                                            .remote_size = record->remote_size,
                                            .is_inter = (record->flags & IWI_COMM_IS_INTER) != 0,
                                            .members = malloc(members * sizeof(int32_t) + 1)};
    if (known->comm.members == NULL) {
        return false;
    }
    memcpy(known->comm.members, record + 1, members * sizeof(int32_t));
    r->known_count++;
    return true;
}

static bool scan_comms(struct recovery *r, const struct iwi_spool_file *file)
{
    struct stat info;
    bool is_fine = true;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0 || fstat(fd, &info) != 0) {
        return fail(r, file->path, "cannot be read");
    }
    size_t bytes = (size_t)info.st_size;
    r->largest_bytes = bytes > r->largest_bytes ? bytes : r->largest_bytes;
    const unsigned char *records = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    (void)close(fd);
    if (records == MAP_FAILED) {
        return fail(r, file->path, "cannot be mapped");
    }
    size_t at = sizeof(struct iwi_spool_head);
    while (is_fine && at < bytes) {
        const uint64_t *word = (const uint64_t *)(const void *)(records + at);
        size_t size = iwi_record_size(word, bytes - at);
        if (size == 0) {
            break;
        }
        if (iwi_record_kind_of(*word) == IWI_RECORD_COMM) {
            is_fine = keep_comm(r, file->head.rank, (const struct iwi_record_comm *)(const void *)word);
        }
        at += size;
    }
    (void)munmap((void *)records, bytes);
    return is_fine || fail(r, file->path, "no memory");
}

IWI_COMPARE(by_global, struct known_comm, IWI_RISING(comm.global))

IWI_COMPARE(by_rank_and_local, struct known_comm, IWI_RISING(rank), IWI_RISING(local))

/* Of an intercommunicator the lower group comes first, as all ranks must see it. */
static bool is_turned(const struct iwi_archive_comm *comm)
{
    return comm->is_inter && comm->remote_size > 0 && comm->size > 0 && comm->members[comm->size] >= 0 &&
           comm->members[comm->size] < comm->members[0];
}

static bool number_comms(struct recovery *r)
{
    r->comms = calloc(r->known_count + 2, sizeof *r->comms);
    r->comm_count = 2;
    if (r->comms == NULL) {
        return fail(r, r->folder, "no memory");
    }
    if (r->known_count == 0) {
        return true;
    }
    iwi_sort(r->known, r->known_count, by_global);
    for (size_t i = 0; i < r->known_count; i++) {
        struct known_comm *known = &r->known[i];
        bool is_new = i == 0 || known->comm.global != r->known[i - 1].comm.global;
        if (is_new) {
            r->comms[r->comm_count++] = known->comm;
        } else if (is_turned(&r->comms[r->comm_count - 1]) && !is_turned(&known->comm)) {
            r->comms[r->comm_count - 1] = known->comm;
        }
        known->id = r->comm_count - 1;
    }
    iwi_sort(r->known, r->known_count, by_rank_and_local);
    return true;
}

/* Numbers of the rank's communicators; to be freed. */
static uint32_t *map_of_rank(const struct recovery *r, uint32_t rank, uint32_t *count_p)
{
    uint32_t count = 2;

    for (size_t i = 0; i < r->known_count; i++) {
        if (r->known[i].rank == rank && r->known[i].local >= count) {
            count = r->known[i].local + 1;
        }
    }
    uint32_t *ids = malloc(count * sizeof *ids);
    if (ids == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = i < 2 ? i : UINT32_MAX;
    }
    for (size_t i = 0; i < r->known_count; i++) {
        if (r->known[i].rank == rank) {
            ids[r->known[i].local] = r->known[i].id;
        }
    }
    *count_p = count;
    return ids;
}

static bool write_files(struct recovery *r, OTF2_Archive *archive)
{
    const struct iwi_clock_model clock = iwi_clock_identity(0);
    bool is_fine = OTF2_Archive_OpenEvtFiles(archive) == OTF2_SUCCESS;

    is_fine = OTF2_Archive_OpenDefFiles(archive) == OTF2_SUCCESS && is_fine;
    for (size_t i = 0; i < r->spool.count; i++) {
        const struct iwi_spool_head *head = &r->spool.files[i].head;
        struct iwi_comm_map map = {NULL, 0};
        uint32_t *ids = map_of_rank(r, head->rank, &map.count);
        map.ids = ids;
        r->places[i] = (struct iwi_archive_place){.rank = head->rank, .thread = head->thread};
        is_fine = ids != NULL &&
                  iwi_archive_write_thread(archive, r->spool.files[i].path, map, &clock, &r->places[i],
                                           &r->has_failed) &&
                  is_fine;
        free(ids);
    }
    is_fine = OTF2_Archive_CloseEvtFiles(archive) == OTF2_SUCCESS && is_fine;
    return OTF2_Archive_CloseDefFiles(archive) == OTF2_SUCCESS && is_fine;
}

static uint32_t describe_ranks(struct recovery *r)
{
    uint32_t missing = 0;

    for (size_t i = 0; i < r->spool.count; i++) {
        const struct iwi_spool_head *head = &r->spool.files[i].head;
        (void)snprintf(r->ranks[head->rank].host, sizeof r->ranks->host, "%.63s", head->host);
    }
    for (uint32_t i = 0; i < r->spool.rank_count; i++) {
        if (r->ranks[i].host[0] == '\0') {
            (void)snprintf(r->ranks[i].host, sizeof r->ranks->host, "unknown");
            missing++;
        }
    }
    return missing;
}

static void describe_loss(uint32_t missing, uint32_t ranks, char *text, size_t size)
{
    if (missing > 0) {
        (void)snprintf(text, size, "the run died; nothing is known of %u of its %u ranks", missing, ranks);
    } else {
        (void)snprintf(text, size, "the run died; all that its ranks did until then was recovered");
    }
}

static bool write_archive(struct recovery *r, uint32_t missing)
{
    char lost[128];
    const struct iwi_spool_head *head = &r->spool.files[0].head;
    OTF2_Archive *archive = iwi_archive_open(r->folder, r->largest_bytes, &r->has_failed);

    if (archive == NULL || OTF2_Archive_SetSerialCollectiveCallbacks(archive) != OTF2_SUCCESS) {
        return fail(r, r->folder, "cannot create an archive here");
    }
    bool is_fine = write_files(r, archive);
    describe_loss(missing, r->spool.rank_count, lost, sizeof lost);
    const struct iwi_archive_definitions defs = {.mpi = head->mpi,
                                                 .cpu_clock = head->cpu_clock,
                                                 .lost = lost,
                                                 .rank_count = r->spool.rank_count,
                                                 .ranks = r->ranks,
                                                 .place_count = r->spool.count,
                                                 .places = r->places,
                                                 .comm_count = r->comm_count,
                                                 .comms = r->comms,
                                                 .realtime_ns = head->realtime_ns,
                                                 .reference_ns = head->monotonic_ns};
    is_fine = iwi_archive_set_properties(archive, &defs) && iwi_archive_write_definitions(archive, &defs) &&
              is_fine;
    is_fine = OTF2_Archive_Close(archive) == OTF2_SUCCESS && is_fine;
    return is_fine || fail(r, r->folder, "the archive could not be written completely");
}

static bool convert(struct recovery *r, struct iwi_recovered *recovered)
{
    bool is_fine = iwi_trace_folder_is_free(r->folder, r->text, r->text_size) &&
                   iwi_spool_files_list(&r->spool, r->folder, recovered, r->text, r->text_size);

    for (size_t i = 0; is_fine && i < r->spool.count; i++) {
        is_fine = scan_comms(r, &r->spool.files[i]);
    }
    if (!is_fine || !number_comms(r)) {
        return false;
    }
    r->places = calloc(r->spool.count + 1, sizeof *r->places);
    r->ranks = calloc((size_t)r->spool.rank_count + 1, sizeof *r->ranks);
    if (r->places == NULL || r->ranks == NULL) {
        return fail(r, r->folder, "no memory");
    }
    recovered->ranks = r->spool.rank_count;
    recovered->threads = (uint32_t)r->spool.count;
    recovered->missing_ranks = describe_ranks(r);
    if (!write_archive(r, recovered->missing_ranks)) {
        return false;
    }
    for (size_t i = 0; i < r->spool.count; i++) {
        recovered->calls += r->places[i].calls;
        (void)unlink(r->spool.files[i].path);
    }
    for (size_t i = 0; i < r->spool.empty_count; i++) {
        (void)unlink(r->spool.empty[i].path);
    }
    iwi_folder_leave(r->folder);
    return true;
}

bool iwi_recover(const char *folder, struct iwi_recovered *recovered_p, char *text, size_t size)
{
    struct recovery recovery = {.folder = folder, .text = text, .text_size = size};

    *recovered_p = (struct iwi_recovered){0};
    bool is_fine = convert(&recovery, recovered_p);

    for (size_t i = 0; i < recovery.known_count; i++) {
        free(recovery.known[i].comm.members);
    }
    free(recovery.known);
    free(recovery.spool.files);
    free(recovery.spool.empty);
    free(recovery.comms);
    free(recovery.places);
    free(recovery.ranks);
    return is_fine;
}
