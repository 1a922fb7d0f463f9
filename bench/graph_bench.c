/* GOAL files as Schedgen writes them: how long it takes to read and to simulate them, by windows or in order
 * (flow), by the event engine, and by LogGOPSim.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * graph_bench [--loggopsim PROGRAM] [CASE...]: every case writes its binary GOAL file into the folder that
 * TMPDIR names. Each run is a process of its own, which reads the file and runs it once without noise, so
 * that what it keeps in memory is that of one run. All times are CPU times; that of an engine alone is the
 * mean of further runs. LogGOPSim maps its file: its time is both reading and simulating.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <idlewave/idlewave.h>

#include "core/program/program.h"

/* ---- the schedules ---- */

struct maker {
    struct iwi_schedule *schedule;
    uint64_t node_capacity, dep_capacity, nodes, deps, first; /* of the rank under way */
};

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void start(struct maker *m, uint32_t ranks)
{
    *m = (struct maker){.schedule = checked(calloc(1, sizeof *m->schedule))};
    m->schedule->ranks = ranks;
    m->schedule->cpu_count = m->schedule->nic_count = 1;
    m->schedule->first_node = checked(calloc((size_t)ranks + 1, sizeof(uint64_t)));
}

/* Returns its number in its rank. */
static uint32_t add(struct maker *m, struct iwi_node node)
{
    struct iwi_schedule *s = m->schedule;

    if (m->nodes + 1 >= m->node_capacity) {
        m->node_capacity = m->node_capacity * 2 + 1024;
        s->nodes = checked(realloc(s->nodes, m->node_capacity * sizeof *s->nodes));
        s->first_dep = checked(realloc(s->first_dep, m->node_capacity * sizeof *s->first_dep));
    }
    s->nodes[m->nodes] = node;
    s->first_dep[m->nodes++] = m->deps;
    return (uint32_t)(m->nodes - 1 - m->first);
}

/* Of the operation added last. */
static void requires(struct maker *m, uint32_t other)
{
    struct iwi_schedule *s = m->schedule;

    if (m->deps == m->dep_capacity) {
        m->dep_capacity = m->dep_capacity * 2 + 1024;
        s->deps = checked(realloc(s->deps, m->dep_capacity * sizeof *s->deps));
    }
    s->deps[m->deps++] = (struct iwi_dep){.node = other};
}

static void end_rank(struct maker *m, uint32_t rank)
{
    m->schedule->first_node[rank + 1] = m->first = m->nodes;
    m->schedule->first_dep[m->nodes] = m->deps;
}

static uint32_t add_send(struct maker *m, uint32_t to)
{
    return add(m, (struct iwi_node){.kind = IWI_SEND, .peer = to, .amount = 1});
}

static uint32_t add_recv(struct maker *m, uint32_t from)
{
    return add(m, (struct iwi_node){.kind = IWI_RECV, .peer = from, .amount = 1});
}

/* All receives are posted at once; a send requires the receive of the round before. */
static void make_dissemination(struct maker *m, uint32_t ranks)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t recv = UINT32_MAX;

        for (uint32_t distance = 1; distance < ranks; distance *= 2) {
            add_send(m, (rank + distance) % ranks);
            if (recv != UINT32_MAX) {
                requires(m, recv);
            }
            recv = add_recv(m, (rank + ranks - distance) % ranks);
        }
        end_rank(m, rank);
    }
}

/* Several in a row, each as above after the end of the one before. The messages of one pair have one tag, so
 * that the order of time decides who meets whom. */
static void make_repeated(struct maker *m, uint32_t ranks)
{
    enum { TIMES = 3 };

    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t recv = UINT32_MAX, end = UINT32_MAX;

        for (uint32_t time = 0; time < TIMES; time++) {
            for (uint32_t distance = 1; distance < ranks; distance *= 2) {
                add_send(m, (rank + distance) % ranks);
                if (recv != UINT32_MAX) {
                    requires(m, recv);
                }
                recv = add_recv(m, (rank + ranks - distance) % ranks);
                if (end != UINT32_MAX) {
                    requires(m, end);
                }
            }
            end = recv;
        }
        end_rank(m, rank);
    }
}

/* All sends of a rank require its receive. */
static void make_binomial(struct maker *m, uint32_t ranks)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t recv = UINT32_MAX;

        for (uint32_t distance = 1; distance < ranks; distance *= 2) {
            if (rank < distance && rank + distance < ranks) {
                add_send(m, rank + distance);
                if (recv != UINT32_MAX) {
                    requires(m, recv);
                }
            } else if (rank >= distance && rank < 2 * distance) {
                recv = add_recv(m, rank - distance);
            }
        }
        end_rank(m, rank);
    }
}

/* Nothing requires anything. */
static void make_alltoall(struct maker *m, uint32_t ranks)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        for (uint32_t step = 1; step < ranks; step++) {
            add_send(m, (rank + step) % ranks);
            add_recv(m, (rank + ranks - step) % ranks);
        }
        end_rank(m, rank);
    }
}

enum { SWEEP_STEPS = 942, MORE_RUNS = 4 };

static void in_turn(struct maker *m, struct iwi_node node)
{
    const uint32_t at = add(m, node);

    if (at > 0) {
        requires(m, at - 1);
    }
}

/* What a trace of blocking calls becomes: each call requires the computation before it, which requires the
 * call before. Wavefronts go over a square of ranks from all four corners in turn. */
static void make_sweep(struct maker *m, uint32_t ranks)
{
    uint32_t side = 1;

    while ((side + 1) * (side + 1) <= ranks) {
        side++;
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const int64_t x = rank % side, y = rank / side;

        for (int step = 0; step < SWEEP_STEPS; step++) {
            const int64_t dx = step / 8 % 2 ? -1 : 1, dy = step / 16 % 2 ? -1 : 1;
            const int64_t at[4][2] = {{x - dx, y}, {x, y - dy}, {x + dx, y}, {x, y + dy}};

            for (int k = 0; k < 4; k++) {
                if (k != 1) {
                    in_turn(m, (struct iwi_node){.kind = IWI_CALC,
                                                 .flags = IWI_NODE_PHASE,
                                                 .amount = k == 2 ? 20000000 : 100000});
                }
                if (at[k][0] >= 0 && at[k][0] < side && at[k][1] >= 0 && at[k][1] < side) {
                    in_turn(m, (struct iwi_node){.kind = k < 2 ? IWI_RECV : IWI_SEND,
                                                 .peer = (uint32_t)(at[k][1] * side + at[k][0]),
                                                 .amount = 1000});
                }
            }
        }
        end_rank(m, rank);
    }
}

static const struct bench_case {
    const char *name;
    uint32_t ranks;
    void (*make)(struct maker *m, uint32_t ranks);
} cases[] = {{"dissemination", 65536, make_dissemination},
             {"repeated", 32768, make_repeated},
             {"binomial", 65536, make_binomial},
             {"alltoall", 512, make_alltoall},
             {"sweep", 4096, make_sweep}};

/* ---- runs ---- */

struct run {
    bool is_ok;
    double read_s, simulate_s, engine_s;
    uint64_t messages, nodes;
    iw_time makespan_ps;
    double bytes; /* of memory, beyond that of a process that has done nothing */
};

/* Of CPU time of this process: others may use the machine. */
static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double peak_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024.0;
}

/* LogGOPSim's defaults. */
static iw_net loggopsim_net(void)
{
    iw_net net = *iw_net_builtin("chic");

    net.L_ps = 2500000;
    net.o_send_ps = net.o_recv_ps = 1500000;
    net.g_ps = 1000000;
    net.G = 6000000;
    net.O = 0;
    net.S_bytes = 65535;
    return net;
}

/* What each further trial adds; an engine that takes long is nearly all of the first. */
static double time_engine(const iw_program *program, const iw_net *net, iw_sim_opts opts, double once_s)
{
    const double begin_s = cpu_seconds();
    iw_sim_result *result = NULL;

    opts.trials = 1 + MORE_RUNS;
    if (once_s > 1.0 || iw_simulate(NULL, program, net, NULL, &opts, &result) != IW_OK) {
        return once_s;
    }
    iw_sim_result_free(result);
    return (cpu_seconds() - begin_s - once_s) / MORE_RUNS;
}

static struct run run_here(const char *path, iw_engine engine)
{
    const iw_net net = loggopsim_net();
    const double before = peak_bytes(), begin_s = cpu_seconds();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program = NULL;
    iw_sim_result *result = NULL;
    struct run run = {.is_ok = iw_program_from_goal(NULL, path, IW_PS_PER_NS, &program) == IW_OK};

    run.read_s = cpu_seconds() - begin_s;
    opts.engine = engine;
    opts.threads = 1;
    run.is_ok = run.is_ok && iw_simulate(NULL, program, &net, NULL, &opts, &result) == IW_OK;
    if (run.is_ok) {
        run.simulate_s = cpu_seconds() - begin_s - run.read_s;
        run.messages = result->messages;
        run.makespan_ps = result->makespan_ps[0];
        run.nodes = program->schedule->first_node[program->ranks];
        run.bytes = peak_bytes() - before;
        run.engine_s = time_engine(program, &net, opts, run.simulate_s);
    }
    iw_sim_result_free(result);
    iw_program_free(program);
    return run;
}

static struct run run_alone(const char *path, iw_engine engine)
{
    struct run run = {.is_ok = false};
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0) {
        return run;
    }
    if (child == 0) {
        run = run_here(path, engine);
        _exit(write(ends[1], &run, sizeof run) == sizeof run ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &run, sizeof run) != sizeof run) {
        run.is_ok = false;
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
    return run;
}

/* CPU seconds of a process of its own, all in all; negative: it failed. */
static double time_loggopsim(const char *program, const char *path)
{
    const pid_t child = fork();
    struct rusage usage;
    int status = 1;

    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL) {
            execl(program, program, "-b", "-f", path, (char *)NULL);
        }
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        return -1.0;
    }
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static bool write_case(const struct bench_case *c, const char *path)
{
    struct maker m;
    iw_program *program = NULL;
    bool is_ok;

    start(&m, c->ranks);
    c->make(&m, c->ranks);
    is_ok = iwi_program_from_schedule(NULL, m.schedule, &program) == IW_OK &&
            iw_program_write_goal(NULL, program, path, true, IW_PS_PER_NS) == IW_OK;
    iw_program_free(program);
    return is_ok;
}

/* Writes the file in a process of its own, so that this one stays small for those that it starts. */
static bool write_alone(const struct bench_case *c, const char *path)
{
    const pid_t child = fork();
    int status = 1;

    if (child == 0) {
        _exit(write_case(c, path) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void print_run(const struct bench_case *c, const char *by, const struct run *run)
{
    printf("%-14s %7" PRIu32 " %8.3f %-10s %8.3f %9.3f %8.3f %9.2f %8.0f %12.3f\n", c->name, c->ranks,
           (double)run->messages / 1e6, by, run->read_s, run->simulate_s, run->engine_s,
           (double)run->messages / run->engine_s / 1e6, run->bytes / (double)run->nodes,
           (double)run->makespan_ps / 1e6);
}

static int bench(const struct bench_case *c, const char *loggopsim)
{
    const char *folder = getenv("TMPDIR");
    char path[512];
    struct run flow, event;
    double other_s = -1.0;

    (void)snprintf(path, sizeof path, "%s/graph_bench.%d.goal", folder == NULL ? "/tmp" : folder,
                   (int)getpid());
    if (!write_alone(c, path)) {
        fprintf(stderr, "cannot write '%s'\n", path);
        return 1;
    }
    flow = run_alone(path, IW_ENGINE_AUTO);
    event = run_alone(path, IW_ENGINE_EVENT);
    if (loggopsim != NULL) {
        other_s = time_loggopsim(loggopsim, path);
    }
    unlink(path);
    if (!flow.is_ok || !event.is_ok || flow.makespan_ps != event.makespan_ps) {
        fprintf(stderr, "%s: the engines failed, or differ\n", c->name);
        return 1;
    }
    print_run(c, "flow", &flow);
    print_run(c, "event", &event);
    printf("  event : flow, simulation %.1f, engine alone %.1f, with reading %.1f",
           event.simulate_s / flow.simulate_s, event.engine_s / flow.engine_s,
           (event.read_s + event.simulate_s) / (flow.read_s + flow.simulate_s));
    if (other_s >= 0.0) {
        printf("; LogGOPSim %.2f s : flow, simulation %.1f, engine alone %.1f, with reading %.1f", other_s,
               other_s / flow.simulate_s, other_s / flow.engine_s, other_s / (flow.read_s + flow.simulate_s));
    }
    printf("\n");
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    const bool has_loggopsim = argc > 2 && strcmp(argv[1], "--loggopsim") == 0;
    const char *loggopsim = has_loggopsim ? argv[2] : NULL;
    const int first = has_loggopsim ? 3 : 1;
    int failures = 0;

    printf("%-14s %7s %8s %-10s %8s %9s %8s %9s %8s %12s\n", "schedule", "ranks", "M mess.", "engine",
           "read s", "simul. s", "engine s", "M mess./s", "B/node", "makespan us");
    fflush(stdout); /* else every process that is started would write it too */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool is_wanted = first >= argc;

        for (int k = first; k < argc; k++) {
            is_wanted |= strcmp(argv[k], cases[i].name) == 0;
        }
        failures += is_wanted ? bench(&cases[i], loggopsim) : 0;
    }
    return failures;
}
