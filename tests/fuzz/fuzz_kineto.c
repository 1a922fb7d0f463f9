/* Fuzzes the reader of PyTorch's profiles and the alignment of clocks: the files of up to four ranks, divided
 * by form feeds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "features/explain/kineto/kineto.h"
#include "fuzz.h"

enum { RANKS_MAX = 4 };

/* Whatever the input: indices are of what is there, nothing ends before it begins, and the last one came
 * last. */
static void check(const struct iwi_visits *visits)
{
    size_t met = 0;

    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        iwt_fuzz_require(visit->rank < visits->rank_count && visit->group < visits->group_count);
        iwt_fuzz_require(visit->op < IWI_VISIT_OPS && visit->enter_ps <= visit->leave_ps);
        iwt_fuzz_require(visit->queued_ps >= 0 && visit->ready_ps >= 0);
        iwt_fuzz_require(!visit->has_root || visit->root < visits->rank_count);
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];

        iwt_fuzz_require(encounter->first == met && encounter->last >= met &&
                         encounter->last < met + encounter->count);
        for (uint64_t k = met; k < met + encounter->count; k++) {
            iwt_fuzz_require(visits->visits[k].enter_ps <= visits->visits[encounter->last].enter_ps);
        }
        met += encounter->count;
    }
    iwt_fuzz_require(met == visits->visit_count);
    for (size_t i = 0; i < visits->pause_count; i++) {
        iwt_fuzz_require(visits->pauses[i].rank < visits->rank_count &&
                         visits->pauses[i].begin_ps <= visits->pauses[i].end_ps);
    }
    for (size_t i = 0; i < visits->stretch_count; i++) {
        iwt_fuzz_require(visits->stretches[i].begin_ps <= visits->stretches[i].end_ps);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[RANKS_MAX] = {"rank0.json", "rank1.json", "rank2.json",
                                                 "node_7.12.pt.trace.json"};
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    struct iwi_kineto_text texts[RANKS_MAX];
    const char *at = (const char *)data, *end = at + size;
    struct iwi_visits visits;
    size_t count = 0;
    iw_status status;

    while (count < RANKS_MAX && at != NULL) {
        const char *next = count + 1 < RANKS_MAX ? memchr(at, '\f', (size_t)(end - at)) : NULL;

        texts[count] = (struct iwi_kineto_text){names[count], at, (size_t)((next != NULL ? next : end) - at)};
        at = next != NULL ? next + 1 : NULL;
        count++;
    }
    iwi_visits_init(&visits, &log, "Kineto");
    status = iwi_kineto_read_memory(&log, texts, count, &visits);
    if (status == IW_OK) {
        check(&visits);
        status = iwi_visits_align(&visits);
        check(&visits);
    }
    iwt_fuzz_check_log(status, errors);
    iwi_visits_release(&visits);
    return 0;
}
