/* Calls that a signal would end early, even one whose handler restarts system calls (man 7 signal).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * While one of them sleeps no detour is made: a thread that is not on a CPU loses nothing by one. So no
 * signal of ours can be what ends it. Calls that do not wait are only tried again.
 */
/* checked inline versions of what is defined here would be in the way: clang says so */
#undef _FORTIFY_SOURCE

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "mpi/replay/replay.h"

/* Defines a function of the C library: its own version runs while no detour is made. */
#define ASLEEP(type, name, parameters, ...)               \
    IW_API type name parameters                           \
    {                                                     \
        IWI_REPLAY_NEXT(name)                             \
        const bool was_asleep = iwi_replay_fall_asleep(); \
        const type result = next(__VA_ARGS__);            \
        iwi_replay_wake_up(was_asleep);                   \
        return result;                                    \
    }

/* The same, but straight on where `is_short`: it does not wait, and is tried again if a signal came: that
 * nothing was ready is an answer too. */
#define ASLEEP_OR_SHORT(type, name, parameters, is_short, ...)           \
    IW_API type name parameters                                          \
    {                                                                    \
        IWI_REPLAY_NEXT(name)                                            \
        type result;                                                     \
        if (iwi_replay_self.injector != NULL && (is_short)) {            \
            const int error = errno;                                     \
            while ((result = next(__VA_ARGS__)) < 0 && errno == EINTR) { \
                errno = error;                                           \
            }                                                            \
            return result;                                               \
        }                                                                \
        const bool was_asleep = iwi_replay_fall_asleep();                \
        result = next(__VA_ARGS__);                                      \
        iwi_replay_wake_up(was_asleep);                                  \
        return result;                                                   \
    }

/* ---- time ---- */

ASLEEP(int, nanosleep, (const struct timespec *wanted, struct timespec *left), wanted, left)
ASLEEP(int, clock_nanosleep,
       (clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left), clock, flags,
       wanted, left)
ASLEEP(int, usleep, (useconds_t microseconds), microseconds)
ASLEEP(unsigned, sleep, (unsigned seconds), seconds)
ASLEEP(int, thrd_sleep, (const struct timespec *wanted, struct timespec *left), wanted, left)
ASLEEP(int, pause, (void))

/* ---- semaphores, asynchronous files ---- */

ASLEEP(int, sem_timedwait, (sem_t * semaphore, const struct timespec *end), semaphore, end)
ASLEEP(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *end), semaphore, clock,
       end)
ASLEEP(int, aio_suspend, (const struct aiocb *const *list, int count, const struct timespec *timeout), list,
       count, timeout)

/* ---- files that become ready ---- */

static bool is_zero(const struct timespec *time)
{
    return time != NULL && time->tv_sec == 0 && time->tv_nsec == 0;
}

ASLEEP_OR_SHORT(int, poll, (struct pollfd * files, nfds_t count, int timeout_ms), timeout_ms == 0, files,
                count, timeout_ms)
ASLEEP_OR_SHORT(int, epoll_wait, (int epoll, struct epoll_event *events, int most, int timeout_ms),
                timeout_ms == 0, epoll, events, most, timeout_ms)
ASLEEP(int, select, (int count, fd_set *reading, fd_set *writing, fd_set *other, struct timeval *timeout),
       count, reading, writing, other, timeout)

/* These may let signals in that are blocked: not ours. */
#define WITH_OURS(mask) iwi_replay_with_ours(mask, &(sigset_t){{0}})
ASLEEP_OR_SHORT(int, ppoll,
                (struct pollfd * files, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
                is_zero(timeout) && mask == NULL, files, count, timeout, WITH_OURS(mask))
ASLEEP(int, pselect,
       (int count, fd_set *reading, fd_set *writing, fd_set *other, const struct timespec *timeout,
        const sigset_t *mask),
       count, reading, writing, other, timeout, WITH_OURS(mask))
ASLEEP_OR_SHORT(int, epoll_pwait,
                (int epoll, struct epoll_event *events, int most, int timeout_ms, const sigset_t *mask),
                timeout_ms == 0 && mask == NULL, epoll, events, most, timeout_ms, WITH_OURS(mask))

#if __GLIBC_PREREQ(2, 35)
ASLEEP(int, epoll_pwait2,
       (int epoll, struct epoll_event *events, int most, const struct timespec *timeout,
        const sigset_t *mask),
       epoll, events, most, timeout, WITH_OURS(mask))
#endif

/* What the compiler calls instead where it knows the size of the array (_FORTIFY_SOURCE). */
int __poll_chk(struct pollfd *files, nfds_t count, int timeout_ms, size_t size); // NOLINT: its name
int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                size_t size); // NOLINT: its name
ASLEEP_OR_SHORT(int, __poll_chk, (struct pollfd * files, nfds_t count, int timeout_ms, size_t size),
                timeout_ms == 0, files, count, timeout_ms, size)
ASLEEP(int, __ppoll_chk,
       (struct pollfd * files, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
        size_t size),
       files, count, timeout, WITH_OURS(mask), size)

/* ---- System V ---- */

ASLEEP(ssize_t, msgrcv, (int queue, void *message, size_t size, long type, int flags), queue, message, size,
       type, flags)
ASLEEP(int, msgsnd, (int queue, const void *message, size_t size, int flags), queue, message, size, flags)
ASLEEP(int, semop, (int id, struct sembuf *operations, size_t count), id, operations, count)
ASLEEP(int, semtimedop, (int id, struct sembuf *operations, size_t count, const struct timespec *timeout), id,
       operations, count, timeout)

/* ---- much data: a signal would leave it half done ---- */

enum { WHOLE_BYTES = 4096 }; /* PIPE_BUF: less is written whole or not at all */

#define ASLEEP_IF(type, name, parameters, is_long, ...)                \
    IW_API type name parameters                                        \
    {                                                                  \
        IWI_REPLAY_NEXT(name)                                          \
        const bool was_asleep = (is_long) && iwi_replay_fall_asleep(); \
        const type result = next(__VA_ARGS__);                         \
        iwi_replay_wake_up(was_asleep);                                \
        return result;                                                 \
    }

ASLEEP_IF(ssize_t, write, (int file, const void *bytes, size_t size), size > WHOLE_BYTES, file, bytes, size)
ASLEEP_IF(ssize_t, writev, (int file, const struct iovec *pieces, int count),
          iwi_replay_self.injector != NULL, file, pieces, count)
ASLEEP_IF(ssize_t, send, (int file, const void *bytes, size_t size, int flags),
          size > WHOLE_BYTES && (flags & MSG_DONTWAIT) == 0, file, bytes, size, flags)
ASLEEP_IF(ssize_t, sendto,
          (int file, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t to_size),
          size > WHOLE_BYTES && (flags & MSG_DONTWAIT) == 0, file, bytes, size, flags, to, to_size)
ASLEEP_IF(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (flags & MSG_DONTWAIT) == 0,
          file, message, flags)
ASLEEP_IF(ssize_t, recv, (int file, void *bytes, size_t size, int flags), (flags & MSG_WAITALL) != 0, file,
          bytes, size, flags)
ASLEEP_IF(ssize_t, recvmsg, (int file, struct msghdr *message, int flags), (flags & MSG_WAITALL) != 0, file,
          message, flags)
ASLEEP_IF(ssize_t, recvfrom,
          (int file, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *from_size),
          (flags & MSG_WAITALL) != 0, file, bytes, size, flags, from, from_size)
ASLEEP(int, fallocate, (int file, int mode, off_t offset, off_t size), file, mode, offset, size)
ASLEEP(int, posix_fallocate, (int file, off_t offset, off_t size), file, offset, size)
ASLEEP(int, fallocate64, (int file, int mode, off64_t offset, off64_t size), file, mode, offset, size)
ASLEEP(int, posix_fallocate64, (int file, off64_t offset, off64_t size), file, offset, size)
