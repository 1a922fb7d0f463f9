/* The file `point` of a restart point, in this machine's byte order.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/sim/checkpoint/checkpoint.h"
#include "core/sim/checkpoint/checkpoint_stream.h"

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

bool iwi_point_write(const struct iwi_checkpoint *checkpoint, const struct iwi_point *point)
{
    char path[IWI_FILE_PATH_SIZE];
    uint64_t numbers[POINT_NUMBERS];
    struct iwi_file_stream stream;
    bool is_good;

    numbers_of(checkpoint, point, numbers);
    if (!iwi_file_path(path, checkpoint->dir, IWI_POINT_NAME) || !iwi_file_create(&stream, path)) {
        return false;
    }
    is_good = iwi_file_put(&stream, numbers, sizeof numbers) &&
              iwi_file_put(&stream, point->part_first, (point->part_count + 1) * sizeof *point->part_first) &&
              iwi_file_put(&stream, point->makespan_ps, point->done * sizeof *point->makespan_ps);
    return iwi_file_end_writing(&stream, is_good);
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
           iwi_file_get(stream, point->part_first,
                        (size_t)(point->part_count + 1) * sizeof *point->part_first) &&
           iwi_file_get(stream, point->makespan_ps, (size_t)point->done * sizeof *point->makespan_ps);
}

iw_status iwi_point_read(const iw_log *log, const struct iwi_checkpoint *checkpoint, struct iwi_point *point)
{
    uint64_t n[POINT_NUMBERS] = {0};
    char path[IWI_FILE_PATH_SIZE];
    struct iwi_file_stream stream;

    *point = (struct iwi_point){.generation = 0};
    if (!iwi_file_path(path, checkpoint->dir, IWI_POINT_NAME)) {
        return iwi_fail(log, IW_ERR_IO, "'%s': the name is too long", checkpoint->dir);
    }
    if (!iwi_file_open(&stream, path)) {
        return errno == ENOENT ? IW_OK
                               : iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    if (!iwi_file_get(&stream, n, sizeof n) || n[0] != POINT_MAGIC) {
        (void)close(stream.fd);
        return iwi_file_refuse(log, path);
    }
    if (n[1] != checkpoint->digest) {
        (void)close(stream.fd);
        return iwi_fail(log, IW_ERR_USAGE,
                        "'%s' holds restart points of another simulation: give the options of that one, or "
                        "name another folder",
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
    if (!iwi_file_end_reading(&stream, read_lists(log, &stream, point))) {
        iwi_point_release(point);
        return iwi_file_refuse(log, path);
    }
    return IW_OK;
}

void iwi_point_release(struct iwi_point *point)
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

void iwi_point_clean(const char *dir, uint64_t generation, bool has_ended)
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

    if (!iwi_file_path(path, checkpoint->dir, IWI_LOCK_NAME)) {
        return iwi_fail(log, IW_ERR_IO, "'%s': the name is too long", checkpoint->dir);
    }
    IW_TRY(iwi_open_growing(log, path, O_RDWR, &checkpoint->lock));
    if (fcntl(checkpoint->lock, F_OFD_SETLK, &whole) == 0) {
        return IW_OK;
    }
    if (errno == EAGAIN || errno == EACCES) {
        return iwi_fail(log, IW_ERR_IO,
                        "another process is writing restart points to '%s': name another folder",
                        checkpoint->dir);
    }
    iwi_warn(log, "'%s' cannot be locked (%s): make sure that no other process uses it", path,
             strerror(errno));
    return IW_OK;
}
