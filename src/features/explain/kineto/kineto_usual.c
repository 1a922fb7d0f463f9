/* How long things usually take, and which took longer.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For each key a fixed number of lengths is kept, each of all that were seen with the same chance (a
 * reservoir; the draws depend on nothing but the count), so that memory grows with the program, not with the
 * run.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/order.h"
#include "features/explain/kineto/kineto_parts.h"

enum { ENOUGH = 4, SLACK_NS = 50000 };

iw_status iwi_kineto_usual_add(const iw_log *log, struct iwi_kineto_usuals *usuals, uint64_t key,
                               int64_t length_ns)
{
    const uint32_t known = usuals->keys.count;
    struct iwi_kineto_usual *usual;
    uint32_t number;
    uint64_t place;

    IW_TRY(iwi_grow(log, (void **)&usuals->of, &usuals->capacity, (size_t)known + 1, sizeof *usual));
    IW_TRY(iwi_index_number(log, &usuals->keys, (struct iwi_index_key){key, 0}, &number));
    usual = &usuals->of[number];
    if (number == known) {
        *usual = (struct iwi_kineto_usual){.shortest_ns = length_ns};
    }
    place = usual->count < IWI_KINETO_SAMPLES ? usual->count : iwi_mix(usual->count) % (usual->count + 1);
    if (place < IWI_KINETO_SAMPLES) {
        usual->us[place] = (float)length_ns / 1000;
    }
    usual->count++;
    usual->shortest_ns = iwi_min(usual->shortest_ns, length_ns);
    return IW_OK;
}

const struct iwi_kineto_usual *iwi_kineto_usual(const struct iwi_kineto_usuals *usuals, uint64_t key)
{
    const uint32_t number = iwi_index_find(&usuals->keys, (struct iwi_index_key){key, 0});

    return number != IWI_LOOKUP_NONE ? &usuals->of[number] : NULL;
}

IWI_COMPARE(compare_us, float, IWI_ORDER(*left, *right))

int64_t iwi_kineto_usual_ns(const struct iwi_kineto_usual *usual)
{
    const size_t count = usual->count < IWI_KINETO_SAMPLES ? (size_t)usual->count : IWI_KINETO_SAMPLES;
    float us[IWI_KINETO_SAMPLES];

    memcpy(us, usual->us, count * sizeof us[0]);
    iwi_sort(us, count, compare_us);
    return (int64_t)(1000 * us[(count - 1) / 2]);
}

bool iwi_kineto_is_known(const struct iwi_kineto_usual *usual)
{
    return usual != NULL && usual->count >= ENOUGH;
}

/* Of the loader: what it takes on the rank where it is quickest, else a rank whose loader is always late
 * would make that the usual. */
static iw_time usual_ps(const struct iwi_kineto *kineto, const struct iwi_kineto_suspect *suspect,
                        const struct iwi_kineto_usual *usual)
{
    if (suspect->pause.cause == IWI_PAUSE_LOADER && kineto->loader_ns > 0) {
        return kineto->loader_ns * IW_PS_PER_NS;
    }
    return iwi_kineto_is_known(usual) ? iwi_kineto_usual_ns(usual) * IW_PS_PER_NS : 0;
}

/* A pause is what is beyond the usual, at the end of what took so long. Of a gap or a call of the loader that
 * was not seen often enough to say what is usual, it is all; a kernel needs others like it. */
iw_status iwi_kineto_judge(struct iwi_kineto *kineto)
{
    for (size_t i = 0; i < kineto->suspect_count; i++) {
        const struct iwi_kineto_suspect *suspect = &kineto->suspects[i];
        const struct iwi_kineto_usual *usual = iwi_kineto_usual(&kineto->usuals, suspect->key);
        const iw_time least_ps = usual_ps(kineto, suspect, usual);
        struct iwi_pause pause = suspect->pause;
        const iw_time length_ps = pause.end_ps - pause.begin_ps;

        if ((iwi_kineto_is_known(usual) || pause.cause != IWI_PAUSE_SLOW) &&
            length_ps > least_ps + least_ps / 2 + SLACK_NS * IW_PS_PER_NS) {
            pause.begin_ps += least_ps;
            IW_TRY(iwi_visits_add_pause(kineto->visits, &pause));
        }
    }
    return IW_OK;
}
