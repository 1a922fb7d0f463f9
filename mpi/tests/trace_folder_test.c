/* The folder of a trace where others have been first: the tracer steps aside with one message.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/trace/folder.h"
#include "mpi/trace/recover.h"
#include "mpi/trace/spool.h"

enum { NOBODY = 65534, WINDOW = 1 << 16 };

static char folder[64], run[80], target[80];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/iw_folder_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(run, sizeof run, "%s/run", folder);
    snprintf(target, sizeof target, "%s/target", folder);
    return chmod(folder, 01777) == 0 ? mkdir(target, 0700) : -1;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? 0 : -1; // NOLINT(cert-env33-c,concurrency-mt-unsafe): a test's own folder
}

/* Neither the first process nor the others write there; a run that died is not finished there. */
static void assert_refused(const char *sentence)
{
    struct iwi_recovered recovered = {0};
    char text[4096] = "";

    assert_false(iwi_trace_folder_make(run, text, sizeof text));
    assert_non_null(strstr(text, sentence));
    assert_false(iwi_trace_folder_is_free(run, text, sizeof text) &&
                 iwi_trace_folder_join(run, text, sizeof text));
    assert_false(iwi_recover(run, &recovered, text, sizeof text));
    assert_int_equal(rmdir(target), 0); /* nothing was put into it */
}

static void links_and_folders_of_others_are_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("not tried: links of other users (only root can act as another user)\n");
        skip();
    }
    assert_int_equal(symlink("target", run), 0);
    assert_int_equal(lchown(run, NOBODY, NOBODY), 0);
    assert_refused("'run' on the way, made by user 65534, is not trusted");
    assert_int_equal(unlink(run), 0);
    assert_int_equal(mkdir(target, 0700), 0);
    assert_int_equal(mkdir(run, 0777), 0);
    assert_int_equal(chown(run, NOBODY, NOBODY), 0);
    assert_refused("it belongs to user 65534");
}

static void otf2_meets_no_links(void **state)
{
    static const char *const names[] = {"traces.otf2", "traces.def", "traces"};

    (void)state;
    assert_int_equal(mkdir(run, 0700), 0);
    for (size_t i = 0; i < 3; i++) {
        char path[128], text[512];

        snprintf(path, sizeof path, "%s/%s", run, names[i]);
        assert_int_equal(symlink("../target/gone", path), 0);
        assert_false(iwi_trace_folder_is_free(run, text, sizeof text));
        assert_false(iwi_trace_folder_make(run, text, sizeof text));
        assert_int_equal(unlink(path), 0);
        assert_true(iwi_trace_folder_is_free(run, text, sizeof text));
    }
}

/* What a rank records into is made by itself, and what is finished is no pipe. */
static void spool_files_are_no_links_or_pipes(void **state)
{
    struct iwi_recovered recovered = {0};
    struct iwi_spool spool;
    char path[128], text[4096];

    (void)state;
    assert_true(iwi_trace_folder_make(run, text, sizeof text));
    iwi_spool_path(run, 0, 0, path, sizeof path);
    assert_int_equal(symlink("../../target/gone", path), 0);
    assert_int_not_equal(iwi_spool_open(&spool, path, WINDOW), 0);
    assert_int_equal(rmdir(target), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_not_equal(iwi_spool_open(&spool, path, WINDOW), 0);
    assert_false(iwi_recover(run, &recovered, text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_and_folders_of_others_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(otf2_meets_no_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spool_files_are_no_links_or_pipes, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
