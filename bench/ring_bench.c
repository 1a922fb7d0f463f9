/* What a message of a ring, of rings over nodes and of a linear exchange costs the flow engine, and ratios.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One thread, periodic noise of 1 kHz and 50 us, 1 MiB (linear exchange: 1 KiB for each pair). CPU time, with
 * that of the run without noise; best of several runs, all cases in turns, so that other load hits all alike.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <idlewave/idlewave.h>

struct bench_case {
    const char *pattern, *net;
    uint32_t ranks;
    uint64_t bytes;
    int than; /* the case that it is compared with; -1: none */
    bool is_long;
    double seconds, messages;
};

static struct bench_case cases[] = {
    {"allreduce:ring", "chic", 1024, 1 << 20, -1, false, 0, 0},
    {"allreduce:ring", "chic", 704, 1 << 20, 0, false, 0, 0},
    {"allreduce:ring", "chic", 4096, 1 << 20, -1, false, 0, 0},
    {"allreduce:ring", "chic", 4095, 1 << 20, 2, false, 0, 0},
    {"allreduce:ring", "chic", 16384, 1 << 20, 2, false, 0, 0},
    {"allreduce:ring", "chic", 65536, 1 << 20, 2, true, 0, 0},
    {"allreduce:node-rings", "gpu-node-nvlink", 1024, 1 << 20, -1, false, 0, 0},
    {"allreduce:node-rings", "gpu-node-nvlink", 1000, 1 << 20, 6, false, 0, 0},
    {"allreduce:node-rings", "gpu-node-nvlink", 16384, 1 << 20, 6, true, 0, 0},
    {"alltoall:linear", "chic", 1024, 1 << 10, -1, false, 0, 0},
    {"alltoall:linear", "chic", 8192, 1 << 10, 9, true, 0, 0},
};

enum { CASES = sizeof cases / sizeof cases[0], RUNS = 5, LONG_RUNS = 2 };

static double cpu_seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool run(struct bench_case *c, const iw_noise *noise)
{
    const iw_net *net = iw_net_builtin(c->net);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_result *result = NULL;
    iw_program *program = NULL;
    double seconds = cpu_seconds_now();
    bool is_ok;

    pattern.ranks = c->ranks;
    pattern.bytes = c->bytes;
    pattern.nodes = iw_net_nodes(net);
    opts.threads = 1;
    is_ok = iw_program_from_pattern(NULL, c->pattern, &pattern, &program) == IW_OK &&
            iw_simulate(NULL, program, net, noise, &opts, &result) == IW_OK;
    seconds = cpu_seconds_now() - seconds;
    if (is_ok && (c->seconds == 0 || seconds < c->seconds)) {
        c->seconds = seconds;
        c->messages = (double)result->messages;
    }
    iw_sim_result_free(result);
    iw_program_free(program);
    return is_ok;
}

static double message_ns(const struct bench_case *c)
{
    return c->seconds * 1e9 / c->messages;
}

static void print(const struct bench_case *c)
{
    printf("%-22s %8" PRIu32 " %12.0f %10.4f %8.2f", c->pattern, c->ranks, c->messages, c->seconds,
           message_ns(c));
    if (c->than >= 0) {
        printf("  %5.2f of %" PRIu32 " ranks", message_ns(c) / message_ns(&cases[c->than]),
               cases[c->than].ranks);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    const bool wants_long = argc < 2 || argv[1][0] != 's'; /* "short" leaves out what takes seconds */
    struct rusage usage;
    iw_noise *noise = NULL;
    int failures = 0;

    if (iw_noise_new(NULL, &noise) != IW_OK || iw_noise_add(NULL, noise, "periodic:1kHz,50us") != IW_OK) {
        return 1;
    }
    for (int n = 0; n < RUNS; n++) {
        for (size_t k = 0; k < CASES; k++) {
            if (cases[k].is_long ? wants_long && n < LONG_RUNS : true) {
                failures += !run(&cases[k], noise);
            }
        }
    }
    printf("%-22s %8s %12s %10s %8s  %s\n", "pattern", "ranks", "messages", "CPU s", "ns each", "ratio");
    for (size_t k = 0; k < CASES; k++) {
        if (cases[k].messages > 0) {
            print(&cases[k]);
        }
    }
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("memory of the largest: %.1f MiB\n", (double)usage.ru_maxrss / 1024);
    iw_noise_free(noise);
    return failures;
}
