/* A member's place in its team: posts, news, sleep, and who is inside memory of others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/team/mailbox.h"

#include <sched.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"

enum { SLAB_POSTS = 32 };

struct iwi_slab {
    struct iwi_slab *next;
    struct iwi_post posts[SLAB_POSTS];
};

iw_status iwi_mailbox_init(const iw_log *log, struct iwi_mailbox *mailbox, uint32_t threads)
{
    mailbox->channels = iwi_new_array(log, threads, sizeof *mailbox->channels);
    if (mailbox->channels == NULL) {
        return IW_ERR_NOMEM;
    }
    pthread_mutex_init(&mailbox->lock, NULL);
    pthread_cond_init(&mailbox->bell, NULL);
    return IW_OK;
}

void iwi_mailbox_release(struct iwi_mailbox *mailbox)
{
    if (mailbox->channels == NULL) {
        return;
    }
    while (mailbox->slabs != NULL) {
        struct iwi_slab *slab = mailbox->slabs;

        mailbox->slabs = slab->next;
        free(slab);
    }
    pthread_cond_destroy(&mailbox->bell);
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox->channels);
}

/* ---- posts ---- */

iw_status iwi_mailbox_new_post(const iw_log *log, struct iwi_mailbox *mailbox, struct iwi_post **post_p)
{
    if (mailbox->posts == NULL) {
        struct iwi_slab *slab = iwi_new_array(log, 1, sizeof *slab);

        if (slab == NULL) {
            return IW_ERR_NOMEM;
        }
        slab->next = mailbox->slabs;
        mailbox->slabs = slab;
        for (int p = 0; p < SLAB_POSTS; p++) {
            iwi_mailbox_drop_post(mailbox, &slab->posts[p]);
        }
    }
    *post_p = mailbox->posts;
    mailbox->posts = (*post_p)->next;
    (*post_p)->next = NULL;
    atomic_store(&(*post_p)->is_done, false);
    return IW_OK;
}

void iwi_mailbox_drop_post(struct iwi_mailbox *mailbox, struct iwi_post *post)
{
    post->next = mailbox->posts;
    mailbox->posts = post;
}

/* ---- news ---- */

/* Either the sleeper sees the ring before it sleeps, or the ringer sees that it is asleep. */
void iwi_mailbox_ring(struct iwi_mailbox *mailbox)
{
    atomic_fetch_add(&mailbox->rings, 1);
    if (atomic_load(&mailbox->is_asleep)) {
        pthread_mutex_lock(&mailbox->lock); /* it waits now, or will see the ring */
        pthread_mutex_unlock(&mailbox->lock);
        pthread_cond_signal(&mailbox->bell);
    }
}

void iwi_mailbox_sleep(const struct iwi_team *team, struct iwi_mailbox *mailbox, unsigned seen)
{
    pthread_mutex_lock(&mailbox->lock);
    atomic_store(&mailbox->is_asleep, true);
    while (atomic_load(&mailbox->rings) == seen && iwi_team_status(team) == IW_OK) {
        pthread_cond_wait(&mailbox->bell, &mailbox->lock);
    }
    atomic_store(&mailbox->is_asleep, false);
    pthread_mutex_unlock(&mailbox->lock);
}

/* ---- failure ---- */

iw_status iwi_team_status(const struct iwi_team *team)
{
    return (iw_status)atomic_load(&team->status);
}

static void wait_for_those_inside(const struct iwi_team *team)
{
    for (uint32_t t = 0; t < team->threads; t++) {
        while (atomic_load(&team->mailboxes[t].is_inside)) {
            (void)sched_yield();
        }
    }
}

iw_status iwi_team_check(const struct iwi_team *team)
{
    const iw_status status = iwi_team_status(team);

    if (status != IW_OK) {
        wait_for_those_inside(team);
    }
    return status;
}

iw_status iwi_mailbox_enter(struct iwi_member *member)
{
    struct iwi_mailbox *mailbox = iwi_mailbox_of(member);

    atomic_store(&mailbox->is_inside,
                 true); /* before the look: who fails the team looks the other way round */
    if (iwi_team_status(member->team) == IW_OK) {
        return IW_OK;
    }
    atomic_store(&mailbox->is_inside, false);
    return iwi_team_check(member->team);
}

void iwi_mailbox_leave(struct iwi_member *member)
{
    atomic_store(&iwi_mailbox_of(member)->is_inside, false);
}

void iwi_team_fail(struct iwi_team *team, iw_status status)
{
    int none = IW_OK;

    (void)atomic_compare_exchange_strong(&team->status, &none, (int)status);
    for (uint32_t t = 0; t < team->threads; t++) {
        iwi_mailbox_ring(&team->mailboxes[t]);
    }
    wait_for_those_inside(team);
}

/* ---- how long who waits looks by itself ---- */

/* The least is about what it costs to be woken. The most is what the rounds of members that have CPUs of
 * their own differ by; whoever is away for longer has lost its CPU to somebody. */
enum { LEAST_NS = 20000, MOST_NS = 1000000, CROWDED_NS = 1000, FIRST_USUAL_NS = 50000 };

/* Looks before the first one at the clock: most waits are over then. */
enum { LOOKS_AT_ONCE = 32 };

void iwi_patience_init(struct iwi_patience *patience, bool is_crowded)
{
    *patience = (struct iwi_patience){FIRST_USUAL_NS, is_crowded};
}

int64_t iwi_patience_limit_ns(const struct iwi_patience *patience)
{
    return patience->is_crowded ? CROWDED_NS : iwi_min(MOST_NS, iwi_max(LEAST_NS, 2 * patience->usual_ns));
}

void iwi_patience_learn(struct iwi_patience *patience, int64_t waited_ns)
{
    const int64_t useful_ns = waited_ns <= MOST_NS ? waited_ns : 0;

    patience->usual_ns += (useful_ns - patience->usual_ns) / 8;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

bool iwi_vigil_goes_on(struct iwi_vigil *vigil, const struct iwi_patience *patience)
{
    if (vigil->looks < LOOKS_AT_ONCE) {
        vigil->looks++;
    } else if (vigil->begin_ns == 0) {
        vigil->begin_ns = iwi_now_ns();
    } else if (iwi_now_ns() - vigil->begin_ns >= iwi_patience_limit_ns(patience)) {
        return false;
    }
    relax();
    return true;
}

/* Yielding may be in vain: kernels that group tasks by session let a task yield to others of its group only,
 * and MPICH's launcher makes a session for each process. */
void iwi_vigil_pause(struct iwi_vigil *vigil, const struct iwi_patience *patience)
{
    enum { YIELDS = 30, SHORTEST_NS = 5000, LONGEST_NS = 100000 };

    if (iwi_vigil_goes_on(vigil, patience)) {
        return;
    }
    vigil->naps++;
    if (vigil->naps <= YIELDS) {
        (void)sched_yield();
    } else {
        const int64_t nap_ns = iwi_min(LONGEST_NS, SHORTEST_NS * (int64_t)(vigil->naps - YIELDS));
        const struct timespec nap = {.tv_nsec = nap_ns};

        (void)nanosleep(&nap, NULL);
    }
}

void iwi_vigil_end(const struct iwi_vigil *vigil, struct iwi_patience *patience)
{
    if (vigil->looks > 0) {
        iwi_patience_learn(patience, vigil->begin_ns == 0 ? 0 : iwi_now_ns() - vigil->begin_ns);
    }
}
