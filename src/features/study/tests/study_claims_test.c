/* Claims, what others have written, and what a process may use of its node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "features/study/cells.h"
#include "features/study/folder.h"
#include "features/study/pool.h"
#include "made_study.h"
#include "support/support.h"

/* ---- claims ---- */

static bool take(const struct iwi_claims *claims, uint64_t byte)
{
    bool is_taken = false;

    assert_ok(iwi_claims_take(NULL, claims, byte, &is_taken));
    return is_taken;
}

static void one_holder_at_a_time(void **state)
{
    struct iwi_claims one, two;
    char dir[64], *text;

    (void)state;
    iwt_folder_make(dir);
    assert_ok(iwi_claims_open(NULL, dir, &one));
    assert_ok(iwi_claims_open(NULL, dir, &two));
    assert_int_equal(one.fault, 0);
    assert_true(take(&one, 17));
    assert_false(take(&two, 17));
    assert_true(take(&two, 18));
    assert_true(take(&two, 0));
    assert_true(take(&one, UINT64_MAX >> 3));
    iwi_claims_give_back(&one, 17);
    assert_true(take(&two, 17));
    iwi_claims_close(&two);
    assert_true(take(&one, 17));
    assert_true(take(&one, 18));
    iwi_claims_close(&one);
    text = iwt_read_file(dir, "claims");
    assert_string_equal(text, "");
    free(text);
    iwt_folder_remove(dir);
}

static void the_claims_of_the_dead_are_free(void **state)
{
    struct iwi_claims claims;
    int pipe_ends[2], status;
    char dir[64], byte = 0;
    pid_t child;

    (void)state;
    iwt_folder_make(dir);
    assert_int_equal(pipe(pipe_ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (iwi_claims_open(NULL, dir, &claims) == IW_OK && take(&claims, 5)) {
            (void)!write(pipe_ends[1], &byte, 1);
        }
        (void)pause();
        _exit(0);
    }
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    assert_ok(iwi_claims_open(NULL, dir, &claims));
    assert_false(take(&claims, 5));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(take(&claims, 5));
    iwi_claims_close(&claims);
    (void)close(pipe_ends[0]);
    (void)close(pipe_ends[1]);
    iwt_folder_remove(dir);
}

static void cells_and_nodes_have_bytes_of_their_own(void **state)
{
    iw_cell first = {.id = "0000000000000010"}, last = {.id = "ffffffffffffffff"};

    (void)state;
    assert_int_equal(iwi_claim_of_cell(&first), 2);
    assert_true(iwi_claim_of_cell(&last) < iwi_claim_of_node());
    assert_true(iwi_claim_of_node() <= INT64_MAX);
}

static void a_claims_file_that_is_none_is_told(void **state)
{
    struct iwi_claims claims;
    struct iwt_log l;
    char dir[64], path[100];

    (void)state;
    iwt_folder_make(dir);
    snprintf(path, sizeof path, "%s/claims", dir);
    assert_int_equal(symlink("elsewhere", path), 0);
    iwt_log_init(&l);
    assert_status(iwi_claims_open(&l.log, dir, &claims), IW_ERR_IO);
    iwt_assert_logged(&l, "claims': it is not a regular file but a symbolic link");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    iwt_log_init(&l);
    assert_status(iwi_claims_open(&l.log, dir, &claims), IW_ERR_IO);
    iwt_assert_logged(&l, "claims': Is a directory");
    iwt_folder_remove(dir);
}

/* ---- what others have written ---- */

static void collect(void *arg, const char *id)
{
    char *text = arg;

    (void)strncat(text, id, 200 - strlen(text) - 1);
    (void)strncat(text, " ", 200 - strlen(text) - 1);
}

static void assert_news(struct iwi_peer_results *others, const char *expected)
{
    char text[200] = "";

    assert_ok(iwi_peer_results_read(NULL, others, collect, text));
    assert_string_equal(text, expected);
}

static void append(const char *dir, const char *name, const char *text)
{
    char path[200];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "ae");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#define LINE(id) "{\"schema\":\"idlewave.cell/2\",\"id\":\"" id "\",\"rest\":0}\n"

static void only_whole_new_lines_of_others_are_seen(void **state)
{
    struct iwi_peer_results others;
    char dir[64], own[100];

    (void)state;
    iwt_folder_make(dir);
    snprintf(own, sizeof own, "%s/results.jsonl", dir);
    append(dir, "results.jsonl", LINE("000000000000000a"));
    append(dir, "results-p2.jsonl", LINE("000000000000000b") "{\"schema\":\"idlewave.cell/2\",\"id\":\"0000");
    assert_ok(iwi_peer_results_init(NULL, dir, own, &others));
    assert_news(&others, "");
    append(dir, "results-p2.jsonl", "00000000000c\",\"rest\":0}\n" LINE("000000000000000d"));
    append(dir, "results.jsonl", LINE("000000000000000e"));
    assert_news(&others, "000000000000000c 000000000000000d ");
    assert_news(&others, "");
    append(dir, "results-1-of-2.jsonl", "no line of ours\n{}\n" LINE("000000000000000f"));
    append(dir, "notes.jsonl", LINE("0000000000000010"));
    assert_news(&others, "000000000000000f ");
    iwt_write_file(dir, "results-p2.jsonl", LINE("0000000000000011")); /* replaced by something shorter */
    assert_news(&others, "0000000000000011 ");
    iwi_peer_results_release(&others);
    iwt_folder_remove(dir);
}

/* ---- the node ---- */

static void cpus_are_shared_evenly_whether_bound_or_not(void **state)
{
    (void)state;
    assert_int_equal(iwi_share_of_cpus(64, 64, 4), 16); /* all see all */
    assert_int_equal(iwi_share_of_cpus(1, 64, 4), 1);   /* each is bound to a core */
    assert_int_equal(iwi_share_of_cpus(16, 64, 4), 16); /* each to its quarter */
    assert_int_equal(iwi_share_of_cpus(32, 64, 4), 16); /* two to each half */
    assert_int_equal(iwi_share_of_cpus(8, 8, 1), 8);
    assert_int_equal(iwi_share_of_cpus(8, 64, 1), 8);
    assert_int_equal(iwi_share_of_cpus(2, 2, 8), 1);
    assert_int_equal(iwi_share_of_cpus(8, 0, 2), 4); /* the launcher cannot be seen */
}

static void memory_is_shared_evenly(void **state)
{
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    const uint64_t alone = iwi_study_budget_bytes(&opts);
    uint64_t shared;

    (void)state;
    opts.local_processes = 8;
    shared = iwi_study_budget_bytes(&opts);
    assert_true(shared > alone / 16 && shared < alone / 4); /* other programs come and go */
}

/* Cells beyond the share run one at a time on a node, whatever process they are in. */
static void a_large_cell_waits_for_the_node(void **state)
{
    const iw_study *study = iwt_made_study(2, 2);
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    struct iwi_pool_job job = {.opts = &opts, .threads = 2, .budget_bytes = 1, .timings_fd = -1};
    iw_study_outcome outcome;
    struct iwi_results_file file;
    struct iwi_claims claims, other;
    struct iwi_peer_results others;
    struct iwi_inputs inputs;
    struct iwi_tasks tasks;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    assert_ok(iwi_inputs_init(NULL, study, &inputs));
    assert_ok(iwi_tasks_init(NULL, &inputs, 0, 1, &tasks));
    assert_ok(iwi_tasks_price(NULL, &inputs, false, &tasks));
    assert_ok(iwi_results_file_take(NULL, dir, 0, 1, 0, true, &file));
    assert_ok(iwi_peer_results_init(NULL, dir, file.path, &others));
    assert_ok(iwi_claims_open(NULL, dir, &claims));
    assert_ok(iwi_claims_open(NULL, dir, &other));
    job.inputs = &inputs;
    job.tasks = &tasks;
    job.results = &file;
    job.claims = &claims;
    job.others = &others;
    opts.leaves = true;
    assert_true(take(&other, iwi_claim_of_node()));
    assert_ok(iwi_pool_run(NULL, &job, &outcome));
    assert_int_equal(outcome.run, 0);
    assert_int_equal(outcome.elsewhere, study->cell_count);
    iwi_claims_give_back(&other, iwi_claim_of_node());
    assert_ok(iwi_pool_run(NULL, &job, &outcome));
    assert_int_equal(outcome.run, study->cell_count);
    assert_true(take(&other, iwi_claim_of_node())); /* given back */
    assert_true(take(&other, iwi_claim_of_cell(&study->cells[0])));
    iwi_claims_close(&other);
    iwi_claims_close(&claims);
    iwi_peer_results_release(&others);
    iwi_results_file_close(&file);
    iwi_tasks_release(&tasks);
    iwi_inputs_release(&inputs);
    iwt_folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_holder_at_a_time),
        cmocka_unit_test(the_claims_of_the_dead_are_free),
        cmocka_unit_test(cells_and_nodes_have_bytes_of_their_own),
        cmocka_unit_test(a_claims_file_that_is_none_is_told),
        cmocka_unit_test(only_whole_new_lines_of_others_are_seen),
        cmocka_unit_test(cpus_are_shared_evenly_whether_bound_or_not),
        cmocka_unit_test(memory_is_shared_evenly),
        cmocka_unit_test(a_large_cell_waits_for_the_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
