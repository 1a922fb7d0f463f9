/* Networks in files of other tools, which features read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_READER_H
#define IWI_NET_READER_H

#include <stdbool.h>

#include <idlewave/net.h>

struct iwi_net_reader {
    const char *what; /* for messages: "output of netgauge's loggp" */
    bool (*matches)(const char *data, size_t size);
    /* `path` is for messages; the network gets its name, and is checked, by the caller. */
    iw_status (*read)(const iw_log *log, const char *path, const char *data, size_t size, iw_net *net_p);
};

/* Ends with NULL; made of the features of this build. */
extern const struct iwi_net_reader *const iwi_net_readers[];

#endif
