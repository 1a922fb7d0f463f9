/* What the tests of OTF2 archives share: an archive in a folder of its own, read, and removed again.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_TRACE_OTF2_TESTING_H
#define IWT_TRACE_OTF2_TESTING_H

#include "support/support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>

#include "kit/files/trace/trace_read.h"
#include "support/otf2_writer.h"

static struct iwt_log log_;
static char folder_[64];

static inline struct iwt_otf2 *begin(const char *creator, uint32_t ranks, uint32_t threads)
{
    iwt_log_init(&log_);
    (void)snprintf(folder_, sizeof folder_, "/tmp/iw-otf2-XXXXXX");
    assert_non_null(mkdtemp(folder_));
    return iwt_otf2_new(folder_, creator, ranks, threads);
}

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *place)
{
    (void)info;
    (void)flag;
    (void)place;
    return remove(path);
}

static inline void remove_made(void)
{
    assert_int_equal(nftw(folder_, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline iw_status open_made(struct iw_trace **trace_p)
{
    return iw_trace_open(&log_.log, folder_, trace_p);
}

static inline struct iw_trace *finish(struct iwt_otf2 *w)
{
    struct iw_trace *trace = NULL;

    iwt_otf2_close(w);
    if (open_made(&trace) != IW_OK) {
        fail_msg("%s", log_.text);
    }
    return trace;
}

static inline void end(struct iw_trace *trace)
{
    iw_trace_free(trace);
    remove_made();
}

/* A message. */
static inline void assert_call(const struct iw_trace *trace, uint32_t rank, uint64_t i, uint8_t kind,
                               uint32_t peer, int32_t tag, uint64_t bytes)
{
    const struct iwi_call *call = &trace->ranks[rank].calls[i];

    assert_true(i < trace->ranks[rank].call_count);
    assert_int_equal(call->kind, kind);
    assert_int_equal(call->peer, peer);
    assert_int_equal(call->tag, tag);
    assert_int_equal(call->bytes, bytes);
}

#endif
