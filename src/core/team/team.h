/* Those who work on one run together: threads of this process, and of others behind a link.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All members run the same code. Members of one process pass messages by memory, those of different ones by
 * the link; nobody need know which. Messages of one (sender, receiver) arrive in the order in which they
 * were sent. Who waits does not burn the CPU for long: there may be more members than CPUs.
 *
 * When one member fails (iwi_team_fail), every call of the others of its process ends with that status, also
 * calls that wait. Members of other processes know nothing of it: whoever started them has to end them.
 * Once iwi_team_fail(), or a call that tells of the failure, has returned, nobody touches memory of messages
 * any more; a member that fails by itself while messages are under way calls it before it frees their memory.
 */
#ifndef IWI_TEAM_H
#define IWI_TEAM_H

#include <idlewave/internal/link.h>

struct iwi_team;

struct iwi_member {
    struct iwi_team *team;
    const iw_log *log;
    uint32_t number, count; /* of all processes; those of one process, and of one node, are neighbours */
};

/* A message under way; its memory is left alone until it has been waited for. Waiting for a send may last
 * until the other one receives or takes it: who does both to each other posts its receives, or takes what
 * comes, before it waits. All zero is one that has been waited for. */
struct iwi_transfer {
    void *state[4];
};

/* Bytes that grow; all zero is an empty one. */
struct iwi_bytes {
    unsigned char *data;
    size_t count, capacity;
};
void iwi_bytes_release(struct iwi_bytes *bytes);

/* `threads` members in this process; other processes may have other numbers of them. `link` NULL: this
 * process is alone. Collective over all processes. */
IW_NODISCARD iw_status iwi_team_new(const iw_log *log, const iw_link *link, uint32_t threads,
                                    struct iwi_team **team_p);
void iwi_team_free(struct iwi_team *team);

/* Members of all processes; of this one; the first of this one. */
uint32_t iwi_team_size(const struct iwi_team *team);
uint32_t iwi_team_threads(const struct iwi_team *team);
uint32_t iwi_team_first(const struct iwi_team *team);

/* Runs `work` as each member of this process, one thread each, the calling thread among them, and waits for
 * all of them. Returns the first failure, of which the team knows then. */
typedef iw_status (*iwi_member_work)(struct iwi_member *member, void *arg);
IW_NODISCARD iw_status iwi_team_run(struct iwi_team *team, const iw_log *log, iwi_member_work work,
                                    void *arg);

void iwi_team_fail(struct iwi_team *team, iw_status status);

/* ---- messages; at most IW_LINK_MOST_BYTES each ---- */

IW_NODISCARD iw_status iwi_member_send(struct iwi_member *member, uint32_t to, const void *data, size_t bytes,
                                       struct iwi_transfer *transfer);
/* Exactly `bytes`: another size is a failure (IW_ERR_FORMAT, logged). */
IW_NODISCARD iw_status iwi_member_receive(struct iwi_member *member, uint32_t from, void *data, size_t bytes,
                                          struct iwi_transfer *transfer);
IW_NODISCARD iw_status iwi_member_wait(struct iwi_member *member, struct iwi_transfer *transfers,
                                       size_t count);

/* The next message of `from`, of any size. *has_p false (only if !may_wait): it is not there yet. */
IW_NODISCARD iw_status iwi_member_take(struct iwi_member *member, uint32_t from, bool may_wait,
                                       struct iwi_bytes *message, bool *has_p);

/* Each value becomes the largest that any member has. Collective. */
IW_NODISCARD iw_status iwi_member_max(struct iwi_member *member, int64_t *values, size_t count);

#endif
