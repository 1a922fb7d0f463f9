/* The files of a restart point that hold the state of a block of ranks, in this machine's byte order.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/base.h"
#include "core/sim/checkpoint/checkpoint.h"
#include "core/sim/checkpoint/checkpoint_stream.h"
#include "core/sim/flow/flow_state.h"
#include "core/sim/rank_array.h"

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

bool iwi_block_file_write(const struct iwi_checkpoint *checkpoint, const struct iwi_point *point,
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
    if (!iwi_block_file_path(path, checkpoint->dir, point->generation, flow->first_rank) ||
        !iwi_file_create(&stream, path)) {
        return false;
    }
    is_good = iwi_file_put(&stream, &header, sizeof header);
    for (size_t a = 0; a < ARRAYS; a++) {
        const size_t bytes = flow->ranks / header.unit_ranks[a] * (size_t)header.unit_bytes[a];

        for (size_t at = 0; is_good && at < bytes; at += CHUNK_BYTES) { /* written while it is in the cache */
            is_good = iwi_file_put(&stream, (const char *)arrays[a].data + at,
                                   bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES);
        }
    }
    return iwi_file_end_writing(&stream, is_good);
}

/* Bytes [from, to) of one array of the file go to `data`; all others are only read. */
static bool read_array(struct iwi_file_stream *stream, size_t bytes, size_t from, size_t to, char *data,
                       char *chunk)
{
    for (size_t at = 0; at < bytes; at += CHUNK_BYTES) {
        const size_t count = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;
        const size_t begin = from > at ? from : at, end = to < at + count ? to : at + count;

        if (!iwi_file_get(stream, chunk, count)) {
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

    *is_good_p = iwi_file_get(stream, &header, sizeof header) && fills_file(&header, stream->fd) &&
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

iw_status iwi_block_file_read(const iw_log *log, const struct iwi_checkpoint *checkpoint, uint64_t part,
                              struct iwi_flow *flow)
{
    const struct iwi_point *found = &checkpoint->found;
    char path[IWI_FILE_PATH_SIZE];
    struct iwi_file_stream stream;
    bool is_good = false;
    iw_status status;

    if (!iwi_block_file_path(path, checkpoint->dir, found->generation, found->part_first[part]) ||
        !iwi_file_open(&stream, path)) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    status = read_part(log, checkpoint, part, &stream, flow, &is_good);
    is_good = iwi_file_end_reading(&stream, is_good);
    return status != IW_OK || is_good ? status : iwi_file_refuse(log, path);
}
