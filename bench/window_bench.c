/* Irregular graphs: how fast the window engine runs them, and how much faster than the event engine.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *   window_bench [operations [ranks [threads [compare [windows]]]]]
 *
 * compare 0: without the event engine. windows 0: on a network without o_s and L, where there are no windows,
 * by one thread.
 *
 * Random graphs on 4 CPUs a rank, a third of whose receives take any source: 10^7 operations on 4,096 ranks,
 * half of them messages. Each line is a process of its own, so that memory is its own; the ratio is that of
 * one run. Nothing is judged but that all give the same makespan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <idlewave/idlewave.h>

#include "support/made_graph.h"

struct figures {
    bool is_ok;
    double seconds, cpu_s; /* of the engine; of the whole simulation, all threads */
    iw_time makespan_ps;
    uint64_t nodes, dependences, messages;
    double graph_bytes, all_bytes; /* peak of the process: before and after the simulation */
};

static double cpu_seconds(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0
               ? (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
               : 0.0;
}

static double peak_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss * 1024.0 : 0.0;
}

static void complain(void *arg, iw_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

static struct figures simulate(const iw_program *program, const iw_net *net, const char *noise_spec,
                               iw_engine engine, uint32_t threads)
{
    const iw_log log = {complain, NULL};
    struct figures f = {.is_ok = false, .graph_bytes = peak_bytes(), .cpu_s = -cpu_seconds()};
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_noise *noise = NULL;
    iw_sim_result *result = NULL;

    opts.engine = engine;
    opts.threads = threads;
    opts.parallel = threads > 1 ? IW_PARALLEL_RANKS : IW_PARALLEL_AUTO;
    if (noise_spec != NULL &&
        (iw_noise_new(&log, &noise) != IW_OK || iw_noise_add(&log, noise, noise_spec) != IW_OK)) {
        return f;
    }
    if (iw_simulate(&log, program, net, noise, &opts, &result) == IW_OK) {
        f.is_ok = true;
        f.seconds = result->engine_seconds;
        f.makespan_ps = result->makespan_ps[0];
        f.messages = result->messages;
        f.nodes = program->schedule->first_node[program->ranks];
        f.dependences = program->schedule->first_dep[f.nodes];
        f.all_bytes = peak_bytes();
        f.cpu_s += cpu_seconds();
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    return f;
}

/* In a process of its own. */
static struct figures run(const iw_program *program, const iw_net *net, const char *noise_spec,
                          iw_engine engine, uint32_t threads)
{
    struct figures f = {.is_ok = false};
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0) {
        return f;
    }
    if (child == 0) {
        f = simulate(program, net, noise_spec, engine, threads);
        _exit(write(ends[1], &f, sizeof f) == sizeof f ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &f, sizeof f) != sizeof f) {
        f.is_ok = false;
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
    return f;
}

static void print(const char *name, const char *noise, uint32_t threads, const struct figures *f,
                  const struct figures *event)
{
    printf("%-7s %7u %-22s %8.4f %8.4f %10.2f %8.1f %9.0f %13.3f\n", name, threads,
           noise == NULL ? "none" : noise, f->seconds, f->cpu_s, (double)f->messages / f->seconds / 1e6,
           event->seconds / f->seconds, (f->all_bytes - f->graph_bytes) / (double)f->nodes,
           (double)f->makespan_ps / 1e9);
    fflush(stdout);
}

static int compare(const iw_program *program, const iw_net *net, const char *noise, uint32_t most_threads,
                   bool has_event)
{
    struct figures event = {.is_ok = false};

    if (has_event) {
        event = run(program, net, noise, IW_ENGINE_EVENT, 1);
        print("event", noise, 1, &event, &event);
    }
    for (uint32_t threads = 1; threads <= most_threads; threads++) {
        const struct figures window = run(program, net, noise, IW_ENGINE_WINDOW, threads);

        print("window", noise, threads, &window, &event);
        event = has_event || threads > 1 ? event : window;
        if (!event.is_ok || !window.is_ok || event.makespan_ps != window.makespan_ps) {
            fprintf(stderr, "the engines failed, or differ\n");
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct iwt_graph_kind kind = {.ranks = 4096,
                                  .cpus = 4,
                                  .nics = 1,
                                  .operations = 10000000,
                                  .calc_percent = 33,
                                  .wild_percent = 33,
                                  .tags = 4,
                                  .most_bytes = 1024,
                                  .most_ps = 20 * IW_PS_PER_US,
                                  .grain_ps = 1,
                                  .dependences = 3};
    const uint32_t most_threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 2;
    const bool has_event = argc <= 4 || strtoul(argv[4], NULL, 10) != 0;
    iw_net net = *iw_net_builtin("chic");
    iw_program *program;
    int failures;

    if (argc > 5 && strtoul(argv[5], NULL, 10) == 0) {
        net.o_send_ps = net.L_ps = 0;
    }
    kind.operations = argc > 1 ? strtoull(argv[1], NULL, 10) : kind.operations;
    kind.ranks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : kind.ranks;
    program = iwt_made_graph(1, &kind);
    printf("%" PRIu64 " operations, %" PRIu64 " messages, %u ranks with 4 CPUs\n",
           program->schedule->first_node[program->ranks], iw_program_messages(program), kind.ranks);
    printf("%-7s %7s %-22s %8s %8s %10s %8s %9s %13s\n", "engine", "threads", "noise", "seconds", "CPU s",
           "M mess./s", "x event", "B/oper.", "makespan ms");
    failures = compare(program, &net, NULL, most_threads, has_event);
    failures += compare(program, &net, "periodic:1kHz,25us", most_threads, has_event);
    iw_program_free(program);
    return failures;
}
