/* Finds the items of a JSON text by brackets and quotes, in a buffer that moves along the file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/json/json_items.h"

#include <stdlib.h>

#include "features/explain/json/json_extent.h"

enum { CHUNK_BYTES = 1 << 20 };

enum place {
    AT_START,       /* before the root */
    BEFORE_MEMBER,  /* of the root object: a key, or its end */
    AFTER_MEMBER,   /* a comma, or its end */
    BEFORE_ELEMENT, /* of a list, or its end */
    AFTER_ELEMENT,  /* a comma, or its end */
    AT_END          /* behind the root */
};

static iw_status start(const iw_log *log, enum iwi_json_form form, struct iwi_json_items *items)
{
    items->form = form;
    items->buffer = iwi_new_array(log, CHUNK_BYTES, 1);
    items->capacity = CHUNK_BYTES;
    if (items->buffer == NULL) {
        iwi_json_close(items);
        return IW_ERR_NOMEM;
    }
    return IW_OK;
}

iw_status iwi_json_open(const iw_log *log, const char *path, enum iwi_json_form form,
                        struct iwi_json_items *items)
{
    *items = (struct iwi_json_items){0};
    IW_TRY(iwi_unpacked_open(log, path, &items->bytes));
    return start(log, form, items);
}

iw_status iwi_json_open_memory(const iw_log *log, const char *name, const void *data, size_t size,
                               enum iwi_json_form form, struct iwi_json_items *items)
{
    *items = (struct iwi_json_items){0};
    IW_TRY(iwi_unpacked_open_memory(log, name, data, size, &items->bytes));
    return start(log, form, items);
}

void iwi_json_close(struct iwi_json_items *items)
{
    iwi_unpacked_close(&items->bytes);
    free(items->buffer);
    items->buffer = NULL;
}

static uint64_t byte_here(const struct iwi_json_items *items)
{
    return items->buffer_byte + items->at;
}

/* Keeps what begins at `at`, moved to the front, and reads on behind it. */
static iw_status read_on(struct iwi_json_items *items)
{
    const size_t kept = items->used - items->at;
    size_t got;

    memmove(items->buffer, items->buffer + items->at, kept);
    items->buffer_byte += items->at;
    items->at = 0;
    items->used = kept;
    if (kept == items->capacity) {
        if (kept > IWI_JSON_ITEM_BYTES_MAX) {
            return iwi_json_fail(items, items->buffer_byte, IW_ERR_RANGE,
                                 "one value of more than %d MiB: this is no trace that can be read",
                                 IWI_JSON_ITEM_BYTES_MAX >> 20);
        }
        IW_TRY(iwi_grow(items->bytes.log, (void **)&items->buffer, &items->capacity, 2 * kept, 1));
    }
    IW_TRY(iwi_unpacked_read(&items->bytes, items->buffer + kept, items->capacity - kept, &got));
    items->used += got;
    items->has_ended = items->used < items->capacity;
    return IW_OK;
}

/* The next byte that is no space, where it stands; 0 at the end of the file. */
static iw_status peek(struct iwi_json_items *items, char *found_p)
{
    for (;;) {
        while (items->at < items->used && iwi_json_is_space(items->buffer[items->at])) {
            items->at++;
        }
        if (items->at < items->used || items->has_ended) {
            *found_p = '\0';
            if (items->at < items->used) {
                *found_p = items->buffer[items->at];
            }
            return IW_OK;
        }
        IW_TRY(read_on(items));
    }
}

static iw_status ends_early(const struct iwi_json_items *items)
{
    return iwi_json_fail(items, byte_here(items), IW_ERR_TRUNCATED,
                         "the file ends early: was it still being written, or only partly copied?");
}

static iw_status unexpected(const struct iwi_json_items *items, const char *wanted)
{
    if (items->at == items->used) {
        return ends_early(items);
    }
    return iwi_json_fail(items, byte_here(items), IW_ERR_FORMAT, "no JSON: %s expected", wanted);
}

/* The value that begins here: its text, and for objects their members. */
static iw_status take_value(struct iwi_json_items *items, struct iwi_json_item *item)
{
    for (;;) {
        const char *text = items->buffer + items->at;
        size_t size = 0;
        const enum iwi_json_extent extent =
            iwi_json_extent(text, items->used - items->at, items->has_ended, item, &size);

        if (extent == IWI_JSON_WHOLE) {
            item->text = text;
            item->size = size;
            item->byte = byte_here(items);
            items->at += size;
            return IW_OK;
        }
        if (extent == IWI_JSON_TOO_DEEP) {
            return iwi_json_fail(items, byte_here(items), IW_ERR_RANGE, "a value nested more than %d deep",
                                 IWI_JSON_DEPTH_MAX);
        }
        if (extent == IWI_JSON_NONE) {
            return unexpected(items, "a value");
        }
        if (items->has_ended) {
            return ends_early(items);
        }
        IW_TRY(read_on(items));
    }
}

/* "key": and what stands behind it; leaves `at` on the value. */
static iw_status take_key(struct iwi_json_items *items)
{
    struct iwi_json_item key = {0};
    size_t size;
    char next;

    IW_TRY(take_value(items, &key));
    if (key.text[0] != '"') {
        items->at -= key.size;
        return unexpected(items, "a key in quotes");
    }
    size = key.size - 2 < sizeof items->key - 1 ? key.size - 2 : sizeof items->key - 1;
    memcpy(items->key, key.text + 1, size);
    items->key[size] = '\0';
    IW_TRY(peek(items, &next));
    if (next != ':') {
        return unexpected(items, "':'");
    }
    items->at++;
    return IW_OK;
}

static iw_status take_item(struct iwi_json_items *items, enum place after, struct iwi_json_item *item)
{
    IW_TRY(take_value(items, item));
    item->key = items->key;
    item->is_element = after == AFTER_ELEMENT;
    items->place = (uint8_t)after;
    return IW_OK;
}

static iw_status at_start(struct iwi_json_items *items, char next, struct iwi_json_item *item)
{
    if (items->form == IWI_JSON_MANY_ROOTS) {
        if (next == '\0' && items->at == items->used) {
            items->place = AT_END;
            return IW_OK;
        }
        return take_item(items, AT_START, item);
    }
    if (next != '{' && next != '[') {
        return unexpected(items, "'{' or '['");
    }
    items->at++;
    items->is_in_object = next == '{';
    items->place = next == '{' ? BEFORE_MEMBER : BEFORE_ELEMENT;
    return IW_OK;
}

/* A member whose value is an array is a list of items; every other one is an item. */
static iw_status before_member(struct iwi_json_items *items, char next, struct iwi_json_item *item)
{
    if (next == '}') {
        items->at++;
        items->place = AT_END;
        return IW_OK;
    }
    IW_TRY(take_key(items));
    IW_TRY(peek(items, &next));
    if (next == '[') {
        items->at++;
        items->place = BEFORE_ELEMENT;
        return IW_OK;
    }
    return take_item(items, AFTER_MEMBER, item);
}

static iw_status after(struct iwi_json_items *items, char next, char end, enum place again, enum place ended)
{
    if (next != ',' && next != end) {
        return unexpected(items, end == '}' ? "',' or '}'" : "',' or ']'");
    }
    items->at++;
    items->place = (uint8_t)(next == end ? ended : again);
    return IW_OK;
}

static iw_status take_step(struct iwi_json_items *items, struct iwi_json_item *item)
{
    const enum place above = items->is_in_object ? AFTER_MEMBER : AT_END;
    char next;

    IW_TRY(peek(items, &next));
    switch ((enum place)items->place) {
    case AT_START: return at_start(items, next, item);
    case BEFORE_MEMBER: return before_member(items, next, item);
    case AFTER_MEMBER: return after(items, next, '}', BEFORE_MEMBER, AT_END);
    case BEFORE_ELEMENT:
        return next == ']' ? after(items, next, ']', BEFORE_ELEMENT, above)
                           : take_item(items, AFTER_ELEMENT, item);
    case AFTER_ELEMENT: return after(items, next, ']', BEFORE_ELEMENT, above);
    case AT_END: break;
    }
    return items->at < items->used ? unexpected(items, "the end of the file") : IW_OK;
}

iw_status iwi_json_next(struct iwi_json_items *items, struct iwi_json_item *item)
{
    bool is_over;

    item->text = NULL;
    do {
        is_over = items->place == AT_END;
        IW_TRY(take_step(items, item));
    } while (item->text == NULL && !is_over);
    return IW_OK;
}
