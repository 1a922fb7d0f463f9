/* When restart points are written, by all members alike, and how a run goes on from one.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every member comes by at the same positions. At some of these visits all ask the first member whether a
 * point is due; it also says how many visits to let pass before they ask again, about a tenth of a second. So
 * asking costs next to nothing, and writing at most COST_SHARE of the time.
 */

#include <idlewave/log.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/hash.h"
#include "core/base/monotonic.h"
#include "core/base/output.h"
#include "core/sim/checkpoint/checkpoint.h"
#include "core/sim/engine.h"
#include "core/sim/flow/flow_state.h"

enum { IWI_FILE_PATH_SIZE = 4096 };

/* A file that is written or read once, from its start, with a digest of all its bytes at the end. */
struct iwi_file_stream {
    int fd;                   /* being read */
    struct iwi_output output; /* being written */
    struct iwi_hash digest;
};

/* Files of a restart point: written or read once, with a digest at their end. */

static void point_release(struct iwi_point *point);

/* False: errno tells. */
static bool file_open(struct iwi_file_stream *stream, const char *path)
{
    iwi_hash_init(&stream->digest, iwi_hash_key);
    stream->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a pipe must not stop us */
    return stream->fd >= 0;
}

static bool file_create(struct iwi_file_stream *stream, const char *path)
{
    iwi_hash_init(&stream->digest, iwi_hash_key);
    if (iwi_output_open(NULL, path, IWI_OUTPUT_REGULAR, &stream->output) != IW_OK) {
        errno = stream->output.error;
        return false;
    }
    return true;
}

static bool file_put(struct iwi_file_stream *stream, const void *data, size_t bytes)
{
    iwi_hash_add(&stream->digest, data, bytes);
    return iwi_output_write(&stream->output, data, bytes) == IW_OK;
}

/* False: the file has ended, or errno tells. */
static bool file_get(struct iwi_file_stream *stream, void *data, size_t bytes)
{
    char *to = data;
    size_t left = bytes;

    while (left > 0) {
        const ssize_t count = read(stream->fd, to, left);

        if (count == 0 || (count < 0 && errno != EINTR)) {
            return false;
        }
        to += count > 0 ? count : 0;
        left -= count > 0 ? (size_t)count : 0;
    }
    iwi_hash_add(&stream->digest, data, bytes);
    return true;
}

/* The file is on the disk, or not at all; what was read is what was written. Both close it. */
static bool file_end_writing(struct iwi_file_stream *stream, bool is_good)
{
    const uint64_t value = iwi_hash_value(&stream->digest);

    is_good =
        is_good && file_put(stream, &value, sizeof value) && iwi_output_commit(&stream->output) == IW_OK;
    iwi_output_release(&stream->output);
    errno = stream->output.error;
    return is_good;
}

static bool file_end_reading(struct iwi_file_stream *stream, bool is_good)
{
    const uint64_t value = iwi_hash_value(&stream->digest);
    uint64_t stored = 0;

    is_good = is_good && file_get(stream, &stored, sizeof stored) && stored == value;
    (void)close(stream->fd);
    return is_good;
}

/* errno tells what a failed snprintf() does not. */
static bool is_whole(int length)
{
    if (length >= 0 && length < IWI_FILE_PATH_SIZE) {
        return true;
    }
    errno = ENAMETOOLONG;
    return false;
}

/* False: the name is too long; errno says so. */
static bool file_path(char path[IWI_FILE_PATH_SIZE], const char *dir, const char *name)
{
    return is_whole(snprintf(path, IWI_FILE_PATH_SIZE, "%s/%s", dir, name));
}

static bool block_file_path(char path[IWI_FILE_PATH_SIZE], const char *dir, uint64_t generation,
                            uint32_t first_rank)
{
    return is_whole(snprintf(path, IWI_FILE_PATH_SIZE, "%s/" IWI_PART_PREFIX "%" PRIu64 ".%" PRIu32, dir,
                             generation, first_rank));
}

/* Logs that the file is damaged, and what to do. */
static iw_status file_refuse(const iw_log *log, const char *path)
{
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' is damaged: remove the folder to start from the beginning",
                    path);
}

/* The files of a restart point that hold the state of a block of ranks, in this machine's byte order. */

enum { ARRAYS = 9, POSTED = 5, KEPT = 6, OTHER_NEXT = 7, OTHER_WORDS = 8, CHUNK_BYTES = 1 << 20 };

static const uint64_t PART_MAGIC = UINT64_C(0x3274726170707769); /* "iwppart2" */

struct part_header {
    uint64_t magic, digest, generation;
    uint64_t is_trials, done; /* as in the point: parts of other moments do not fit */
    struct iwi_position at;
    uint32_t first_rank, ranks, lanes, unused;
    uint64_t unit_bytes[ARRAYS]; /* 0: not there */
    uint32_t unit_ranks[ARRAYS], also_unused;
};

/* So many bytes for each unit of ranks. */
struct array {
    void *data; /* NULL: not there */
    size_t unit_bytes;
    uint32_t unit_ranks;
};

/* In the order of the file. */
static void list_arrays(const struct iwi_flow *flow, struct array arrays[ARRAYS])
{
    const size_t time_bytes = flow->lanes * sizeof(iw_time), other_bytes = (flow->cores - 1) * time_bytes;
    const struct array all[ARRAYS] = {{flow->cpu, time_bytes, 1},
                                      {flow->send_gap, time_bytes, 1},
                                      {flow->recv_gap, time_bytes, 1},
                                      {flow->next_detour, time_bytes, 1},
                                      {flow->noise_words, flow->words * time_bytes, 1},
                                      [POSTED] = {flow->posted, time_bytes, 1},
                                      [KEPT] = {flow->kept, flow->kept_bytes, flow->kept_base},
                                      [OTHER_NEXT] = {flow->other_next, other_bytes, 1},
                                      [OTHER_WORDS] = {flow->other_words, flow->words * other_bytes, 1}};

    memcpy(arrays, all, sizeof all);
}

/* `point`: what the part belongs to; but for its parts. */
static bool block_file_write(const struct iwi_checkpoint *checkpoint, const struct iwi_point *point,
                             const struct iwi_flow *flow)
{
    struct part_header header = {.magic = PART_MAGIC,
                                 .digest = checkpoint->digest,
                                 .generation = point->generation,
                                 .is_trials = point->is_trials,
                                 .done = point->done,
                                 .at = point->at,
                                 .first_rank = flow->first_rank,
                                 .ranks = flow->ranks,
                                 .lanes = flow->lanes};
    struct array arrays[ARRAYS];
    char path[IWI_FILE_PATH_SIZE];
    struct iwi_file_stream stream;
    bool is_good;

    list_arrays(flow, arrays);
    for (size_t a = 0; a < ARRAYS; a++) {
        header.unit_bytes[a] = arrays[a].data == NULL ? 0 : arrays[a].unit_bytes;
        header.unit_ranks[a] = header.unit_bytes[a] == 0 ? 1 : arrays[a].unit_ranks;
    }
    if (!block_file_path(path, checkpoint->dir, point->generation, flow->first_rank) ||
        !file_create(&stream, path)) {
        return false;
    }
    is_good = file_put(&stream, &header, sizeof header);
    for (size_t a = 0; a < ARRAYS; a++) {
        const size_t bytes = flow->ranks / header.unit_ranks[a] * (size_t)header.unit_bytes[a];

        for (size_t at = 0; is_good && at < bytes; at += CHUNK_BYTES) { /* written while it is in the cache */
            is_good = file_put(&stream, (const char *)arrays[a].data + at,
                               bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES);
        }
    }
    return file_end_writing(&stream, is_good);
}

/* Bytes [from, to) of one array of the file go to `data`; all others are only read. */
static bool read_array(struct iwi_file_stream *stream, size_t bytes, size_t from, size_t to, char *data,
                       char *chunk)
{
    for (size_t at = 0; at < bytes; at += CHUNK_BYTES) {
        const size_t count = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;
        const size_t begin = from > at ? from : at, end = to < at + count ? to : at + count;

        if (!file_get(stream, chunk, count)) {
            return false;
        }
        if (begin < end) {
            memcpy(data + (begin - from), chunk + (begin - at), end - begin);
        }
    }
    return true;
}

/* The arrays fill the file: sizes are believed only as far as it reaches, before its digest is known. */
static bool fills_file(const struct part_header *header, int fd)
{
    uint64_t left;
    struct stat info;

    if (fstat(fd, &info) != 0 || (uint64_t)info.st_size < sizeof *header + sizeof(uint64_t)) {
        return false;
    }
    left = (uint64_t)info.st_size - sizeof *header - sizeof(uint64_t);
    for (size_t a = 0; a < ARRAYS; a++) {
        const uint64_t bytes = header->unit_bytes[a], unit = header->unit_ranks[a];
        const uint64_t units = bytes != 0 && unit != 0 ? header->ranks / unit : 0;

        if (bytes != 0 && (units == 0 || bytes > left / units)) {
            return false;
        }
        left -= units * bytes;
    }
    return left == 0;
}

/* Makes room for what only some positions have. */
static iw_status make_room(const iw_log *log, const struct part_header *header, struct iwi_flow *flow)
{
    const uint32_t base = header->unit_ranks[KEPT];

    if (header->unit_bytes[POSTED] != 0 && flow->posted == NULL) {
        flow->posted = iwi_rank_array_new(log, flow->count, sizeof(iw_time));
        if (flow->posted == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    if (header->unit_bytes[KEPT] != 0 && flow->kept_found == NULL) {
        flow->kept_found = iwi_new_array(log, flow->ranks / base, (size_t)header->unit_bytes[KEPT]);
        if (flow->kept_found == NULL) {
            return IW_ERR_NOMEM;
        }
        flow->kept_bytes = (size_t)header->unit_bytes[KEPT];
        flow->kept_base = base;
    }
    return IW_OK;
}

/* Of a part, where `flow` has room for it. */
static bool fits(const struct part_header *header, const struct iwi_flow *flow, struct array arrays[ARRAYS])
{
    list_arrays(flow, arrays);
    arrays[KEPT].data = flow->kept_found;
    for (size_t a = 0; a < ARRAYS; a++) {
        const uint32_t unit = header->unit_ranks[a];

        if (header->unit_bytes[a] != 0 &&
            (arrays[a].data == NULL || header->unit_bytes[a] != arrays[a].unit_bytes ||
             unit != arrays[a].unit_ranks || flow->first_rank % unit != 0 || flow->ranks % unit != 0 ||
             header->first_rank % unit != 0 || header->ranks % unit != 0)) {
            return false;
        }
    }
    return header->lanes == flow->lanes;
}

static bool read_arrays(struct iwi_file_stream *stream, const struct part_header *header,
                        const struct iwi_flow *flow, const struct array arrays[ARRAYS], char *chunk)
{
    const uint64_t own_end = (uint64_t)flow->first_rank + flow->ranks;
    const uint64_t part_end = (uint64_t)header->first_rank + header->ranks;
    const uint64_t begin = flow->first_rank > header->first_rank ? flow->first_rank : header->first_rank;
    const uint64_t end = own_end < part_end ? own_end : part_end;

    if (begin >= end) {
        return false;
    }
    for (size_t a = 0; a < ARRAYS; a++) {
        const size_t bytes = (size_t)header->unit_bytes[a];
        const uint32_t unit = header->unit_ranks[a];

        if (bytes != 0 &&
            !read_array(stream, header->ranks / unit * bytes, (begin - header->first_rank) / unit * bytes,
                        (end - header->first_rank) / unit * bytes,
                        (char *)arrays[a].data + (begin - flow->first_rank) / unit * bytes, chunk)) {
            return false;
        }
    }
    return true;
}

/* Of this part of the point; where all ranks are alike, one stands for them. */
static bool is_of_point(const struct part_header *header, const struct iwi_checkpoint *checkpoint,
                        uint64_t part, const struct iwi_flow *flow)
{
    const struct iwi_point *point = &checkpoint->found;
    const uint32_t first = point->part_first[part], end = point->part_first[part + 1];

    return header->magic == PART_MAGIC && header->digest == checkpoint->digest &&
           header->generation == point->generation && header->is_trials == point->is_trials &&
           header->done == point->done && memcmp(&header->at, &point->at, sizeof point->at) == 0 &&
           header->first_rank == first && header->ranks == (flow->is_alike ? 1 : end - first);
}

/* *is_good_p: so far; the digest at the end is still to be compared. */
static iw_status read_part(const iw_log *log, const struct iwi_checkpoint *checkpoint, uint64_t part,
                           struct iwi_file_stream *stream, struct iwi_flow *flow, bool *is_good_p)
{
    struct array arrays[ARRAYS];
    struct part_header header;
    char *chunk;

    *is_good_p = file_get(stream, &header, sizeof header) && fills_file(&header, stream->fd) &&
                 is_of_point(&header, checkpoint, part, flow);
    if (!*is_good_p) {
        return IW_OK;
    }
    IW_TRY(make_room(log, &header, flow));
    chunk = iwi_new_array(log, CHUNK_BYTES, 1);
    if (chunk == NULL) {
        return IW_ERR_NOMEM;
    }
    *is_good_p = fits(&header, flow, arrays) && read_arrays(stream, &header, flow, arrays, chunk);
    free(chunk);
    return IW_OK;
}

static iw_status block_file_read(const iw_log *log, const struct iwi_checkpoint *checkpoint, uint64_t part,
                                 struct iwi_flow *flow)
{
    const struct iwi_point *found = &checkpoint->found;
    char path[IWI_FILE_PATH_SIZE];
    struct iwi_file_stream stream;
    bool is_good = false;
    iw_status status;

    if (!block_file_path(path, checkpoint->dir, found->generation, found->part_first[part]) ||
        !file_open(&stream, path)) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    status = read_part(log, checkpoint, part, &stream, flow, &is_good);
    is_good = file_end_reading(&stream, is_good);
    return status != IW_OK || is_good ? status : file_refuse(log, path);
}

/* The file `point` of a restart point, in this machine's byte order. */

static const uint64_t POINT_MAGIC = UINT64_C(0x31746e696f707769); /* "iwpoint1" */

/* The plain numbers of a point. */
enum { POINT_NUMBERS = 13 };

static void numbers_of(const struct iwi_checkpoint *checkpoint, const struct iwi_point *point,
                       uint64_t numbers[POINT_NUMBERS])
{
    const uint64_t all[POINT_NUMBERS] = {POINT_MAGIC,
                                         checkpoint->digest,
                                         point->generation,
                                         point->is_trials,
                                         (uint64_t)point->noiseless_ps,
                                         point->done,
                                         point->has_state,
                                         point->at.repetition,
                                         point->at.operation,
                                         point->at.round,
                                         point->at.pass,
                                         point->part_count,
                                         point->lanes};

    memcpy(numbers, all, sizeof all);
}

/* Failures are not logged: errno tells. */
static bool point_write(const struct iwi_checkpoint *checkpoint, const struct iwi_point *point)
{
    char path[IWI_FILE_PATH_SIZE];
    uint64_t numbers[POINT_NUMBERS];
    struct iwi_file_stream stream;
    bool is_good;

    numbers_of(checkpoint, point, numbers);
    if (!file_path(path, checkpoint->dir, IWI_POINT_NAME) || !file_create(&stream, path)) {
        return false;
    }
    is_good = file_put(&stream, numbers, sizeof numbers) &&
              file_put(&stream, point->part_first, (point->part_count + 1) * sizeof *point->part_first) &&
              file_put(&stream, point->makespan_ps, point->done * sizeof *point->makespan_ps);
    return file_end_writing(&stream, is_good);
}

/* Sizes are believed only as far as the file reaches. */
static bool read_lists(const iw_log *log, struct iwi_file_stream *stream, struct iwi_point *point)
{
    struct stat info;
    uint64_t words;

    if (fstat(stream->fd, &info) != 0) {
        return false;
    }
    words = (uint64_t)info.st_size / sizeof(uint32_t);
    if (point->part_count >= words || point->done >= words) {
        return false;
    }
    point->part_first = iwi_new_array(log, (size_t)point->part_count + 1, sizeof *point->part_first);
    point->makespan_ps = iwi_new_array(log, (size_t)point->done, sizeof *point->makespan_ps);
    return point->part_first != NULL && point->makespan_ps != NULL &&
           file_get(stream, point->part_first, (size_t)(point->part_count + 1) * sizeof *point->part_first) &&
           file_get(stream, point->makespan_ps, (size_t)point->done * sizeof *point->makespan_ps);
}

static iw_status point_read(const iw_log *log, const struct iwi_checkpoint *checkpoint,
                            struct iwi_point *point)
{
    uint64_t n[POINT_NUMBERS] = {0};
    char path[IWI_FILE_PATH_SIZE];
    struct iwi_file_stream stream;

    *point = (struct iwi_point){.generation = 0};
    if (!file_path(path, checkpoint->dir, IWI_POINT_NAME)) {
        return iwi_fail(log, IW_ERR_IO, "'%s': the name is too long", checkpoint->dir);
    }
    if (!file_open(&stream, path)) {
        return errno == ENOENT ? IW_OK
                               : iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    if (!file_get(&stream, n, sizeof n) || n[0] != POINT_MAGIC) {
        (void)close(stream.fd);
        return file_refuse(log, path);
    }
    if (n[1] != checkpoint->digest) {
        (void)close(stream.fd);
        return iwi_fail(log, IW_ERR_USAGE,
                        "'%s' has checkpoints of another simulation: use its options, or another folder",
                        checkpoint->dir);
    }
    *point = (struct iwi_point){.generation = n[2],
                                .is_trials = n[3],
                                .noiseless_ps = (iw_time)n[4],
                                .done = n[5],
                                .has_state = n[6],
                                .at = {n[7], n[8], n[9], n[10]},
                                .part_count = n[11],
                                .lanes = n[12]};
    if (!file_end_reading(&stream, read_lists(log, &stream, point))) {
        point_release(point);
        return file_refuse(log, path);
    }
    return IW_OK;
}

static void point_release(struct iwi_point *point)
{
    free(point->part_first);
    free(point->makespan_ps);
    *point = (struct iwi_point){.generation = 0};
}

/* IWI_PART_PREFIX "GENERATION.FIRSTRANK", also on its way to the disk; 0: another file. */
static uint64_t generation_of(const char *name)
{
    char own[sizeof IWI_PART_PREFIX + 64];
    uint64_t generation;
    uint32_t first;
    char *end;
    int length;

    if (strncmp(name, IWI_PART_PREFIX, sizeof IWI_PART_PREFIX - 1) != 0) {
        return 0;
    }
    generation = strtoull(name + sizeof IWI_PART_PREFIX - 1, &end, 10);
    first = *end == '.' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
    length = snprintf(own, sizeof own, IWI_PART_PREFIX "%" PRIu64 ".%" PRIu32, generation, first);
    return strncmp(name, own, (size_t)length) == 0 &&
                   (name[length] == '\0' || strncmp(name + length, ".tmp-", 5) == 0)
               ? generation
               : 0;
}

struct kept {
    uint64_t generation;
    bool has_ended;
};

static bool is_to_go(const char *name, const void *arg)
{
    static const char unfinished[] = IWI_POINT_NAME ".tmp-"; /* of a process that was killed */
    const struct kept *kept = arg;
    const uint64_t of = generation_of(name);

    return (of != 0 && of != kept->generation) || strncmp(name, unfinished, sizeof unfinished - 1) == 0 ||
           (kept->has_ended && strcmp(name, IWI_LOCK_NAME) == 0);
}

static bool is_point(const char *name, const void *arg)
{
    (void)arg;
    return strcmp(name, IWI_POINT_NAME) == 0;
}

/* Removes parts of other generations than this; has_ended: and the point and the lock. */
static void point_clean(const char *dir, uint64_t generation, bool has_ended)
{
    const struct kept kept = {generation, has_ended};
    int folder = -1;

    if (iwi_folder_open(NULL, dir, IWI_FOLDER_THERE, &folder) != IW_OK) {
        return;
    }
    if (has_ended) { /* first: a point without its parts would be taken for a damaged one */
        (void)iwi_folder_clean(folder, is_point, NULL);
    }
    (void)iwi_folder_clean(folder, is_to_go, &kept);
    (void)close(folder);
}

/* The lock goes with the process that has it, however that ends. */
iw_status iwi_point_lock(const iw_log *log, struct iwi_checkpoint *checkpoint)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[IWI_FILE_PATH_SIZE];

    if (!file_path(path, checkpoint->dir, IWI_LOCK_NAME)) {
        return iwi_fail(log, IW_ERR_IO, "'%s': the name is too long", checkpoint->dir);
    }
    IW_TRY(iwi_open_growing(log, path, O_RDWR, &checkpoint->lock));
    if (fcntl(checkpoint->lock, F_OFD_SETLK, &whole) == 0) {
        return IW_OK;
    }
    if (errno == EAGAIN || errno == EACCES) {
        return iwi_fail(log, IW_ERR_IO, "another process is writing checkpoints to '%s': use another folder",
                        checkpoint->dir);
    }
    iwi_warn(log, "cannot lock '%s' (%s): make sure that no other process uses it", path, strerror(errno));
    return IW_OK;
}

/* Writing may take so much of the time. */
static const double COST_SHARE = 0.05;

/* Seconds between questions, and how many visits that are at most: a slow part may follow a fast one. */
static const double ASK_S = 0.1;
static const double MOST_VISITS = 1e6;

/* Of a run that this could be: a digest says that nothing was damaged, not that all was right. */
static bool is_possible(const struct iwi_point *point, const struct iwi_job *job, uint64_t trials)
{
    const iw_program *program = job->program;
    const bool is_pattern = program->schedule == NULL && program->trace == NULL;
    const uint64_t lanes = point->lanes;

    if (lanes == 0 || lanes > IWI_MOST_LANES || (lanes & (lanes - 1)) != 0 || point->done > trials ||
        (is_pattern && point->has_state != 0 &&
         (point->at.repetition >= program->repeat || point->at.operation >= program->operation_count))) {
        return false;
    }
    for (uint64_t part = 0; part < point->part_count; part++) {
        if (point->part_first[part] > point->part_first[part + 1]) {
            return false;
        }
    }
    return point->part_count == 0 ||
           (point->part_first[0] == 0 && point->part_first[point->part_count] == program->ranks);
}

static iw_status check_found(const iw_log *log, const struct iwi_checkpoint *checkpoint,
                             const struct iwi_job *job, uint64_t trials)
{
    char path[IWI_FILE_PATH_SIZE];

    if (checkpoint->found.generation == 0 || is_possible(&checkpoint->found, job, trials)) {
        return IW_OK;
    }
    (void)file_path(path, checkpoint->dir, IWI_POINT_NAME); /* has been opened */
    return file_refuse(log, path);
}

iw_status iwi_checkpoint_init(const iw_log *log, const char *dir, double every_s, const struct iwi_job *job,
                              uint64_t trials, bool is_first, struct iwi_checkpoint *checkpoint)
{
    *checkpoint = (struct iwi_checkpoint){
        .dir = dir, .every_s = every_s, .digest = iwi_job_digest(job, trials), .lock = -1};
    IW_TRY(iwi_folder_ensure(log, dir, IWI_FOLDER_MADE));
    if (is_first) {
        IW_TRY(iwi_point_lock(log, checkpoint));
    }
    IW_TRY(point_read(log, checkpoint, &checkpoint->found));
    IW_TRY(check_found(log, checkpoint, job, trials));
    checkpoint->generation = checkpoint->found.generation;
    return IW_OK;
}

void iwi_checkpoint_release(struct iwi_checkpoint *checkpoint)
{
    point_release(&checkpoint->found);
    if (checkpoint->dir != NULL && checkpoint->lock >= 0) {
        (void)close(checkpoint->lock);
    }
}

void iw_checkpoint_remove(const char *dir)
{
    point_clean(dir, 0, true);
    (void)rmdir(dir);
}

void iwi_checkpointer_init(struct iwi_checkpoint *checkpoint, uint64_t generation, struct iwi_member *member,
                           const struct iwi_partition *partition, struct iwi_checkpointer *keeper)
{
    *keeper = (struct iwi_checkpointer){.checkpoint = checkpoint,
                                        .member = member,
                                        .partition = partition,
                                        .generation = generation,
                                        .last_s = iwi_now_s(),
                                        .asked_s = iwi_now_s()};
}

void iwi_checkpointer_end(const struct iwi_checkpointer *keeper)
{
    keeper->checkpoint->generation = keeper->generation;
}

/* ---- writing ---- */

/* The first member's: is a point due, and after how many more visits to ask again? */
static void answer(struct iwi_checkpointer *keeper, int64_t answers[2])
{
    const double now_s = iwi_now_s();
    const double every_s = keeper->checkpoint->every_s, rest_s = keeper->cost_s / COST_SHARE;
    const double visit_s = (now_s - keeper->asked_s) / (double)keeper->visits;
    const double visits = (every_s / 4 < ASK_S ? every_s / 4 : ASK_S) / (visit_s > 1e-9 ? visit_s : 1e-9);

    answers[0] = now_s - keeper->last_s >= (every_s > rest_s ? every_s : rest_s);
    answers[1] = visits < 1.0 ? 1 : visits < MOST_VISITS ? (int64_t)visits : (int64_t)MOST_VISITS;
    keeper->asked_s = now_s;
}

static struct iwi_point point_at(const struct iwi_checkpointer *keeper, const struct iwi_flow *flow,
                                 const struct iwi_position *at)
{
    return (struct iwi_point){.generation = keeper->generation,
                              .is_trials = keeper->is_trials,
                              .noiseless_ps = keeper->noiseless_ps,
                              .done = keeper->done,
                              .has_state = flow != NULL,
                              .at = flow != NULL ? *at : (struct iwi_position){0},
                              .part_count = flow != NULL ? keeper->partition->members : 0,
                              .part_first = keeper->partition->first,
                              .makespan_ps = (iw_time *)keeper->makespan_ps,
                              .lanes = keeper->checkpoint->lanes};
}

/* A point that cannot be written ends no simulation: there are no more of them, and the last one stays. */
static iw_status write_point(struct iwi_checkpointer *keeper, const struct iwi_flow *flow,
                             const struct iwi_position *at)
{
    const double begin_s = iwi_now_s();
    const uint64_t valid = keeper->generation;
    struct iwi_point point;
    int64_t error = 0;

    keeper->generation++;
    point = point_at(keeper, flow, at);
    if (flow != NULL && flow->ranks > 0 && !block_file_write(keeper->checkpoint, &point, flow)) {
        error = errno != 0 ? errno : EIO;
    }
    IW_TRY(iwi_member_max(keeper->member, &error, 1));
    /* all parts are on the disk: the point becomes the valid one */
    if (error == 0 && keeper->member->number == 0 && !point_write(keeper->checkpoint, &point)) {
        error = errno != 0 ? errno : EIO;
    }
    IW_TRY(iwi_member_max(keeper->member, &error, 1));
    if (keeper->member->number == 0) {
        if (error != 0) {
            iwi_warn(keeper->member->log, "cannot write a checkpoint to '%s': %s; continuing without",
                     keeper->checkpoint->dir, strerror((int)error));
        }
        point_clean(keeper->checkpoint->dir, error != 0 ? valid : keeper->generation, false);
    }
    keeper->has_failed = error != 0;
    keeper->last_s = iwi_now_s();
    keeper->cost_s = keeper->last_s - begin_s;
    return IW_OK;
}

iw_status iwi_checkpointer_visit(struct iwi_checkpointer *keeper, const struct iwi_flow *flow,
                                 const struct iwi_position *at)
{
    int64_t answers[2] = {0};

    if (keeper->has_failed || keeper->visits++ < keeper->next_visit) {
        return IW_OK;
    }
    if (keeper->member->number == 0) {
        answer(keeper, answers);
    }
    IW_TRY(iwi_member_max(keeper->member, answers, 2));
    keeper->visits = 0;
    keeper->next_visit = (uint64_t)answers[1] - 1;
    return answers[0] != 0 ? write_point(keeper, flow, at) : IW_OK;
}

/* ---- going on ---- */

iw_status iwi_checkpointer_load(const struct iwi_checkpointer *keeper, struct iwi_flow *flow)
{
    const struct iwi_point *found = &keeper->checkpoint->found;

    for (uint64_t part = 0; part < found->part_count; part++) {
        const uint32_t first = found->part_first[part], end = found->part_first[part + 1];

        if (first < end && first < flow->first_rank + flow->ranks && end > flow->first_rank) {
            IW_TRY(block_file_read(keeper->member->log, keeper->checkpoint, part, flow));
        }
    }
    return IW_OK;
}
