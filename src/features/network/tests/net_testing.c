/* Tables of other tools that become networks: read, refused, and what messages then take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "net_testing.h"

#include <string.h>

#include "core/net/cost.h"
#include "kit/files/net/net_yaml.h"

iw_net iwt_read_net(struct iwt_log *log, const char *name, const char *text)
{
    iw_net net;

    iwt_log_init(log);
    if (iwi_net_read_memory(&log->log, name, text, strlen(text), NULL, &net) != IW_OK) {
        fail_msg("refused: %s", log->text);
    }
    return net;
}

void iwt_expect_net_refused(const char *name, const char *text, iw_status status, const char *message)
{
    struct iwt_log log;
    iw_net net;

    iwt_log_init(&log);
    assert_status(iwi_net_read_memory(&log.log, name, text, strlen(text), NULL, &net), status);
    iwt_assert_logged(&log, message);
    assert_int_equal(log.errors, 1);
}

iw_time iwt_half_round_trip(const iw_net *net, uint64_t bytes)
{
    const struct iwi_cost cost = iwi_cost_of(net, bytes);

    return cost.send_cpu + cost.wire + cost.recv_cpu;
}
