/* Networks by name or from files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>

#include "core/base/base.h"
#include "kit/files/net/net_yaml.h"

static const char FREE[] = "none"; /* messages cost nothing */

static iw_status unknown_name(const iw_log *log, const char *name)
{
    char known[256] = "";
    size_t used = 0;

    for (size_t i = 0; iw_net_builtin_name(i) != NULL && used < sizeof known; i++) {
        used += (size_t)snprintf(known + used, sizeof known - used, "%s, ", iw_net_builtin_name(i));
    }
    return iwi_fail(log, IW_ERR_USAGE,
                    "'%s' is neither a file nor one of %s%s, nor a name that 'idlewave get' lists", name,
                    known, FREE);
}

/* A built-in network costs between all ranks what it costs within or between groups of `level`. */
static iw_status take_level(const iw_log *log, const char *level, iw_net *net)
{
    uint32_t index = 0;

    if (net->inner_count == 0) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s' has no levels; files of 'idlewave net' have", net->name);
    }
    while (index < net->inner_count && strcmp(net->inner[index].name, level) != 0) {
        index++;
    }
    if (index < net->inner_count) {
        net->costs = net->inner[index].costs;
    } else if (strcmp(level, iw_net_level_name(net, index)) != 0) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s' has no level '%s'", net->name, level);
    }
    net->inner_count = 0;
    net->nics = (iw_net_nics){.count = 0};
    return IW_OK;
}

static iw_status fill(const iw_log *log, const char *name_or_path, const char *level, iw_net *net)
{
    const iw_net *known = iw_net_builtin(name_or_path);

    if (known != NULL) {
        *net = *known;
        return level == NULL ? IW_OK : take_level(log, level, net);
    }
    if (strcmp(name_or_path, FREE) == 0) {
        *net = (iw_net){.S_bytes = UINT64_MAX};
        (void)snprintf(net->name, sizeof net->name, "%s", FREE);
        return level == NULL ? IW_OK : take_level(log, level, net);
    }
    return access(name_or_path, F_OK) == 0 ? iwi_net_load(log, name_or_path, level, net)
                                           : unknown_name(log, name_or_path);
}

iw_status iw_net_open(const iw_log *log, const char *name_or_path, const char *level, iw_net **net_p)
{
    iw_net *net;
    iw_status status;

    IW_TRY(iw_net_new(log, &net));
    status = fill(log, name_or_path, level, net);
    if (status == IW_OK) {
        *net_p = net;
    } else {
        iw_net_free(net);
    }
    return status;
}
