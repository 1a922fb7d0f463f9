/* One item of a JSON file, parsed: a tree of values that is made anew for each item, in the same memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JSON_VALUE_H
#define IWI_JSON_VALUE_H

#include "features/explain/json/json_items.h"

enum { IWI_MOST_JSON_VALUES = 1 << 20 };

enum iwi_json_kind {
    IWI_JSON_NULL,
    IWI_JSON_FALSE,
    IWI_JSON_TRUE,
    IWI_JSON_NUMBER,
    IWI_JSON_STRING,
    IWI_JSON_ARRAY,
    IWI_JSON_OBJECT
};

struct iwi_json_value {
    enum iwi_json_kind kind;
    const char *key;  /* "" in arrays; both end with NUL */
    const char *text; /* of strings, unescaped; of numbers, as written; else "" */
    uint32_t next;    /* index of the value behind it and all that it holds */
};

struct yajl_handle_t;

struct iwi_json_tree {
    struct yajl_handle_t *parser;
    struct iwi_json_value *values; /* values[0] is the item; those that a value holds follow it */
    size_t count, capacity;
    char *text;
    size_t text_used, text_capacity;
    const char *key;                        /* open */
    uint32_t open[IWI_MOST_JSON_DEPTH + 1]; /* indices of open arrays and objects */
    unsigned depth;
    const iw_log *log;
    iw_status status; /* of the callbacks */
};

void iwi_json_tree_init(struct iwi_json_tree *tree, const iw_log *log);
void iwi_json_tree_release(struct iwi_json_tree *tree);

/* IW_ERR_FORMAT: not valid JSON; IW_ERR_RANGE: more than IWI_MOST_JSON_VALUES values. Logged. */
IW_NODISCARD iw_status iwi_json_parse(struct iwi_json_tree *tree, const struct iwi_json_items *items,
                                      const struct iwi_json_item *item);

/* The member of an object, or NULL: not there, or no object (NULL too). The last one of several. */
const struct iwi_json_value *iwi_json_find(const struct iwi_json_tree *tree,
                                           const struct iwi_json_value *object, const char *key);

/* The first value of an array or object, and the one behind it; NULL: no more.
 * for (v = iwi_json_first(tree, a); v != NULL; v = iwi_json_after(tree, a, v)) */
const struct iwi_json_value *iwi_json_first(const struct iwi_json_tree *tree,
                                            const struct iwi_json_value *above);
const struct iwi_json_value *iwi_json_after(const struct iwi_json_tree *tree,
                                            const struct iwi_json_value *above,
                                            const struct iwi_json_value *value);

/* The string, or `otherwise`. */
const char *iwi_json_string(const struct iwi_json_value *value, const char *otherwise);

/* Whether it is a whole number that fits (a string of digits will do, and 3.0). */
bool iwi_json_u64(const struct iwi_json_value *value, uint64_t *number_p);

/* Whether it is a number; times 10^decimals, rounded, exact where it is written without an exponent:
 * "12.345" with 3 is 12345. False too where that does not fit. */
bool iwi_json_decimal(const char *text, size_t size, unsigned decimals, int64_t *number_p);

#endif
