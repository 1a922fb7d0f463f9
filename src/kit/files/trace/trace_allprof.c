/* Traces of liballprof: the lines of each rank, then what needs all ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/trace/trace_allprof.h"

#include <stdlib.h>
#include <string.h>

static iw_status read_line(struct iwi_allprof_reading *in, struct iwi_piece piece)
{
    const char *wrong = iwi_allprof_read_line(piece.at, piece.end, &in->base_us, &in->line);
    const struct iwi_allprof_line *line = &in->line;
    struct iwi_call_span span = {.cpu_ps = -1};

    if (wrong != NULL) {
        return iwi_allprof_refuse(in, wrong);
    }
    if (line->function.kind == IWI_FN_INIT) {
        if (line->has_end) {
            iwi_build_begin(in->builder, line->end_ps);
        }
        return IW_OK;
    }
    if (line->function.kind ==
        IWI_FN_FINALIZE) { /* its time is behind the tracer's own measuring of clocks */
        in->has_ended = true;
        return IW_OK;
    }
    if (!line->has_start || !line->has_end) {
        return iwi_allprof_refuse(in, "has no time");
    }
    span.enter_ps = line->start_ps;
    span.leave_ps = line->end_ps;
    if (in->builder->has_begun && span.enter_ps < in->builder->end_ps) {
        iwi_build_note(in->builder, IWI_GAP_CLOCK, line->name);
    }
    return iwi_allprof_build(in, &span);
}

static iw_status read_lines(struct iwi_allprof_reading *in, struct iwi_trace_rank *calls)
{
    struct iwi_piece piece;

    in->lines = iwi_lines_of(in->text->data, in->text->size);
    while (!in->has_ended && iwi_next_line(&in->lines, &piece)) {
        if (iwi_piece_size(piece) > 0 && *piece.at != '#') {
            if (!in->lines.has_newline) {
                return iwi_fail(in->log, IW_ERR_TRUNCATED, "'%s:%zu': the file ends within a line",
                                in->text->path, in->lines.number);
            }
            IW_TRY(read_line(in, piece));
        }
    }
    return iwi_build_end(in->builder, in->builder->end_ps, calls);
}

/* ---- ranks ---- */

static iw_status read_rank(const iw_log *log, const struct iwi_allprof_text *text,
                           struct iwi_builder *builder, struct iwi_allprof_rank *rank,
                           struct iwi_trace_rank *calls)
{
    struct iwi_allprof_reading in = {
        .log = log, .text = text, .builder = builder, .rank = rank, .base_us = -1};
    const iw_status status = read_lines(&in, calls);

    free(in.persistent);
    return status;
}

/* Communicators and peers as the whole program sees them; each call's `comm` was the rank's own number. */
static void translate(struct iw_trace *trace, uint32_t r, const struct iwi_allprof_rank *rank,
                      struct iwi_gaps *gaps)
{
    for (uint64_t i = 0; i < trace->ranks[r].call_count; i++) {
        struct iwi_call *call = &trace->ranks[r].calls[i];
        const bool is_message = call->kind >= IWI_CALL_SEND && call->kind <= IWI_CALL_IRECV;
        const struct iwi_comm *comm;

        if (!is_message && call->kind != IWI_CALL_COLLECTIVE && call->kind != IWI_CALL_ICOLLECTIVE) {
            continue;
        }
        call->comm = rank->comms[call->comm].global;
        if (call->comm == IWI_NO_COMM) {
            iwi_gap_note(gaps, IWI_GAP_MEMBERS, r, i + 1, NULL);
            call->kind = IWI_CALL_OPAQUE;
            continue;
        }
        comm = &trace->comms[call->comm];
        if (is_message && call->peer != IWI_PEER_UNKNOWN && comm->members != NULL) {
            call->peer = comm->members[call->peer];
        }
    }
}

struct all {
    const iw_log *log;
    const struct iwi_allprof_text *texts;
    struct iw_trace *trace;
    struct iwi_allprof_rank *ranks;
    struct iwi_gaps gaps;
};

static iw_status read_all(struct all *all)
{
    for (uint32_t r = 0; r < all->trace->rank_count; r++) {
        struct iwi_builder builder;
        iw_status status;

        iwi_builder_init(&builder, all->log, &all->gaps, r);
        builder.uses = &all->trace->uses;
        status = read_rank(all->log, &all->texts[r], &builder, &all->ranks[r], &all->trace->ranks[r]);
        iwi_builder_release(&builder);
        IW_TRY(status);
    }
    IW_TRY(iwi_allprof_resolve(all->log, all->ranks, all->trace));
    for (uint32_t r = 0; r < all->trace->rank_count; r++) {
        translate(all->trace, r, &all->ranks[r], &all->gaps);
    }
    return iwi_trace_finish(&(struct iwi_trace_ending){all->log, &all->gaps, false}, all->trace);
}

iw_status iwi_trace_allprof(const iw_log *log, const char *path, const struct iwi_allprof_text *texts,
                            uint32_t rank_count, struct iw_trace **trace_p)
{
    struct all all = {.log = log, .texts = texts};
    iw_status status = IW_ERR_NOMEM;

    all.trace = iwi_trace_new(log, rank_count);
    all.ranks = iwi_new_array(log, rank_count, sizeof *all.ranks);
    if (all.trace != NULL && all.ranks != NULL) {
        memcpy(all.trace->origin, "liballprof", sizeof "liballprof");
        status = read_all(&all);
    }
    for (uint32_t r = 0; all.ranks != NULL && r < rank_count; r++) {
        free(all.ranks[r].comms);
        free(all.ranks[r].made);
    }
    free(all.ranks);
    if (status != IW_OK) {
        iw_trace_free(all.trace);
        return status;
    }
    iwi_gaps_log(log, path, &all.gaps);
    *trace_p = all.trace;
    return IW_OK;
}
