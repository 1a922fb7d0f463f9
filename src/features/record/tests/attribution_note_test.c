/* What is said of methods that do not work.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "features/record/attribution/attribution.h"
#include "support/fake_root.h"

/* It is in a container that numbers its processes itself, which no method of tracefs can do with. */
static void the_same_reason_of_several_methods_is_said_once(void **state)
{
    static const char start[] = "osnoise, tracefs, perf (kernel events number threads as the host does";
    struct iwi_clock clock;
    struct iwi_watched *watched = calloc(1, sizeof *watched);
    iw_measure_opts opts = IW_MEASURE_OPTS_INIT;
    struct iwi_attributor attribution;
    char root[FAKE_ROOT_SIZE], path[FAKE_PATH_SIZE];
    iw_recording *recording;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/self/ns/mnt", "");
    snprintf(path, sizeof path, "%s/proc/self/ns/pid", root);
    assert_int_equal(symlink("pid:[4026532000]", path), 0);
    iwi_clock_open("", &clock);
    *watched = (struct iwi_watched){.tid = gettid()};
    opts.attribution = IW_ATTRIBUTION_AUTO;
    assert_ok(iw_recording_new(NULL, 1, &recording));
    assert_ok(iwi_attribution_open(NULL, root, &opts, &clock, watched, 1, recording, &attribution));
    assert_int_equal(strncmp(attribution.note, start, strlen(start)), 0);
    iwi_attribution_close(&attribution);
    iw_recording_free(recording);
    fake_root_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_reason_of_several_methods_is_said_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
