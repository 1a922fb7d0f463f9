/* Makes the tree of one item by yajl.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/json/json_value.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>

void iwi_json_tree_init(struct iwi_json_tree *tree, const iw_log *log)
{
    *tree = (struct iwi_json_tree){.log = log};
}

static void free_parser(struct iwi_json_tree *tree)
{
    if (tree->parser != NULL) {
        yajl_free(tree->parser);
        tree->parser = NULL;
    }
}

void iwi_json_tree_release(struct iwi_json_tree *tree)
{
    free_parser(tree);
    free(tree->values);
    free(tree->text);
    *tree = (struct iwi_json_tree){.log = tree->log};
}

/* The text of an item holds all its strings and numbers; a NUL comes behind each, also where nothing stands
 * between them (yajl takes 00 for two numbers). iwi_json_parse() has made room for it. */
static const char *keep(struct iwi_json_tree *tree, const void *text, size_t size)
{
    char *kept = tree->text + tree->text_used;

    memcpy(kept, text, size);
    kept[size] = '\0';
    tree->text_used += size + 1;
    return kept;
}

static int add(struct iwi_json_tree *tree, enum iwi_json_kind kind, const char *text)
{
    if (tree->count == IWI_MOST_JSON_VALUES) {
        tree->status = IW_ERR_RANGE;
        return 0;
    }
    tree->status =
        iwi_grow(tree->log, (void **)&tree->values, &tree->capacity, tree->count + 1, sizeof tree->values[0]);
    if (tree->status != IW_OK) {
        return 0;
    }
    tree->values[tree->count] = (struct iwi_json_value){
        .kind = kind, .key = tree->key, .text = text, .next = (uint32_t)tree->count + 1};
    tree->count++;
    tree->key = "";
    return 1;
}

static int on_null(void *arg)
{
    return add(arg, IWI_JSON_NULL, "");
}

static int on_boolean(void *arg, int is_true)
{
    return add(arg, is_true ? IWI_JSON_TRUE : IWI_JSON_FALSE, "");
}

static int on_number(void *arg, const char *text, size_t size)
{
    return add(arg, IWI_JSON_NUMBER, keep(arg, text, size));
}

static int on_string(void *arg, const unsigned char *text, size_t size)
{
    return add(arg, IWI_JSON_STRING, keep(arg, text, size));
}

static int on_key(void *arg, const unsigned char *text, size_t size)
{
    struct iwi_json_tree *tree = arg;

    tree->key = keep(tree, text, size);
    return 1;
}

static int open_above(struct iwi_json_tree *tree, enum iwi_json_kind kind)
{
    if (tree->depth > IWI_MOST_JSON_DEPTH) { /* json_items.c has seen to it; this keeps `open` whole */
        tree->status = IW_ERR_RANGE;
        return 0;
    }
    tree->open[tree->depth++] = (uint32_t)tree->count;
    return add(tree, kind, "");
}

static int on_start_object(void *arg)
{
    return open_above(arg, IWI_JSON_OBJECT);
}

static int on_start_array(void *arg)
{
    return open_above(arg, IWI_JSON_ARRAY);
}

static int on_end(void *arg)
{
    struct iwi_json_tree *tree = arg;

    tree->values[tree->open[--tree->depth]].next = (uint32_t)tree->count;
    return 1;
}

static iw_status new_parser(struct iwi_json_tree *tree)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_start_object,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end,
        .yajl_start_array = on_start_array,
        .yajl_end_array = on_end,
    };

    tree->parser = yajl_alloc(&callbacks, NULL, tree);
    if (tree->parser == NULL) {
        return iwi_fail(tree->log, IW_ERR_NOMEM, "out of memory for a JSON parser");
    }
    (void)yajl_config(tree->parser, yajl_allow_multiple_values, 1);
    (void)yajl_config(tree->parser, yajl_dont_validate_strings, 1); /* names of kernels may be any bytes */
    return IW_OK;
}

static iw_status fail(struct iwi_json_tree *tree, const struct iwi_json_items *items,
                      const struct iwi_json_item *item)
{
    const uint64_t byte = item->byte + yajl_get_bytes_consumed(tree->parser);

    free_parser(tree); /* it cannot go on */
    if (tree->status == IW_ERR_NOMEM) {
        return IW_ERR_NOMEM;
    }
    if (tree->status == IW_ERR_RANGE) {
        return iwi_json_fail(items, byte, IW_ERR_RANGE, "more than %d values in one", IWI_MOST_JSON_VALUES);
    }
    return iwi_json_fail(items, byte, IW_ERR_FORMAT,
                         "invalid JSON within the value that begins at byte %" PRIu64, item->byte);
}

iw_status iwi_json_parse(struct iwi_json_tree *tree, const struct iwi_json_items *items,
                         const struct iwi_json_item *item)
{
    if (tree->parser == NULL) {
        IW_TRY(new_parser(tree));
    }
    IW_TRY(iwi_grow(tree->log, (void **)&tree->text, &tree->text_capacity, 2 * item->size + 2, 1));
    tree->count = tree->text_used = 0;
    tree->depth = 0;
    tree->key = "";
    tree->status = IW_OK;
    if (yajl_parse(tree->parser, (const unsigned char *)item->text, item->size) != yajl_status_ok ||
        yajl_parse(tree->parser, (const unsigned char *)"\n", 1) != yajl_status_ok || /* ends a bare number */
        tree->count == 0 || tree->depth != 0 || tree->values[0].next != tree->count) { /* one value */
        return fail(tree, items, item);
    }
    return IW_OK;
}

const struct iwi_json_value *iwi_json_first(const struct iwi_json_tree *tree,
                                            const struct iwi_json_value *above)
{
    const uint32_t first = above != NULL ? (uint32_t)(above - tree->values) + 1 : 0;

    return above != NULL && above->next > first ? &tree->values[first] : NULL;
}

const struct iwi_json_value *iwi_json_after(const struct iwi_json_tree *tree,
                                            const struct iwi_json_value *above,
                                            const struct iwi_json_value *value)
{
    return value->next < above->next ? &tree->values[value->next] : NULL;
}

const struct iwi_json_value *iwi_json_find(const struct iwi_json_tree *tree,
                                           const struct iwi_json_value *object, const char *key)
{
    const struct iwi_json_value *found = NULL;

    if (object == NULL || object->kind != IWI_JSON_OBJECT) {
        return NULL;
    }
    for (const struct iwi_json_value *value = iwi_json_first(tree, object); value != NULL;
         value = iwi_json_after(tree, object, value)) {
        found = strcmp(value->key, key) == 0 ? value : found;
    }
    return found;
}

/* ---- numbers and strings ---- */

const char *iwi_json_string(const struct iwi_json_value *value, const char *otherwise)
{
    return value != NULL && value->kind == IWI_JSON_STRING ? value->text : otherwise;
}

/* With an exponent, as programs write that keep floating-point numbers. */
static bool floating(const char *text, size_t size, unsigned decimals, int64_t *number_p)
{
    char copy[64], *end;
    long double value;

    if (size == 0 || size >= sizeof copy) {
        return false;
    }
    (void)snprintf(copy, sizeof copy, "%.*s", (int)size, text);
    value = strtold(copy, &end);
    for (; decimals > 0; decimals--) {
        value *= 10;
    }
    if (end != copy + size || !(value > -9.2e18L && value < 9.2e18L)) {
        return false;
    }
    *number_p = (int64_t)llroundl(value);
    return true;
}

/* Appends the digits at text[*at_p ...], at most `most` of them; false: too many for 62 bits. */
static bool take_digits(const char *text, size_t size, unsigned most, size_t *at_p, uint64_t *number_p)
{
    for (; *at_p < size && most > 0 && isdigit((unsigned char)text[*at_p]); (*at_p)++, most--) {
        if (*number_p >= (UINT64_C(1) << 62) / 10) {
            return false;
        }
        *number_p = 10 * *number_p + (uint64_t)(text[*at_p] - '0');
    }
    return true;
}

bool iwi_json_decimal(const char *text, size_t size, unsigned decimals, int64_t *number_p)
{
    const size_t first = size > 0 && text[0] == '-';
    size_t at = first;
    uint64_t number = 0;
    unsigned missing = decimals;

    if (!take_digits(text, size, UINT32_MAX, &at, &number) || at == first) {
        return false;
    }
    if (at < size && text[at] == '.') {
        const size_t point = at++;

        if (!take_digits(text, size, decimals, &at, &number)) {
            return false;
        }
        missing -= (unsigned)(at - point - 1);
        number += missing == 0 && at < size && text[at] >= '5' && text[at] <= '9';
        while (at < size && isdigit((unsigned char)text[at])) {
            at++;
        }
    }
    if (at < size) {
        return floating(text, size, decimals, number_p);
    }
    for (; missing > 0 && number < (UINT64_C(1) << 62) / 10; missing--) {
        number *= 10;
    }
    *number_p = first == 1 ? -(int64_t)number : (int64_t)number;
    return missing == 0;
}

bool iwi_json_u64(const struct iwi_json_value *value, uint64_t *number_p)
{
    const char *at;
    uint64_t number = 0;

    if (value == NULL || (value->kind != IWI_JSON_NUMBER && value->kind != IWI_JSON_STRING)) {
        return false;
    }
    for (at = value->text; isdigit((unsigned char)*at); at++) {
        const unsigned digit = (unsigned)(*at - '0');

        if (number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = 10 * number + digit;
    }
    if (at == value->text || (*at == '.' && at[1 + strspn(at + 1, "0")] != '\0') ||
        (*at != '.' && *at != '\0')) {
        return false;
    }
    *number_p = number;
    return true;
}
