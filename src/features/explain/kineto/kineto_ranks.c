/* Lists of ranks: "[0, 1, 2]", arrays, and long ones that PyTorch cuts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/kineto/kineto_ranks.h"

#include <ctype.h>
#include <string.h>

static iw_status add(const iw_log *log, struct iwi_kineto_ranks *ranks, uint64_t rank, bool *is_list_p)
{
    if (rank >= UINT32_MAX || ranks->count >= IWI_KINETO_RANKS_MAX) {
        *is_list_p = false;
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&ranks->of, &ranks->capacity, ranks->count + 1, sizeof ranks->of[0]));
    ranks->of[ranks->count++] = (uint32_t)rank;
    return IW_OK;
}

/* A number at *at_p, at most 2^32. */
static bool take_number(const char **at_p, uint64_t *number_p)
{
    const char *at = *at_p;

    if (!isdigit((unsigned char)*at)) {
        return false;
    }
    for (*number_p = 0; isdigit((unsigned char)*at); at++) {
        *number_p = *number_p <= UINT32_MAX ? 10 * *number_p + (uint64_t)(*at - '0') : *number_p;
    }
    *at_p = at;
    return true;
}

iw_status iwi_kineto_ranks_text(const iw_log *log, const char *text, struct iwi_kineto_ranks *ranks,
                                bool *is_list_p)
{
    const char *at = text + strspn(text, " ");
    uint64_t rank;

    *is_list_p = *at == '[';
    at += *at == '[';
    while (*is_list_p && *at != '\0' && *at != ']') {
        if (strncmp(at, "...", 3) == 0) {
            ranks->is_cut = true;
            at += 3;
        } else if (take_number(&at, &rank)) {
            IW_TRY(add(log, ranks, rank, is_list_p));
        } else if (*at == ',' || *at == ' ') {
            at++;
        } else {
            *is_list_p = false;
        }
    }
    *is_list_p = *is_list_p && *at == ']';
    return IW_OK;
}

iw_status iwi_kineto_ranks_value(const iw_log *log, const struct iwi_json_tree *tree,
                                 const struct iwi_json_value *value, struct iwi_kineto_ranks *ranks,
                                 bool *is_list_p)
{
    *is_list_p = value != NULL && value->kind == IWI_JSON_ARRAY;
    if (value != NULL && value->kind == IWI_JSON_STRING) {
        return iwi_kineto_ranks_text(log, value->text, ranks, is_list_p);
    }
    for (const struct iwi_json_value *v = *is_list_p ? iwi_json_first(tree, value) : NULL;
         v != NULL && *is_list_p; v = iwi_json_after(tree, value, v)) {
        uint64_t rank;

        *is_list_p = iwi_json_u64(v, &rank);
        if (*is_list_p) {
            IW_TRY(add(log, ranks, rank, is_list_p));
        }
    }
    return IW_OK;
}

iw_status iwi_kineto_ranks_complete(const iw_log *log, struct iwi_kineto_ranks *ranks, uint64_t size,
                                    bool *is_whole_p)
{
    uint32_t last, stride;
    bool is_list = true;

    *is_whole_p = !ranks->is_cut;
    if (!ranks->is_cut || ranks->count < 3 || size > IWI_KINETO_RANKS_MAX || size < ranks->count) {
        return IW_OK;
    }
    last = ranks->of[ranks->count - 1];
    stride = ranks->of[1] - ranks->of[0];
    for (size_t i = 1; i + 1 < ranks->count; i++) {
        if (ranks->of[i] - ranks->of[i - 1] != stride) {
            return IW_OK;
        }
    }
    if (stride == 0 || last != ranks->of[0] + (size - 1) * stride) {
        return IW_OK;
    }
    for (ranks->count--; ranks->count < size;) {
        IW_TRY(add(log, ranks, ranks->of[0] + (uint64_t)ranks->count * stride, &is_list));
    }
    ranks->is_cut = false;
    *is_whole_p = is_list;
    return IW_OK;
}
