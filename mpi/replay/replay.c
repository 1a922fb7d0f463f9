/* Starts and stops noise in this process, and says what came of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "features/replay/injector.h"
#include "kit/launch/launcher.h"
#include "mpi/trace/preload.h"

struct iwi_replay iwi_replay;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static const char *variable(const char *name)
{
    const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe): read only

    return value != NULL ? value : "";
}

bool iwi_replay_is_wanted(void)
{
    return variable(IW_REPLAY_VARIABLE)[0] != '\0';
}

bool iwi_replay_is_owner(void)
{
    int owner_pid, number;

    return iwi_replay_parse(variable(IW_REPLAY_VARIABLE), &owner_pid, &number) && owner_pid == (int)getpid();
}

/* ---- words ---- */

/* If nobody listens any more that must not end the program: SIGPIPE is blocked meanwhile, and ours eaten. */
static void write_words(const char *text, size_t size)
{
    static const struct timespec at_once = {0, 0};
    sigset_t pipe_signal, before, pending;

    iwi_replay_self.inside++;
    (void)sigemptyset(&pipe_signal);
    (void)sigaddset(&pipe_signal, SIGPIPE);
    (void)sigemptyset(&pending);
    (void)sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    if (write(iwi_replay.words > 0 ? iwi_replay.words : STDERR_FILENO, text, size) < 0 && errno == EPIPE &&
        sigismember(&pending, SIGPIPE) == 0) {
        (void)sigtimedwait(&pipe_signal, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    iwi_replay_self.inside--;
}

static void tell(const char *format, va_list args)
{
    char text[512] = "idlewave: replay: ";
    const size_t start = strlen(text);
    const int length = vsnprintf(text + start, sizeof text - start - 1, format, args);
    size_t end = start + (length > 0 ? (size_t)length : 0);

    end = end < sizeof text - 2 ? end : sizeof text - 2;
    text[end] = '\n';
    write_words(text, end + 1);
}

void iwi_replay_tell(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell(format, args);
    va_end(args);
}

void iwi_replay_step_aside(const char *format, ...)
{
    va_list args;

    __atomic_store_n(&iwi_replay.state, IWI_REPLAY_ASIDE, __ATOMIC_RELEASE);
    if (!__atomic_exchange_n(&iwi_replay.has_spoken, true, __ATOMIC_ACQ_REL)) {
        va_start(args, format);
        tell(format, args);
        va_end(args);
    }
}

static void keep_message(void *arg, iw_log_level level, const char *text)
{
    if (level == IW_LOG_ERROR) {
        (void)snprintf(arg, sizeof((iw_replay_page *)NULL)->failure, "%s", text);
    }
}

/* ---- the environment ---- */

/* What this process starts is not to meet noise. Whoever reads the variables at this time in another thread
 * does so at the program's own risk, as MPI_Init sets some too. */
static void leave_environment(void)
{
    const char *list = variable("LD_PRELOAD");
    const size_t size = strlen(list) + 1;
    char *left = malloc(size);

    (void)unsetenv(IW_REPLAY_VARIABLE);
    if (left != NULL && iwi_preload_replace(list, IW_REPLAY_LIBRARY, "", left, size)) {
        (void)(left[0] != '\0' ? setenv("LD_PRELOAD", left, 1) : unsetenv("LD_PRELOAD"));
    }
    free(left);
}

/* A signal would have fork() begin anew, again and again if detours come often. */
static void pause_to_fork(void)
{
    iwi_replay_self.is_forking = iwi_replay_fall_asleep();
}

static void go_on_after_fork(void)
{
    iwi_replay_wake_up(iwi_replay_self.is_forking);
    iwi_replay_self.is_forking = false;
}

static void forget_in_child(void)
{
    iwi_replay.state = IWI_REPLAY_ASIDE; /* its timers are not there; the page is the parent's */
    iwi_replay.has_spoken = true;
    iwi_replay_self = (struct iwi_replay_thread){.injector = NULL};
}

/* ---- starting ---- */

static bool start_beside(const struct iwi_replay_clock *clock)
{
    iw_replay_page *page = iwi_replay.page;

    page->program_pid = (int32_t)getpid();
    if (page->sync == IW_SYNC_START && clock->is_known && clock->offset_ns != 0) {
        iwi_replay_tell("with fifo, places in the trace are not synchronised between nodes");
    }
    return iwi_replay_ask(page, IW_REPLAY_START);
}

static bool start_inside(const struct iwi_replay_clock *clock, char *why)
{
    const iw_log log = {keep_message, why};

    if (!iwi_replay_thread_start(&log, iwi_replay.plans[0])) {
        return false;
    }
    if (clock->is_known) {
        iwi_replay_self.inside++;
        iwi_injector_set_clock(iwi_replay_self.injector, clock->offset_ns, clock->drift, clock->at_ns);
        iwi_replay_self.inside--;
    }
    return true;
}

void iwi_replay_start(const struct iwi_replay_clock *clock)
{
    char why[sizeof iwi_replay.page->failure] = "";
    iw_launcher launcher;
    bool is_started;

    if (iwi_replay.state != IWI_REPLAY_NEW || !iwi_replay_is_wanted()) {
        return;
    }
    iwi_launcher_read_env(&launcher);
    iwi_replay.pid = (int)getpid();
    iwi_replay.words = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, IW_REPLAY_HIGH_FILE);
    if (!iwi_replay_open(variable(IW_REPLAY_VARIABLE), &iwi_replay.page, iwi_replay.plans,
                         &iwi_replay.plan_count, why, sizeof why)) {
        leave_environment();
        iwi_replay_step_aside("no noise in rank %u: %s", (unsigned)launcher.rank, why);
        return;
    }
    leave_environment();
    (void)pthread_atfork(pause_to_fork, go_on_after_fork, forget_in_child);
    iwi_replay.thread_count = 1;
    is_started =
        iwi_replay.page->back_end == IW_BACK_END_FIFO ? start_beside(clock) : start_inside(clock, why);
    if (is_started) {
        __atomic_store_n(&iwi_replay.state, IWI_REPLAY_NOISY, __ATOMIC_RELEASE);
    } else {
        iwi_replay_step_aside("no noise in rank %u: %s", (unsigned)launcher.rank,
                              why[0] != '\0' ? why : iwi_replay.page->failure);
    }
}

/* ---- threads ---- */

_Thread_local struct iwi_replay_thread iwi_replay_self __attribute__((tls_model("initial-exec")));

static unsigned noisy_count; /* threads with an injector; by the mutex */

bool iwi_replay_thread_start(const iw_log *log, const iw_inject_plan *plan)
{
    bool is_started;

    iwi_replay_self.inside++;
    is_started = iw_injector_start(log, plan, IW_BACK_END_TIMER, &iwi_replay_self.injector) == IW_OK;
    iwi_replay_self.inside--;
    if (is_started) {
        (void)pthread_mutex_lock(&mutex);
        noisy_count++;
        iwi_replay_own_signal(iwi_replay_self.signal, true);
        (void)pthread_mutex_unlock(&mutex);
    }
    return is_started;
}

static void add_counts(iw_inject_counts *sum, const iw_inject_counts *counts)
{
    sum->made_count += counts->made_count;
    sum->skipped_count += counts->skipped_count;
    sum->made_ns += counts->made_ns;
    sum->skipped_ns += counts->skipped_ns;
    sum->late_max_ns = sum->late_max_ns > counts->late_max_ns ? sum->late_max_ns : counts->late_max_ns;
    sum->has_ended = sum->has_ended || counts->has_ended;
}

void iwi_replay_thread_stop(iw_inject_counts *counts)
{
    iw_injector *injector = iwi_replay_self.injector;

    if (injector == NULL) {
        return;
    }
    iwi_replay_self.inside++;
    iwi_replay_self.injector = NULL;
    iw_injector_stop(injector, counts);
    iwi_replay_self.inside--;
    (void)pthread_mutex_lock(&mutex);
    if (--noisy_count == 0) { /* all share one signal */
        iwi_replay_own_signal(iwi_replay_self.signal, false);
    }
    add_counts(&iwi_replay.counts, counts);
    (void)pthread_mutex_unlock(&mutex);
}

bool iwi_replay_is_here(void)
{
    return iwi_replay.pid == (int)getpid();
}

/* Another thread may have found that there is to be no more noise: then ours ends. */
static void stop_if_over(void)
{
    iw_inject_counts counts;

    if (__atomic_load_n(&iwi_replay.state, __ATOMIC_ACQUIRE) != IWI_REPLAY_NOISY) {
        iwi_replay_thread_stop(&counts);
    }
}

bool iwi_replay_fall_asleep(void)
{
    struct iwi_replay_thread *self = &iwi_replay_self;

    if (self->injector == NULL || self->inside > 0 || !iwi_replay_is_here()) {
        return false;
    }
    stop_if_over();
    if (self->injector == NULL) {
        return false;
    }
    if (self->asleep++ == 0) {
        self->inside++;
        iw_injector_pause(self->injector);
        self->inside--;
    }
    return true;
}

void iwi_replay_wake_up(bool was_asleep)
{
    struct iwi_replay_thread *self = &iwi_replay_self;
    const int error = errno;

    if (was_asleep && self->asleep > 0 && --self->asleep == 0 && self->injector != NULL) {
        stop_if_over();
    }
    if (was_asleep && self->asleep == 0 && self->injector != NULL) {
        self->inside++;
        iw_injector_go_on(self->injector);
        self->inside--;
    }
    errno = error;
}

/* ---- phases and the end ---- */

void iwi_replay_phase(void)
{
    if (iwi_replay_self.injector != NULL && iwi_replay_is_here()) {
        stop_if_over();
    }
    if (iwi_replay.state != IWI_REPLAY_NOISY || iwi_replay.page->sync != IW_SYNC_PHASE ||
        !iwi_replay_is_here()) {
        return;
    }
    if (iwi_replay.page->back_end == IW_BACK_END_FIFO) {
        iwi_replay_ask_phase(iwi_replay.page);
    } else if (iwi_replay_self.injector != NULL) {
        iwi_replay_self.inside++;
        iw_injector_phase(iwi_replay_self.injector);
        iwi_replay_self.inside--;
    }
}

static void stop_beside(iw_inject_counts *counts_p)
{
    if (!iwi_replay_ask(iwi_replay.page, IW_REPLAY_STOP)) {
        iwi_replay_step_aside("noise ended before the program: %s", iwi_replay.page->failure);
        return;
    }
    *counts_p = iwi_replay.page->counts;
    if (counts_p->is_cut_short) {
        iwi_replay_tell("a detour lasted too long: it was ended, and no more were injected");
    }
}

/* A timer that runs is stopped whatever has happened. */
void iwi_replay_stop(iw_inject_counts *counts_p)
{
    enum iwi_replay_state state;

    *counts_p = (iw_inject_counts){0};
    if (iwi_replay.page == NULL || !iwi_replay_is_here()) {
        return;
    }
    state = __atomic_exchange_n(&iwi_replay.state, IWI_REPLAY_STOPPED, __ATOMIC_ACQ_REL);
    if (iwi_replay.page->back_end != IW_BACK_END_FIFO) {
        iwi_replay_thread_stop(counts_p);
        (void)pthread_mutex_lock(&mutex);
        *counts_p = iwi_replay.counts;
        (void)pthread_mutex_unlock(&mutex);
    } else if (state == IWI_REPLAY_NOISY) {
        stop_beside(counts_p);
    }
}

void iwi_replay_report(const struct iwi_replay_totals *totals)
{
    char ranks[48] = "";

    if (totals->ranks > 1) {
        (void)snprintf(ranks, sizeof ranks, " on %.0f of %.0f ranks", totals->noisy_ranks, totals->ranks);
    }
    iwi_replay_tell("%.0f detours injected%s, %.3f s; %.0f skipped, %.3f s; at most %.1f us late",
                    totals->made, ranks, totals->made_ns * 1e-9, totals->skipped, totals->skipped_ns * 1e-9,
                    totals->late_max_ns * 1e-3);
    if (totals->ended_ranks > 0) {
        iwi_replay_tell("the run exceeded the part of the trace that it may use, and ended without noise; "
                        "--most all repeats the trace");
    }
}
