/* A member's place in its team: posts, news, sleep, and who is inside memory of others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "team/seat.h"

#include <sched.h>
#include <stdlib.h>

#include "base/base.h"

enum { SLAB_POSTS = 32 };

struct iwi_slab {
    struct iwi_slab *next;
    struct iwi_post posts[SLAB_POSTS];
};

iw_status iwi_seat_init(const iw_log *log, struct iwi_seat *seat, uint32_t threads)
{
    seat->channels = iwi_new_array(log, threads, sizeof *seat->channels);
    if (seat->channels == NULL) {
        return IW_ERR_NOMEM;
    }
    pthread_mutex_init(&seat->lock, NULL);
    pthread_cond_init(&seat->bell, NULL);
    return IW_OK;
}

void iwi_seat_release(struct iwi_seat *seat)
{
    if (seat->channels == NULL) {
        return;
    }
    while (seat->slabs != NULL) {
        struct iwi_slab *slab = seat->slabs;

        seat->slabs = slab->next;
        free(slab);
    }
    pthread_cond_destroy(&seat->bell);
    pthread_mutex_destroy(&seat->lock);
    free(seat->channels);
}

/* ---- posts ---- */

iw_status iwi_seat_new_post(const iw_log *log, struct iwi_seat *seat, struct iwi_post **post_p)
{
    if (seat->posts == NULL) {
        struct iwi_slab *slab = iwi_new_array(log, 1, sizeof *slab);

        if (slab == NULL) {
            return IW_ERR_NOMEM;
        }
        slab->next = seat->slabs;
        seat->slabs = slab;
        for (int p = 0; p < SLAB_POSTS; p++) {
            iwi_seat_drop_post(seat, &slab->posts[p]);
        }
    }
    *post_p = seat->posts;
    seat->posts = (*post_p)->next;
    (*post_p)->next = NULL;
    atomic_store(&(*post_p)->is_done, false);
    return IW_OK;
}

void iwi_seat_drop_post(struct iwi_seat *seat, struct iwi_post *post)
{
    post->next = seat->posts;
    seat->posts = post;
}

/* ---- news ---- */

/* Either the sleeper sees the ring before it sleeps, or the ringer sees that it is asleep. */
void iwi_seat_ring(struct iwi_seat *seat)
{
    atomic_fetch_add(&seat->rings, 1);
    if (atomic_load(&seat->is_asleep)) {
        pthread_mutex_lock(&seat->lock); /* it waits now, or will see the ring */
        pthread_mutex_unlock(&seat->lock);
        pthread_cond_signal(&seat->bell);
    }
}

void iwi_seat_sleep(const struct iwi_team *team, struct iwi_seat *seat, unsigned seen)
{
    pthread_mutex_lock(&seat->lock);
    atomic_store(&seat->is_asleep, true);
    while (atomic_load(&seat->rings) == seen && iwi_team_status(team) == IW_OK) {
        pthread_cond_wait(&seat->bell, &seat->lock);
    }
    atomic_store(&seat->is_asleep, false);
    pthread_mutex_unlock(&seat->lock);
}

/* ---- failure ---- */

iw_status iwi_team_status(const struct iwi_team *team)
{
    return (iw_status)atomic_load(&team->status);
}

static void wait_for_those_inside(const struct iwi_team *team)
{
    for (uint32_t t = 0; t < team->threads; t++) {
        while (atomic_load(&team->seats[t].is_inside)) {
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

iw_status iwi_seat_enter(struct iwi_member *member)
{
    struct iwi_seat *seat = iwi_seat_of(member);

    atomic_store(&seat->is_inside, true); /* before the look: who fails the team looks the other way round */
    if (iwi_team_status(member->team) == IW_OK) {
        return IW_OK;
    }
    atomic_store(&seat->is_inside, false);
    return iwi_team_check(member->team);
}

void iwi_seat_leave(struct iwi_member *member)
{
    atomic_store(&iwi_seat_of(member)->is_inside, false);
}

void iwi_team_fail(struct iwi_team *team, iw_status status)
{
    int none = IW_OK;

    (void)atomic_compare_exchange_strong(&team->status, &none, (int)status);
    for (uint32_t t = 0; t < team->threads; t++) {
        iwi_seat_ring(&team->seats[t]);
    }
    wait_for_those_inside(team);
}
