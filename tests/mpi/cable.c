/* A cable between two network namespaces with a delay and a rate: what tc's netem would do, for kernels that
 * lack it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: cable DEVICE NAMESPACE NAMESPACE DELAY_US MBIT_PER_S
 *     makes a TUN device of that name in both namespaces, prints "ready" and carries packets from one to the
 *     other until its standard input ends. Each direction has a queue of its own: a packet leaves when those
 *     before it have left, takes its bytes' time at the rate, and is there a delay later. Needs root.
 */
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PACKETS_MOST = 1024, PACKET_BYTES_MOST = 9216 };

struct packet {
    int64_t due_ns;
    ssize_t bytes;
    char data[PACKET_BYTES_MOST];
};

/* One way along the cable. */
struct way {
    int from, to;
    int64_t free_ns; /* the packets before have left by then */
    size_t first, count;
    struct packet *packets; /* a ring of PACKETS_MOST */
};

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* A TUN device in a namespace; it stays there when this process is back in its own. */
static int open_end(const char *device, const char *name_space)
{
    char path[256];
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    const int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int there, end;

    (void)snprintf(path, sizeof path, "/run/netns/%s", name_space);
    there = open(path, O_RDONLY | O_CLOEXEC);
    if (home < 0 || there < 0 || setns(there, CLONE_NEWNET) != 0) {
        fail(path);
    }
    end = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
    if (end < 0 || ioctl(end, TUNSETIFF, &request) != 0 || setns(home, CLONE_NEWNET) != 0) {
        fail("/dev/net/tun");
    }
    (void)close(home);
    (void)close(there);
    return end;
}

/* Packets that do not fit into the queue are lost, as in any switch. */
static void take(struct way *way, int64_t delay_ns, double ns_per_byte)
{
    while (way->count < PACKETS_MOST) {
        struct packet *packet = &way->packets[(way->first + way->count) % PACKETS_MOST];
        const int64_t now = now_ns();

        packet->bytes = read(way->from, packet->data, sizeof packet->data);
        if (packet->bytes <= 0) {
            return;
        }
        way->free_ns =
            (way->free_ns > now ? way->free_ns : now) + (int64_t)((double)packet->bytes * ns_per_byte);
        packet->due_ns = way->free_ns + delay_ns;
        way->count++;
    }
}

static void hand_over(struct way *way)
{
    while (way->count > 0 && way->packets[way->first].due_ns <= now_ns()) {
        const struct packet *packet = &way->packets[way->first];

        if (write(way->to, packet->data, (size_t)packet->bytes) < 0) {
            perror("a packet is lost");
        }
        way->first = (way->first + 1) % PACKETS_MOST;
        way->count--;
    }
}

/* Until the next packet is due, or for ever. */
static struct timespec pause_of(const struct way ways[2])
{
    int64_t due_ns = INT64_MAX, left_ns;

    for (int i = 0; i < 2; i++) {
        if (ways[i].count > 0 && ways[i].packets[ways[i].first].due_ns < due_ns) {
            due_ns = ways[i].packets[ways[i].first].due_ns;
        }
    }
    left_ns = due_ns == INT64_MAX ? 1000000000 : due_ns - now_ns();
    left_ns = left_ns > 0 ? left_ns : 0;
    return (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
}

static void carry(struct way ways[2], int64_t delay_ns, double ns_per_byte)
{
    struct pollfd polled[] = {{.fd = ways[0].from, .events = POLLIN},
                              {.fd = ways[1].from, .events = POLLIN},
                              {.fd = STDIN_FILENO, .events = POLLIN}};

    while ((polled[2].revents & (POLLIN | POLLHUP)) == 0) {
        const struct timespec pause = pause_of(ways);

        (void)ppoll(polled, 3, &pause, NULL);
        for (int i = 0; i < 2; i++) {
            hand_over(&ways[i]);
            take(&ways[i], delay_ns, ns_per_byte);
        }
    }
}

int main(int argc, char **argv)
{
    const struct sched_param first = {.sched_priority = 10};
    struct way ways[2] = {{0}};
    int ends[2];

    if (argc != 6) {
        fprintf(stderr, "usage: cable DEVICE NAMESPACE NAMESPACE DELAY_US MBIT_PER_S\n");
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        ends[i] = open_end(argv[1], argv[2 + i]);
        ways[i].packets = malloc(PACKETS_MOST * sizeof *ways[i].packets);
        if (ways[i].packets == NULL) {
            fail("no memory");
        }
    }
    for (int i = 0; i < 2; i++) {
        ways[i].from = ends[i];
        ways[i].to = ends[1 - i];
    }
    (void)sched_setscheduler(0, SCHED_FIFO, &first); /* a cable waits for nobody */
    printf("ready\n");
    (void)fflush(stdout);
    carry(ways, (int64_t)(strtod(argv[4], NULL) * 1e3), 8e3 / strtod(argv[5], NULL));
    for (int i = 0; i < 2; i++) {
        free(ways[i].packets);
        (void)close(ends[i]);
    }
    return 0;
}
