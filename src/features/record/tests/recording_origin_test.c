/* What a recording says of its machine when it ends.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/recording_origin.h"

#include "features/record/attribution/attribution.h"
#include "features/record/probe/probe.h"
#include "support/fake_root.h"
#include "support/made_recording.h"

static void write_stat(const char *root, int steal)
{
    char text[160];

    snprintf(text, sizeof text, "cpu  0 0 0 0 0 0 0 %d 0 0\ncpu0 0 0 0 0 0 0 0 %d 0 0\n", steal, steal);
    fake_root_file(root, "/proc/stat", text);
}

/* 25 ticks, of which the kernel counts so many a second. */
static void stolen_time_is_told_in_milliseconds(void **state)
{
    uint32_t number = 0;
    const struct iwi_cpus cpus = {.count = 1, .numbers = &number};
    const iw_measure_opts opts = IW_MEASURE_OPTS_INIT;
    struct iwi_worker worker = {.cpu = 0};
    struct iwi_probe_threads threads = {.cpus = &cpus, .count = 1, .workers = &worker};
    struct iwi_attributor attribution = {.unseen = 0};
    struct iwi_recording_origin origin;
    struct iwi_clock clock;
    struct iwi_detour_collector collector = {.clock = &clock,
                                             .probe_threads = &threads,
                                             .attribution = &attribution,
                                             .recording = iwt_recording(1, 1000000)};
    char root[FAKE_ROOT_SIZE], expected[32];

    (void)state;
    fake_root_make(root);
    write_stat(root, 100);
    iwi_clock_open("", &clock);
    assert_ok(iwi_recording_origin_begin(NULL, root, &cpus, &origin));
    write_stat(root, 125);
    assert_ok(iwi_recording_origin_complete(NULL, &origin, &opts, &collector));
    snprintf(expected, sizeof expected, "%ld", 25 * 1000 / sysconf(_SC_CLK_TCK));
    assert_string_equal(iw_recording_get(collector.recording, "steal_ms"), expected);
    iwi_recording_origin_release(&origin);
    iw_recording_free(collector.recording);
    fake_root_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stolen_time_is_told_in_milliseconds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
