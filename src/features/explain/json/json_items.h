/* JSON of any length in bounded memory, one item at a time.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An *item* is what a reader wants to see whole: an element of an array below the root, or what else is a
 * member of the root object, or a root of its own where a file has many (lines of JSON). Its extent is found
 * by its brackets and quotes alone; iwi_json_parse() (json_value.h) then reads those that are wanted. What is
 * skipped is therefore not checked.
 */
#ifndef IWI_JSON_ITEMS_H
#define IWI_JSON_ITEMS_H

#include <string.h>
#include <zlib.h>

#include "core/base/base.h"

/* ---- The bytes of a file or of memory, unpacked where gzip packed them, in pieces of any size ---- */

struct iwi_unpacked {
    const iw_log *log;
    const char *name; /* borrowed; for messages */
    int fd;           /* -1: memory */
    unsigned char *buffer;
    const unsigned char *in; /* packed bytes that were not used yet */
    size_t in_size;
    bool is_packed, is_in_member, has_ended;
    z_stream zlib;
};

/* IW_ERR_IO, IW_ERR_NOMEM. To be closed if IW_OK. */
IW_NODISCARD iw_status iwi_unpacked_open(const iw_log *log, const char *path, struct iwi_unpacked *bytes);
IW_NODISCARD iw_status iwi_unpacked_open_memory(const iw_log *log, const char *name, const void *data,
                                                size_t size, struct iwi_unpacked *bytes);

/* Fills to[0 .. size - 1]; *got_p < size only at the end. IW_ERR_IO; IW_ERR_FORMAT: damaged;
 * IW_ERR_TRUNCATED: the packed file ends early. */
IW_NODISCARD iw_status iwi_unpacked_read(struct iwi_unpacked *bytes, char *to, size_t size, size_t *got_p);

void iwi_unpacked_close(struct iwi_unpacked *bytes);

/* ---- items ---- */

enum {
    IWI_MOST_JSON_ITEM_BYTES = 16 << 20,
    IWI_MOST_JSON_DEPTH = 64,
    IWI_MOST_JSON_MEMBERS = 32,
    IWI_JSON_KEY_SIZE = 64
};

/* As in the file: strings have their quotes. */
struct iwi_json_span {
    const char *text;
    size_t size;
};

struct iwi_json_item {
    const char *key;  /* of the root's member that it is, or is in; cut; "" where the root is no object */
    bool is_element;  /* of an array: `key` may have more */
    const char *text; /* valid until the next item; NULL: there is no more */
    size_t size;
    uint64_t byte; /* where it begins, unpacked */
    struct iwi_json_span keys[IWI_MOST_JSON_MEMBERS],
        values[IWI_MOST_JSON_MEMBERS]; /* the first of an object */
    unsigned member_count;
};

enum iwi_json_form {
    IWI_JSON_ONE_ROOT,  /* an object whose arrays are lists of items, or an array of items */
    IWI_JSON_MANY_ROOTS /* one item after the other, as a rule one a line */
};

struct iwi_json_items {
    struct iwi_unpacked bytes;
    enum iwi_json_form form;
    char *buffer;
    size_t at, used, capacity; /* at: what was not looked at yet */
    uint64_t buffer_byte;      /* of buffer[0] */
    bool has_ended;
    uint8_t place; /* enum in json_items.c */
    bool is_in_object;
    char key[IWI_JSON_KEY_SIZE];
};

IW_NODISCARD iw_status iwi_json_open(const iw_log *log, const char *path, enum iwi_json_form form,
                                     struct iwi_json_items *items);
IW_NODISCARD iw_status iwi_json_open_memory(const iw_log *log, const char *name, const void *data,
                                            size_t size, enum iwi_json_form form,
                                            struct iwi_json_items *items);
void iwi_json_close(struct iwi_json_items *items);

/* The next one. IW_ERR_FORMAT, IW_ERR_TRUNCATED, IW_ERR_RANGE (an item that is too long or too deep),
 * IW_ERR_IO: logged with file and byte. */
IW_NODISCARD iw_status iwi_json_next(struct iwi_json_items *items, struct iwi_json_item *item);

/* iwi_json_fail(items, byte, IW_ERR_RANGE, "key '%s': ...", key) logs "'file', byte 12: key ...". */
#define iwi_json_fail(items, byte, status, format, ...)                                                  \
    iwi_fail((items)->bytes.log, status, "'%s', byte %" PRIu64 ": " format, (items)->bytes.name, (byte), \
             ##__VA_ARGS__)

/* The value of a member of an object, unread; its size is 0 if it is not there. */
static inline struct iwi_json_span iwi_json_member(const struct iwi_json_item *item, const char *key)
{
    const size_t size = strlen(key);

    for (unsigned i = 0; i < item->member_count; i++) {
        if (item->keys[i].size == size + 2 && memcmp(item->keys[i].text + 1, key, size) == 0) {
            return item->values[i];
        }
    }
    return (struct iwi_json_span){0};
}

/* The members of an object that is the value of a member. False: it is no object, or not there. */
bool iwi_json_inside(struct iwi_json_span span, struct iwi_json_item *object);

/* Whether a string begins with `text` (as written in the file: without escapes). */
static inline bool iwi_json_begins(struct iwi_json_span span, const char *text)
{
    const size_t size = strlen(text);

    return span.size >= size + 2 && span.text[0] == '"' && memcmp(span.text + 1, text, size) == 0;
}

static inline bool iwi_json_is(struct iwi_json_span span, const char *text)
{
    return span.size == strlen(text) + 2 && iwi_json_begins(span, text);
}

#endif
