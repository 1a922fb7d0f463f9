/* Hands the pieces of a recording from the measurement to the noise file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/live.h"

#include <stdio.h>
#include <unistd.h>

const char *live_path(const char *given, const char *kind, char buf[LIVE_PATH_SIZE])
{
    char host[256] = "";

    if (given != NULL) {
        return given;
    }
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(buf, LIVE_PATH_SIZE, "%s-%s.h5", kind, host[0] != '\0' ? host : "node");
    return buf;
}

static iw_status begin(void *arg, const iw_recording *head)
{
    struct live *live = arg;

    return iw_live_file_open(live->log, live->path, head, &live->file);
}

static iw_status append(void *arg, const iw_recording *recording, size_t index, const iw_detours *batch)
{
    struct live *live = arg;

    return iw_live_file_append(live->file, recording, index, batch);
}

static iw_status flush(void *arg)
{
    struct live *live = arg;

    return iw_live_file_flush(live->file);
}

void live_begin(struct live *live, const iw_log *log, const char *path)
{
    *live = (struct live){.log = log, .path = path};
    live->sink = (iw_measure_sink){begin, append, flush, live};
}

void live_end(struct live *live)
{
    const iw_status status = iw_live_file_close(live->file);

    (void)status; /* the whole recording is saved in its place, or says why not */
    live->file = NULL;
}
