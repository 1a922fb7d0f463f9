/* Reads GOAL text: num_ranks, rank blocks, and the checks that need the whole file; in parts, side by side.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal_text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/available.h"

/* ---- the whole ---- */

static iw_status fail_cycle(const struct iwi_goal_text *text, const struct iwi_goal_cycle *cycle)
{
    char names[(IWI_GOAL_CYCLE_SHOWN + 1) * (IWI_GOAL_LABEL_SHOWN + 4)];
    const bool is_long = cycle->length > IWI_GOAL_CYCLE_SHOWN;
    const uint32_t shown = is_long ? IWI_GOAL_CYCLE_SHOWN : cycle->length;
    size_t used = 0;

    for (uint32_t i = 0; i <= shown; i++) {
        const uint32_t node = cycle->nodes[i < shown ? i : 0];
        const struct iwi_goal_word *label = iwi_goal_labels_of_node(&text->labels, node);

        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s",
                                 i == 0 ? "" : (i == shown && is_long ? " .. " : " -> "),
                                 IWI_GOAL_WORD_ARGS(*label)); /* only labels have dependencies */
    }
    return iwi_fail(text->scan.log, IW_ERR_FORMAT,
                    "'%s:%" PRIu64 "': rank %" PRIu32 ": %" PRIu32 " operations wait for each other: '%s'",
                    text->scan.file, text->builder.blocks[text->builder.block_count - 1].place, text->rank,
                    cycle->length, names);
}

/* Between statements: a newline, or the '}' of the block. */
static iw_status end_statement(struct iwi_goal_scan *scan)
{
    int c;

    IW_TRY(iwi_goal_skip_blanks(scan));
    c = iwi_goal_peek(scan);
    return c == '\n' || c == '}' ? IW_OK : iwi_goal_unexpected(scan, "the end of the line");
}

static iw_status fail_open_block(const struct iwi_goal_text *text)
{
    return iwi_fail(text->scan.log, IW_ERR_TRUNCATED,
                    "'%s:%" PRIu64 "': the file ends inside the block of rank %" PRIu32
                    " that begins in line %" PRIu64,
                    text->scan.file, text->scan.line, text->rank,
                    text->builder.blocks[text->builder.block_count - 1].place);
}

static iw_status read_block(struct iwi_goal_text *text)
{
    struct iwi_goal_scan *scan = &text->scan;
    const uint64_t line = scan->line;
    struct iwi_goal_cycle cycle;
    uint64_t rank;

    IW_TRY(iwi_goal_read_number(scan, "the number of a rank", UINT32_MAX - 1, &rank));
    text->rank = (uint32_t)rank;
    IW_TRY(iwi_goal_skip_lines(scan));
    if (iwi_goal_peek(scan) != '{') {
        return iwi_goal_unexpected(scan, "'{'");
    }
    scan->p++;
    IW_TRY(iwi_goal_begin_block(scan->log, &text->builder, text->rank, line));
    iwi_goal_labels_clear(&text->labels);
    for (;;) {
        IW_TRY(iwi_goal_skip_lines(scan));
        if (iwi_goal_peek(scan) == '}') {
            scan->p++;
            break;
        }
        if (iwi_goal_peek(scan) == IWI_GOAL_EOF) {
            return fail_open_block(text);
        }
        IW_TRY(iwi_goal_read_statement(text));
        IW_TRY(end_statement(scan));
    }
    IW_TRY(iwi_goal_resolve_pending(text));
    IW_TRY(iwi_goal_end_block(scan->log, &text->builder, &cycle));
    return cycle.length > 0 ? fail_cycle(text, &cycle) : IW_OK;
}

static iw_status read_num_ranks(struct iwi_goal_text *text, size_t file_bytes)
{
    const uint64_t max = file_bytes > IWI_GOAL_FREE_RANKS ? file_bytes : IWI_GOAL_FREE_RANKS;
    uint64_t ranks;

    IW_TRY(iwi_goal_read_number(&text->scan, "the number of ranks", UINT32_MAX - 1, &ranks));
    if (ranks == 0) {
        return iwi_fail(text->scan.log, IW_ERR_RANGE, "'%s:%" PRIu64 "': num_ranks is 0", text->scan.file,
                        text->scan.line);
    }
    if (text->ranks > 0 && ranks != text->ranks) {
        return iwi_fail(text->scan.log, IW_ERR_FORMAT,
                        "'%s:%" PRIu64 "': num_ranks is %" PRIu64 " here but was %" PRIu64 " before",
                        text->scan.file, text->scan.line, ranks, text->ranks);
    }
    if (ranks > max) {
        return iwi_fail(text->scan.log, IW_ERR_RANGE,
                        "'%s:%" PRIu64 "': num_ranks %" PRIu64 " is too many for a file of %zu bytes",
                        text->scan.file, text->scan.line, ranks, file_bytes);
    }
    text->ranks = ranks;
    return IW_OK;
}

/* 'num_ranks' or a block. */
static iw_status read_part(struct iwi_goal_text *text)
{
    static const char expected[] = "'num_ranks' or 'rank'";
    struct iwi_goal_scan *scan = &text->scan;
    const char *start = scan->p;
    struct iwi_goal_word word;

    IW_TRY(iwi_goal_read_word(scan, expected, &word));
    if (iwi_goal_word_is(&word, "num_ranks")) {
        return read_num_ranks(text, text->file_bytes);
    }
    if (iwi_goal_word_is(&word, "rank")) {
        return read_block(text);
    }
    scan->p = start;
    return iwi_goal_unexpected(scan, expected);
}

/* Blocks and num_ranks from where the scan is on. */
static iw_status goal_read_blocks(struct iwi_goal_text *text)
{
    struct iwi_goal_scan *scan = &text->scan;

    for (;;) {
        IW_TRY(iwi_goal_skip_lines(scan));
        text->is_over = iwi_goal_peek(scan) == IWI_GOAL_EOF;
        if (text->is_over || (text->stop != NULL && scan->p >= text->stop)) {
            return IW_OK;
        }
        if (text->ranks > 0 && text->builder.block_count == text->ranks) {
            iwi_warn(scan->log, "'%s:%" PRIu64 "': ignoring text after the last rank's block", scan->file,
                     scan->line);
            text->is_over = true;
            return IW_OK;
        }
        IW_TRY(read_part(text));
        if (text->input != NULL) {
            iwi_input_forget(text->input, scan->p, &text->forgotten);
        }
    }
}

static iw_status check_peers(const struct iwi_goal_text *text)
{
    if (text->max_peer_place.line == 0 || text->max_peer < text->ranks) {
        return IW_OK;
    }
    return iwi_goal_fail_operation(text, &text->max_peer_place,
                                   "peer %" PRIu32 " is not a rank below num_ranks %" PRIu64, text->max_peer,
                                   text->ranks);
}

/* Each block of a different rank, all below num_ranks. `is_seen` has an element for each rank. */
static iw_status check_blocks(const struct iwi_goal_text *text, bool *is_seen)
{
    for (size_t i = 0; i < text->builder.block_count; i++) {
        const struct iwi_goal_block *block = &text->builder.blocks[i];

        if (block->rank >= text->ranks) {
            return iwi_fail(text->scan.log, IW_ERR_FORMAT,
                            "'%s:%" PRIu64 "': rank %" PRIu32 " is not below num_ranks %" PRIu64,
                            text->scan.file, block->place, block->rank, text->ranks);
        }
        if (is_seen[block->rank]) {
            return iwi_fail(text->scan.log, IW_ERR_FORMAT,
                            "'%s:%" PRIu64 "': rank %" PRIu32 " has a second block", text->scan.file,
                            block->place, block->rank);
        }
        is_seen[block->rank] = true;
    }
    return IW_OK;
}

static void warn(const struct iwi_goal_text *text, const bool *is_seen)
{
    const uint64_t missing = text->ranks - text->builder.block_count;
    const struct iwi_goal_scan *scan = &text->scan;

    if (text->repeated_labels > 0) {
        iwi_warn(scan->log,
                 "'%s:%" PRIu64 "': rank %" PRIu32
                 ": label '%.*s' is defined twice; using the first (%" PRIu64 " in all)",
                 scan->file, text->repeated.line, text->repeated.rank,
                 IWI_GOAL_WORD_ARGS(text->repeated.label), text->repeated_labels);
    }
    if (missing > 0) {
        uint64_t first = 0;

        while (is_seen[first]) {
            first++;
        }
        iwi_warn(scan->log,
                 "'%s': %" PRIu64 " of %" PRIu64
                 " ranks have no block and do nothing; the first is rank %" PRIu64,
                 scan->file, missing, text->ranks, first);
    }
}

static iw_status check_file(const struct iwi_goal_text *text)
{
    bool *is_seen;
    iw_status status;

    if (text->ranks == 0) {
        return iwi_fail(text->scan.log, IW_ERR_TRUNCATED,
                        "'%s:%" PRIu64 "': the file ends without 'num_ranks'", text->scan.file,
                        text->scan.line);
    }
    IW_TRY(check_peers(text));
    is_seen = iwi_new_array(text->scan.log, text->ranks, sizeof *is_seen);
    if (is_seen == NULL) {
        return IW_ERR_NOMEM;
    }
    status = check_blocks(text, is_seen);
    if (status == IW_OK) {
        warn(text, is_seen);
    }
    free(is_seen);
    return status;
}

static void goal_text_release(struct iwi_goal_text *text)
{
    iwi_goal_builder_release(&text->builder);
    iwi_goal_labels_release(&text->labels);
    free(text->pending);
    text->pending = NULL;
}

static iw_status goal_read_parts(struct iwi_goal_text *text);

iw_status iwi_goal_read_text(const iw_log *log, const struct iwi_goal_source *source,
                             struct iwi_schedule **schedule_p)
{
    struct iwi_goal_text text = {
        .scan = {.log = log,
                 .file = source->name,
                 .p = source->data,
                 .end = source->data + source->size,
                 .line = 1},
        .unit_ps = source->unit_ps,
        .calc_max = (uint64_t)(IW_TIME_INPUT_MAX / source->unit_ps),
        .input = source->input,
        .data = source->data,
        .file_bytes = source->size,
    };
    iw_status status = goal_read_parts(&text);

    if (status == IW_OK) {
        status = check_file(&text);
    }
    if (status == IW_OK) {
        status = iwi_goal_finish(log, &text.builder, (uint32_t)text.ranks, schedule_p);
    }
    goal_text_release(&text);
    return status;
}

/* ---- parts, side by side ---- */

/* A part begins with a line that seems to begin a block: it may be inside a comment, or not be what it seems.
 * So a part counts only if the one before it ended exactly there, and nothing is wrong in it. From the first
 * one that does not count on, one reader goes on alone: it finds what is wrong, and tells the line.
 */

enum { MOST_PARTS = 16, PART_BYTES = 4 << 20, PAGES_BYTES = 1 << 20 };

struct part {
    struct iwi_goal_text text;
    const char *begin;
    iw_status status;
    pthread_t thread;
    bool has_thread;
};

/* The first line from `p` on that seems to begin a block; NULL: none. */
static const char *find_block(const char *p, const char *end)
{
    static const char line[] = "\nrank ";
    const size_t length = sizeof line - 1;

    while ((p = memmem(p, (size_t)(end - p), line, length)) != NULL) {
        p += length;
        if (p < end && iwi_goal_is_digit(*p)) {
            return p - (length - 1);
        }
    }
    return NULL;
}

/* Where parts but the first begin; returns how many these are. */
static size_t find_parts(const struct iwi_goal_text *text, struct part *parts)
{
    const size_t cpus = iwi_available_cpus(), most = text->file_bytes / PART_BYTES;
    const size_t wanted = most < cpus ? most : cpus, count = wanted < MOST_PARTS ? wanted : MOST_PARTS;
    const char *from = text->scan.p;
    size_t found = 0;

    for (size_t k = 1; k < count; k++) {
        const char *share = text->data + text->file_bytes / count * k;
        const char *begin = find_block(share > from ? share : from, text->scan.end);

        if (begin == NULL) {
            break;
        }
        parts[found++].begin = from = begin;
    }
    return found;
}

static void *read_side(void *arg)
{
    struct part *part = arg;

    part->status = goal_read_blocks(&part->text);
    return NULL;
}

static void start_parts(const struct iwi_goal_text *text, struct part *parts, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        struct part *part = &parts[k];
        const size_t at = (size_t)(part->begin - text->data);

        part->text = (struct iwi_goal_text){
            .scan = {.file = text->scan.file, .p = part->begin, .end = text->scan.end, .line = 1},
            .unit_ps = text->unit_ps,
            .calc_max = text->calc_max,
            .input = text->input,
            .data = text->data,
            .file_bytes = text->file_bytes,
            .forgotten = (at + PAGES_BYTES - 1) / PAGES_BYTES * PAGES_BYTES,
            .stop = k + 1 < count ? parts[k + 1].begin : NULL};
        part->has_thread = pthread_create(&part->thread, NULL, read_side, part) == 0;
    }
}

/* The text ended where the part begins, and the part has nothing in it that somebody has to be told of. */
static bool does_count(const struct iwi_goal_text *text, const struct part *part)
{
    return part->has_thread && part->status == IW_OK && text->scan.p == part->begin && text->ranks > 0 &&
           part->text.ranks == 0 &&
           text->builder.block_count + part->text.builder.block_count <= text->ranks &&
           (part->text.max_peer_place.line == 0 || part->text.max_peer < text->ranks);
}

static iw_status append(struct iwi_goal_text *text, struct iwi_goal_text *part)
{
    const uint64_t lines = text->scan.line - 1;

    IW_TRY(iwi_goal_append(text->scan.log, &text->builder, &part->builder, lines));
    if (text->repeated_labels == 0) {
        text->repeated = part->repeated;
        text->repeated.line += lines;
    }
    text->repeated_labels += part->repeated_labels;
    text->scan.p = part->scan.p;
    text->scan.line += part->scan.line - 1;
    text->is_over = part->is_over;
    return IW_OK;
}

/* The whole of a text whose scan is at its beginning, in parts side by side where it is large. What is found
 * and told is as if it were read by one. */
static iw_status goal_read_parts(struct iwi_goal_text *text)
{
    struct part parts[MOST_PARTS] = {{.has_thread = false}};
    const size_t count = find_parts(text, parts);
    bool goes_on = true;
    iw_status status;

    start_parts(text, parts, count);
    text->stop = count > 0 ? parts[0].begin : NULL;
    status = goal_read_blocks(text);
    for (size_t k = 0; k < count; k++) {
        if (parts[k].has_thread) {
            (void)pthread_join(parts[k].thread, NULL);
        }
        goes_on = goes_on && status == IW_OK && does_count(text, &parts[k]);
        if (goes_on) {
            status = append(text, &parts[k].text);
        }
        goal_text_release(&parts[k].text);
    }
    text->stop = NULL;
    return status == IW_OK && !text->is_over ? goal_read_blocks(text) : status;
}
