/* Processes that run one study in one folder: every cell once, whoever is killed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/rng.h"
#include "made_study.h"
#include "processes.h"

enum { MOST_PROCESSES = 6, ROUNDS = IWT_IS_SLOW ? 3 : 8 };

static void run_all(const iw_study *study, const char *dir, uint32_t count, bool know_each_other)
{
    pid_t children[MOST_PROCESSES];

    for (uint32_t p = 0; p < count; p++) {
        const iw_study_opts opts = know_each_other ? iwt_opts_of(p, count) : iwt_opts_of(0, 1);

        children[p] = iwt_start(study, dir, &opts, iwt_is_done);
    }
    for (uint32_t p = 0; p < count; p++) {
        iwt_assert_ends_well(children[p]);
    }
}

/* ---- nothing goes wrong ---- */

static void any_number_of_processes_gives_the_same_lines(void **state)
{
    const iw_study *study = iwt_made_study(3, 50);
    double seconds;
    char *expected = iwt_expected_lines(study, &seconds);
    char dir[64];

    (void)state;
    for (uint32_t count = 1; count <= MOST_PROCESSES; count++) {
        iwt_folder_make(dir);
        run_all(study, dir, count, true);
        iwt_assert_lines(dir, expected);
        iwt_folder_remove(dir);
    }
    free(expected);
}

static void processes_need_not_know_of_each_other(void **state)
{
    const iw_study *study = iwt_made_study(3, 50);
    double seconds;
    char *expected = iwt_expected_lines(study, &seconds);
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    run_all(study, dir, 4, false);
    iwt_assert_lines(dir, expected);
    run_all(study, dir, 3, false); /* nothing is left, and no empty files are */
    iwt_assert_lines(dir, expected);
    iwt_folder_remove(dir);
    free(expected);
}

/* ---- kills ---- */

/* Of `count` processes the first `killed` are killed after a while; the others end the study. */
static void run_and_kill(const iw_study *study, const char *dir, uint32_t count, uint32_t killed,
                         double after_s)
{
    const struct timespec a_while = {.tv_sec = (time_t)after_s,
                                     .tv_nsec = (long)(1e9 * (after_s - (double)(time_t)after_s))};
    pid_t children[MOST_PROCESSES];
    int status;

    for (uint32_t p = 0; p < count; p++) {
        const iw_study_opts opts = iwt_opts_of(p, count);

        children[p] = iwt_start(study, dir, &opts, iwt_is_done);
    }
    (void)nanosleep(&a_while, NULL);
    for (uint32_t p = 0; p < killed; p++) {
        assert_int_equal(kill(children[p], SIGKILL), 0);
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
    }
    for (uint32_t p = killed; p < count; p++) {
        iwt_assert_ends_well(children[p]);
    }
}

static void who_is_killed_loses_only_its_cells_and_the_others_run_those(void **state)
{
    const struct iwi_draw_id id = {.seed = (uint64_t)time(NULL), .purpose = IWI_DRAW_TEST};
    const iw_study *study = iwt_made_study(3, 150);
    double undisturbed_s;
    char *expected = iwt_expected_lines(study, &undisturbed_s), dir[64];

    (void)state;
    print_message("seed %llu, %zu cells, %.2f s\n", (unsigned long long)id.seed, study->cell_count,
                  undisturbed_s);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        iwt_folder_make(dir);
        run_and_kill(study, dir, 3, 1 + round % 2, undisturbed_s * iwi_draw_unit(id, round));
        iwt_assert_lines(dir, expected);
        iwt_folder_remove(dir);
    }
    free(expected);
}

static void when_all_are_killed_the_next_run_goes_on(void **state)
{
    const iw_study *study = iwt_made_study(3, 150);
    double undisturbed_s;
    char *expected = iwt_expected_lines(study, &undisturbed_s), dir[64];

    (void)state;
    iwt_folder_make(dir);
    for (uint32_t round = 0; round < 4; round++) {
        run_and_kill(study, dir, 3, 3, 0.3 * undisturbed_s);
    }
    run_all(study, dir, 2, true);
    iwt_assert_lines(dir, expected);
    iwt_folder_remove(dir);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_processes_gives_the_same_lines),
        cmocka_unit_test(processes_need_not_know_of_each_other),
        cmocka_unit_test(who_is_killed_loses_only_its_cells_and_the_others_run_those),
        cmocka_unit_test(when_all_are_killed_the_next_run_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
