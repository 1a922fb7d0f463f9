/* The flow engine against a plain C loop that does the same additions, maxima and next-detour tests.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Dissemination of 1-byte messages with periodic noise, one thread. The plain loop knows nothing but five
 * arrays: no noise slow path (a hit costs one addition), no lanes, no programs. Both are the best of several
 * runs, taken in turns, so that other load on the machine hits both alike.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <idlewave/idlewave.h>

enum { RUNS = 7 };

#if defined(__x86_64__) && __GNUC__ >= 12 && !defined(__clang__)
#define VECTOR_VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTOR_VERSIONS
#endif

struct plain {
    size_t count;
    iw_time *cpu, *send_gap, *recv_gap, *next, *sent, *sent_other;
};

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static iw_time max_of(iw_time a, iw_time b)
{
    return a > b ? a : b;
}

/* One round: serve what element i - distance sent, send the next. */
VECTOR_VERSIONS static void plain_round(struct plain *p, const iw_net *net, size_t begin, size_t end,
                                        ptrdiff_t distance)
{
    iw_time *restrict cpu = p->cpu;
    iw_time *restrict send_gap = p->send_gap;
    iw_time *restrict recv_gap = p->recv_gap;
    iw_time *restrict out = p->sent_other;
    const iw_time *restrict next = p->next;
    const iw_time *restrict in = p->sent - distance;

    for (size_t i = begin; i < end; i++) {
        const iw_time served = max_of(max_of(cpu[i], in[i] + net->L_ps), recv_gap[i]);
        const iw_time start = max_of(served + net->o_recv_ps, send_gap[i]);
        iw_time done = start + net->o_send_ps;

        if (done > next[i]) {
            done += 5600000000;
        }
        recv_gap[i] = served + net->g_ps;
        send_gap[i] = start + net->g_ps;
        cpu[i] = out[i] = done;
    }
}

static double plain_seconds(struct plain *p, const iw_net *net, uint32_t ranks, uint32_t lanes)
{
    double begin;

    memset(p->cpu, 0, p->count * sizeof(iw_time));
    memset(p->send_gap, 0, p->count * sizeof(iw_time));
    memset(p->recv_gap, 0, p->count * sizeof(iw_time));
    memset(p->sent, 0, p->count * sizeof(iw_time));
    begin = seconds_now();
    for (uint32_t shift = 1; shift < ranks; shift *= 2) {
        const size_t distance = (size_t)shift * lanes;
        iw_time *sent;

        plain_round(p, net, 0, distance, (ptrdiff_t)distance - (ptrdiff_t)p->count);
        plain_round(p, net, distance, p->count, (ptrdiff_t)distance);
        sent = p->sent;
        p->sent = p->sent_other;
        p->sent_other = sent;
    }
    return seconds_now() - begin;
}

static bool plain_new(struct plain *p, size_t count)
{
    iw_time **arrays[] = {&p->cpu, &p->send_gap, &p->recv_gap, &p->next, &p->sent, &p->sent_other};

    p->count = count;
    for (size_t k = 0; k < 6; k++) {
        *arrays[k] = calloc(count, sizeof(iw_time));
        if (*arrays[k] == NULL) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) { /* as often hit as by 0.375 Hz */
        p->next[i] = (iw_time)(i * UINT64_C(0x9e3779b97f4a7c15) % UINT64_C(2666666666666));
    }
    return true;
}

static void plain_release(struct plain *p)
{
    free(p->cpu);
    free(p->send_gap);
    free(p->recv_gap);
    free(p->next);
    free(p->sent);
    free(p->sent_other);
}

static double engine_rate(const iw_program *program, const iw_net *net, const iw_noise *noise, uint32_t lanes)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    double rate = 0;

    opts.trials = 8;
    opts.lanes = lanes;
    opts.threads = 1;
    if (iw_simulate(NULL, program, net, noise, &opts, &result) == IW_OK) {
        rate = (double)result->messages * (double)result->trials / result->engine_seconds;
    }
    iw_sim_result_free(result);
    return rate;
}

static int compare(uint32_t ranks, uint32_t lanes)
{
    const iw_net *net = iw_net_builtin("chic");
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    struct plain plain = {.count = 0};
    double engine = 0;
    double bare = 0;
    bool is_ok;

    pattern.ranks = ranks;
    is_ok = iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, &program) == IW_OK &&
            iw_noise_new(NULL, &noise) == IW_OK &&
            iw_noise_add(NULL, noise, "periodic:0.375Hz,5.6ms") == IW_OK &&
            plain_new(&plain, (size_t)ranks * lanes);
    for (int run = 0; is_ok && run < RUNS; run++) {
        const double messages = (double)iw_program_messages(program) * lanes;
        const double rate = messages / plain_seconds(&plain, net, ranks, lanes);
        const double engine_now = engine_rate(program, net, noise, lanes);

        bare = rate > bare ? rate : bare;
        engine = engine_now > engine ? engine_now : engine;
    }
    if (is_ok) {
        printf("%8" PRIu32 " %6" PRIu32 " %12.1f %12.1f %8.2f\n", ranks, lanes, engine / 1e6, bare / 1e6,
               engine / bare);
    }
    plain_release(&plain);
    iw_noise_free(noise);
    iw_program_free(program);
    return is_ok ? 0 : 1;
}

int main(void)
{
    int failures = 0;

    printf("dissemination, 1 byte, periodic noise, one thread, best of %d; millions of messages per second\n",
           RUNS);
    printf("%8s %6s %12s %12s %8s\n", "ranks", "lanes", "flow engine", "plain loop", "ratio");
    failures += compare(1U << 14, 1);
    failures += compare(1U << 14, 8);
    failures += compare(1U << 20, 1);
    failures += compare(1U << 20, 8);
    return failures;
}
