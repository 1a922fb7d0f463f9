/* Fetches a file by curl(1), which knows the proxies, certificates and passwords of a site.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_DOWNLOAD_H
#define IW_CLI_DOWNLOAD_H

#include <stdint.h>

#include "process/ui.h"

/* Writes what `url` (http, https) has to `path`, whose folders are made; at most so many bytes where the
 * server says how many there are. Under interrupt_catch(): a signal ends it. Returns UI_DONE or UI_ERROR. */
int download(const struct ui *ui, const char *url, const char *path, uint64_t most_bytes);

#endif
