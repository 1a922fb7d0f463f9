/* What a guard puts back, however the process that started it ends.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/tracefs_instance.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/base/sysfile.h"
#include "support/fake_root.h"

enum { PATIENCE_STEPS = 1000, PATIENCE_STEP_MS = 10 };

/* A folder with a file "setting" that is "old", and no folder "made" in it. */
struct bench {
    char root[FAKE_ROOT_SIZE];
    int folder;
    struct iwi_undo steps[2];
};

static void begin(struct bench *bench)
{
    fake_root_make(bench->root);
    fake_root_file(bench->root, "/setting", "old");
    bench->folder = open(bench->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(bench->folder >= 0);
    bench->steps[0] = (struct iwi_undo){.folder = bench->folder, .path = "setting", .text = "old"};
    bench->steps[1] = (struct iwi_undo){.folder = bench->folder, .path = "made", .is_removal = true};
}

static void end(struct bench *bench)
{
    assert_int_equal(close(bench->folder), 0);
    fake_root_remove(bench->root);
}

static void change(const struct bench *bench)
{
    fake_root_file(bench->root, "/setting", "new");
    assert_int_equal(mkdirat(bench->folder, "made", 0700), 0);
}

static bool is_as_before(const struct bench *bench)
{
    char text[16];

    return faccessat(bench->folder, "made", F_OK, 0) != 0 && errno == ENOENT &&
           iwi_sysfile_line(bench->root, "/setting", text, sizeof text) && strcmp(text, "old") == 0;
}

/* Keepers of processes that are gone end up with the reaper: this process. */
static void become_reaper(void)
{
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

static void expect_no_child_is_left(void)
{
    int state;

    for (int i = 0; i < PATIENCE_STEPS; i++) {
        const pid_t pid = waitpid(-1, &state, WNOHANG);

        if (pid < 0) {
            assert_int_equal(errno, ECHILD);
            return;
        }
        if (pid > 0) {
            assert_true(WIFEXITED(state) && WEXITSTATUS(state) == 0);
        } else {
            (void)poll(NULL, 0, PATIENCE_STEP_MS);
        }
    }
    fail_msg("a keeper does not end");
}

static void release_undoes_all_steps_and_waits_for_the_keeper(void **state)
{
    struct iwi_cleanup_guard guard;
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_true(iwi_cleanup_guard_start(&guard, bench.steps, 2));
    change(&bench);
    assert_false(is_as_before(&bench));
    assert_true(iwi_cleanup_guard_release(&guard));
    assert_true(is_as_before(&bench));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie */
    assert_int_equal(errno, ECHILD);
    assert_true(iwi_cleanup_guard_release(&guard)); /* nothing to do */
    end(&bench);
}

static void steps_are_undone_last_first(void **state)
{
    struct iwi_cleanup_guard guard;
    struct bench bench;

    (void)state;
    begin(&bench);
    bench.steps[0] = (struct iwi_undo){.folder = bench.folder, .path = "made", .is_removal = true};
    bench.steps[1] = (struct iwi_undo){.folder = bench.folder, .path = "made/inner", .is_removal = true};
    assert_true(iwi_cleanup_guard_start(&guard, bench.steps, 2));
    assert_int_equal(mkdirat(bench.folder, "made", 0700), 0);
    assert_int_equal(mkdirat(bench.folder, "made/inner", 0700), 0);
    assert_true(iwi_cleanup_guard_release(&guard));
    assert_true(is_as_before(&bench));
    end(&bench);
}

static void a_step_that_cannot_be_undone_is_told_and_the_others_are(void **state)
{
    struct iwi_cleanup_guard guard;
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_true(iwi_cleanup_guard_start(&guard, bench.steps, 2));
    change(&bench);
    fake_root_file(bench.root, "/made/in_the_way", "");
    assert_false(iwi_cleanup_guard_release(&guard));
    assert_int_equal(unlinkat(bench.folder, "made/in_the_way", 0), 0);
    assert_int_equal(unlinkat(bench.folder, "made", AT_REMOVEDIR), 0);
    assert_true(is_as_before(&bench));
    end(&bench);
}

static void a_change_that_was_not_made_is_no_failure(void **state)
{
    struct iwi_cleanup_guard guard;
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_true(iwi_cleanup_guard_start(&guard, bench.steps, 2));
    assert_true(iwi_cleanup_guard_release(&guard));
    assert_true(is_as_before(&bench));
    end(&bench);
}

static void too_many_steps_are_refused(void **state)
{
    const struct iwi_undo steps[IWI_CLEANUP_STEPS + 1] = {{.folder = -1}};
    struct iwi_cleanup_guard guard;

    (void)state;
    assert_false(iwi_cleanup_guard_start(&guard, steps, IWI_CLEANUP_STEPS + 1));
    assert_int_equal(guard.pipe, -1);
    assert_true(iwi_cleanup_guard_release(&guard));
}

/* A process in a group of its own that changes things under a guard, says so, and ends as told. */
static pid_t start_victim(const struct bench *bench, int signal_number)
{
    char byte;
    int ready[2];
    pid_t pid;

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct rlimit no_core = {0, 0};
        struct iwi_cleanup_guard guard;

        (void)setpgid(0, 0);
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)signal(SIGSEGV, SIG_DFL); /* the sanitizer's handler would print */
        if (!iwi_cleanup_guard_start(&guard, bench->steps, 2)) {
            _exit(2);
        }
        change(bench);
        (void)!write(ready[1], "", 1);
        if (signal_number == 0) {
            _exit(0);
        }
        for (;;) {
            (void)pause();
        }
    }
    assert_int_equal(close(ready[1]), 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(close(ready[0]), 0);
    return pid;
}

static void expect_put_back_after(int signal_number, bool is_to_group)
{
    struct bench bench;
    pid_t pid;
    int state;

    become_reaper();
    begin(&bench);
    pid = start_victim(&bench, signal_number);
    if (signal_number != 0) {
        assert_false(is_as_before(&bench));
        assert_int_equal(kill(is_to_group ? -pid : pid, signal_number), 0);
    }
    assert_int_equal(waitpid(pid, &state, 0), pid);
    assert_true(signal_number == 0 ? WIFEXITED(state) && WEXITSTATUS(state) == 0
                                   : WIFSIGNALED(state) && WTERMSIG(state) == signal_number);
    expect_no_child_is_left();
    assert_true(is_as_before(&bench));
    end(&bench);
}

static void leaving_without_release_puts_back(void **state)
{
    (void)state;
    expect_put_back_after(0, false);
}

static void being_killed_puts_back(void **state)
{
    (void)state;
    expect_put_back_after(SIGKILL, false);
}

static void a_crash_puts_back(void **state)
{
    (void)state;
    expect_put_back_after(SIGSEGV, false);
}

static void an_interrupt_of_the_process_group_puts_back(void **state)
{
    (void)state;
    expect_put_back_after(SIGINT, true);
    expect_put_back_after(SIGKILL, true);
}

static void a_keeper_outlives_signals_that_others_send_it(void **state)
{
    static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE};
    struct iwi_cleanup_guard guard;
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_true(iwi_cleanup_guard_start(&guard, bench.steps, 2));
    change(&bench);
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
        assert_int_equal(kill(guard.pid, deadly[i]), 0);
    }
    assert_true(iwi_cleanup_guard_release(&guard));
    assert_true(is_as_before(&bench));
    end(&bench);
}

static void what_a_killed_keeper_leaves_is_undone_by_release(void **state)
{
    struct iwi_cleanup_guard guard;
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_true(iwi_cleanup_guard_start(&guard, bench.steps, 2));
    change(&bench);
    assert_int_equal(kill(guard.pid, SIGKILL), 0);
    assert_true(iwi_cleanup_guard_release(&guard));
    assert_true(is_as_before(&bench));
    end(&bench);
}

static void wait_for_name(pid_t pid, const char *name)
{
    char path[64], comm[32] = "";

    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    for (int i = 0; i < PATIENCE_STEPS && strcmp(comm, name) != 0; i++) {
        assert_true(iwi_sysfile_line("", path, comm, sizeof comm));
        (void)poll(NULL, 0, PATIENCE_STEP_MS);
    }
    assert_string_equal(comm, name);
}

static void a_keeper_has_a_name_a_session_and_holds_nothing_else_open(void **state)
{
    struct iwi_cleanup_guard guard;
    struct bench bench;
    struct pollfd end_of_file;
    int ends[2];

    (void)state;
    begin(&bench);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(iwi_cleanup_guard_start(&guard, bench.steps, 2));
    wait_for_name(guard.pid, "idlewave-keeper");
    assert_int_equal(getsid(guard.pid), guard.pid);
    assert_int_equal(close(ends[1]), 0);
    end_of_file = (struct pollfd){.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&end_of_file, 1, PATIENCE_STEPS * PATIENCE_STEP_MS),
                     1); /* the last writer is gone */
    assert_true((end_of_file.revents & POLLHUP) != 0);
    assert_true(iwi_cleanup_guard_release(&guard));
    assert_int_equal(close(ends[0]), 0);
    end(&bench);
}

static void a_second_keeper_does_not_hold_up_the_first(void **state)
{
    struct iwi_cleanup_guard first, second;
    struct bench bench;

    (void)state;
    begin(&bench);
    assert_true(iwi_cleanup_guard_start(&first, &bench.steps[0], 1));
    assert_true(iwi_cleanup_guard_start(&second, &bench.steps[1], 1));
    change(&bench);
    assert_true(iwi_cleanup_guard_release(&first));
    assert_int_equal(faccessat(bench.folder, "made", F_OK, 0), 0);
    assert_true(iwi_cleanup_guard_release(&second));
    assert_true(is_as_before(&bench));
    end(&bench);
}

static void ignored_children_do_not_confuse_release(void **state)
{
    struct iwi_cleanup_guard guard;
    struct bench bench;

    (void)state;
    begin(&bench);
    (void)signal(SIGCHLD, SIG_IGN);
    assert_true(iwi_cleanup_guard_start(&guard, bench.steps, 2));
    change(&bench);
    assert_true(iwi_cleanup_guard_release(&guard));
    assert_true(is_as_before(&bench));
    assert_true(iwi_cleanup_guard_start(&guard, bench.steps, 2));
    change(&bench);
    assert_int_equal(kill(guard.pid, SIGKILL), 0);
    assert_true(iwi_cleanup_guard_release(&guard));
    (void)signal(SIGCHLD, SIG_DFL);
    assert_true(is_as_before(&bench));
    end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(release_undoes_all_steps_and_waits_for_the_keeper),
        cmocka_unit_test(steps_are_undone_last_first),
        cmocka_unit_test(a_step_that_cannot_be_undone_is_told_and_the_others_are),
        cmocka_unit_test(a_change_that_was_not_made_is_no_failure),
        cmocka_unit_test(too_many_steps_are_refused),
        cmocka_unit_test(leaving_without_release_puts_back),
        cmocka_unit_test(being_killed_puts_back),
        cmocka_unit_test(a_crash_puts_back),
        cmocka_unit_test(an_interrupt_of_the_process_group_puts_back),
        cmocka_unit_test(a_keeper_outlives_signals_that_others_send_it),
        cmocka_unit_test(what_a_killed_keeper_leaves_is_undone_by_release),
        cmocka_unit_test(a_keeper_has_a_name_a_session_and_holds_nothing_else_open),
        cmocka_unit_test(a_second_keeper_does_not_hold_up_the_first),
        cmocka_unit_test(ignored_children_do_not_confuse_release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
