/* Reads one statement of a GOAL text: an operation, or a dependency between two labels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kit/files/goal/goal_text.h"

iw_status iwi_goal_fail_operation(const struct iwi_goal_text *text, const struct iwi_goal_place *place,
                                  const char *format, ...)
{
    char cause[256];
    va_list args;

    va_start(args, format);
    vsnprintf(cause, sizeof cause, format, args);
    va_end(args);
    if (place->label.length == 0) {
        return iwi_fail(text->scan.log, IW_ERR_FORMAT, "'%s:%" PRIu64 "': rank %" PRIu32 ": %s",
                        text->scan.file, place->line, place->rank, cause);
    }
    return iwi_fail(text->scan.log, IW_ERR_FORMAT, "'%s:%" PRIu64 "': rank %" PRIu32 " operation '%.*s': %s",
                    text->scan.file, place->line, place->rank, IWI_GOAL_WORD_ARGS(place->label), cause);
}

/* Digits, or -1 for any. */
static iw_status read_number_or_any(struct iwi_goal_scan *scan, const char *what, uint32_t *value_p)
{
    uint64_t value;
    bool is_any;

    IW_TRY(iwi_goal_skip_blanks(scan));
    is_any = iwi_goal_take(scan, "-");
    if (is_any && !iwi_goal_is_digit(iwi_goal_peek(scan))) {
        return iwi_goal_unexpected(scan, "1 after '-'");
    }
    IW_TRY(iwi_goal_read_number(scan, what, UINT32_MAX, &value));
    if (is_any && value != 1) {
        return iwi_fail(scan->log, IW_ERR_RANGE, "'%s:%" PRIu64 "': %s is negative (only -1 has a meaning)",
                        scan->file, scan->line, what);
    }
    *value_p = is_any ? IWI_ANY : (uint32_t)value;
    return IW_OK;
}

static iw_status read_id(struct iwi_goal_text *text, const char *what, uint8_t *id_p)
{
    uint64_t value;

    IW_TRY(iwi_goal_read_number(&text->scan, what, UINT64_MAX, &value));
    if (value > IWI_GOAL_MAX_ID) {
        return iwi_goal_fail_operation(text, &text->here, "%s %" PRIu64 " is above %d", what, value,
                                       IWI_GOAL_MAX_ID);
    }
    *id_p = (uint8_t)value;
    return IW_OK;
}

enum { HAS_TAG = 1, HAS_CPU = 2, HAS_NIC = 4 };

/* One of "tag N", "cpu N", "nic N"; `seen` are those read before. */
static iw_status read_option(struct iwi_goal_text *text, struct iwi_node *node, unsigned *seen)
{
    const bool is_calc = node->kind == IWI_CALC;
    struct iwi_goal_scan *scan = &text->scan;
    const char *name = scan->p;
    unsigned option;

    if (iwi_goal_take(scan, "cpu")) {
        option = HAS_CPU;
    } else if (!is_calc && iwi_goal_take(scan, "tag")) {
        option = HAS_TAG;
    } else if (!is_calc && iwi_goal_take(scan, "nic")) {
        option = HAS_NIC;
    } else {
        return iwi_goal_unexpected(scan, is_calc ? "'cpu' or the end of the line"
                                                 : "'tag', 'cpu', 'nic' or the end of the line");
    }
    if ((*seen & option) != 0) {
        return iwi_goal_fail_operation(text, &text->here, "'%.3s' is given twice", name);
    }
    *seen |= option;
    if (option == HAS_TAG) {
        return read_number_or_any(scan, "the tag", &node->tag);
    }
    return option == HAS_CPU ? read_id(text, "cpu", &node->cpu) : read_id(text, "nic", &node->nic);
}

static iw_status read_options(struct iwi_goal_text *text, struct iwi_node *node)
{
    unsigned seen = 0;

    for (;;) {
        IW_TRY(iwi_goal_skip_blanks(&text->scan));
        if (!iwi_goal_is_letter(iwi_goal_peek(&text->scan))) {
            return IW_OK;
        }
        IW_TRY(read_option(text, node, &seen));
    }
}

static iw_status read_peer(struct iwi_goal_text *text, struct iwi_node *node)
{
    const bool is_recv = node->kind == IWI_RECV;

    IW_TRY(
        read_number_or_any(&text->scan, is_recv ? "the source rank" : "the destination rank", &node->peer));
    if (node->peer == IWI_ANY) {
        return is_recv
                   ? IW_OK
                   : iwi_goal_fail_operation(text, &text->here, "a send needs a destination rank, not -1");
    }
    if (text->ranks > 0 && node->peer >= text->ranks) {
        return iwi_goal_fail_operation(text, &text->here,
                                       "peer %" PRIu32 " is not a rank below num_ranks %" PRIu64, node->peer,
                                       text->ranks);
    }
    if (text->max_peer_place.line == 0 || node->peer > text->max_peer) {
        text->max_peer = node->peer;
        text->max_peer_place = text->here;
    }
    return IW_OK;
}

static iw_status read_message(struct iwi_goal_text *text, struct iwi_node *node)
{
    IW_TRY(iwi_goal_read_number(&text->scan, "the message size", IWI_GOAL_MAX_BYTES, &node->amount));
    IW_TRY(iwi_goal_read_keyword(&text->scan, "b"));
    IW_TRY(iwi_goal_read_keyword(&text->scan, node->kind == IWI_SEND ? "to" : "from"));
    return read_peer(text, node);
}

/* Consumes the name of an operation; 0 if there is none. */
static uint8_t take_kind(struct iwi_goal_scan *scan)
{
    if (iwi_goal_take(scan, "send")) {
        return IWI_SEND;
    }
    if (iwi_goal_take(scan, "recv")) {
        return IWI_RECV;
    }
    return iwi_goal_take(scan, "calc") ? IWI_CALC : 0;
}

/* 0: the word is not exactly the name of an operation. */
static uint8_t kind_of_word(const struct iwi_goal_word *word)
{
    struct iwi_goal_scan scan = {.p = word->text, .end = word->text + word->length};
    const uint8_t kind = take_kind(&scan);

    return scan.p == scan.end ? kind : 0;
}

static iw_status read_operation(struct iwi_goal_text *text, uint8_t kind)
{
    struct iwi_node node = {.kind = kind};

    if (kind == IWI_CALC) {
        uint64_t length;

        IW_TRY(iwi_goal_read_number(&text->scan, "the length of the calc", text->calc_max, &length));
        node.amount = length * (uint64_t)text->unit_ps;
        node.flags = length > 0 ? IWI_NODE_PHASE : 0; /* calc 0 stands for a wait */
    } else {
        IW_TRY(read_message(text, &node));
    }
    IW_TRY(read_options(text, &node));
    return iwi_goal_add_node(text->scan.log, &text->builder, &node);
}

/* The label's first meaning stays. */
static iw_status define_label(struct iwi_goal_text *text)
{
    struct iwi_goal_label *label;
    uint32_t index;

    IW_TRY(iwi_goal_labels_intern(text->scan.log, &text->labels, &text->here.label, &index));
    label = &text->labels.labels[index];
    if (label->node == IWI_GOAL_UNDEFINED) {
        label->node = iwi_goal_block_nodes(&text->builder);
        return IW_OK;
    }
    if (text->repeated_labels++ == 0) {
        text->repeated = text->here;
    }
    return IW_OK;
}

static iw_status read_dependency(struct iwi_goal_text *text, const struct iwi_goal_word *dependent)
{
    static const char expected[] = "':', 'requires' or 'irequires' after a label";
    const iw_log *log = text->scan.log;
    const bool is_start = iwi_goal_take(&text->scan, "irequires");
    const struct iwi_goal_label *labels;
    struct iwi_goal_word required;
    uint32_t a, b;

    if (!is_start && !iwi_goal_take(&text->scan, "requires")) {
        return iwi_goal_unexpected(&text->scan, expected);
    }
    IW_TRY(iwi_goal_read_word(&text->scan, "a label", &required));
    IW_TRY(iwi_goal_labels_intern(log, &text->labels, dependent, &a));
    IW_TRY(iwi_goal_labels_intern(log, &text->labels, &required, &b));
    if (a == b) {
        text->here.label = *dependent;
        return iwi_goal_fail_operation(text, &text->here, "it depends on itself");
    }
    labels = text->labels.labels;
    if (labels[a].node != IWI_GOAL_UNDEFINED && labels[b].node != IWI_GOAL_UNDEFINED) {
        return iwi_goal_add_edge(log, &text->builder,
                                 (struct iwi_goal_edge){labels[a].node, labels[b].node, is_start});
    }
    IW_TRY(iwi_grow(log, (void **)&text->pending, &text->pending_capacity, text->pending_count + 1,
                    sizeof *text->pending));
    text->pending[text->pending_count++] = (struct iwi_goal_pending){a, b, is_start, text->scan.line};
    return IW_OK;
}

iw_status iwi_goal_read_statement(struct iwi_goal_text *text)
{
    struct iwi_goal_scan *scan = &text->scan;
    struct iwi_goal_word word;
    uint8_t kind;

    text->here = (struct iwi_goal_place){scan->line, text->rank, {NULL, 0, 0}};
    IW_TRY(iwi_goal_read_word(scan, "an operation, a label or '}'", &word));
    IW_TRY(iwi_goal_skip_blanks(scan));
    if (iwi_goal_peek(scan) == ':') {
        scan->p++;
        text->here.label = word;
        IW_TRY(define_label(text));
        IW_TRY(iwi_goal_skip_blanks(scan));
        kind = take_kind(scan);
        return kind != 0 ? read_operation(text, kind) : iwi_goal_unexpected(scan, "'calc', 'send' or 'recv'");
    }
    kind = kind_of_word(&word);
    if (kind != 0 && !iwi_goal_is_letter(iwi_goal_peek(scan))) { /* a letter: a label that is called so */
        return read_operation(text, kind);
    }
    return read_dependency(text, &word);
}

iw_status iwi_goal_resolve_pending(struct iwi_goal_text *text)
{
    const struct iwi_goal_label *labels = text->labels.labels;

    for (size_t i = 0; i < text->pending_count; i++) {
        const struct iwi_goal_pending *pending = &text->pending[i];
        const struct iwi_goal_label *a = &labels[pending->label], *b = &labels[pending->required];
        const struct iwi_goal_label *missing = a->node == IWI_GOAL_UNDEFINED ? a : b;

        if (missing->node == IWI_GOAL_UNDEFINED) {
            return iwi_fail(text->scan.log, IW_ERR_FORMAT,
                            "'%s:%" PRIu64 "': rank %" PRIu32 ": label '%.*s' is not defined in this rank",
                            text->scan.file, pending->line, text->rank, IWI_GOAL_WORD_ARGS(missing->word));
        }
        IW_TRY(iwi_goal_add_edge(text->scan.log, &text->builder,
                                 (struct iwi_goal_edge){a->node, b->node, pending->is_start}));
    }
    text->pending_count = 0;
    return IW_OK;
}
