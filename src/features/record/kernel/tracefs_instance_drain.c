/* Reads the pages of events that an instance has gathered.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "features/record/kernel/tracefs.h"
#include "features/record/kernel/tracefs_instance.h"

static uint64_t tick_of(const struct iwi_tracefs_instance *instance, unsigned long long stamp)
{
    return instance->is_bridged ? iwi_clock_bridge_ticks(&instance->bridge, (int64_t)stamp) : stamp;
}

/* A full page has no room for the number of events that were lost before it; the kernel counts them, too. */
static void count_lost(struct iwi_tracefs_instance *instance, size_t place, int missed)
{
    static const char key[] = "\noverrun: ";
    struct iwi_rung_state *rung = instance->rung;
    char path[64], stats[512];
    const char *found = NULL;

    snprintf(path, sizeof path, "per_cpu/cpu%" PRIu32 "/stats", rung->watched[place].cpu);
    if (iwi_tracefs_read(instance->folder, path, stats, sizeof stats)) {
        found = strstr(stats, key);
    }
    if (found != NULL) {
        const uint64_t overrun = strtoull(found + strlen(key), NULL, 10);

        rung->lost += overrun - instance->overruns[place];
        instance->overruns[place] = overrun;
    } else {
        rung->lost += missed > 0 ? (uint64_t)missed : 1;
    }
}

/* *last_p: tick of the last event in it, unchanged if there is none. */
static iw_status take_page(struct iwi_tracefs_instance *instance, size_t place, uint64_t *last_p)
{
    struct kbuffer *kbuffer = instance->kbuffer;
    unsigned long long stamp;
    void *data;
    int missed;

    if (kbuffer_load_subbuffer(kbuffer, instance->page) != 0) {
        return IW_OK;
    }
    missed = kbuffer_missed_events(kbuffer);
    data = kbuffer_read_event(kbuffer, &stamp);
    if (missed != 0) {
        count_lost(instance, place, missed);
        IW_TRY(iwi_kernel_events_reset(instance->events, place, data != NULL ? tick_of(instance, stamp) : 0));
    }
    while (data != NULL) {
        *last_p = tick_of(instance, stamp);
        IW_TRY(iwi_kernel_events_take(instance->events, place, *last_p, data,
                                      (size_t)kbuffer_event_size(kbuffer)));
        data = kbuffer_next_event(kbuffer, &stamp);
    }
    return IW_OK;
}

/* read() gives also the page that the kernel is still filling, as far as it is. What happens from now on is
 * left for the next time: on a busy CPU there would be no end. */
static iw_status drain_place(struct iwi_tracefs_instance *instance, size_t place)
{
    const struct iwi_rung_state *rung = instance->rung;
    const uint64_t now = iwi_clock_now(rung->clock);
    uint64_t last = 0;

    while (last < now) {
        const ssize_t got = read(instance->pipes[place], instance->page, instance->page_size);

        if (got == 0 || (got < 0 && errno == EAGAIN)) {
            return IW_OK;
        }
        if (got > 0) {
            memset(instance->page + got, 0, instance->page_size - (size_t)got);
            IW_TRY(take_page(instance, place, &last));
        } else if (errno != EINTR) {
            return iwi_fail(rung->log, IW_ERR_IO, "kernel events of CPU %" PRIu32 " cannot be read: %s",
                            rung->watched[place].cpu, strerror(errno));
        }
    }
    return IW_OK;
}

iw_status iwi_tracefs_instance_drain(struct iwi_rung_state *rung)
{
    struct iwi_tracefs_instance *instance = rung->state;

    if (instance->is_bridged) {
        iwi_clock_bridge_renew(&instance->bridge);
    }
    for (size_t i = 0; i < rung->count; i++) {
        IW_TRY(drain_place(instance, i));
    }
    return IW_OK;
}
