/* Uses what injected signals could disturb: timers and signals of its own, threads, calls that sleep,
 * children.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints a line for each check; the same with and without noise. Exits 1 if one fails. WITHOUT_MPI: no MPI.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#ifndef WITHOUT_MPI
#include <mpi.h>
#endif

#ifndef sigev_notify_thread_id /* glibc before 2.34 */
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { ROUNDS = 8, SHORT_MS = 4, BIG = 1 << 19 };

static int failures;
static const char *check_name;

#define EXPECT(condition)                                                                                   \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            (void)fprintf(stderr, "%s: line %d: %s (errno %d)\n", check_name, __LINE__, #condition, errno); \
            failures++;                                                                                     \
        }                                                                                                   \
    } while (0)

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void compute_ms(double length_ms)
{
    const double end = now_ms() + length_ms;

    while (now_ms() < end) {
    }
}

/* ---- sleeping ---- */

static void sleeps(void)
{
    const struct timespec wanted = {0, SHORT_MS * 1000000L};

    for (int i = 0; i < ROUNDS; i++) {
        double start = now_ms();

        EXPECT(nanosleep(&wanted, NULL) == 0);
        EXPECT(now_ms() - start >= SHORT_MS);
        start = now_ms();
        EXPECT(clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, NULL) == 0);
        EXPECT(now_ms() - start >= SHORT_MS);
        start = now_ms();
        EXPECT(usleep(SHORT_MS * 1000) == 0);
        EXPECT(now_ms() - start >= SHORT_MS);
    }
    EXPECT(thrd_sleep(&wanted, NULL) == 0);
}

static void semaphore_waits(void)
{
    sem_t semaphore;

    (void)sem_init(&semaphore, 0, 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec end;

        (void)clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec += SHORT_MS * 1000000L;
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
        errno = 0;
        EXPECT(sem_timedwait(&semaphore, &end) == -1 && errno == ETIMEDOUT);
    }
    (void)sem_destroy(&semaphore);
}

/* ---- files ---- */

struct helper {
    int file;
    size_t size;
    double delay_ms;
};

static void *write_later(void *arg)
{
    const struct helper *helper = arg;
    char *bytes = calloc(1, helper->size);

    (void)usleep((useconds_t)(1e3 * helper->delay_ms));
    EXPECT(write(helper->file, bytes, helper->size) == (ssize_t)helper->size);
    free(bytes);
    return NULL;
}

static void *read_slowly(void *arg)
{
    const struct helper *helper = arg;
    static char bytes[16 << 10];
    size_t left = helper->size;

    while (left > 0) {
        const ssize_t got = read(helper->file, bytes, sizeof bytes);

        if (got <= 0) {
            break;
        }
        left -= (size_t)got;
        (void)usleep(200);
    }
    EXPECT(left == 0);
    return NULL;
}

static void polls(void)
{
    sigset_t none;
    int ends[2];
    const int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};

    (void)sigemptyset(&none);
    EXPECT(pipe(ends) == 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct pollfd file = {ends[0], POLLIN, 0};
        struct timespec wanted = {0, SHORT_MS * 1000000L};
        struct timeval short_time = {0, SHORT_MS * 1000};
        const double start = now_ms();
        fd_set files;

        FD_ZERO(&files);
        FD_SET(ends[0], &files);
        EXPECT(poll(&file, 1, SHORT_MS) == 0);
        EXPECT(ppoll(&file, 1, &wanted, &none) == 0);
        EXPECT(select(ends[0] + 1, &files, NULL, NULL, &short_time) == 0);
        FD_SET(ends[0], &files);
        EXPECT(pselect(ends[0] + 1, &files, NULL, NULL, &wanted, &none) == 0);
        EXPECT(epoll_wait(epoll, &event, 1, SHORT_MS) == 0);
        EXPECT(now_ms() - start >= 5 * SHORT_MS - 0.5); /* epoll rounds */
        EXPECT(poll(&file, 1, 0) == 0 && epoll_wait(epoll, &event, 1, 0) == 0);
    }
    (void)close(epoll);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void pipes(void)
{
    for (int i = 0; i < 3; i++) {
        int ends[2];
        char byte = 1;
        char *big = calloc(1, BIG);
        pthread_t thread;

        EXPECT(pipe(ends) == 0);
        struct helper writer = {ends[1], 1, SHORT_MS};
        (void)pthread_create(&thread, NULL, write_later, &writer);
        EXPECT(read(ends[0], &byte, 1) == 1);
        (void)pthread_join(thread, NULL);
        struct helper reader = {ends[0], BIG, 0};
        (void)pthread_create(&thread, NULL, read_slowly, &reader);
        EXPECT(write(ends[1], big, BIG) == BIG); /* blocks often, and is not to be cut short */
        (void)pthread_join(thread, NULL);
        (void)close(ends[0]);
        (void)close(ends[1]);
        free(big);
    }
}

static void sockets(void)
{
    for (int i = 0; i < 3; i++) {
        int ends[2];
        char *big = calloc(1, BIG);
        pthread_t thread;

        EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        struct helper writer = {ends[1], BIG, SHORT_MS};
        (void)pthread_create(&thread, NULL, write_later, &writer);
        EXPECT(recv(ends[0], big, BIG, MSG_WAITALL) == BIG);
        (void)pthread_join(thread, NULL);
        struct helper reader = {ends[0], BIG, 0};
        (void)pthread_create(&thread, NULL, read_slowly, &reader);
        EXPECT(send(ends[1], big, BIG, 0) == BIG);
        (void)pthread_join(thread, NULL);
        (void)close(ends[0]);
        (void)close(ends[1]);
        free(big);
    }
}

static void *send_later(void *arg)
{
    const long message[2] = {1, 42};

    (void)usleep(SHORT_MS * 1000);
    EXPECT(msgsnd(*(int *)arg, message, sizeof message[1], 0) == 0);
    return NULL;
}

static void messages(void)
{
    int queue = msgget(IPC_PRIVATE, 0600);

    EXPECT(queue >= 0);
    for (int i = 0; i < ROUNDS; i++) {
        long message[2] = {0, 0};
        pthread_t thread;

        (void)pthread_create(&thread, NULL, send_later, &queue);
        EXPECT(msgrcv(queue, message, sizeof message[1], 0, 0) == sizeof message[1] && message[1] == 42);
        (void)pthread_join(thread, NULL);
    }
    (void)msgctl(queue, IPC_RMID, NULL);
}

/* ---- signals ---- */

static volatile sig_atomic_t alarms, real_time_signals, wrong_signals;

static void on_alarm(int signal)
{
    (void)(signal == SIGALRM ? alarms++ : wrong_signals++);
}

static void on_real_time(int signal, siginfo_t *info, void *context)
{
    (void)context;
    (void)(signal == SIGRTMIN + 3 && info->si_code == SI_TIMER && info->si_value.sival_int == 77
               ? real_time_signals++
               : wrong_signals++);
}

static void interval_timer(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval each = {{0, 5000}, {0, 5000}}, none = {{0, 0}, {0, 0}},
                           once = {{0, 0}, {0, 50000}};
    const double start = now_ms();

    alarms = 0;
    EXPECT(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &each, NULL) == 0);
    while (alarms < ROUNDS && now_ms() - start < 5000) {
    }
    (void)setitimer(ITIMER_REAL, &none, NULL);
    EXPECT(alarms >= ROUNDS && wrong_signals == 0);
    EXPECT(now_ms() - start >= 5.0 * (ROUNDS - 1));
    errno = 0;
    alarms = 0;
    (void)setitimer(ITIMER_REAL, &once, NULL);
    EXPECT(pause() == -1 && errno == EINTR && alarms == 1);
}

/* A sleep that a signal of its own interrupts, is. */
static void interrupted_sleep(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval once = {{0, 0}, {0, 20000}};
    const struct timespec wanted = {2, 0};
    struct timespec left = {0, 0};

    EXPECT(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &once, NULL) == 0);
    errno = 0;
    EXPECT(nanosleep(&wanted, &left) == -1 && errno == EINTR);
    EXPECT(left.tv_sec == 1 && left.tv_nsec > 0);
}

static void own_real_time_timer(void)
{
    struct sigaction action = {.sa_sigaction = on_real_time, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3, .sigev_value = {77}};
    const struct itimerspec each = {{0, 3000000}, {0, 3000000}};
    const double start = now_ms();
    timer_t timer;

    real_time_signals = 0;
    EXPECT(sigaction(SIGRTMIN + 3, &action, NULL) == 0);
    EXPECT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &each, NULL) == 0);
    while (real_time_signals < ROUNDS && now_ms() - start < 5000) {
    }
    (void)timer_delete(timer);
    EXPECT(real_time_signals >= ROUNDS && wrong_signals == 0);
}

static void *kill_later(void *arg)
{
    (void)usleep(SHORT_MS * 1000);
    (void)pthread_kill(*(pthread_t *)arg, SIGUSR1);
    return NULL;
}

static void waits_for_all_signals(void)
{
    const struct timespec wanted = {0, SHORT_MS * 1000000L};
    pthread_t self = pthread_self(), thread;
    sigset_t all, before, pending, none;
    int signal;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    EXPECT(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        compute_ms(3);
        EXPECT(sigpending(&pending) == 0 && memcmp(&pending, &none, 8) == 0);
        errno = 0;
        EXPECT(sigtimedwait(&all, NULL, &wanted) == -1 && errno == EAGAIN);
        (void)pthread_create(&thread, NULL, kill_later, &self);
        EXPECT(sigwait(&all, &signal) == 0 && signal == SIGUSR1);
        (void)pthread_join(thread, NULL);
    }
    const int file = signalfd(-1, &all, SFD_NONBLOCK);
    struct signalfd_siginfo info;
    compute_ms(5);
    errno = 0;
    EXPECT(read(file, &info, sizeof info) == -1 && errno == EAGAIN);
    (void)close(file);
    EXPECT(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    compute_ms(5);
}

/* As daemons begin. */
static void all_to_default(void)
{
    for (int number = SIGRTMIN + 4; number <= SIGRTMAX; number++) {
        struct sigaction before;

        EXPECT(signal(number, SIG_DFL) == SIG_DFL);
        EXPECT(sigaction(number, &(struct sigaction){.sa_handler = SIG_IGN}, &before) == 0);
        EXPECT(sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, &before) == 0);
    }
    compute_ms(20);
}

/* The highest real-time signal, which others may have thought free, is blocked and waited for. The last
 * check: it is an end of noise. */
static void wants_the_highest_signal(void)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX - 1, .sigev_value = {78}};
    const struct itimerspec once = {{0, 0}, {0, 3000000}};
    const struct timespec most = {2, 0};
    struct sigaction before;
    siginfo_t info;
    sigset_t wanted, mask;
    timer_t timer;

    event.sigev_notify_thread_id = gettid(); /* the MPI's threads do not block it */
    EXPECT(sigaction(SIGRTMAX, NULL, &before) == 0 && before.sa_handler == SIG_DFL);
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGRTMAX);
    (void)sigaddset(&wanted, SIGRTMAX - 1);
    EXPECT(sigprocmask(SIG_BLOCK, &wanted, NULL) == 0);
    EXPECT(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGRTMAX) == 1);
    compute_ms(5);
    EXPECT(pthread_sigqueue(pthread_self(), SIGRTMAX, (union sigval){77}) == 0);
    EXPECT(sigtimedwait(&wanted, &info, &most) == SIGRTMAX && info.si_value.sival_int == 77);
    EXPECT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &once, NULL) == 0);
    EXPECT(sigtimedwait(&wanted, &info, &most) == SIGRTMAX - 1 && info.si_value.sival_int == 78);
    (void)timer_delete(timer);
}

/* A timer that sends it is enough to want it. */
static void sends_the_highest_signal(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX};
    timer_t timer;

    EXPECT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    (void)timer_delete(timer);
}

/* ---- threads and children ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long turn;

static void *take_turns(void *arg)
{
    const long mine = (long)arg;

    for (long i = 0; i < 500; i++) {
        (void)pthread_mutex_lock(&mutex);
        while (turn % 4 != mine) {
            (void)pthread_cond_wait(&changed, &mutex);
        }
        turn++;
        (void)pthread_cond_broadcast(&changed);
        (void)pthread_mutex_unlock(&mutex);
        compute_ms(0.01);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t others[3];

    for (long i = 0; i < 3; i++) {
        EXPECT(pthread_create(&others[i], NULL, take_turns, (void *)(i + 1)) == 0);
    }
    (void)take_turns((void *)0);
    for (int i = 0; i < 3; i++) {
        EXPECT(pthread_join(others[i], NULL) == 0);
    }
    EXPECT(turn == 2000);
}

static void *compute_for_long(void *arg)
{
    compute_ms(200);
    return arg;
}

static void long_threads(void)
{
    pthread_t others[3];

    for (int i = 0; i < 3; i++) {
        EXPECT(pthread_create(&others[i], NULL, compute_for_long, NULL) == 0);
    }
    for (int i = 0; i < 3; i++) {
        EXPECT(pthread_join(others[i], NULL) == 0);
    }
}

static void children(void)
{
    for (int i = 0; i < 3; i++) {
        int status = 0;
        const pid_t child = fork();

        if (child == 0) {
            (void)execlp("sh", "sh", "-c", "test -z \"$IDLEWAVE_REPLAY$LD_PRELOAD\" && sleep 0.02 && exit 7",
                         (char *)NULL);
            _exit(1);
        }
        EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    const pid_t computing = fork();
    int status = 0;
    if (computing == 0) {
        compute_ms(20);
        _exit(wrong_signals);
    }
    EXPECT(waitpid(computing, &status, 0) == computing && status == 0);
    EXPECT(system("sleep 0.02; exit 3") == 3 << 8);
}

static const struct {
    const char *name;
    void (*run)(void);
} checks[] = {
    {"sleeps", sleeps},
    {"semaphore_waits", semaphore_waits},
    {"polls", polls},
    {"pipes", pipes},
    {"sockets", sockets},
    {"messages", messages},
    {"interval_timer", interval_timer},
    {"interrupted_sleep", interrupted_sleep},
    {"own_real_time_timer", own_real_time_timer},
    {"waits_for_all_signals", waits_for_all_signals},
    {"all_to_default", all_to_default},
    {"threads", threads},
    {"children", children},
    {"long_threads", long_threads},
    {"wants_the_highest_signal", wants_the_highest_signal},
    {"sends_the_highest_signal", sends_the_highest_signal},
};

int main(int argc, char **argv)
{
    int rank = 0;

#ifndef WITHOUT_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const int before = failures;

        check_name = checks[i].name;
        if (argc < 2 || strcmp(argv[1], check_name) == 0) {
            checks[i].run();
            (void)printf("rank %d %s: %s\n", rank, check_name,
                         failures == before ? "undisturbed" : "DISTURBED");
        }
    }
    EXPECT(wrong_signals == 0);
#ifndef WITHOUT_MPI
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    failures = all;
#endif
    return failures == 0 ? 0 : 1;
}
