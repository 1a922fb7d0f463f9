/* Keeps what is being measured in the noise file from the first seconds on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_LIVE_H
#define IW_CLI_LIVE_H

#include <idlewave/idlewave.h>

enum { LIVE_PATH_SIZE = 300 };

/* `given`, or for NULL the name "KIND-HOST.h5", which goes into `buf`. */
const char *live_path(const char *given, const char *kind, char buf[LIVE_PATH_SIZE]);

struct live {
    const iw_log *log;
    const char *path;
    iw_live_file *file;
    iw_measure_sink sink;
};

/* Prepares `live->sink` for iw_measure_opts; `live` must stay where it is. */
void live_begin(struct live *live, const iw_log *log, const char *path);

/* Ends the file; failures have been logged. */
void live_end(struct live *live);

#endif
