/* The inside of a team: what each member of this process has.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MAILBOX_H
#define IWI_MAILBOX_H

#include "core/team/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Who sleeps is woken late, so a wait that ends soon is better spent looking. But where other programs want
 * the CPUs, the one waited for may have been put off its own, for milliseconds, and who looks all that time
 * uses up the share of CPU time that it needs afterwards. Hence the limit, in time, that follows how long
 * the waits of a member last. */

/* How long a member that waits looks by itself, before it lets others have the CPU. */
struct iwi_patience {
    int64_t usual_ns; /* what its waits last of late; longer ones than looking may last count as none */
    bool is_crowded;  /* more members on this node than CPUs: looking keeps others from their work */
};
void iwi_patience_init(struct iwi_patience *patience, bool is_crowded);

/* Looking may last so long in one wait. */
int64_t iwi_patience_limit_ns(const struct iwi_patience *patience);

/* A wait that lasted so long is over. */
void iwi_patience_learn(struct iwi_patience *patience, int64_t waited_ns);

/* One wait; all zero before the first look. */
struct iwi_vigil {
    uint32_t looks, naps;
    int64_t begin_ns; /* 0: it has only just begun */
};

/* After a look in vain. True: an instant has passed, look again. False: that has been tried for long enough.
 */
bool iwi_vigil_goes_on(struct iwi_vigil *vigil, const struct iwi_patience *patience);

/* The same where nobody rings: an instant, then yields, then naps of up to 0.1 ms. */
void iwi_vigil_pause(struct iwi_vigil *vigil, const struct iwi_patience *patience);

/* What was waited for has come. */
void iwi_vigil_end(const struct iwi_vigil *vigil, struct iwi_patience *patience);

/* A send or a receive between two members of this process that has not met its other half, or whose owner
 * has not seen that it has. */
struct iwi_post {
    struct iwi_post *next; /* in its channel, or among those unused */
    uint32_t owner;        /* of this process */
    bool is_send;
    const void *from; /* of a send */
    void *to;         /* of a receive */
    size_t bytes;
    atomic_bool is_done;
};

/* What waits between two members of this process: only sends, or only receives. */
struct iwi_channel {
    struct iwi_post *first, *last;
};

struct iwi_slab;

struct iwi_mailbox {
    pthread_mutex_t lock; /* of channels, and for sleeping */
    pthread_cond_t bell;
    struct iwi_channel *channels; /* one for each member of this process that may send to this one */
    atomic_uint rings;            /* how often somebody had news for this member */
    atomic_bool is_asleep;
    atomic_bool is_inside; /* touches memory of others, or is in the link */
    struct iwi_patience patience;
    struct iwi_post *posts; /* unused ones; only its member touches them */
    struct iwi_slab *slabs; /* all of them */
    char apart[128];        /* from the next one's cache lines */
};

struct iwi_team {
    const iw_link *link;   /* NULL: this process is alone */
    uint32_t threads;      /* members of this process */
    uint32_t first, count; /* the first of this process; all */
    uint32_t processes;
    uint32_t most_threads;         /* of any process */
    uint32_t *first_of;            /* processes + 1: the first member of each */
    struct iwi_mailbox *mailboxes; /* `threads` of them */
    atomic_int status;             /* iw_status: the first failure */
};

static inline struct iwi_mailbox *iwi_mailbox_of(const struct iwi_member *member)
{
    return &member->team->mailboxes[member->number - member->team->first];
}

/* Between these a member may touch memory of others and call the link. Once iwi_team_fail() or a call that
 * tells of the failure has returned, nobody is inside any more, or ever gets there. */
IW_NODISCARD iw_status iwi_mailbox_enter(struct iwi_member *member);
void iwi_mailbox_leave(struct iwi_member *member);

/* The failure that ended the team, or IW_OK. */
iw_status iwi_team_status(const struct iwi_team *team);
/* The same, and if it is a failure, nobody is inside any more. */
IW_NODISCARD iw_status iwi_team_check(const struct iwi_team *team);

IW_NODISCARD iw_status iwi_mailbox_init(const iw_log *log, struct iwi_mailbox *mailbox, uint32_t threads);
void iwi_mailbox_release(struct iwi_mailbox *mailbox);

/* For the member only. */
IW_NODISCARD iw_status iwi_mailbox_new_post(const iw_log *log, struct iwi_mailbox *mailbox,
                                            struct iwi_post **post_p);
void iwi_mailbox_drop_post(struct iwi_mailbox *mailbox, struct iwi_post *post);

/* News for the member of that mailbox. */
void iwi_mailbox_ring(struct iwi_mailbox *mailbox);
/* Sleeps until there are more rings than `seen`, or the team has failed. */
void iwi_mailbox_sleep(const struct iwi_team *team, struct iwi_mailbox *mailbox, unsigned seen);

/* A channel of the link between a thread of this process and one of another. */
struct iwi_route {
    uint32_t process, channel;
};

#endif
