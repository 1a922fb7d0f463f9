/* Which paths are traces of MPI programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_OPEN_H
#define IWI_TRACE_OPEN_H

#include <stdbool.h>

#include <idlewave/program.h>

/* A folder or a file of one of the formats that iw_trace_open() reads; what it only refuses by name is none.
 */
bool iwi_trace_is_readable(const char *path);

/* Runs of other kinds, that features read. */
struct iwi_trace_reader {
    const char *what; /* for messages: "run of training (profiles of PyTorch)" */
    bool (*is_readable)(const char *path);
    iw_status (*open)(const iw_log *log, const char *path, iw_trace **trace_p);
};

/* Ends with NULL; made of the features of this build. */
extern const struct iwi_trace_reader *const iwi_trace_readers[];

#endif
