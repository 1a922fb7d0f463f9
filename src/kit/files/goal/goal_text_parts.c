/* Reads GOAL text in parts, side by side.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part begins with a line that seems to begin a block: it may be inside a comment, or not be what it seems.
 * So a part counts only if the one before it ended exactly there, and nothing is wrong in it. From the first
 * one that does not count on, one reader goes on alone: it finds what is wrong, and tells the line.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/available.h"
#include "kit/files/goal/goal_text.h"

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

static void *read_part(void *arg)
{
    struct part *part = arg;

    part->status = iwi_goal_read_blocks(&part->text);
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
        part->has_thread = pthread_create(&part->thread, NULL, read_part, part) == 0;
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

iw_status iwi_goal_read_parts(struct iwi_goal_text *text)
{
    struct part parts[MOST_PARTS] = {{.has_thread = false}};
    const size_t count = find_parts(text, parts);
    bool goes_on = true;
    iw_status status;

    start_parts(text, parts, count);
    text->stop = count > 0 ? parts[0].begin : NULL;
    status = iwi_goal_read_blocks(text);
    for (size_t k = 0; k < count; k++) {
        if (parts[k].has_thread) {
            (void)pthread_join(parts[k].thread, NULL);
        }
        goes_on = goes_on && status == IW_OK && does_count(text, &parts[k]);
        if (goes_on) {
            status = append(text, &parts[k].text);
        }
        iwi_goal_text_release(&parts[k].text);
    }
    text->stop = NULL;
    return status == IW_OK && !text->is_over ? iwi_goal_read_blocks(text) : status;
}
