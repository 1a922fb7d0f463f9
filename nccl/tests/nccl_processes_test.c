/* The plugin for NCCL in several threads and processes: ranks with their proxies, children, ends that come
 * early.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nccl/tests/nccl_calls.h"

/* Warnings come once in the life of a process: these have processes of their own. */
static int in_child(void (*run)(void))
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        run();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void unwritable(void)
{
    void *context = &context, *handle = &context;
    int mask = -1;
    struct iwi_nccl_event_v5 event = {.type = IWI_NCCL_COLL};

    (void)setenv("IDLEWAVE_NCCL_DIR", "/proc/no/such/folder", 1);
    for (int i = 0; i < 3; i++) {
        if (v5->init(&context, 1, &mask, "c", 1, 2, 0, log_line) != IWI_NCCL_SUCCESS || mask != 0 ||
            context != NULL || v5->start_event(context, &handle, &event) != IWI_NCCL_SUCCESS ||
            handle != NULL || v5->finalize(context) != IWI_NCCL_SUCCESS) {
            _exit(1);
        }
    }
    _exit(warnings <= 1 ? 0 : 2);
}

static void without_a_folder_it_steps_aside(void **state)
{
    (void)state;
    assert_int_equal(in_child(unwritable), 0);
}

/* Communicators of one process end side by side, as those of a job do, and others begin. */
static void *begin_and_end(void *arg)
{
    enum { LIVES = 20 };
    const struct iwi_nccl_profiler_v5 *profiler = v5;

    for (int i = 0; i < LIVES; i++) {
        void *context = NULL;
        int mask;

        (void)profiler->init(&context, 7, &mask, "c", 1, 2, *(int *)arg, log_line);
        run_coll(context, "AllReduce", 1000);
        (void)profiler->finalize(context);
    }
    return NULL;
}

static void communicators_may_end_at_once(void **state)
{
    pthread_t threads[4];
    int ranks[4];
    json_t *all;

    (void)state;
    for (int i = 0; i < 4; i++) {
        ranks[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, begin_and_end, &ranks[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    all = lines();
    assert_int_equal(json_array_size(all), 4 * 20); /* nothing is lost between the last end and a new begin */
    assert_int_equal(warnings, 0);
    json_decref(all);
}

#if !defined(__SANITIZE_THREAD__)
/* The kernel takes no more than 3,000 bytes of a file; its signal must not end the job. */
static void fill_disk(void)
{
    const struct rlimit least = {.rlim_cur = 3000, .rlim_max = 3000};
    void *context;

    if (setrlimit(RLIMIT_FSIZE, &least) != 0) {
        _exit(1);
    }
    context = open_comm(1, 0);
    for (int i = 0; i < 100; i++) {
        run_coll(context, "AllReduce", 1000);
    }
    (void)v5->finalize(context);
    _exit(warnings == 1 && told_lost >= 90 && told_lost < 100 ? 0 : 2);
}

static void a_full_disk_leaves_whole_lines_and_the_job(void **state)
{
    json_t *all;

    (void)state;
    assert_int_equal(in_child(fill_disk), 0);
    all = lines(); /* each is JSON */
    assert_in_range(json_array_size(all), 1, 9);
    json_decref(all);
}

static void *inherited, *inherited_coll;

/* Nothing of the parent's is written here; what the child begins itself goes to a file of its own. */
static void use_inherited(void)
{
    char path[128];
    void *own;

    stop_kernel(start_kernel(inherited, inherited_coll, 0, 5), 6);
    (void)v5->stop_event(inherited_coll);
    run_coll(inherited, "AllReduce", 1000);
    (void)v5->finalize(inherited);
    (void)snprintf(path, sizeof path, "%s/child", folder);
    (void)setenv("IDLEWAVE_NCCL_DIR", path, 1);
    own = open_comm(9, 0);
    run_coll(own, "AllReduce", 1000);
    (void)v5->finalize(own);
    _exit(access(path, R_OK) == 0 ? 0 : 1);
}

/* Until the thread that writes has written: sanitizers do not survive a fork while a thread begins. */
static void wait_for_lines(int count)
{
    char command[160];

    (void)snprintf(command, sizeof command,
                   "until [ \"$(cat %s/*.jsonl 2>/dev/null | wc -l)\" -ge %d ]; do sleep 0.01; done", folder,
                   count);
    assert_int_equal(system(command), 0);
}

static void a_child_writes_nothing_of_its_parent(void **state)
{
    char command[256];
    json_t *all;

    (void)state;
    inherited = open_comm(1, 0);
    run_coll(inherited, "AllReduce", 1000);
    wait_for_lines(1);
    inherited_coll = start_coll(inherited, "AllReduce", 1, 1);
    assert_int_equal(in_child(use_inherited), 0);
    stop_kernel(start_kernel(inherited, inherited_coll, 0, gpu_ns()), gpu_ns() + 1);
    (void)v5->stop_event(inherited_coll);
    (void)v5->finalize(inherited);
    (void)snprintf(command, sizeof command, "[ $(cat %s/child/* | wc -l) = 1 ] && rm -r %s/child", folder,
                   folder);
    assert_int_equal(system(command), 0);
    all = lines();
    assert_int_equal(json_array_size(all), 2);
    json_decref(all);
}

static void killed(void)
{
    void *context = open_comm(1, 0);

    for (int i = 0; i < 10; i++) {
        run_coll(context, "AllReduce", 1000);
        (void)usleep(30000); /* several turns of the thread that writes, unless others have the CPUs */
    }
    wait_for_lines(3);
    (void)raise(SIGKILL);
}

static void a_killed_program_leaves_whole_lines(void **state)
{
    json_t *all;

    (void)state;
    assert_true(WIFSIGNALED(in_child(killed)));
    all = lines();
    assert_in_range(json_array_size(all), 3, 10);
    json_decref(all);
}

static void ended_early(void)
{
    run_coll(open_comm(1, 0), "AllReduce", 1000);
    exit(0); /* NOLINT: what the end of a program does is tested */
}

static void a_program_may_end_without_ending_communicators(void **state)
{
    json_t *all;

    (void)state;
    (void)in_child(ended_early);
    all = lines();
    assert_int_equal(json_array_size(all), 1);
    json_decref(all);
}
#endif

/* ---- threads ---- */

enum { RANKS = 4, ROUNDS = 500 };

struct rank_state {
    void *context;
    int rank;
    void *_Atomic enqueued; /* from the application's thread to the proxy's */
    _Atomic int enqueued_count, seen_count;
};

/* The application: enqueues. */
static void *application(void *arg)
{
    struct rank_state *rank = arg;

    for (int i = 0; i < ROUNDS; i++) {
        void *coll = start_coll(rank->context, i % 2 != 0 ? "AllReduce" : "AllGather", 100, 2);

        rank->enqueued = coll;
        rank->enqueued_count = i + 1;
        (void)v5->stop_event(coll); /* while the proxy may be at its kernel already */
        while (rank->seen_count <= i) {
            (void)sched_yield();
        }
    }
    return NULL;
}

/* NCCL's proxy thread: sees kernels. */
static void *proxy(void *arg)
{
    struct rank_state *rank = arg;

    for (int i = 0; i < ROUNDS; i++) {
        void *coll, *kernels[2];

        while (rank->enqueued_count <= i) {
            (void)sched_yield();
        }
        coll = rank->enqueued;
        kernels[0] = start_kernel(rank->context, coll, 0, gpu_ns());
        kernels[1] = start_kernel(rank->context, coll, 1, gpu_ns());
        stop_kernel(kernels[1], gpu_ns());
        stop_kernel(kernels[0], gpu_ns());
        rank->seen_count = i + 1;
    }
    return NULL;
}

static void ranks_and_proxies_run_side_by_side(void **state)
{
    struct rank_state ranks[RANKS];
    pthread_t threads[2 * RANKS];
    bool seen[RANKS][ROUNDS] = {{false}};
    json_t *all;

    (void)state;
    for (int i = 0; i < RANKS; i++) {
        ranks[i] = (struct rank_state){.context = open_comm(42, i), .rank = i};
    }
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(pthread_create(&threads[2 * i], NULL, application, &ranks[i]), 0);
        assert_int_equal(pthread_create(&threads[2 * i + 1], NULL, proxy, &ranks[i]), 0);
    }
    for (int i = 0; i < 2 * RANKS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < RANKS; i++) {
        (void)v5->finalize(ranks[i].context);
    }
    all = lines();
    assert_int_equal(json_array_size(all), RANKS * ROUNDS);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *line = json_array_get(all, i);
        bool *is_there = &seen[number(line, "header", "rank")][number(line, "coll_perf", "coll_sn")];

        assert_false(*is_there);
        *is_there = true;
    }
    json_decref(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_folder_it_steps_aside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ranks_and_proxies_run_side_by_side, set_up, tear_down),
        cmocka_unit_test_setup_teardown(communicators_may_end_at_once, set_up, tear_down),
#if !defined(__SANITIZE_THREAD__) /* which does not support threads of a child of a process with threads */
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_whole_lines_and_the_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_child_writes_nothing_of_its_parent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_killed_program_leaves_whole_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_program_may_end_without_ending_communicators, set_up, tear_down),
#endif
    };

    return load_plugin() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
