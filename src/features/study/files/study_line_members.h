/* What the writer and the reader of a cell's line share: its real numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STUDY_LINE_MEMBERS_H
#define IWI_STUDY_LINE_MEMBERS_H

#include "features/study/files/study_line.h"

enum { IWI_LINE_DIGEST_SIZE = 17 };

/* A key and its place in a cell. */
struct iwi_real_member {
    const char *key;
    size_t offset;
    bool may_be_null;    /* NaN */
    bool may_be_below_0; /* noise can make some programs faster */
};

/* A table of them. */
struct iwi_real_members {
    const struct iwi_real_member *list;
    size_t count;
};

/* Of the line itself, and of its objects "makespan_ns" and "recording". */
extern const struct iwi_real_members iwi_outer_reals, iwi_makespan_reals, iwi_recording_reals;

/* The line, to be freed, and the digest in it. */
IW_NODISCARD iw_status iwi_cell_line_digest(const iw_log *log, const iw_cell_result *cell,
                                            char digest[IWI_LINE_DIGEST_SIZE], char **line_p);

#endif
