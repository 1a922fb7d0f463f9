/* Networks that are built in, and what may be done with any network.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/net.h>

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Beyond these a value is a slip of the unit, and sums of it could leave iw_time. */
#define MAX_TIME_PS (INT64_C(3600) * IW_PS_PER_S)
#define MAX_FS_PER_BYTE INT64_C(1000000000) /* 1 us per byte */

/* Table III gives microseconds. S = 65 kiB, O = 0 throughout. */
#define NS(value) ((value)*IW_PS_PER_NS)
#define NETWORK(name_, L_ns, o_ns, g_ns, G_fs)                                                             \
    {                                                                                                      \
        .name = (name_), .L_ps = NS(L_ns), .o_send_ps = NS(o_ns), .o_recv_ps = NS(o_ns), .g_ps = NS(g_ns), \
        .G = (G_fs), .O = 0, .S_bytes = UINT64_C(65) * 1024                                                \
    }

static const iw_net networks[] = {
    NETWORK("chic", 5330, 770, 1560, 1250000), NETWORK("altix", 1640, 990, 900, 1230000),
    NETWORK("cnl", 4770, 2870, 2040, 2670000), NETWORK("zeptoos", 8670, 3420, 2810, 2690000),
    NETWORK("xt4", 9900, 1750, 3400, 580000),
};

enum { NETWORK_COUNT = sizeof networks / sizeof networks[0] };

const iw_net *iw_net_builtin(const char *name)
{
    for (size_t i = 0; i < NETWORK_COUNT; i++) {
        if (strcmp(networks[i].name, name) == 0) {
            return &networks[i];
        }
    }
    return NULL;
}

const char *iw_net_builtin_name(size_t index)
{
    return index < NETWORK_COUNT ? networks[index].name : NULL;
}

static iw_status check_value(const iw_log *log, const iw_net *net, const char *what, int64_t value,
                             int64_t max, const char *max_text)
{
    if (value >= 0 && value <= max) {
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_RANGE, "network '%s': %s is %s", net->name, what,
                    value < 0 ? "negative" : max_text);
}

iw_status iw_net_check(const iw_log *log, const iw_net *net)
{
    static const char long_time[] = "more than 1 h", long_byte[] = "more than 1 us per byte";

    IW_TRY(check_value(log, net, "L", net->L_ps, MAX_TIME_PS, long_time));
    IW_TRY(check_value(log, net, "o_s", net->o_send_ps, MAX_TIME_PS, long_time));
    IW_TRY(check_value(log, net, "o_r", net->o_recv_ps, MAX_TIME_PS, long_time));
    IW_TRY(check_value(log, net, "g", net->g_ps, MAX_TIME_PS, long_time));
    IW_TRY(check_value(log, net, "G", net->G, MAX_FS_PER_BYTE, long_byte));
    return check_value(log, net, "O", net->O, MAX_FS_PER_BYTE, long_byte);
}

/* Values above every limit stay so, without leaving int64_t. */
static int64_t divided(int64_t value, double factor)
{
    return llround(fmin((double)value / factor, 1e18));
}

iw_status iw_net_scale(const iw_log *log, iw_net *net, double factor)
{
    iw_net scaled = *net;

    if (!(factor > 0) || !isfinite(factor)) {
        return iwi_fail(log, IW_ERR_RANGE, "a network cannot be %g times faster; the factor must be above 0",
                        factor);
    }
    IW_TRY(iw_net_check(log, net));
    scaled.L_ps = divided(net->L_ps, factor);
    scaled.g_ps = divided(net->g_ps, factor);
    scaled.G = divided(net->G, factor);
    IW_TRY(iw_net_check(log, &scaled));
    *net = scaled;
    return IW_OK;
}
