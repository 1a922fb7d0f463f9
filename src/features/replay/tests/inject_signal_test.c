/* Signals of back end timer: nothing happens to the program but the detours, whatever it does with signals.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "injecting.h"
#include "support/support.h"

static const int64_t MS = 1000000;
static struct iwt_log l;

static int begin(void **state)
{
    (void)state;
    iwt_log_init(&l);
    return 0;
}

static iw_injector *start(const iw_inject_plan *plan)
{
    iw_injector *injector = NULL;

    assert_ok(iw_injector_start(&l.log, plan, IW_BACK_END_TIMER, &injector));
    return injector;
}

/* The highest real-time signal that has a handler; 0: none has. */
static int signal_in_use(void)
{
    for (int number = SIGRTMAX; number >= SIGRTMIN; number--) {
        struct sigaction action;

        assert_int_equal(sigaction(number, NULL, &action), 0);
        if (action.sa_handler != SIG_DFL) {
            return number;
        }
    }
    return 0;
}

static double cpu_seconds(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Half of the time is in detours: while they last the thread stands still, and leaves the CPU to others. */
static void detours_of_sleep_take_time_and_no_cpu(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, 40 * MS, 20 * MS);
    const double before = cpu_seconds();
    iw_inject_counts counts;
    iw_injector *injector;
    double made_ns;

    (void)state;
    assert_ok(iw_injector_start(&l.log, plan, IW_BACK_END_SLEEP, &injector));
    while (iw_injector_made_ns(injector) < 60e6) {
        const struct timespec nap = {0, 1000000};

        (void)nanosleep(&nap, NULL);
    }
    made_ns = iw_injector_made_ns(injector);
    iw_injector_stop(injector, &counts);
    assert_true(counts.made_ns >= made_ns && counts.made_count >= 3);
    assert_true(cpu_seconds() - before < 0.03);
    iw_inject_plan_free(plan);
}

static void nothing_is_left_when_it_stops(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 10000);
    sigset_t mask_before, mask_after, pending;

    (void)state;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask_before), 0);
    for (int round = 0; round < 50; round++) {
        iw_injector *injector = start(plan);

        assert_int_not_equal(signal_in_use(), 0);
        (void)iwt_watch(MS + round * 20000, 1000);
        iw_injector_stop(injector, NULL);
        assert_int_equal(signal_in_use(), 0);
    }
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask_after), 0);
    for (int number = 1; number <= SIGRTMAX; number++) {
        assert_int_equal(sigismember(&mask_before, number), sigismember(&mask_after, number));
    }
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigisemptyset(&pending), 1);
    iw_inject_plan_free(plan);
    iw_injector_stop(NULL, NULL);
}

static void a_pending_signal_goes_when_it_stops(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 10000);
    iw_injector *injector = start(plan);
    const int ours = signal_in_use();
    iw_inject_counts counts;
    sigset_t set, pending;

    (void)state;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, ours);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    (void)iwt_watch(20 * MS, 1000);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, ours), 1);
    iw_injector_stop(injector, &counts);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, ours), 0);
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0); /* would kill this program */
    assert_true(counts.skipped_count >= 15);
    iw_inject_plan_free(plan);
}

static void *write_later(void *arg)
{
    const struct timespec wait = {.tv_nsec = 100 * 1000000};

    (void)nanosleep(&wait, NULL);
    assert_int_equal(write(*(int *)arg, "x", 1), 1);
    return NULL;
}

static void slow_system_calls_go_on(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 50000);
    iw_inject_counts counts;
    iw_injector *injector;
    pthread_t writer;
    int ends[2];
    char byte = 0;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_later, &ends[1]), 0);
    injector = start(plan);
    assert_int_equal(read(ends[0], &byte, 1), 1); /* not EINTR */
    iw_injector_stop(injector, &counts);
    assert_int_equal(byte, 'x');
    assert_true(counts.made_count + counts.skipped_count >= 90);
    assert_int_equal(pthread_join(writer, NULL), 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    iw_inject_plan_free(plan);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

static void timers_of_the_program_go_on(void **state)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval every = {.it_interval.tv_usec = 10000, .it_value.tv_usec = 10000}, none = {0};
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 50000);
    struct sigaction before, now;
    iw_injector *injector;

    (void)state;
    alarms = 0;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    injector = start(plan);
    assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
    for (const int64_t until = iwi_now_ns() + 20000 * MS; alarms < 20 && iwi_now_ns() < until;) {
    }
    iw_injector_stop(injector, NULL);
    assert_int_equal(setitimer(ITIMER_REAL, &none, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, &now), 0);
    assert_true(now.sa_handler == on_alarm);
    assert_true(alarms >= 20);
    iw_inject_plan_free(plan);
}

static iw_injector *met;
static volatile sig_atomic_t nested;

static void on_alarm_in_detour(int number)
{
    (void)number;
    alarms++;
    nested += iwi_now_ns() < met->free_ns;
}

/* Half of the time is in detours. */
static void handlers_of_the_program_wait_for_the_end(void **state)
{
    const struct sigaction action = {.sa_handler = on_alarm_in_detour};
    const struct itimerval every = {.it_interval.tv_usec = 3000, .it_value.tv_usec = 3000}, none = {0};
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, 4 * MS, 2 * MS);
    struct sigaction before, ours;

    (void)state;
    alarms = nested = 0;
    met = start(plan);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
    for (const int64_t until = iwi_now_ns() + 20000 * MS; alarms < 100 && iwi_now_ns() < until;) {
    }
    assert_int_equal(setitimer(ITIMER_REAL, &none, NULL), 0);
    assert_int_equal(sigaction(signal_in_use(), NULL, &ours), 0);
    iw_injector_stop(met, NULL);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_true(alarms >= 100);
    assert_int_equal(nested, 0);
    assert_int_equal(sigismember(&ours.sa_mask, SIGUSR1), 1);
    assert_int_equal(sigismember(&ours.sa_mask, SIGSEGV), 0); /* faults end the program as ever */
    iw_inject_plan_free(plan);
}

static void errno_stays(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 10000);
    iw_injector *injector = start(plan);

    (void)state;
    errno = EXDEV;
    for (const int64_t end = iwi_now_ns() + 50 * MS; iwi_now_ns() < end;) {
        assert_int_equal(errno, EXDEV);
    }
    iw_injector_stop(injector, NULL);
    iw_inject_plan_free(plan);
}

struct thread {
    pthread_t id;
    pthread_barrier_t *all_run; /* NULL: meets detours */
    iw_status status;
    bool has_met;
    iw_inject_counts counts;
};

static void *inject_here(void *arg)
{
    struct thread *thread = arg;
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 20000);
    iw_injector *injector = NULL;

    thread->status = iw_injector_start(NULL, plan, IW_BACK_END_TIMER, &injector);
    if (thread->all_run != NULL) {
        (void)pthread_barrier_wait(thread->all_run);
        (void)pthread_barrier_wait(thread->all_run);
    } else if (thread->status == IW_OK) {
        thread->has_met = iwt_meet_more(injector, 10);
    }
    iw_injector_stop(injector, &thread->counts);
    iw_inject_plan_free(plan);
    return NULL;
}

static void threads_have_injectors_of_their_own(void **state)
{
    enum { THREADS = 3 };
    struct thread threads[THREADS] = {0};
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 20000);
    iw_injector *injector = start(plan);

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i].id, NULL, inject_here, &threads[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i].id, NULL), 0);
        assert_ok(threads[i].status);
        assert_true(threads[i].has_met);
        assert_true(threads[i].counts.made_count > 10);
    }
    assert_true(iwt_meet_more(injector, injector->counts.made_count)); /* those have not taken the signal */
    iw_injector_stop(injector, NULL);
    assert_int_equal(signal_in_use(), 0);
    iw_inject_plan_free(plan);
}

static void many_threads_share_one_signal(void **state)
{
    enum { THREADS = 80 };
    static struct thread threads[THREADS];
    pthread_barrier_t all_run;
    struct sigaction next;

    (void)state;
    assert_int_equal(pthread_barrier_init(&all_run, NULL, THREADS + 1), 0);
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.all_run = &all_run};
        assert_int_equal(pthread_create(&threads[i].id, NULL, inject_here, &threads[i]), 0);
    }
    (void)pthread_barrier_wait(&all_run);
    assert_int_equal(signal_in_use(), SIGRTMAX);
    assert_int_equal(sigaction(SIGRTMAX - 1, NULL, &next), 0);
    assert_true(next.sa_handler == SIG_DFL);
    (void)pthread_barrier_wait(&all_run);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i].id, NULL), 0);
        assert_ok(threads[i].status);
    }
    assert_int_equal(signal_in_use(), 0);
    assert_int_equal(pthread_barrier_destroy(&all_run), 0);
}

static volatile sig_atomic_t foreign;

static void on_foreign(int number)
{
    (void)number;
    foreign++;
}

static void a_program_may_take_the_signal_over(void **state)
{
    const struct sigaction action = {.sa_handler = on_foreign}, usual = {.sa_handler = SIG_DFL};
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 10000);
    iw_injector *injector = start(plan);
    const int ours = signal_in_use();
    struct sigaction now;

    (void)state;
    foreign = 0;
    assert_int_equal(sigaction(ours, &action, NULL), 0);
    (void)iwt_watch(50 * MS, 1000);
    iw_injector_stop(injector, NULL);
    assert_in_range(foreign, 0, 1);
    assert_int_equal(sigaction(ours, &usual, &now), 0);
    assert_true(now.sa_handler == on_foreign);
    iw_inject_plan_free(plan);
}

static void start_foreign_timer(int number, void *value, timer_t *timer_p)
{
    const struct itimerspec often = {.it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000};
    struct sigevent event = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = number, .sigev_value.sival_ptr = value};

    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, timer_p), 0);
    assert_int_equal(timer_settime(*timer_p, 0, &often, NULL), 0);
}

static void signals_of_others_do_nothing(void **state)
{
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, 1000 * MS, 10000);
    const union sigval nonsense = {.sival_int = 0x1234};
    iw_injector *injector = start(plan);
    timer_t timers[2];

    (void)state;
    assert_int_equal(sigqueue(getpid(), signal_in_use(), nonsense), 0);
    assert_int_equal(raise(signal_in_use()), 0);
    start_foreign_timer(signal_in_use(), nonsense.sival_ptr, &timers[0]);
    start_foreign_timer(signal_in_use(), NULL, &timers[1]);
    (void)iwt_watch(50 * MS, 1000);
    assert_int_equal(timer_delete(timers[0]), 0);
    assert_int_equal(timer_delete(timers[1]), 0);
    iw_injector_stop(injector, NULL);
    iw_inject_plan_free(plan);
}

static void without_a_free_signal_it_says_so(void **state)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    iw_inject_plan *plan = iwt_periodic_plan(IW_SYNC_NONE, MS, 10000);
    iw_injector *injector = NULL;
    sigset_t top;

    (void)state;
    (void)sigemptyset(&top);
    (void)sigaddset(&top, SIGRTMAX);
    for (int number = SIGRTMIN; number < SIGRTMAX; number++) {
        assert_int_equal(sigaction(number, &ignore, NULL), 0);
    }
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &top, NULL), 0); /* the only one, kept out */
    assert_status(iw_injector_start(&l.log, plan, IW_BACK_END_TIMER, &injector), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "no free real-time signal");
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &top, NULL), 0);
    for (int number = SIGRTMIN; number < SIGRTMAX; number++) {
        assert_int_equal(sigaction(number, &usual, NULL), 0);
    }
    assert_status(iw_injector_start(&l.log, plan, IW_BACK_ENDS, &injector), IW_ERR_RANGE);
    assert_null(injector);
    iw_inject_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(detours_of_sleep_take_time_and_no_cpu, begin),
        cmocka_unit_test_setup(nothing_is_left_when_it_stops, begin),
        cmocka_unit_test_setup(a_pending_signal_goes_when_it_stops, begin),
        cmocka_unit_test_setup(slow_system_calls_go_on, begin),
        cmocka_unit_test_setup(timers_of_the_program_go_on, begin),
        cmocka_unit_test_setup(handlers_of_the_program_wait_for_the_end, begin),
        cmocka_unit_test_setup(errno_stays, begin),
        cmocka_unit_test_setup(threads_have_injectors_of_their_own, begin),
        cmocka_unit_test_setup(many_threads_share_one_signal, begin),
        cmocka_unit_test_setup(a_program_may_take_the_signal_over, begin),
        cmocka_unit_test_setup(signals_of_others_do_nothing, begin),
        cmocka_unit_test_setup(without_a_free_signal_it_says_so, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
