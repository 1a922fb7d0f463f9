/* Buffered output to a file or to memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/io/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 1 << 20 };

static iw_status open_buffer(const iw_log *log, struct iwi_out *out)
{
    *out = (struct iwi_out){.log = log, .is_memory = true, .status = IW_OK};
    out->buffer = iwi_new_array(log, BUFFER_BYTES, 1);
    out->capacity = BUFFER_BYTES;
    return out->buffer == NULL ? IW_ERR_NOMEM : IW_OK;
}

iw_status iwi_out_open_memory(const iw_log *log, struct iwi_out *out)
{
    return open_buffer(log, out);
}

iw_status iwi_out_open_file(const iw_log *log, const char *path, struct iwi_out *out)
{
    iw_status status;

    IW_TRY(open_buffer(log, out));
    out->is_memory = false;
    status = strcmp(path, "-") == 0 ? iwi_output_open_stdout(log, &out->file)
                                    : iwi_output_open(log, path, IWI_OUTPUT_ANY, &out->file);
    if (status != IW_OK) {
        free(out->buffer);
    }
    return status;
}

static void flush(struct iwi_out *out)
{
    if (out->status == IW_OK) {
        out->status = iwi_output_write(&out->file, out->buffer, out->used);
    }
    out->used = 0;
}

void iwi_out_make_room(struct iwi_out *out)
{
    if (!out->is_memory) {
        flush(out);
        return;
    }
    if (out->status == IW_OK) {
        out->status =
            iwi_grow(out->log, (void **)&out->buffer, &out->capacity, out->used + IWI_MOST_OUT_RESERVE, 1);
    }
    if (out->status != IW_OK) {
        out->used = 0;
    }
}

void iwi_out_print(struct iwi_out *out, const char *format, ...)
{
    char *at = iwi_out_reserve(out);
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(at, IWI_MOST_OUT_RESERVE, format, args);
    va_end(args);
    if (length > 0) {
        out->used += (size_t)iwi_min(length, IWI_MOST_OUT_RESERVE - 1);
    }
}

iw_status iwi_out_close(struct iwi_out *out)
{
    if (!out->is_memory) {
        flush(out);
        if (out->status == IW_OK) {
            out->status = iwi_output_commit(&out->file);
        }
        iwi_output_release(&out->file);
    }
    free(out->buffer);
    out->buffer = NULL;
    return out->status;
}
