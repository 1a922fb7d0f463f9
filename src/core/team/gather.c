/* What all members have together.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/team/team.h"

static iw_status send_now(struct iwi_member *member, uint32_t to, const int64_t *values, size_t count)
{
    struct iwi_transfer transfer;

    IW_TRY(iwi_member_send(member, to, values, count * sizeof *values, &transfer));
    return iwi_member_wait(member, &transfer, 1);
}

static iw_status receive_now(struct iwi_member *member, uint32_t from, int64_t *values, size_t count)
{
    struct iwi_transfer transfer;

    IW_TRY(iwi_member_receive(member, from, values, count * sizeof *values, &transfer));
    return iwi_member_wait(member, &transfer, 1);
}

/* A binomial tree: member m hears of m + 1, m + 2, m + 4, ... below its lowest bit, tells the one without
 * that bit, and is told the result by it. */
static iw_status max_over_tree(struct iwi_member *member, int64_t *values, int64_t *theirs, size_t count)
{
    const uint32_t number = member->number;
    uint64_t bit = 1;

    for (; bit < member->count && (number & bit) == 0; bit *= 2) {
        if (number + bit < member->count) {
            IW_TRY(receive_now(member, (uint32_t)(number + bit), theirs, count));
            for (size_t i = 0; i < count; i++) {
                values[i] = iwi_max(values[i], theirs[i]);
            }
        }
    }
    if (number != 0) {
        IW_TRY(send_now(member, (uint32_t)(number - bit), values, count));
        IW_TRY(receive_now(member, (uint32_t)(number - bit), values, count));
    }
    while (bit > 1) {
        bit /= 2;
        if (number + bit < member->count) {
            IW_TRY(send_now(member, (uint32_t)(number + bit), values, count));
        }
    }
    return IW_OK;
}

iw_status iwi_member_max(struct iwi_member *member, int64_t *values, size_t count)
{
    int64_t *theirs = iwi_new_array(member->log, count, sizeof *theirs);
    iw_status status;

    if (theirs == NULL) {
        return IW_ERR_NOMEM;
    }
    status = max_over_tree(member, values, theirs, count);
    if (status != IW_OK) {
        iwi_team_fail(member->team, status); /* before memory that others know of goes away */
    }
    free(theirs);
    return status;
}
