/* How far a JSON value reaches. Exact for valid JSON; what is not valid is found by whoever parses it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/json/json_extent.h"

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
    return iwi_json_is_space(c) || c == ',' || c == ':' || c == ']' || c == '}' || c == '[' || c == '{' ||
           c == '"';
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

    if (of->key != NULL && of->value != NULL && item->member_count < IWI_JSON_MEMBERS_MAX) {
        while (of->value < end && iwi_json_is_space(*of->value)) {
            of->value++;
        }
        while (end > of->value && iwi_json_is_space(end[-1])) {
            end--;
        }
        item->keys[item->member_count] = (struct iwi_json_span){of->key, of->key_size};
        item->values[item->member_count++] = (struct iwi_json_span){of->value, (size_t)(end - of->value)};
    }
    of->key = NULL;
    of->value = NULL;
}

/* An object or an array, from its bracket at `at`. */
static enum iwi_json_extent nested(const char *at, const char *end, struct iwi_json_item *item,
                                   const char **end_p)
{
    const bool is_object = *at == '{';
    struct members members = {.item = item};
    unsigned depth = 0;

    for (; at < end; at++) {
        switch (*at) {
        case '"': {
            const char *behind = string_end(at, end);

            if (behind == NULL) {
                return IWI_JSON_GOES_ON;
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
            if (++depth > IWI_JSON_DEPTH_MAX) {
                return IWI_JSON_TOO_DEEP;
            }
            break;
        case '}':
        case ']':
            if (--depth == 0) {
                close_member(&members, at);
                item->member_count = is_object ? item->member_count : 0;
                *end_p = at + 1;
                return IWI_JSON_WHOLE;
            }
            break;
        default: break;
        }
    }
    return IWI_JSON_GOES_ON;
}

enum iwi_json_extent iwi_json_extent(const char *text, size_t size, bool has_ended,
                                     struct iwi_json_item *item, size_t *size_p)
{
    const char *end = text + size, *behind = NULL;
    enum iwi_json_extent extent = IWI_JSON_WHOLE;

    item->member_count = 0;
    if (size == 0) {
        return IWI_JSON_GOES_ON;
    }
    if (*text == '{' || *text == '[') {
        extent = nested(text, end, item, &behind);
    } else if (*text == '"') {
        behind = string_end(text, end);
        extent = behind != NULL ? IWI_JSON_WHOLE : IWI_JSON_GOES_ON;
    } else {
        behind = scalar_end(text, end);
        extent = behind == text                ? IWI_JSON_NONE
                 : behind == end && !has_ended ? IWI_JSON_GOES_ON
                                               : IWI_JSON_WHOLE;
    }
    if (extent == IWI_JSON_WHOLE) {
        *size_p = (size_t)(behind - text);
    }
    return extent;
}

bool iwi_json_inside(struct iwi_json_span span, struct iwi_json_item *object)
{
    size_t size;

    return span.size > 0 && span.text[0] == '{' &&
           iwi_json_extent(span.text, span.size, true, object, &size) == IWI_JSON_WHOLE;
}
