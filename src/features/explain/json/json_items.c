/* Finds the items of a JSON text by brackets and quotes, in a buffer that moves along the file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/json/json_items.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum extent {
    JSON_WHOLE,
    JSON_GOES_ON, /* behind what is there */
    JSON_TOO_DEEP,
    JSON_NONE /* no value begins here */
};

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* ---- a file or memory, through zlib where it begins as files of gzip do ---- */

enum { PACKED_BYTES = 256 << 10, GZIP_ONLY = 16 + MAX_WBITS };

/* More packed bytes, once all were used; in_size stays 0 at the end of the file. */
static iw_status fill(struct iwi_unpacked *bytes)
{
    ssize_t got = 0;

    if (bytes->fd < 0) {
        return IW_OK;
    }
    do {
        got = read(bytes->fd, bytes->buffer, PACKED_BYTES);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return iwi_fail(bytes->log, IW_ERR_IO, "cannot read '%s': %s", bytes->name, strerror(errno));
    }
    bytes->in = bytes->buffer;
    bytes->in_size = (size_t)got;
    return IW_OK;
}

static iw_status begin(struct iwi_unpacked *bytes)
{
    const bool is_packed = bytes->in_size >= 2 && bytes->in[0] == 0x1f && bytes->in[1] == 0x8b;

    if (is_packed && inflateInit2(&bytes->zlib, GZIP_ONLY) != Z_OK) {
        return iwi_fail(bytes->log, IW_ERR_NOMEM, "out of memory for unpacking '%s'", bytes->name);
    }
    bytes->is_packed = is_packed;
    return IW_OK;
}

iw_status iwi_unpacked_open(const iw_log *log, const char *path, struct iwi_unpacked *bytes)
{
    iw_status status;

    *bytes = (struct iwi_unpacked){.log = log, .name = path, .fd = -1};
    bytes->buffer = iwi_new_array(log, PACKED_BYTES, 1);
    if (bytes->buffer == NULL) {
        return IW_ERR_NOMEM;
    }
    bytes->fd = open(path, O_RDONLY | O_CLOEXEC);
    status = bytes->fd >= 0 ? fill(bytes)
                            : iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    if (status == IW_OK) {
        status = begin(bytes);
    }
    if (status != IW_OK) {
        iwi_unpacked_close(bytes);
    }
    return status;
}

iw_status iwi_unpacked_open_memory(const iw_log *log, const char *name, const void *data, size_t size,
                                   struct iwi_unpacked *bytes)
{
    *bytes = (struct iwi_unpacked){.log = log, .name = name, .fd = -1, .in = data, .in_size = size};
    return begin(bytes);
}

static iw_status read_plain(struct iwi_unpacked *bytes, char *to, size_t size, size_t *got_p)
{
    size_t got = 0;

    while (got < size && !bytes->has_ended) {
        const size_t part = bytes->in_size < size - got ? bytes->in_size : size - got;

        if (part > 0) {
            memcpy(to + got, bytes->in, part);
            bytes->in += part;
            bytes->in_size -= part;
            got += part;
        } else {
            IW_TRY(fill(bytes));
            bytes->has_ended = bytes->in_size == 0;
        }
    }
    *got_p = got;
    return IW_OK;
}

/* One call of inflate() on what is there. Files may hold several packed members, one after the other. */
static iw_status inflate_some(struct iwi_unpacked *bytes)
{
    const size_t in_size = bytes->in_size < UINT32_MAX ? bytes->in_size : UINT32_MAX;
    int result;

    bytes->zlib.next_in = (z_const Bytef *)bytes->in;
    bytes->zlib.avail_in = (uInt)in_size;
    result = inflate(&bytes->zlib, Z_NO_FLUSH);
    bytes->is_in_member = result != Z_STREAM_END;
    bytes->in += in_size - bytes->zlib.avail_in;
    bytes->in_size -= in_size - bytes->zlib.avail_in;
    if (result == Z_STREAM_END) {
        (void)inflateReset(&bytes->zlib);
    } else if (result == Z_MEM_ERROR) {
        return iwi_fail(bytes->log, IW_ERR_NOMEM, "out of memory for unpacking '%s'", bytes->name);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return iwi_fail(bytes->log, IW_ERR_FORMAT, "'%s' is damaged: gzip cannot unpack it (%s)", bytes->name,
                        bytes->zlib.msg != NULL ? bytes->zlib.msg : "zlib gives no reason");
    }
    return IW_OK;
}

static iw_status read_packed(struct iwi_unpacked *bytes, char *to, size_t size, size_t *got_p)
{
    size_t got = 0;

    while (got < size && !bytes->has_ended) {
        const size_t room = size - got < UINT32_MAX ? size - got : UINT32_MAX;

        if (bytes->in_size == 0) {
            IW_TRY(fill(bytes));
        }
        if (bytes->in_size == 0) {
            bytes->has_ended = true;
            if (bytes->is_in_member) {
                return iwi_fail(bytes->log, IW_ERR_TRUNCATED,
                                "'%s' ends early: gzip data is missing; copy it again", bytes->name);
            }
        } else {
            bytes->zlib.next_out = (Bytef *)(to + got);
            bytes->zlib.avail_out = (uInt)room;
            IW_TRY(inflate_some(bytes));
            got += room - bytes->zlib.avail_out;
        }
    }
    *got_p = got;
    return IW_OK;
}

iw_status iwi_unpacked_read(struct iwi_unpacked *bytes, char *to, size_t size, size_t *got_p)
{
    return bytes->is_packed ? read_packed(bytes, to, size, got_p) : read_plain(bytes, to, size, got_p);
}

void iwi_unpacked_close(struct iwi_unpacked *bytes)
{
    if (bytes->is_packed) {
        (void)inflateEnd(&bytes->zlib);
    }
    if (bytes->fd >= 0) {
        (void)close(bytes->fd);
    }
    free(bytes->buffer);
    *bytes = (struct iwi_unpacked){.fd = -1};
}

/* ---- how far a value reaches; what is not valid is found by whoever parses it ---- */

/* The byte behind the string that begins with the quote at `at`, or NULL: it goes on behind `end`. */
static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        if (*at == '"') {
            return at + 1;
        }
        at += *at == '\\';
    }
    return NULL;
}

static bool ends_scalar(char c)
{
    return is_space(c) || c == ',' || c == ':' || c == ']' || c == '}' || c == '[' || c == '{' || c == '"';
}

/* The byte behind a number or a word; `end` where nothing ends it. */
static const char *scalar_end(const char *at, const char *end)
{
    while (at < end && !ends_scalar(*at)) {
        at++;
    }
    return at;
}

/* What the first level of an object was last seen to be. */
struct members {
    struct iwi_json_item *item;
    const char *key, *value; /* NULL: not yet */
    size_t key_size;
};

/* A string at the first level: a key where none is open. */
static void see_string(struct members *of, const char *at, size_t size)
{
    if (of->key == NULL) {
        of->key = at;
        of->key_size = size;
    }
}

/* The value of the open key reaches from its first byte that is no space to before `end`. */
static void close_member(struct members *of, const char *end)
{
    struct iwi_json_item *item = of->item;

    if (of->key != NULL && of->value != NULL && item->member_count < IWI_MOST_JSON_MEMBERS) {
        while (of->value < end && is_space(*of->value)) {
            of->value++;
        }
        while (end > of->value && is_space(end[-1])) {
            end--;
        }
        item->keys[item->member_count] = (struct iwi_json_span){of->key, of->key_size};
        item->values[item->member_count++] = (struct iwi_json_span){of->value, (size_t)(end - of->value)};
    }
    of->key = NULL;
    of->value = NULL;
}

/* An object or an array, from its bracket at `at`. */
static enum extent nested(const char *at, const char *end, struct iwi_json_item *item, const char **end_p)
{
    const bool is_object = *at == '{';
    struct members members = {.item = item};
    unsigned depth = 0;

    for (; at < end; at++) {
        switch (*at) {
        case '"': {
            const char *behind = string_end(at, end);

            if (behind == NULL) {
                return JSON_GOES_ON;
            }
            if (depth == 1) {
                see_string(&members, at, (size_t)(behind - at));
            }
            at = behind - 1;
            break;
        }
        case ':':
            if (depth == 1) {
                members.value = at + 1;
            }
            break;
        case ',':
            if (depth == 1) {
                close_member(&members, at);
            }
            break;
        case '{':
        case '[':
            if (++depth > IWI_MOST_JSON_DEPTH) {
                return JSON_TOO_DEEP;
            }
            break;
        case '}':
        case ']':
            if (--depth == 0) {
                close_member(&members, at);
                item->member_count = is_object ? item->member_count : 0;
                *end_p = at + 1;
                return JSON_WHOLE;
            }
            break;
        default: break;
        }
    }
    return JSON_GOES_ON;
}

/* Sets *size_p, and the members of `item` if it is an object; has_ended: nothing comes behind text[size - 1].
 */
static enum extent json_extent(const char *text, size_t size, bool has_ended, struct iwi_json_item *item,
                               size_t *size_p)
{
    const char *end = text + size, *behind = NULL;
    enum extent extent = JSON_WHOLE;

    item->member_count = 0;
    if (size == 0) {
        return JSON_GOES_ON;
    }
    if (*text == '{' || *text == '[') {
        extent = nested(text, end, item, &behind);
    } else if (*text == '"') {
        behind = string_end(text, end);
        extent = behind != NULL ? JSON_WHOLE : JSON_GOES_ON;
    } else {
        behind = scalar_end(text, end);
        extent = behind == text ? JSON_NONE : behind == end && !has_ended ? JSON_GOES_ON : JSON_WHOLE;
    }
    if (extent == JSON_WHOLE) {
        *size_p = (size_t)(behind - text);
    }
    return extent;
}

bool iwi_json_inside(struct iwi_json_span span, struct iwi_json_item *object)
{
    size_t size;

    return span.size > 0 && span.text[0] == '{' &&
           json_extent(span.text, span.size, true, object, &size) == JSON_WHOLE;
}

/* ---- items ---- */

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
        if (kept > IWI_MOST_JSON_ITEM_BYTES) {
            return iwi_json_fail(items, items->buffer_byte, IW_ERR_RANGE,
                                 "a value exceeds %d MiB: the file is not a readable trace",
                                 IWI_MOST_JSON_ITEM_BYTES >> 20);
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
        while (items->at < items->used && is_space(items->buffer[items->at])) {
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
                         "the file ends early: it is still being written, or was copied only in part");
}

static iw_status unexpected(const struct iwi_json_items *items, const char *wanted)
{
    if (items->at == items->used) {
        return ends_early(items);
    }
    return iwi_json_fail(items, byte_here(items), IW_ERR_FORMAT, "not JSON: %s expected", wanted);
}

/* The value that begins here: its text, and for objects their members. */
static iw_status take_value(struct iwi_json_items *items, struct iwi_json_item *item)
{
    for (;;) {
        const char *text = items->buffer + items->at;
        size_t size = 0;
        const enum extent extent = json_extent(text, items->used - items->at, items->has_ended, item, &size);

        if (extent == JSON_WHOLE) {
            item->text = text;
            item->size = size;
            item->byte = byte_here(items);
            items->at += size;
            return IW_OK;
        }
        if (extent == JSON_TOO_DEEP) {
            return iwi_json_fail(items, byte_here(items), IW_ERR_RANGE, "a value is nested more than %d deep",
                                 IWI_MOST_JSON_DEPTH);
        }
        if (extent == JSON_NONE) {
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
