/* Makes a CPU take timer interrupts or softirqs at known times, without running anything there meanwhile.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: iw_interrupts timer|softirq CPU OTHER_CPU COUNT SEED LOG
 *
 * timer: sets up to 64 timers of CPU to one instant, and sleeps over it. softirq: in a network of its own,
 * whose packets CPU handles (RPS), sends packets from OTHER_CPU and waits until they have arrived. LOG gets a
 * line "START END NUMBER" of each, ns of CLOCK_MONOTONIC_RAW: the instant twice, or before the first packet
 * and after the last. Needs root. Exit code 77: this machine cannot.
 */
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, SKIPPED = 77, PACKET_BYTES = 1000 };

static void skip(const char *what)
{
    perror(what);
    exit(SKIPPED);
}

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct timespec instant(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static void run_on(int cpu)
{
    const struct sched_param priority = {.sched_priority = 40};
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0 || sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        skip("a CPU at real-time priority");
    }
}

static int between(int least, int most)
{
    return least + rand() % (most - least + 1);
}

static void sleep_until(int64_t monotonic_ns)
{
    const struct timespec until = instant(monotonic_ns);

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* ---- timers ---- */

static void one_burst_of_timers(const int timers[MOST], FILE *log)
{
    const int number = between(1, MOST);
    const int64_t due_ns = clock_ns(CLOCK_MONOTONIC) + between(600, 1800) * 1000;
    const struct itimerspec when = {.it_value = instant(due_ns)};
    int64_t raw_ns;
    uint64_t expired;

    for (int i = 0; i < number; i++) {
        timerfd_settime(timers[i], TFD_TIMER_ABSTIME, &when, NULL);
    }
    raw_ns = due_ns - clock_ns(CLOCK_MONOTONIC) + clock_ns(CLOCK_MONOTONIC_RAW);
    sleep_until(due_ns + 1200000);
    for (int i = 0; i < number; i++) {
        (void)!read(timers[i], &expired, sizeof expired);
    }
    fprintf(log, "%lld %lld %d\n", (long long)raw_ns, (long long)raw_ns, number);
}

static void make_timers(int cpu, int count, FILE *log)
{
    int timers[MOST];

    for (int i = 0; i < MOST; i++) {
        timers[i] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    }
    run_on(cpu);
    for (int i = 0; i < count; i++) {
        one_burst_of_timers(timers, log);
    }
}

/* ---- packets ---- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        skip(path);
    }
}

/* All of it ends with this process. */
static void make_network(int cpu)
{
    char folder[] = "/tmp/iw_sysfs_XXXXXX", path[128], mask[32];
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int control;

    if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mkdtemp(folder) == NULL || mount("sysfs", folder, "sysfs", 0, NULL) != 0) {
        skip("a network of its own");
    }
    control = socket(AF_INET, SOCK_DGRAM, 0);
    if (ioctl(control, SIOCSIFFLAGS, &loopback) != 0) {
        skip("lo");
    }
    close(control);
    snprintf(path, sizeof path, "%s/class/net/lo/queues/rx-0/rps_cpus", folder);
    snprintf(mask, sizeof mask, "%x\n", 1u << cpu);
    write_file(path, mask);
    umount2(folder, MNT_DETACH);
    rmdir(folder);
}

static int one_burst_of_packets(int out, int in, FILE *log)
{
    static const char packet[PACKET_BYTES];
    const int number = between(1, MOST);
    char got[PACKET_BYTES];
    int arrived = 0;
    const int64_t start_ns = clock_ns(CLOCK_MONOTONIC_RAW), latest_ns = start_ns + 100000000;
    int64_t end_ns = start_ns;

    for (int i = 0; i < number; i++) {
        (void)!send(out, packet, sizeof packet, 0);
    }
    while (arrived < number && end_ns < latest_ns) {
        arrived += recv(in, got, sizeof got, MSG_DONTWAIT) > 0;
        end_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    }
    fprintf(log, "%lld %lld %d\n", (long long)start_ns, (long long)end_ns, number);
    sleep_until(clock_ns(CLOCK_MONOTONIC) + between(2000, 4000) * 1000);
    return arrived == number;
}

static void make_packets(int cpu, int other, int count, FILE *log)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int in, out;

    make_network(cpu);
    in = socket(AF_INET, SOCK_DGRAM, 0);
    out = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(in, (void *)&address, size) != 0 || getsockname(in, (void *)&address, &size) != 0 ||
        connect(out, (void *)&address, size) != 0) {
        skip("sockets");
    }
    run_on(other);
    for (int i = 0; i < count; i++) {
        if (!one_burst_of_packets(out, in, log)) {
            fprintf(stderr, "packets were lost\n");
            exit(1);
        }
    }
}

int main(int argc, char **argv)
{
    FILE *log;

    if (argc != 7 || (strcmp(argv[1], "timer") != 0 && strcmp(argv[1], "softirq") != 0)) {
        fprintf(stderr, "usage: iw_interrupts timer|softirq CPU OTHER_CPU COUNT SEED LOG\n");
        return 2;
    }
    srand((unsigned)atoi(argv[5]));
    log = fopen(argv[6], "w");
    if (log == NULL) {
        perror(argv[6]);
        return 1;
    }
    if (argv[1][0] == 't') {
        make_timers(atoi(argv[2]), atoi(argv[4]), log);
    } else {
        make_packets(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), log);
    }
    return fclose(log) == 0 ? 0 : 1;
}
