/* One message between two ranks, again and again, with a detour at a chosen place: what does it cost the
 * receiver?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: rule_pair FILE TIMES polling|blocking [fifo|timer [SEED]]. Each rank writes FILE.RANK, a line for
 * each time.
 *
 * Both ranks begin together. Rank 1 works shortly and receives, rank 0 works longer and sends. A time is of
 * one kind: without a detour; with one in the sender's work; in the receiver's work, which has slack; while
 * the receiver waits; or while it waits and until after the message has come. Both ranks agree on when a time
 * begins, by the clock that they share, and draw its kind from its number. `blocking`: messages go over
 * sockets, and who waits sleeps (cli/process/sleeping_polls.c). Ranks are bound to a CPU each. How long they
 * waited for it in a time, detour or others, is in the file.
 */
#include <mpi.h>

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "features/replay/inject_plan.h"
#include "features/replay/injector.h"
#include "process/mpi_run.h"

enum kind { NONE, WORK, SLACK, WAIT, STRADDLE, KINDS };
enum { DURATIONS = 3, SENDER = 0, RECEIVER = 1, WARM_UP = 200 };

static const char *const kind_names[KINDS] = {"none", "work", "slack", "wait", "straddle"};
static const int64_t durations_ns[DURATIONS] = {150000, 250000, 350000};
static const int64_t SENDER_WORK_NS = 700000, RECEIVER_WORK_NS = 100000;
static const uint64_t SLICE_NS = 1500000;   /* more than a time without a detour takes */
static const int64_t EARLY_NS = 150000;     /* both have agreed so long before a time begins, and spin */
static const int64_t PAUSE_NS = 1500000;    /* between times, for others on this machine */
static const int64_t SPACE_NS = 1000000000; /* between the detours of the plan: farther than any time lasts */

/* What happened in one time; all but `begin_ns` since then. */
struct line {
    enum kind kind;
    int64_t begin_ns, duration_ns, aim_ns; /* aim: where the detour was to begin */
    int64_t start_ns, worked_ns, done_ns;
    int64_t entry_ns, end_ns; /* of the detour as it was made; -1: it was not */
    int64_t kept_ns;          /* the rank could have run, and somebody else did */
};

struct pair {
    int rank;
    int schedstat; /* file of this thread */
    uint64_t seed, iterations_per_us, x;
    iw_inject_plan *plan;
    iw_injector *injector;
    struct iwi_logbook book;
    int64_t lap_ns;     /* where the trace began by the reference clock */
    int64_t arrival_ns; /* usual time at which the receiver is done, without a detour */
};

static void complain(void *arg, iw_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)fprintf(stderr, "rule_pair: %s\n", text);
}

static const iw_log stderr_log = {.write = complain};

static void end(const char *text)
{
    complain(NULL, IW_LOG_ERROR, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* splitmix64: the same number on both ranks. */
static uint64_t draw(const struct pair *pair, uint64_t time, uint64_t which)
{
    uint64_t z = pair->seed + (4 * time + which + 1) * UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* ---- work ---- */

static void work_steps(struct pair *pair, uint64_t steps)
{
    uint64_t x = pair->x;

    for (uint64_t i = 0; i < steps; i++) {
        x = (16807 * x + 12345) % 2147483647;
        __asm__ volatile("" : "+r"(x)); /* each step stays one */
    }
    pair->x = x;
}

/* The shortest of many pieces was undisturbed. */
static void calibrate(struct pair *pair)
{
    enum { STEPS = 10000, PIECES = 3000 };
    int64_t shortest_ns = INT64_MAX;

    for (int i = 0; i < PIECES; i++) {
        const int64_t start_ns = iwi_now_ns();

        work_steps(pair, STEPS);
        shortest_ns = iwi_now_ns() - start_ns < shortest_ns ? iwi_now_ns() - start_ns : shortest_ns;
    }
    pair->iterations_per_us = (uint64_t)STEPS * 1000 / (uint64_t)shortest_ns;
}

static void bind_to(int rank)
{
    cpu_set_t allowed, mine;
    int left = rank;

    CPU_ZERO(&mine);
    (void)sched_getaffinity(0, sizeof allowed, &allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && left-- == 0) {
            CPU_SET(cpu, &mine);
        }
    }
    if (CPU_COUNT(&mine) == 0 || sched_setaffinity(0, sizeof mine, &mine) != 0) {
        end("each rank needs a CPU of its own");
    }
}

/* A rank that wakes up comes before others that want its CPU, for as long as one time lasts: the scheduler is
 * told that it runs shortly (Linux 6.12; others refuse). Its share of the CPU stays what it was. */
static void ask_for_short_slices(void)
{
    const struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attributes = {.size = sizeof attributes, .policy = SCHED_OTHER, .runtime_ns = SLICE_NS};

    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* ---- the detour ---- */

static void start_injector(struct pair *pair, iw_back_end back_end, size_t times)
{
    const iw_inject_opts opts = {.sync = IW_SYNC_START, .time_scale = 1.0, .seed = 1};
    iw_inject_facts facts = {.event_count = DURATIONS, .length_ns = SPACE_NS * (DURATIONS + 1)};
    int64_t starts_ns[DURATIONS];
    iw_inject_costs costs;

    for (int i = 0; i < DURATIONS; i++) {
        starts_ns[i] = SPACE_NS * (i + 1);
        facts.noise_ns += (double)durations_ns[i];
    }
    facts.made_ns = facts.as_recorded_ns = facts.noise_ns;
    facts.made_count = facts.as_recorded_count = DURATIONS;
    pair->lap_ns = -iwi_pace_offset(&opts, facts.length_ns);
    pair->book = (struct iwi_logbook){.made = calloc(times, sizeof *pair->book.made), .room = times};
    if (pair->book.made == NULL ||
        iw_inject_calibrate(&stderr_log, back_end, IW_INJECT_CALIBRATE_NS, &costs) != IW_OK ||
        iwi_plan_new(&stderr_log, &opts, &costs, &facts, starts_ns, durations_ns, DURATIONS, &pair->plan) !=
            IW_OK ||
        iwi_injector_start_logged(&stderr_log, pair->plan, iwi_back_end_find(back_end), &pair->book,
                                  &pair->injector) != IW_OK) {
        end("no injector");
    }
    (void)fprintf(stderr, "rule_pair: rank %d: overhead %.1f us, late %.1f us (1 of 100 above %.1f us)\n",
                  pair->rank, costs.overhead_ns / 1e3, costs.late_p50_ns / 1e3, costs.late_p99_ns / 1e3);
}

/* Detour number `which` of the plan is due at `when_ns`: the clock by which the trace passes is set so. */
static void aim(struct pair *pair, int which, int64_t when_ns)
{
    iwi_injector_set_clock(pair->injector, pair->lap_ns + SPACE_NS * (which + 1) - when_ns, 0.0, when_ns);
}

/* From `least_ns`, as far as `room_ns` allows, at random. */
static int64_t within(uint64_t random, int64_t least_ns, int64_t room_ns)
{
    return least_ns + (int64_t)(random % (uint64_t)(room_ns > 0 ? room_ns : 1));
}

/* When the detour of this time begins. The margins keep each kind apart from the next. */
static int64_t aim_of(const struct pair *pair, enum kind kind, int64_t duration_ns, uint64_t random)
{
    static const int64_t MARGIN_NS = 40000;

    switch (kind) {
    case WORK: return within(random, MARGIN_NS, SENDER_WORK_NS / 2);
    case SLACK: return within(random, MARGIN_NS / 2, RECEIVER_WORK_NS - MARGIN_NS);
    case WAIT:
        return within(random, RECEIVER_WORK_NS + MARGIN_NS,
                      SENDER_WORK_NS - RECEIVER_WORK_NS - duration_ns - 2 * MARGIN_NS);
    case STRADDLE: return pair->arrival_ns - within(random, duration_ns / 10, duration_ns * 8 / 10);
    default: return -1;
    }
}

/* ---- one time ---- */

static void sleep_until(int64_t end_ns)
{
    const struct timespec end = iwi_timespec(end_ns);

    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

/* Time on the queue of a CPU, of this thread. */
static int64_t kept_ns(const struct pair *pair)
{
    char text[128];
    const ssize_t length = pread(pair->schedstat, text, sizeof text - 1, 0);
    char *rest;

    if (length <= 0) {
        end("/proc/thread-self/schedstat cannot be read");
        return 0;
    }
    text[length] = '\0';
    (void)strtoll(text, &rest, 10);
    return strtoll(rest, NULL, 10);
}

/* Both are awake, and know when the time begins. */
static int64_t agree_begin(const struct pair *pair)
{
    int64_t mine_ns = iwi_now_ns() + EARLY_NS, other_ns = 0;
    const int other = 1 - pair->rank;
    MPI_Status status;

    MPI_Sendrecv(&mine_ns, 1, MPI_INT64_T, other, 1, &other_ns, 1, MPI_INT64_T, other, 1, MPI_COMM_WORLD,
                 &status);
    return mine_ns > other_ns ? mine_ns : other_ns;
}

/* Follows the median of times without a detour. */
static void learn_arrival(struct pair *pair, const struct line *line)
{
    static const int64_t STEP_NS = 2000, MOST_NS = 300000;

    if (pair->rank == RECEIVER && line->kind == NONE && line->done_ns < SENDER_WORK_NS + MOST_NS) {
        pair->arrival_ns += line->done_ns > pair->arrival_ns ? STEP_NS : -STEP_NS;
    }
}

static void exchange(const struct pair *pair)
{
    char data[8] = "";
    MPI_Status status;

    if (pair->rank == SENDER) {
        MPI_Send(data, (int)sizeof data, MPI_BYTE, RECEIVER, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(data, (int)sizeof data, MPI_BYTE, SENDER, 0, MPI_COMM_WORLD, &status);
    }
}

static void run_time(struct pair *pair, uint64_t time, struct line *line)
{
    const int64_t work_ns = pair->rank == SENDER ? SENDER_WORK_NS : RECEIVER_WORK_NS;
    const int which = (int)(draw(pair, time, 1) % DURATIONS);
    int64_t before_ns;

    *line = (struct line){
        .kind = (enum kind)(draw(pair, time, 0) % KINDS), .aim_ns = -1, .entry_ns = -1, .end_ns = -1};
    line->begin_ns = agree_begin(pair);
    if (line->kind != NONE && pair->rank == (line->kind == WORK ? SENDER : RECEIVER)) {
        line->duration_ns = durations_ns[which];
        line->aim_ns = aim_of(pair, line->kind, line->duration_ns, draw(pair, time, 2));
        aim(pair, which, line->begin_ns + line->aim_ns);
    }
    before_ns = kept_ns(pair);
    while (iwi_now_ns() < line->begin_ns) {
    }
    line->start_ns = iwi_now_ns() - line->begin_ns;
    work_steps(pair, (uint64_t)work_ns * pair->iterations_per_us / 1000);
    line->worked_ns = iwi_now_ns() - line->begin_ns;
    exchange(pair);
    line->done_ns = iwi_now_ns() - line->begin_ns;
    line->kept_ns = kept_ns(pair) - before_ns;
    learn_arrival(pair, line);
    sleep_until(line->begin_ns + line->done_ns + PAUSE_NS);
}

/* ---- what was made, and the file ---- */

/* Both are in the order of time. */
static void add_detours(const struct pair *pair, struct line *lines, uint64_t times)
{
    size_t next = 0;

    for (uint64_t i = 0; i < times; i++) {
        const struct iwi_made *made = pair->book.made;

        while (next < pair->book.count && made[next].entry_ns < lines[i].begin_ns) {
            next++;
        }
        if (next < pair->book.count &&
            made[next].entry_ns < lines[i].begin_ns + lines[i].done_ns + PAUSE_NS) {
            lines[i].entry_ns = made[next].entry_ns - lines[i].begin_ns;
            lines[i].end_ns = made[next].end_ns - lines[i].begin_ns;
        }
    }
}

static void write_lines(const struct pair *pair, const char *file, const struct line *lines, uint64_t times)
{
    char path[4096];
    FILE *out;

    (void)snprintf(path, sizeof path, "%s.%d", file, pair->rank);
    out = fopen(path, "w");
    if (out == NULL) {
        end("the file cannot be written");
        return;
    }
    (void)fprintf(out, "kind,duration_ns,aim_ns,start_ns,worked_ns,done_ns,entry_ns,end_ns,kept_ns\n");
    for (uint64_t i = WARM_UP; i < times; i++) {
        const struct line *line = &lines[i];

        (void)fprintf(out,
                      "%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                      ",%" PRId64 "\n",
                      kind_names[line->kind], line->duration_ns, line->aim_ns, line->start_ns,
                      line->worked_ns, line->done_ns, line->entry_ns, line->end_ns, line->kept_ns);
    }
    if (fclose(out) != 0) {
        end("the file cannot be written");
    }
}

int main(int argc, char **argv)
{
    struct pair pair = {
        .seed = argc > 5 ? strtoull(argv[5], NULL, 10) : 1, .x = 1, .arrival_ns = SENDER_WORK_NS};
    const uint64_t times = WARM_UP + (argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
    const iw_back_end back_end =
        argc > 4 && strcmp(argv[4], "timer") == 0 ? IW_BACK_END_TIMER : IW_BACK_END_FIFO;
    struct line *lines;
    int ranks;

    if (argc > 3 && strcmp(argv[3], "blocking") == 0) {
        sleeping_polls_use();
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &pair.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    lines = calloc(times, sizeof *lines);
    if (ranks != 2 || argc < 4 || lines == NULL) {
        end("two ranks, and: FILE TIMES polling|blocking [fifo|timer [SEED]]");
        return 1;
    }
    bind_to(pair.rank);
    ask_for_short_slices();
    pair.schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    MPI_Barrier(MPI_COMM_WORLD);
    calibrate(&pair);
    start_injector(&pair, back_end, times);
    for (uint64_t i = 0; i < times; i++) {
        run_time(&pair, i, &lines[i]);
    }
    iw_injector_stop(pair.injector, NULL);
    add_detours(&pair, lines, times);
    write_lines(&pair, argv[1], lines, times);
    iw_inject_plan_free(pair.plan);
    free(pair.book.made);
    free(lines);
    MPI_Finalize();
    return 0;
}
