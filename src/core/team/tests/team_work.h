/* Work that members do to show that messages get where they should; for any number of members.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_TEAM_WORK_H
#define IWT_TEAM_WORK_H

#include "core/team/team.h"

/* All return IW_ERR_FORMAT when something else arrives than was sent. `arg` is not used. */
iw_status iwt_talk_to_all(struct iwi_member *member, void *arg);
iw_status iwt_send_sizes(struct iwi_member *member, void *arg);
iw_status iwt_take_sizes(struct iwi_member *member, void *arg);
iw_status iwt_find_largest(struct iwi_member *member, void *arg);

#endif
