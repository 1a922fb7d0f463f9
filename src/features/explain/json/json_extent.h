/* How far a JSON value reaches, by its brackets and quotes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JSON_EXTENT_H
#define IWI_JSON_EXTENT_H

#include "features/explain/json/json_items.h"

enum iwi_json_extent {
    IWI_JSON_WHOLE,
    IWI_JSON_GOES_ON, /* behind what is there */
    IWI_JSON_TOO_DEEP,
    IWI_JSON_NONE /* no value begins here */
};

static inline bool iwi_json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Sets *size_p, and the members of `item` if it is an object; has_ended: nothing comes behind text[size - 1].
 */
enum iwi_json_extent iwi_json_extent(const char *text, size_t size, bool has_ended,
                                     struct iwi_json_item *item, size_t *size_p);

#endif
