/* Opening of perf events where something stands in the way: permissions, limits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/perf.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "preempted.h"
#include "support/fake_root.h"

/* What a child met. */
struct found {
    bool is_refused, is_raised, is_done;
    char reason[IWI_REASON_SIZE];
};

static void skip_if_refused(const struct found *found)
{
    if (found->is_refused) {
        print_message("refused here: %s\n", found->reason);
        skip();
    }
}

/* ---- refusals ---- */

static size_t open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

static void a_refused_method_leaves_nothing_open(void **state)
{
    const struct iwi_watched watched[] = {{.tid = gettid()}, {.tid = INT32_MAX}};
    const size_t before = open_files();
    struct method_bench bench;

    (void)state;
    assert_true(method_bench_init(&bench, 0, 0));
    bench.method.watched = watched;
    bench.method.count = 2;
    assert_status(iwi_method_switches.open(&bench.method), IW_ERR_IO);
    assert_true(bench.method.reason[0] != '\0');
    assert_null(bench.method.state);
    assert_int_equal(open_files(), before);
    method_bench_release(&bench);
}

static void assert_reason(int error, const char *paranoid, const char *expected)
{
    char root[FAKE_ROOT_SIZE];
    struct iwi_method method = {.root = root};

    fake_root_make(root);
    if (paranoid != NULL) {
        fake_root_file(root, "/proc/sys/kernel/perf_event_paranoid", paranoid);
    }
    assert_status(iwi_perf_refuse(&method, "switch records", 2, error), IW_ERR_IO);
    assert_non_null(strstr(method.reason, expected));
    fake_root_remove(root);
}

static void reasons_tell_what_to_do(void **state)
{
    (void)state;
    assert_reason(EACCES, "3\n",
                  "kernel.perf_event_paranoid is 3: switch records need at most 2, or CAP_PERFMON");
    assert_reason(EACCES, "2\n", "a security module forbids switch records");
    assert_reason(EACCES, NULL, "a security module forbids");
    assert_reason(EPERM, NULL, "seccomp");
    assert_reason(ENOSYS, NULL, "this kernel was built without perf events");
    assert_reason(ENOENT, NULL, "this kernel has no switch records");
    assert_reason(EINVAL, NULL, "this kernel has no switch records");
    assert_reason(EMFILE, NULL, "raise the hard limit (ulimit -Hn)");
    assert_reason(ESRCH, NULL, "No such process");
}

/* ---- limits ---- */

/* Only as many files as are open, plus one; the hard limit stays or is the same. */
static void limit_files(bool is_hard_too)
{
    struct rlimit limit;
    const int next = dup(0);

    (void)close(next);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)next + 1;
    limit.rlim_max = is_hard_too ? limit.rlim_cur : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Watches this thread three times: more than the limit of files lets it. */
static void watch_thrice(struct found *found, bool is_hard_too)
{
    const struct iwi_watched watched[] = {{.tid = gettid()}, {.tid = gettid()}, {.tid = gettid()}};
    struct rlimit before, after;
    struct method_bench bench;

    if (!method_bench_init(&bench, 0, 0)) {
        return;
    }
    bench.method.watched = watched;
    bench.method.count = 3;
    limit_files(is_hard_too);
    (void)getrlimit(RLIMIT_NOFILE, &before);
    found->is_refused = iwi_method_switches.open(&bench.method) != IW_OK;
    snprintf(found->reason, sizeof found->reason, "%s", bench.method.reason);
    if (!found->is_refused) {
        (void)getrlimit(RLIMIT_NOFILE, &after);
        found->is_raised = after.rlim_cur > before.rlim_cur;
        iwi_method_switches.close(&bench.method);
    }
    (void)getrlimit(RLIMIT_NOFILE, &after);
    found->is_done = after.rlim_cur == before.rlim_cur && after.rlim_max == before.rlim_max;
}

static void watch_thrice_below_soft_limit(void *found)
{
    watch_thrice(found, false);
}

static void watch_thrice_below_hard_limit(void *found)
{
    watch_thrice(found, true);
}

static void the_soft_limit_of_files_is_raised_and_put_back(void **state)
{
    struct found found;

    (void)state;
    in_child(watch_thrice_below_soft_limit, false, &found, sizeof found);
    skip_if_refused(&found);
    assert_true(found.is_raised);
    assert_true(found.is_done);
}

static void the_hard_limit_of_files_is_a_reason(void **state)
{
    struct found found;

    (void)state;
    in_child(watch_thrice_below_hard_limit, false, &found, sizeof found);
    assert_true(found.is_refused);
    assert_true(found.is_done);
    if (strstr(found.reason, "paranoid") == NULL) {
        assert_non_null(strstr(found.reason, "ulimit -Hn"));
    }
}

/* More rings than fit into what a user may lock: the last ones get smaller. */
static void watch_often(void *arg)
{
    struct found *found = arg;
    const struct rlimit nothing = {0, 0};
    struct iwi_watched watched[6];
    struct method_bench bench;

    (void)setrlimit(RLIMIT_MEMLOCK, &nothing);
    for (size_t i = 0; i < 6; i++) {
        watched[i] = (struct iwi_watched){.tid = gettid()};
    }
    if (method_bench_init(&bench, 0, 0)) {
        bench.method.watched = watched;
        bench.method.count = 6;
        found->is_refused = iwi_method_switches.open(&bench.method) != IW_OK;
        found->is_done = true;
        snprintf(found->reason, sizeof found->reason, "%s", bench.method.reason);
    }
}

static void little_lockable_memory_makes_small_rings(void **state)
{
    struct found found;

    (void)state;
    skip_unless_root();
    in_child(watch_often, true, &found, sizeof found);
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || strstr(found.reason, "paranoid") != NULL) {
        print_message("not so many rings here: %s\n", found.reason);
        skip();
    }
    assert_string_equal(found.reason, "");
    assert_true(found.is_done && !found.is_refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_method_leaves_nothing_open),
        cmocka_unit_test(reasons_tell_what_to_do),
        cmocka_unit_test(the_soft_limit_of_files_is_raised_and_put_back),
        cmocka_unit_test(the_hard_limit_of_files_is_a_reason),
        cmocka_unit_test(little_lockable_memory_makes_small_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
