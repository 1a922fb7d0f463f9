/* Simulations that are killed at any moment and gone on with, by other numbers of members: the same times.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder.h"
#include "core/program/rules.h"
#include "core/program/trace_program.h"
#include "core/sim/checkpoint/checkpoint.h"
#include "support/made_trace.h"
#include "support/support.h"

enum { PATH_SIZE = 256, LESS = IWT_IS_SLOW ? 8 : 3 }; /* as much time: to be killed in */

/* One simulation and its folder. */
struct fixture {
    iw_program *program;
    iw_noise *noise;
    iw_sim_opts opts;
    iw_net net;
    char folder[PATH_SIZE];
};

static void begin(struct fixture *f, const char *operations, uint32_t ranks, uint64_t repeat, uint64_t trials)
{
    const iw_delay delay = {.rank = ranks / 2, .step = 1, .time_ps = 40 * IW_PS_PER_US};
    iw_pattern pattern = IW_PATTERN_INIT;

    memset(f, 0, sizeof *f);
    f->opts = (iw_sim_opts)IW_SIM_OPTS_INIT;
    f->net = *iw_net_builtin("chic");
    pattern.ranks = ranks;
    pattern.repeat = repeat;
    pattern.bytes = 100;
    pattern.compute_ps = 3 * IW_PS_PER_US;
    pattern.delays = &delay;
    pattern.delay_count = 1;
    assert_ok(iw_program_from_pattern(NULL, operations, &pattern, &f->program));
    assert_ok(iw_noise_new(NULL, &f->noise));
    assert_ok(iw_noise_add(NULL, f->noise, "poisson:20kHz,exp:5us"));
    assert_ok(iw_noise_add(NULL, f->noise, "periodic:1kHz,10us"));
    f->opts.trials = trials;
    f->opts.lanes = 1;
    f->opts.checkpoint_s = 0.0; /* at every visit that pays */
    (void)snprintf(f->folder, sizeof f->folder, "%s/iw-checkpoint-XXXXXX",
                   getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(f->folder));
}

static void end(struct fixture *f)
{
    iw_checkpoint_remove(f->folder);
    assert_int_not_equal(access(f->folder, F_OK), 0); /* nothing was left in it */
    iw_noise_free(f->noise);
    iw_program_free(f->program);
}

static iw_sim_result *run(struct fixture *f, const char *folder, uint32_t threads)
{
    iw_sim_opts opts = f->opts;
    iw_sim_result *result = NULL;
    struct iwt_log l;

    opts.checkpoint_dir = folder;
    opts.threads = threads;
    opts.want_end_times = opts.trials == 1;
    iwt_log_init(&l);
    if (iw_simulate(&l.log, f->program, &f->net, f->noise, &opts, &result) != IW_OK) {
        fail_msg("%s", l.text);
    }
    return result;
}

/* A child runs it and is killed so long after there is a point; true: it had ended before. */
static bool run_and_kill(struct fixture *f, uint32_t threads, useconds_t after_us)
{
    const pid_t child = fork();
    char path[PATH_SIZE + 16];
    int status = 0;

    if (child == 0) {
        iw_sim_opts opts = f->opts;
        iw_sim_result *result = NULL;

        opts.checkpoint_dir = f->folder;
        opts.threads = threads;
        opts.want_end_times = opts.trials == 1;
        _exit(iw_simulate(NULL, f->program, &f->net, f->noise, &opts, &result) != IW_OK);
    }
    (void)snprintf(path, sizeof path, "%s/idlewave-point", f->folder);
    for (int wait = 0; wait < 100000 && access(path, F_OK) != 0 && waitpid(child, &status, WNOHANG) == 0;
         wait++) {
        (void)usleep(1000);
    }
    (void)usleep(after_us);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &status, 0); /* unless it had been waited for */
    return WIFEXITED(status);
}

static void assert_equal_results(const iw_sim_result *a, const iw_sim_result *b)
{
    assert_int_equal(a->noiseless_ps, b->noiseless_ps);
    assert_memory_equal(a->makespan_ps, b->makespan_ps, a->trials * sizeof(iw_time));
    if (a->end_ps != NULL) {
        assert_memory_equal(a->end_ps, b->end_ps, a->trials * a->ranks * sizeof(iw_time));
    }
}

/* Killed six times, each time with another number of members; false: it had ended before one of them. */
static bool kill_six_times(struct fixture *f, useconds_t step_us)
{
    uint32_t kills = 0;

    while (kills < 6 && !run_and_kill(f, 1 + kills % 3, step_us * (1 + kills * 7 % 5))) {
        kills++;
    }
    return kills == 6;
}

/* Who kills may be held up on a busy machine: then once more, and sooner. */
static void kill_until_done(struct fixture *f, useconds_t step_us)
{
    iw_sim_result *whole = run(f, NULL, 1), *resumed;
    useconds_t after_us = step_us;

    while (!kill_six_times(f, after_us)) {
        assert_true(after_us > 0);
        print_message("it had ended after %u us\n", after_us);
        after_us -= step_us / 10;
    }
    resumed = run(f, f->folder, 2);
    assert_true(resumed->is_resumed);
    assert_equal_results(whole, resumed);
    iw_sim_result_free(whole);
    iw_sim_result_free(resumed);
}

static void a_halo_that_is_killed_goes_on(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "halo2d+allreduce:rabenseifner", 600, 200 / LESS, 1);
    kill_until_done(&f, 20000);
    end(&f);
}

static void a_streaming_collective_that_is_killed_goes_on(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "barrier:dissemination", 50000 / LESS, 15, 1);
    kill_until_done(&f, 20000);
    end(&f);
}

static void a_collective_by_rendezvous_that_is_killed_goes_on(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "allgather:ring", 300, 10, 1);
    f.net.S_bytes = 50;
    kill_until_done(&f, 20000);
    end(&f);
}

static void many_trials_that_are_killed_go_on(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "halo1d+barrier:tree", 200, 20, 104 / LESS);
    f.opts.lanes = 4;
    kill_until_done(&f, 20000);
    end(&f);
}

/* Messages around a ring that are under way during the reduction of each step, and are waited for behind it:
 * what was sent belongs to the point between. */
static iw_program *ring_across_reductions(struct iwt_made_trace *made, uint32_t steps)
{
    enum { RANKS = 16, REPLICAS = 60 };
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_program *program = NULL;

    iwt_made_trace_init(made, RANKS);
    for (uint32_t s = 0; s < steps; s++) {
        uint32_t requests[RANKS][2];

        for (uint32_t r = 0; r < RANKS; r++) {
            iwt_trace_compute(made, r, 3 * IW_PS_PER_US, -1);
            requests[r][0] = iwt_trace_message(made, r, IWI_CALL_IRECV, (r + RANKS - 1) % RANKS, 0, 7, 100);
            requests[r][1] = iwt_trace_message(made, r, IWI_CALL_ISEND, (r + 1) % RANKS, 0, 7, 100);
        }
        for (uint32_t r = 0; r < RANKS; r++) { /* and others that are through before */
            (void)iwt_trace_message(made, r, r % 2 == 0 ? IWI_CALL_SEND : IWI_CALL_RECV, r ^ 1U, 0, 8, 100);
        }
        iwt_trace_collective_all(made, IWI_TRACE_ALLREDUCE, 0, 0, 8);
        for (uint32_t r = 0; r < RANKS; r++) {
            iwt_trace_wait(made, r, requests[r], 2);
        }
    }
    opts.ranks = RANKS * REPLICAS;
    assert_ok(iwi_program_from_rules(NULL, &made->trace, &opts, iwi_rules_find("mpich"), &program));
    return program;
}

static void a_trace_that_is_killed_goes_on(void **state)
{
    struct iwt_made_trace made;
    struct fixture f;

    (void)state;
    begin(&f, "barrier", 4, 1, 1);
    iw_program_free(f.program);
    f.program = ring_across_reductions(&made, 600 / LESS);
    kill_until_done(&f, 20000);
    end(&f);
    iwt_made_trace_release(&made);
}

/* A folder as a run leaves it that was never killed: the last point is behind all trials. */
static void leave_points(struct fixture *f)
{
    iw_sim_result_free(run(f, f->folder, 2));
}

static void points_of_another_simulation_are_refused(void **state)
{
    struct fixture f;
    iw_sim_result *result = NULL;
    iw_sim_opts opts;
    struct iwt_log l;

    (void)state;
    begin(&f, "halo1d", 40, 20, 3);
    leave_points(&f);
    opts = f.opts;
    opts.checkpoint_dir = f.folder;
    opts.seed = 2;
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, f.program, &f.net, f.noise, &opts, &result), IW_ERR_USAGE);
    iwt_assert_logged(&l, "has checkpoints of another simulation");
    end(&f);
}

static void a_point_that_is_cut_off_is_refused(void **state)
{
    struct fixture f;
    char path[PATH_SIZE + 16];
    struct stat info;

    (void)state;
    begin(&f, "halo1d", 40, 20, 3);
    leave_points(&f);
    (void)snprintf(path, sizeof path, "%s/idlewave-point", f.folder);
    assert_int_equal(stat(path, &info), 0);
    for (off_t size = info.st_size - 1; size >= 0; size--) {
        iw_sim_result *result = NULL;
        iw_sim_opts opts = f.opts;
        struct iwt_log l;

        opts.checkpoint_dir = f.folder;
        opts.threads = 1;
        iwt_log_init(&l);
        assert_int_equal(truncate(path, size), 0);
        assert_status(iw_simulate(&l.log, f.program, &f.net, f.noise, &opts, &result), IW_ERR_FORMAT);
        iwt_assert_logged(&l, "is damaged");
    }
    end(&f);
}

/* The first part of the valid point, or "" if that has none: its generation is its third number.
 */
static void find_part(const char *folder, char *path, size_t size)
{
    uint64_t numbers[3];
    int fd;

    (void)snprintf(path, size, "%s/idlewave-point", folder);
    fd = open(path, O_RDONLY);
    path[0] = '\0';
    if (fd >= 0 && read(fd, numbers, sizeof numbers) == (ssize_t)sizeof numbers) {
        (void)snprintf(path, size, "%s/idlewave-part-%" PRIu64 ".0", folder, numbers[2]);
        path[access(path, F_OK) == 0 ? strlen(path) : 0] = '\0';
    }
    (void)close(fd);
}

/* Whatever is changed in a part, each byte of its header among it: refused, never used. */
static void damaged_parts_are_refused(void **state)
{
    struct fixture f;
    char path[PATH_SIZE + 300] = "";
    struct stat info;
    int fd;

    (void)state;
    begin(&f, "barrier:dissemination", 20000 / LESS, 60, 1);
    for (int attempt = 0; attempt < 20 && path[0] == '\0'; attempt++) {
        (void)run_and_kill(&f, 2, 30000U * (useconds_t)(attempt + 1));
        find_part(f.folder, path, sizeof path);
    }
    assert_int_not_equal(path[0], '\0');
    assert_int_equal(stat(path, &info), 0);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    for (off_t at = 0; at < info.st_size; at += at < 176 ? 1 : 20011 * LESS) {
        iw_sim_result *result = NULL;
        iw_sim_opts opts = f.opts;
        unsigned char byte, changed;

        opts.checkpoint_dir = f.folder;
        opts.threads = 1;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        changed = byte ^ 0x41;
        assert_int_equal(pwrite(fd, &changed, 1, at), 1);
        assert_status(iw_simulate(NULL, f.program, &f.net, f.noise, &opts, &result), IW_ERR_FORMAT);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    (void)close(fd);
    iw_sim_result_free(run(&f, f.folder, 3)); /* as it was: good */
    end(&f);
}

static void a_folder_in_use_is_refused(void **state)
{
    struct iwi_checkpoint holder = {.lock = -1};
    struct fixture f;
    iw_sim_result *result = NULL;
    struct iwt_log l;

    (void)state;
    begin(&f, "halo1d", 8, 1, 1);
    holder.dir = f.folder;
    assert_ok(iwi_point_lock(NULL, &holder));
    f.opts.checkpoint_dir = f.folder;
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, f.program, &f.net, f.noise, &f.opts, &result), IW_ERR_IO);
    iwt_assert_logged(&l, "another process is writing checkpoints");
    (void)close(holder.lock);
    end(&f);
}

/* Users may name a folder that holds other things. */
static void files_of_others_stay(void **state)
{
    static const char *const names[] = {"1.5", "point", "point.new"};
    struct fixture f;
    char path[PATH_SIZE + 16];

    (void)state;
    begin(&f, "halo1d", 8, 1, 1);
    for (size_t k = 0; k < 3; k++) {
        (void)snprintf(path, sizeof path, "%s/%s", f.folder, names[k]);
        (void)close(open(path, O_CREAT | O_WRONLY, 0666));
    }
    leave_points(&f);
    iw_checkpoint_remove(f.folder);
    for (size_t k = 0; k < 3; k++) {
        (void)snprintf(path, sizeof path, "%s/%s", f.folder, names[k]);
        assert_int_equal(unlink(path), 0);
    }
    end(&f);
}

static void a_folder_that_cannot_be_made_is_told(void **state)
{
    struct fixture f;
    iw_sim_result *result = NULL;
    struct iwt_log l;

    (void)state;
    begin(&f, "halo1d", 8, 1, 1);
    f.opts.checkpoint_dir = "/proc/no/such";
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, f.program, &f.net, f.noise, &f.opts, &result), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot use the folder '/proc/no/such'");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_halo_that_is_killed_goes_on),
        cmocka_unit_test(a_streaming_collective_that_is_killed_goes_on),
        cmocka_unit_test(a_collective_by_rendezvous_that_is_killed_goes_on),
        cmocka_unit_test(many_trials_that_are_killed_go_on),
        cmocka_unit_test(a_trace_that_is_killed_goes_on),
        cmocka_unit_test(points_of_another_simulation_are_refused),
        cmocka_unit_test(a_point_that_is_cut_off_is_refused),
        cmocka_unit_test(damaged_parts_are_refused),
        cmocka_unit_test(a_folder_in_use_is_refused),
        cmocka_unit_test(files_of_others_stay),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
