/* Lists of ranks as profiles of PyTorch write them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_KINETO_RANKS_H
#define IWI_KINETO_RANKS_H

#include "features/explain/json/json_value.h"

enum { IWI_KINETO_RANKS_MAX = 1 << 20 };

struct iwi_kineto_ranks {
    uint32_t *of; /* as written; to be freed */
    size_t count, capacity;
    bool is_cut; /* "[0, 1, ..., 63]": the last one is the last of the group, those before it are missing */
};

/* Of "[0, 1, 2]" in a string. False (not logged): no such list. */
IW_NODISCARD iw_status iwi_kineto_ranks_text(const iw_log *log, const char *text,
                                             struct iwi_kineto_ranks *ranks, bool *is_list_p);

/* Of a string as above, or an array of numbers. */
IW_NODISCARD iw_status iwi_kineto_ranks_value(const iw_log *log, const struct iwi_json_tree *tree,
                                              const struct iwi_json_value *value,
                                              struct iwi_kineto_ranks *ranks, bool *is_list_p);

/* Fills in what was cut, if the ranks that are there have one stride and `size` ranks would reach the last
 * one. *is_whole_p: it did, or nothing was cut. */
IW_NODISCARD iw_status iwi_kineto_ranks_complete(const iw_log *log, struct iwi_kineto_ranks *ranks,
                                                 uint64_t size, bool *is_whole_p);

#endif
