/* Starts processes that run a study.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made_study.h"

iw_study_opts iwt_opts_of(uint32_t process, uint32_t processes)
{
    iw_study_opts opts = IW_STUDY_OPTS_INIT;

    opts.threads = 1 + process % 2;
    opts.process = process;
    opts.processes = processes;
    opts.local_processes = processes;
    return opts;
}

bool iwt_is_done(iw_status status, const iw_study_outcome *outcome, const struct iwt_log *l)
{
    return status == IW_OK && l->errors == 0 && outcome->elsewhere == 0 &&
           outcome->found + outcome->run + outcome->others == outcome->cells;
}

pid_t iwt_start(const iw_study *study, const char *dir, const iw_study_opts *opts, iwt_expectation expected)
{
    const pid_t child = fork();
    iw_study_outcome outcome = {.cells = 0};
    struct iwt_log l;

    assert_true(child >= 0);
    if (child == 0) {
        iwt_log_init(&l);
        if (!expected(iw_study_run(&l.log, study, dir, opts, &outcome), &outcome, &l)) {
            (void)fprintf(stderr,
                          "process %u: %s; %zu cells, %zu found, %zu run, %zu others, %zu elsewhere\n",
                          (unsigned)opts->process, l.text, outcome.cells, outcome.found, outcome.run,
                          outcome.others, outcome.elsewhere);
            _exit(1);
        }
        _exit(0);
    }
    return child;
}

void iwt_assert_ends_well(pid_t child)
{
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

char *iwt_expected_lines(const iw_study *study, double *seconds_p)
{
    const iw_study_opts opts = iwt_opts_of(0, 1);
    iw_study_outcome outcome;
    char dir[64], *lines;

    iwt_folder_make(dir);
    assert_ok(iw_study_run(NULL, study, dir, &opts, &outcome));
    *seconds_p = outcome.seconds;
    lines = iwt_sorted_results(dir);
    iwt_folder_remove(dir);
    return lines;
}

void iwt_assert_lines(const char *dir, const char *expected)
{
    char *lines = iwt_sorted_results(dir);

    assert_string_equal(lines, expected);
    free(lines);
}
