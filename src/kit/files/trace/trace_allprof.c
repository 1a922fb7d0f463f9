/* Traces of liballprof: the lines of each rank, then what needs all ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/trace/trace_allprof.h"

#include <stdlib.h>
#include <string.h>

#include "kit/files/io/convert_text.h"

/* ---- one line: NAME:start:arguments:end, times in us ---- */

/* Arguments, a letter each: a address of a buffer, n count, d datatype, p peer, t tag (upper case: of the
 * receiving side), v addresses and values of counts, x the same of displacements, r root, c communicator, q
 * address of requests, C colour, k key, i anything. */
struct layout {
    const char *name, *arguments;
};

/* Sorted by name. */
static const struct layout layouts[] = {
    {"Allgather", "andaNDc"},
    {"Allgatherv", "andavxDc"},
    {"Allreduce", "aandic"},
    {"Alltoall", "andaNDc"},
    {"Alltoallv", "avxdaxxDc"},
    {"Alltoallw", "avxiaxxic"},
    {"Barrier", "c"},
    {"Bcast", "andrc"},
    {"Bsend", "andptc"},
    {"Bsend_init", "andptcq"},
    {"Cart_create", "ciiiii"},
    {"Cart_sub", "cii"},
    {"Comm_create", "cii"},
    {"Comm_dup", "ci"},
    {"Comm_split", "cCki"},
    {"Exscan", "aandic"},
    {"Gather", "andaNDrc"},
    {"Gatherv", "andavxDrc"},
    {"Ibsend", "andptcq"},
    {"Irecv", "andptcq"},
    {"Irsend", "andptcq"},
    {"Isend", "andptcq"},
    {"Issend", "andptcq"},
    {"Recv", "andptci"},
    {"Recv_init", "andptcq"},
    {"Reduce", "aandirc"},
    {"Reduce_scatter", "aavdic"},
    {"Reduce_scatter_block", "aandic"},
    {"Request_free", "q"},
    {"Rsend", "andptc"},
    {"Rsend_init", "andptcq"},
    {"Scan", "aandic"},
    {"Scatter", "andaNDrc"},
    {"Scatterv", "avxdaNDrc"},
    {"Send", "andptc"},
    {"Send_init", "andptcq"},
    {"Sendrecv", "andptaNDPTci"},
    {"Sendrecv_replace", "andptPTci"},
    {"Ssend", "andptc"},
    {"Ssend_init", "andptcq"},
    {"Start", "q"},
    {"Startall", "nq"},
    {"Test", "qii"},
    {"Testall", "nqii"},
    {"Testany", "nqiii"},
    {"Testsome", "nqiii"},
    {"Wait", "qi"},
    {"Waitall", "nqi"},
    {"Waitany", "nqii"},
    {"Waitsome", "nqiii"},
};

static int compare(const void *key, const void *layout)
{
    return strcmp(key, ((const struct layout *)layout)->name);
}

static const struct layout *layout_of(const char *name)
{
    return bsearch(name, layouts, sizeof layouts / sizeof layouts[0], sizeof layouts[0], compare);
}

static bool next_field(struct iwi_piece *rest, char separator, struct iwi_piece *field)
{
    const char *found;

    if (rest->at == NULL) {
        return false;
    }
    found = memchr(rest->at, separator, iwi_piece_size(*rest));
    *field = (struct iwi_piece){rest->at, found != NULL ? found : rest->end};
    rest->at = found != NULL ? found + 1 : NULL;
    return true;
}

static bool read_i64(struct iwi_piece piece, int64_t *value_p)
{
    const bool is_negative = iwi_take_prefix(&piece, "-");
    uint64_t value;

    if (!iwi_read_u64(piece, &value) || value > INT64_MAX) {
        return false;
    }
    *value_p = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* "1268231434213843", "1268231434213843.25", or "-" where MPI has no clock. */
static bool read_time(struct iwi_piece piece, int64_t *base_us, bool *is_known, int64_t *ps_p)
{
    const char *point = memchr(piece.at, '.', iwi_piece_size(piece));
    const struct iwi_piece whole = {piece.at, point != NULL ? point : piece.end};
    int64_t us, fraction_ps = 0;

    *is_known = false;
    if (iwi_piece_is(piece, "-")) {
        return true;
    }
    if (!read_i64(whole, &us) || us < 0) {
        return false;
    }
    for (int64_t digit_ps = IW_PS_PER_US / 10; point != NULL && ++point < piece.end; digit_ps /= 10) {
        if (*point < '0' || *point > '9') {
            return false;
        }
        fraction_ps += (*point - '0') * digit_ps;
    }
    if (*base_us < 0) {
        *base_us = us;
    }
    us -= *base_us;
    if (us > IW_TIME_INPUT_MAX / IW_PS_PER_US || us < -(IW_TIME_INPUT_MAX / IW_PS_PER_US)) {
        return false;
    }
    *ps_p = us * IW_PS_PER_US + fraction_ps;
    *is_known = true;
    return true;
}

static bool read_small(struct iwi_piece field, int64_t least, int64_t *value_p)
{
    return read_i64(field, value_p) && *value_p >= least && *value_p <= INT32_MAX;
}

/* "type,size,extent"; the type's number is of no use. */
static bool read_datatype(struct iwi_piece field, int64_t *size_p)
{
    struct iwi_piece type, size;

    return next_field(&field, ',', &type) && next_field(&field, ',', &size) && read_small(size, 0, size_p);
}

/* "handle,rank,size" */
static bool read_comm(struct iwi_piece field, struct iwi_allprof_line *line)
{
    struct iwi_piece part;

    line->has_comm = next_field(&field, ',', &part) && iwi_read_u64(part, &line->comm) &&
                     next_field(&field, ',', &part) && iwi_read_u32(part, &line->comm_rank) &&
                     next_field(&field, ',', &part) && iwi_read_u32(part, &line->comm_size) &&
                     line->comm_rank < line->comm_size;
    return line->has_comm;
}

/* The address is followed by a field of its own with the values. */
static bool read_counts(struct iwi_piece *rest, struct iwi_allprof_line *line)
{
    struct iwi_piece list, part;
    int64_t count;

    if (!next_field(rest, ':', &list)) {
        return false;
    }
    while (next_field(&list, ',', &part)) {
        if (!read_small(part, 0, &count)) {
            return false;
        }
        line->sum += (uint64_t)count;
        line->sum_of++;
    }
    return true;
}

static bool read_argument(char letter, struct iwi_piece field, struct iwi_piece *rest, unsigned *buffers,
                          struct iwi_allprof_line *line)
{
    struct iwi_piece skipped;

    switch (letter) {
    case 'a': return *buffers < 2 && iwi_read_u64(field, &line->buffer[(*buffers)++]);
    case 'n':
    case 'N': return read_small(field, 0, &line->count[letter == 'N']);
    case 'd':
    case 'D': line->has_sizes = read_datatype(field, &line->size[letter == 'D']); return line->has_sizes;
    case 'p':
    case 'P': return read_small(field, INT32_MIN, &line->peer[letter == 'P']);
    case 't':
    case 'T': return read_small(field, -1, &line->tag[letter == 'T']);
    case 'r': return read_small(field, INT32_MIN, &line->root);
    case 'c': return read_comm(field, line);
    case 'q': return iwi_read_u64(field, &line->request);
    case 'v': return read_counts(rest, line);
    case 'x': return next_field(rest, ':', &skipped);
    case 'C': return read_small(field, INT32_MIN, &line->color);
    case 'k': return read_small(field, INT32_MIN, &line->key);
    default: return true;
    }
}

static bool read_arguments(const char *letters, bool has_request, struct iwi_piece *rest,
                           struct iwi_allprof_line *line)
{
    struct iwi_piece field;
    unsigned buffers = 0;

    for (; *letters != '\0'; letters++) {
        if (!next_field(rest, ':', &field) || !read_argument(*letters, field, rest, &buffers, line)) {
            return false;
        }
    }
    return !has_request || (next_field(rest, ':', &field) && iwi_read_u64(field, &line->request));
}

/* Nonblocking collectives have the arguments of the blocking ones, and a request. */
static const struct layout *find_layout(const struct iwi_allprof_line *line, bool *has_request)
{
    char base[sizeof line->name];

    *has_request = line->function.kind == IWI_FN_ICOLLECTIVE && line->name[4] == 'I';
    if (!*has_request) {
        return layout_of(line->name + 4);
    }
    memcpy(base, line->name + 5, sizeof line->name - 5);
    base[0] = (char)(base[0] >= 'a' && base[0] <= 'z' ? base[0] - 'a' + 'A' : base[0]);
    return layout_of(base);
}

/* NULL if it was read, else what is wrong with it. base_us: set by the first time that is read. */
static const char *allprof_read_line(const char *at, const char *end, int64_t *base_us,
                                     struct iwi_allprof_line *line)
{
    struct iwi_piece rest = {at, end}, field;
    const struct layout *layout;
    const char *last;
    bool has_request;

    *line = (struct iwi_allprof_line){0};
    if (!next_field(&rest, ':', &field) || iwi_piece_size(field) < 5 ||
        iwi_piece_size(field) >= sizeof line->name || memcmp(field.at, "MPI_", 4) != 0) {
        return "does not begin with the name of an MPI function and ':'";
    }
    memcpy(line->name, field.at, iwi_piece_size(field));
    line->function = iwi_function_of(line->name, strlen(line->name));
    if (!next_field(&rest, ':', &field) || !read_time(field, base_us, &line->has_start, &line->start_ps)) {
        return "has no time after the name, in us";
    }
    last = rest.at != NULL ? memrchr(rest.at, ':', iwi_piece_size(rest)) : NULL;
    field = (struct iwi_piece){last != NULL ? last + 1 : rest.at, end};
    if (rest.at == NULL || !read_time(field, base_us, &line->has_end, &line->end_ps)) {
        return "has no time at its end, in us";
    }
    if (line->has_start && line->has_end && line->end_ps < line->start_ps) {
        return "ends before it begins";
    }
    layout = find_layout(line, &has_request);
    if (layout != NULL) {
        rest.end = last != NULL ? last : rest.at;
        line->is_understood = read_arguments(layout->arguments, has_request, &rest, line);
        return line->is_understood ? NULL : "has invalid arguments for this function";
    }
    return NULL;
}

bool iwi_allprof_is(const char *data, size_t size)
{
    struct iwi_lines lines = iwi_lines_of(data, size);
    struct iwi_piece line;

    while (iwi_next_line(&lines, &line)) {
        if (iwi_piece_size(line) > 0 && *line.at != '#') {
            return iwi_piece_size(line) > 5 && memcmp(line.at, "MPI_", 4) == 0 &&
                   memchr(line.at, ':', iwi_piece_size(line)) != NULL;
        }
    }
    return false;
}

/* ---- all lines of all ranks ---- */

static iw_status read_line(struct iwi_allprof_reading *in, struct iwi_piece piece)
{
    const char *wrong = allprof_read_line(piece.at, piece.end, &in->base_us, &in->line);
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
