/* Writes digests of nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/hash.h"
#include "features/fleet/digest_layout.h"
#include "kit/files/io/out.h"

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
        const size_t piece = count < IWI_OUT_RESERVE_MAX ? count : IWI_OUT_RESERVE_MAX;

        iwi_out_bytes(out, bytes, piece);
        bytes += piece;
        count -= piece;
    }
}

static void put_text(struct iwi_out *out, const char *text)
{
    const size_t whole = strlen(text), length = whole < IWI_DIGEST_TEXT_MOST ? whole : IWI_DIGEST_TEXT_MOST;

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
    put_number(out, digest->rung);
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
