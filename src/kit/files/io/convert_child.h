/* Work in a child process, so that a library that crashes on a damaged file ends only that.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CONVERT_CHILD_H
#define IWI_CONVERT_CHILD_H

#include <stdio.h>

#include "kit/files/io/out.h"

/* A file to read. */
struct iwi_import {
    const iw_log *log;
    const char *path; /* for messages; a real path only where needs_file is set */
    const char *data;
    size_t size;
    int64_t length_ns; /* what was said of its length; 0: nothing */
};

/* Decodes `in` and writes records to `out`. Errors go to in->log, as everywhere; the first is passed on. */
typedef iw_status (*iwi_child_work)(const struct iwi_import *in, FILE *out);

struct iwi_child_result {
    void *bytes; /* what was written, and may be changed; NULL if nothing */
    size_t size;
};

/* Runs `work` in a child without terminal and with limits on its time and memory. A crash is IW_ERR_FORMAT
 * and names the `library`. On success release the result. */
IW_NODISCARD iw_status iwi_child_run(const struct iwi_import *in, const char *library, iwi_child_work work,
                                     struct iwi_child_result *result_p);

/* The same with another limit, of CPU time. */
IW_NODISCARD iw_status iwi_child_run_for(const struct iwi_import *in, const char *library,
                                         iwi_child_work work, unsigned seconds_max,
                                         struct iwi_child_result *result_p);

void iwi_child_release(struct iwi_child_result *result);

#endif
