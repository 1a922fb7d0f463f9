/* Files of digests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/hash.h"
#include "features/fleet/node_digest.h"
#include "kit/files/io/input.h"
#include "kit/files/io/out.h"

/* ======== writing ======== */

/* Seven bits a byte, the lowest first; the highest bit says that more follow. */
static void put_number(struct iwi_out *out, uint64_t value)
{
    char *p = iwi_out_reserve(out);
    size_t count = 0;

    while (value >= 0x80) {
        p[count++] = (char)(value | 0x80);
        value >>= 7;
    }
    p[count++] = (char)value;
    out->used += count;
}

static void put_signed(struct iwi_out *out, int64_t value)
{
    put_number(out, iwi_digest_fold(value));
}

static void put_bytes(struct iwi_out *out, const char *bytes, size_t count)
{
    while (count > 0) {
        const size_t piece = count < IWI_MOST_OUT_RESERVE ? count : IWI_MOST_OUT_RESERVE;

        iwi_out_bytes(out, bytes, piece);
        bytes += piece;
        count -= piece;
    }
}

static void put_text(struct iwi_out *out, const char *text)
{
    const size_t whole = strlen(text), length = whole < IWI_MOST_DIGEST_TEXT ? whole : IWI_MOST_DIGEST_TEXT;

    put_number(out, length);
    put_bytes(out, text, length);
}

static void put_fixed(struct iwi_out *out, uint64_t value, size_t bytes)
{
    char *p = iwi_out_reserve(out);

    for (size_t i = 0; i < bytes; i++) {
        p[i] = (char)(value >> (8 * i));
    }
    out->used += bytes;
}

/* ---- parts ---- */

static void put_head(struct iwi_out *out, const iw_digest *digest)
{
    put_text(out, digest->node);
    put_signed(out, digest->start_ns);
    put_number(out, digest->probe);
    put_number(out, digest->attribution);
    put_number(out, (uint64_t)llround(fmax(digest->threshold_ns, 0.0) * 1000.0));
    put_number(out, digest->attribute_count);
    for (size_t i = 0; i < digest->attribute_count; i++) {
        put_text(out, digest->attributes[i].name);
        put_text(out, digest->attributes[i].value);
    }
}

static void put_cpus(struct iwi_out *out, const iw_digest *digest)
{
    int64_t cpu = -1, length_ns = 0;

    put_number(out, digest->cpu_count);
    for (size_t i = 0; i < digest->cpu_count; i++) {
        put_number(out, (uint64_t)(digest->cpus[i].cpu - cpu - 1));
        put_signed(out, digest->cpus[i].length_ns - length_ns);
        cpu = digest->cpus[i].cpu;
        length_ns = digest->cpus[i].length_ns;
    }
}

static void put_lengths(struct iwi_out *out, const iw_digest_source *source)
{
    size_t first = 0, end = IW_DIGEST_LENGTHS;

    while (first < end && source->by_length[first] == 0) {
        first++;
    }
    while (end > first && source->by_length[end - 1] == 0) {
        end--;
    }
    put_number(out, first);
    put_number(out, end - first);
    for (size_t i = first; i < end; i++) {
        put_number(out, source->by_length[i]);
    }
}

static void put_sum(struct iwi_out *out, const iw_digest_source *source, iw_digest_sum sum)
{
    struct iwi_digest_column column = {0, 0};

    for (size_t i = 0; i < source->cell_count; i++) {
        const int64_t all = source->cells[i].all[sum], lag = source->cells[i].steady[sum] - all;

        put_signed(out, all - column.all);
        put_signed(out, lag - column.lag);
        column = (struct iwi_digest_column){all, lag};
    }
}

static void put_cells(struct iwi_out *out, const iw_digest_source *source)
{
    int64_t cpu = -1;

    put_number(out, source->cell_count);
    for (size_t i = 0; i < source->cell_count; i++) {
        put_number(out, (uint64_t)(source->cells[i].cpu - cpu - 1));
        put_number(out, source->cells[i].stretches ^ IWI_DIGEST_ALL_STRETCHES);
        cpu = source->cells[i].cpu;
    }
    for (iw_digest_sum sum = IW_DIGEST_COUNT; sum < IW_DIGEST_SUMS; sum++) {
        put_sum(out, source, sum);
    }
}

static void put_sources(struct iwi_out *out, const iw_digest *digest)
{
    put_number(out, digest->source_count);
    for (size_t i = 0; i < digest->source_count; i++) {
        const iw_digest_source *source = &digest->sources[i];

        put_number(out, source->source.kind);
        put_text(out, source->source.name);
        put_number(out, source->count);
        put_number(out, (uint64_t)source->busy_ns);
        put_number(out, (uint64_t)source->longest_ns);
        put_lengths(out, source);
        put_cells(out, source);
    }
}

/* ---- files ---- */

struct iw_digest_writer {
    struct iwi_out file;
};

iw_status iw_digest_writer_open(const iw_log *log, const char *path, iw_digest_writer **writer_p)
{
    iw_digest_writer *writer = iwi_new_array(log, 1, sizeof *writer);
    const iw_status status = writer != NULL ? iwi_out_open_file(log, path, &writer->file) : IW_ERR_NOMEM;

    if (status != IW_OK) {
        free(writer);
        return status;
    }
    *writer_p = writer;
    return IW_OK;
}

iw_status iw_digest_writer_add(iw_digest_writer *writer, const iw_digest *digest)
{
    struct iwi_out payload, *file = &writer->file;
    struct iwi_hash hash;

    IW_TRY(iwi_out_open_memory(file->log, &payload));
    put_head(&payload, digest);
    put_cpus(&payload, digest);
    put_sources(&payload, digest);
    if (payload.status == IW_OK) {
        iwi_hash_init(&hash, iwi_hash_key);
        iwi_hash_add(&hash, payload.buffer, payload.used);
        put_bytes(file, IWI_DIGEST_MAGIC, IWI_DIGEST_MAGIC_BYTES);
        put_fixed(file, payload.used, IWI_DIGEST_HEAD_BYTES - IWI_DIGEST_MAGIC_BYTES);
        put_bytes(file, payload.buffer, payload.used);
        put_fixed(file, iwi_hash_value(&hash), IWI_DIGEST_HASH_BYTES);
    }
    IW_TRY(iwi_out_close(&payload));
    return file->status;
}

iw_status iw_digest_writer_close(iw_digest_writer *writer, bool is_whole)
{
    iw_status status = IW_OK;

    if (writer != NULL) {
        if (!is_whole && writer->file.status == IW_OK) {
            writer->file.status = IW_ERR_IO;
        }
        status = iwi_out_close(&writer->file);
        free(writer);
    }
    return status;
}

/* ======== reading ======== */

/* Where the next code of a sum is in the payload, and what it continues. */
struct sum_mark {
    uint32_t at;
    uint16_t all, steady;
};

/* Where reading a source goes on with the CPUs behind those that were wanted. */
struct source_mark {
    uint32_t name_at, cell_at;
    uint32_t next_number, left; /* of the cells: the least number of a CPU, and how many there are */
    struct sum_mark sums[IW_DIGEST_SUMS];
};

struct iw_digest_file {
    struct iwi_input input;
    size_t at, forgotten;
    char *path;
    size_t checked_end;          /* digests before it were read and are whole */
    uint32_t first_cpu, end_cpu; /* iw_digest_file_want() */
    size_t begin;                /* of the first digest that has marks */
    size_t mark_count, mark_capacity, next_mark;
    struct source_mark *marks;     /* of each source of each digest, if parts of them were read */
    uint32_t read_cpu, marked_cpu; /* up to which now, and before the reading at hand; 0: not all of them */
};

/* A payload while it is read. What is wrong with it is noticed at once, and asked for at the end. */
struct cursor {
    const iw_log *log;
    const uint8_t *begin, *at, *end;
    const char *fault; /* or NULL */
    bool is_again;     /* it was read before: what is not wanted is left out */
    bool is_marked;    /* parts behind those that were wanted before */
    uint32_t first_cpu, end_cpu;
    size_t first_number, end_number; /* the numbers of these in the digest's list of CPUs */
    struct iw_digest_file *file;
};

static void refuse(struct cursor *c, const char *fault)
{
    c->fault = c->fault != NULL ? c->fault : fault;
    c->at = c->end;
}

static uint32_t place_of(const struct cursor *c)
{
    return (uint32_t)(c->at - c->begin);
}

static void go_to(struct cursor *c, uint32_t place)
{
    if (place > (size_t)(c->end - c->begin)) {
        refuse(c, "it is shorter than before");
    } else if (c->fault == NULL) {
        c->at = c->begin + place;
    }
}

static uint64_t take_long_number(struct cursor *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (c->at == c->end) {
            break;
        }
        value |= (uint64_t)(*c->at & 0x7f) << shift;
        if ((*c->at++ & 0x80) == 0) {
            return value;
        }
    }
    refuse(c, "a number has no end");
    return 0;
}

/* Most take one byte, most others two. */
static inline uint64_t take_number(struct cursor *c)
{
    const uint8_t *at = c->at;

    if (at != c->end && at[0] < 0x80) {
        c->at = at + 1;
        return at[0];
    }
    if (c->end - at >= 2 && at[1] < 0x80) {
        c->at = at + 2;
        return (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
    }
    return take_long_number(c);
}

static void skip_numbers(struct cursor *c, size_t count)
{
    const uint8_t *at = c->at;

    while (count > 0 && at != c->end) {
        count -= *at++ < 0x80;
    }
    c->at = at;
    if (count > 0) {
        refuse(c, "a number has no end");
    }
}

/* At most `most`. */
static uint64_t take_up_to(struct cursor *c, uint64_t most, const char *fault)
{
    const uint64_t value = take_number(c);

    if (value > most) {
        refuse(c, fault);
        return 0;
    }
    return value;
}

static int64_t take_signed(struct cursor *c)
{
    return iwi_digest_unfold(take_number(c));
}

static int64_t take_positive(struct cursor *c)
{
    return (int64_t)take_up_to(c, INT64_MAX, "a time is out of range");
}

/* As many things take at least one byte each, behind their number. */
static size_t take_count(struct cursor *c)
{
    const uint64_t count = take_number(c);

    if (count > (uint64_t)(c->end - c->at)) {
        refuse(c, "it lists more than fits");
        return 0;
    }
    return (size_t)count;
}

/* Into `buf`, cut to `size`; at most IWI_MOST_DIGEST_TEXT bytes. */
static void take_text(struct cursor *c, char *buf, size_t size)
{
    const size_t length = take_count(c), kept = length < size - 1 ? length : size - 1;

    if (length > IWI_MOST_DIGEST_TEXT || memchr(c->at, '\0', length) != NULL) {
        refuse(c, "a name is not text");
        buf[0] = '\0';
        return;
    }
    memcpy(buf, c->at, kept);
    buf[kept] = '\0';
    c->at += length;
}

/* ---- parts ---- */

static iw_status take_head(struct cursor *c, iw_digest **digest_p)
{
    char name[IWI_MOST_DIGEST_TEXT + 1], value[IWI_MOST_DIGEST_TEXT + 1];
    iw_digest *digest;
    size_t count;

    take_text(c, name, sizeof name);
    IW_TRY(iwi_digest_new(c->log, name, digest_p));
    digest = *digest_p;
    digest->start_ns = take_signed(c);
    digest->probe = (iw_probe)take_up_to(c, IW_PROBES - 1, "the probe is unknown");
    digest->attribution =
        (iw_attribution_level)take_up_to(c, IW_ATTRIBUTION_LEVELS - 1, "the level of attribution is unknown");
    digest->threshold_ns = (double)take_number(c) / 1000.0;
    count = take_count(c);
    for (size_t i = 0; i < count && c->fault == NULL; i++) {
        take_text(c, name, sizeof name);
        take_text(c, value, sizeof value);
        if (c->is_again) {
            continue;
        }
        IW_TRY(iwi_digest_set(c->log, digest, name, value));
    }
    return IW_OK;
}

static iw_status take_cpus(struct cursor *c, iw_digest *digest)
{
    const size_t count = take_count(c);
    uint64_t next = 0;
    int64_t length_ns = 0;

    for (size_t i = 0; i < count && c->fault == NULL; i++) {
        const uint64_t cpu = next + take_up_to(c, IW_CPU_SET_MOST, "a CPU's number is out of range");
        const int64_t more_ns = take_signed(c);

        if (cpu >= IW_CPU_SET_MOST || __builtin_add_overflow(length_ns, more_ns, &length_ns) ||
            length_ns <= 0) {
            refuse(c, "a CPU is out of range");
            break;
        }
        IW_TRY(iwi_digest_add_cpu(c->log, digest, (uint32_t)cpu, length_ns));
        c->first_number += cpu < c->first_cpu;
        c->end_number += cpu < c->end_cpu;
        next = cpu + 1;
    }
    return IW_OK;
}

static void take_lengths(struct cursor *c, iw_digest_source *source)
{
    const size_t first = (size_t)take_up_to(c, IW_DIGEST_LENGTHS, "a length is out of range"),
                 count = (size_t)take_up_to(c, IW_DIGEST_LENGTHS - first, "a length is out of range");

    for (size_t i = first; i < first + count; i++) {
        source->by_length[i] = take_number(c);
    }
}

/* Of a source's cells in the file those before the ones that are wanted, these, and those behind them. */
struct parts {
    size_t before, wanted, behind;
};

/* What is out of range is noticed at the end: codes of two bytes are kept, whatever they are. */
static void take_sum(struct cursor *c, const struct parts *parts, const iw_digest_source *source,
                     iw_digest_sum sum, struct source_mark *mark)
{
    struct sum_mark *place = &mark->sums[sum];
    struct cursor own = *c; /* which nothing else points to */
    uint64_t all = 0, lag = 0, most = 0;

    if (c->is_marked) {
        go_to(&own, place->at);
        all = place->all;
        lag = (uint64_t)place->steady - all;
    }
    for (size_t i = 0; i < parts->before + parts->wanted; i++) {
        uint64_t steady;

        all += (uint64_t)take_signed(&own);
        lag += (uint64_t)take_signed(&own);
        steady = all + lag;
        most |= all | steady; /* negative numbers are the largest */
        if (i >= parts->before) {
            source->cells[i - parts->before].all[sum] = (uint16_t)all;
            source->cells[i - parts->before].steady[sum] = (uint16_t)steady;
        }
    }
    if (most > UINT16_MAX) {
        refuse(&own, "a sum is out of range");
    }
    *place = (struct sum_mark){place_of(&own), (uint16_t)all, (uint16_t)(all + lag)};
    skip_numbers(&own, 2 * parts->behind);
    c->at = own.at;
    c->fault = own.fault;
}

/* The CPUs of a source's cells, up to those that are wanted or, the first time, of all. */
static struct parts take_numbers(struct cursor *c, const iw_digest *digest, iw_digest_source *source,
                                 struct source_mark *mark)
{
    const size_t count = mark->left;
    struct parts parts = {0, 0, 0};
    uint64_t next = mark->next_number;

    for (size_t i = 0; i < count && c->fault == NULL && !(c->is_marked && parts.behind > 0); i++) {
        iw_digest_cell cell = {.cpu =
                                   (uint32_t)(next + take_up_to(c, digest->cpu_count, "a cell has no CPU"))};

        cell.stretches = (uint32_t)take_up_to(c, IWI_DIGEST_ALL_STRETCHES, "stretches are out of range") ^
                         IWI_DIGEST_ALL_STRETCHES;
        if (cell.cpu >= digest->cpu_count) {
            refuse(c, "a cell has no CPU");
            break;
        }
        next = cell.cpu + 1U;
        if (cell.cpu >= c->end_number) {
            parts.behind++;
            continue;
        }
        if (cell.cpu < c->first_number) {
            parts.before++;
        } else {
            source->cells[parts.wanted++] = cell;
        }
        mark->cell_at = place_of(c);
        mark->next_number = (uint32_t)next;
        mark->left = (uint32_t)(count - i - 1);
    }
    return parts;
}

static iw_status take_cells(struct cursor *c, const iw_digest *digest, iw_digest_source *source,
                            struct source_mark *mark)
{
    const size_t wanted = c->end_number - c->first_number;
    struct parts parts;

    if (c->is_marked) {
        go_to(c, mark->cell_at);
    } else {
        mark->left = (uint32_t)take_up_to(c, digest->cpu_count, "a source has more cells than CPUs");
        mark->next_number = 0;
        mark->cell_at = place_of(c);
    }
    IW_TRY(iwi_digest_reserve_cells(c->log, source, mark->left < wanted ? mark->left : wanted));
    parts = take_numbers(c, digest, source, mark);
    source->cell_count = parts.wanted;
    parts.behind = c->is_marked ? 0 : parts.behind;
    for (iw_digest_sum sum = IW_DIGEST_COUNT; sum < IW_DIGEST_SUMS; sum++) {
        take_sum(c, &parts, source, sum, mark);
    }
    return IW_OK;
}

/* The mark of the next source; `scratch` where none is kept. */
static iw_status next_mark(struct cursor *c, struct source_mark *scratch, struct source_mark **mark_p)
{
    struct iw_digest_file *file = c->file;

    *mark_p = scratch;
    if (!c->is_again) {
        return IW_OK;
    }
    if (file->next_mark == file->mark_count) {
        IW_TRY(iwi_grow(c->log, (void **)&file->marks, &file->mark_capacity, file->mark_count + 1,
                        sizeof *file->marks));
        file->mark_count++;
    }
    *mark_p = &file->marks[file->next_mark++];
    return IW_OK;
}

static iw_status take_source(struct cursor *c, iw_digest *digest, size_t number)
{
    struct source_mark scratch = {.name_at = 0}, *mark;
    iw_source named = {.name = ""};
    iw_digest_source *source;

    IW_TRY(next_mark(c, &scratch, &mark));
    if (c->is_marked) {
        go_to(c, mark->name_at);
    }
    mark->name_at = place_of(c);
    named.kind = (iw_class)take_up_to(c, IW_CLASSES - 1, "a source's class is unknown");
    take_text(c, named.name, sizeof named.name);
    if (number > 0) {
        IW_TRY(iwi_digest_add_source(c->log, digest, &named));
    }
    source = &digest->sources[number];
    if (!c->is_marked) {
        source->count = take_number(c);
        source->busy_ns = take_positive(c);
        source->longest_ns = take_positive(c);
        take_lengths(c, source);
    }
    return take_cells(c, digest, source, mark);
}

static iw_status take_sources(struct cursor *c, iw_digest *digest)
{
    const size_t count = take_count(c);

    if (count == 0) {
        refuse(c, "it has no sums");
    }
    for (size_t i = 0; i < count && c->fault == NULL; i++) {
        IW_TRY(take_source(c, digest, i));
    }
    return IW_OK;
}

static iw_status take_digest(struct cursor *c, iw_digest **digest_p)
{
    IW_TRY(take_head(c, digest_p));
    IW_TRY(take_cpus(c, *digest_p));
    IW_TRY(take_sources(c, *digest_p));
    if (c->at != c->end && !c->is_marked) {
        refuse(c, "data follows its end");
    }
    return IW_OK;
}

/* ---- files ---- */

iw_status iw_digest_file_open(const iw_log *log, const char *path, iw_digest_file **file_p)
{
    iw_digest_file *file = iwi_new_array(log, 1, sizeof *file);
    iw_status status;

    if (file == NULL) {
        return IW_ERR_NOMEM;
    }
    file->path = strdup(path);
    status = file->path != NULL ? iwi_input_open(log, path, &file->input)
                                : iwi_fail(log, IW_ERR_NOMEM, "out of memory for a file's name");
    if (status != IW_OK) {
        free(file->path);
        free(file);
        return status;
    }
    iw_digest_file_want(file, 0, IW_CPU_SET_MOST);
    *file_p = file;
    return IW_OK;
}

void iw_digest_file_want(iw_digest_file *file, uint32_t first, uint32_t end)
{
    file->first_cpu = first;
    file->end_cpu = end;
}

size_t iw_digest_file_at(const iw_digest_file *file)
{
    return file->at;
}

void iw_digest_file_seek(iw_digest_file *file, size_t at)
{
    file->at = file->forgotten = at < file->input.size ? at : file->input.size;
    file->marked_cpu = 0;
    if (file->at != file->begin || file->next_mark < file->mark_count) {
        file->mark_count = 0;
    } else if (file->mark_count > 0) {
        file->marked_cpu = file->read_cpu;
    }
    file->begin = file->at;
    file->next_mark = 0;
}

void iw_digest_file_find(iw_digest_file *file, size_t at)
{
    const char *data = file->input.data, *begin;

    iw_digest_file_seek(file, at);
    begin = file->at < file->input.size ? memmem(data + file->at, file->input.size - file->at,
                                                 IWI_DIGEST_MAGIC, IWI_DIGEST_MAGIC_BYTES)
                                        : NULL;
    iw_digest_file_seek(file, begin != NULL ? (size_t)(begin - data) : file->input.size);
}

void iw_digest_file_close(iw_digest_file *file)
{
    if (file != NULL) {
        iwi_input_close(&file->input);
        free(file->path);
        free(file->marks);
        free(file);
    }
}

static uint64_t fixed_at(const char *p, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)(uint8_t)p[i] << (8 * i);
    }
    return value;
}

static iw_status fail_at(const iw_log *log, const iw_digest_file *file, const char *what)
{
    return iwi_fail(log, IW_ERR_FORMAT, "'%s': the digest at byte %zu: %s", file->path, file->at, what);
}

/* The payload that begins at file->at. */
static iw_status find_payload(const iw_log *log, const iw_digest_file *file, struct cursor *c)
{
    const char *head = file->input.data + file->at;
    const size_t left = file->input.size - file->at;
    struct iwi_hash hash;
    uint64_t size;

    if (left < IWI_DIGEST_MAGIC_BYTES || memcmp(head, IWI_DIGEST_MAGIC, IWI_DIGEST_MAGIC_BYTES) != 0) {
        return fail_at(log, file, "not found: it does not begin with " IWI_DIGEST_MAGIC);
    }
    if (left < IWI_DIGEST_HEAD_BYTES + IWI_DIGEST_HASH_BYTES) {
        return fail_at(log, file, "it is cut off");
    }
    size = fixed_at(head + IWI_DIGEST_MAGIC_BYTES, IWI_DIGEST_HEAD_BYTES - IWI_DIGEST_MAGIC_BYTES);
    if (size > left - IWI_DIGEST_HEAD_BYTES - IWI_DIGEST_HASH_BYTES) {
        return fail_at(log, file, "it is cut off");
    }
    iwi_hash_init(&hash, iwi_hash_key);
    if (!c->is_again) {
        iwi_hash_add(&hash, head + IWI_DIGEST_HEAD_BYTES, size);
    }
    if (!c->is_again &&
        iwi_hash_value(&hash) != fixed_at(head + IWI_DIGEST_HEAD_BYTES + size, IWI_DIGEST_HASH_BYTES)) {
        return fail_at(log, file, "it is damaged: the checksum does not match");
    }
    c->begin = c->at = (const uint8_t *)head + IWI_DIGEST_HEAD_BYTES;
    c->end = c->at + size;
    return IW_OK;
}

iw_status iw_digest_file_next(const iw_log *log, iw_digest_file *file, iw_digest **digest_p)
{
    const bool is_part = file->first_cpu > 0 || file->end_cpu < IW_CPU_SET_MOST;
    struct cursor c = {.log = log,
                       .is_again = is_part && file->at < file->checked_end,
                       .end_cpu = IW_CPU_SET_MOST,
                       .file = file};
    iw_digest *digest = NULL;
    const uint8_t *end;
    iw_status status;

    *digest_p = NULL;
    if (file->at == file->input.size) {
        return IW_OK;
    }
    if (c.is_again) {
        c.first_cpu = file->first_cpu;
        c.end_cpu = file->end_cpu;
        c.is_marked =
            file->marked_cpu > 0 && file->marked_cpu == file->first_cpu && file->next_mark < file->mark_count;
    }
    IW_TRY(find_payload(log, file, &c));
    end = c.end + IWI_DIGEST_HASH_BYTES;
    status = take_digest(&c, &digest);
    if (status == IW_OK && c.fault != NULL) {
        status = fail_at(log, file, c.fault);
    }
    if (status != IW_OK) {
        iw_digest_free(digest);
        return status;
    }
    file->read_cpu = c.end_cpu;
    file->at = (size_t)((const char *)end - file->input.data);
    file->checked_end = file->at > file->checked_end ? file->at : file->checked_end;
    iwi_input_forget(&file->input, (const char *)end, &file->forgotten);
    *digest_p = digest;
    return IW_OK;
}
