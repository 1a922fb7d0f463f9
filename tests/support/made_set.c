/* A recording with sources of several kinds, and sets of noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_set.h"

#include "support/made_recording.h"
#include "support/support.h"

/* The sources are laid out by their periods; a detour that would overlap the one before is left out. */
iw_recording *iwt_node(void)
{
    static const struct {
        iw_class kind;
        const char *name;
        int64_t period_ns, duration_ns;
    } rows[] = {{IW_CLASS_IRQ, "local_timer", 1000000, 10000},
                {IW_CLASS_IRQ, "eno1", 10000000, 50000},
                {IW_CLASS_THREAD, "cron", 100000000, 400000},
                {IW_CLASS_THREAD, "sshd", 143000000, 200000}};
    enum { ROWS = sizeof rows / sizeof rows[0] };
    iw_recording *recording = iwt_recording(1, 1000000000);
    uint32_t numbers[ROWS];
    int64_t end_ns = 0;

    for (size_t i = 0; i < ROWS; i++) {
        numbers[i] = iwt_source(recording, rows[i].kind, rows[i].name);
    }
    for (int64_t at_ns = 0; at_ns < 999000000; at_ns += 1000) {
        for (size_t i = ROWS; i-- > 0;) {
            const int64_t first_ns = (int64_t)(i + 1) * 137000;

            if (at_ns > end_ns && at_ns >= first_ns && (at_ns - first_ns) % rows[i].period_ns == 0) {
                iwt_detour(recording, 0, at_ns, rows[i].duration_ns, numbers[i]);
                end_ns = at_ns + rows[i].duration_ns;
            }
        }
    }
    return recording;
}

iw_noise_set *iwt_set(iw_recording *recording, const char *const *specs)
{
    iw_noise_set *set = NULL;

    assert_ok(iw_noise_set_new(NULL, &set));
    if (recording != NULL) {
        assert_ok(iw_noise_set_add_recording(NULL, set, "node", recording));
    }
    for (; specs != NULL && *specs != NULL; specs++) {
        assert_ok(iw_noise_set_add(NULL, set, *specs));
    }
    return set;
}
