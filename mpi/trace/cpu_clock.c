/* The rseq descriptor that marks a thread that kept its CPU; time by the time stamp counter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/cpu_clock.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAS_RSEQ 1
#endif
#endif

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#ifdef HAS_RSEQ
/* A section of one instruction that nothing jumps to. The kernel wants glibc's signature before the address
 * that it would continue at. */
__asm__(".pushsection .text\n"
        ".byte 0x0f, 0xb9, 0x3d\n" /* ud1: what a disassembler shows of the signature */
        ".long 0x53053053\n"
        "iwi_rseq_abort: ud2\n"
        "iwi_rseq_start: nop\n"
        "iwi_rseq_end: ud2\n"
        ".popsection\n"
        ".pushsection .data.rel.ro, \"aw\"\n"
        ".balign 32\n"
        ".local iwi_rseq_section\n"
        "iwi_rseq_section: .long 0, 0\n"
        ".quad iwi_rseq_start, iwi_rseq_end - iwi_rseq_start, iwi_rseq_abort\n"
        ".popsection\n");

static uint64_t section_address(void)
{
    uint64_t address;

    __asm__("leaq iwi_rseq_section(%%rip), %0" : "=r"(address));
    return address;
}

static volatile uint64_t *mark_of_thread(void)
{
    char *thread;

    if (__rseq_size == 0) {
        return NULL;
    }
    __asm__("movq %%fs:0, %0" : "=r"(thread));
    return (volatile uint64_t *)(void *)(thread + __rseq_offset + offsetof(struct rseq, rseq_cs));
}
#else
static uint64_t section_address(void)
{
    return 0;
}

static volatile uint64_t *mark_of_thread(void)
{
    return NULL;
}
#endif

/* ---- the counter ---- */

/* The kernel takes its own time from the counter only while it is the same on all CPUs, runs at one rate and never
 * stops; and a program may have forbidden itself to read it. */
static bool has_counter(void)
{
#if defined(__x86_64__)
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    char name[16] = "";
    int permission = 0;
    bool is_counter = file != NULL && fgets(name, sizeof name, file) != NULL && strcmp(name, "tsc\n") == 0;

    if (file != NULL) {
        (void)fclose(file);
    }
    return is_counter && prctl(PR_GET_TSC, &permission, 0, 0, 0) == 0 && permission == PR_TSC_ENABLE;
#else
    return false;
#endif
}

#define LEAST_MEASURED_NS (IWI_CPU_CLOCK_SPAN_NS / 2) /* shorter spans tell no rate */

/* Ahead by more than this, the counter is not what it was taken for. */
#define MOST_AHEAD_NS UINT64_C(100000)

/* Nanoseconds per tick since the last question, or 0 if they cannot be told: while the machine slept, the one went on
 * and the other did not. */
static uint64_t measured_rate(const struct iwi_tick_clock *clock, uint64_t ticks, uint64_t now_ns)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t passed = ticks - clock->asked_ticks;
    uint64_t rate = passed > 0 ? (uint64_t)(((wide)(now_ns - clock->asked_ns) << 32) / passed) : 0;
    uint64_t off = rate > clock->first_rate ? rate - clock->first_rate : clock->first_rate - rate;

    return clock->first_rate == 0 || off < clock->first_rate >> 10 ? rate : 0;
}

uint64_t iwi_tick_clock_set(struct iwi_tick_clock *clock, uint64_t ticks, uint64_t now_ns)
{
    /* no time that was given is later than this; what is ahead of the kernel's is made up for in the next span */
    uint64_t latest_ns = clock->ns + (clock->span_ticks * clock->rate >> 32);
    uint64_t ahead_ns = clock->span_ticks > 0 && latest_ns > now_ns ? latest_ns - now_ns : 0;
    uint64_t rate = clock->asked_ns != 0 ? measured_rate(clock, ticks, now_ns) : 0;

    if (ahead_ns > MOST_AHEAD_NS) {
        clock->has_counter = false;
        rate = ahead_ns = 0;
    }
    clock->first_rate = clock->first_rate != 0 ? clock->first_rate : rate;
    clock->span_ticks = rate != 0 ? (IWI_CPU_CLOCK_SPAN_NS << 32) / rate : 0;
    clock->rate = rate != 0 ? rate - (ahead_ns << 32) / clock->span_ticks : 0;
    clock->ticks = clock->asked_ticks = ticks;
    clock->asked_ns = now_ns;
    clock->ns = now_ns + ahead_ns;
    return clock->ns;
}

uint64_t iwi_tick_clock_ask(struct iwi_tick_clock *clock)
{
    enum { TRIES = 3 };
    uint64_t now_ns = iwi_wall_ns();
    uint64_t shortest = UINT64_MAX;
    uint64_t ticks = 0;

    if (!clock->has_counter || (clock->asked_ns != 0 && now_ns - clock->asked_ns < LEAST_MEASURED_NS)) {
        return now_ns;
    }
    for (int i = 0; i < TRIES; i++) { /* without an interrupt in between they belong together */
        uint64_t before = iwi_ticks();
        uint64_t between_ns = iwi_wall_ns();
        uint64_t took = iwi_ticks() - before;
        if (took < shortest) {
            shortest = took;
            ticks = before + took / 2;
            now_ns = between_ns;
        }
    }
    return iwi_tick_clock_set(clock, ticks, now_ns);
}

uint64_t iwi_cpu_clock_ask(struct iwi_cpu_clock *clock)
{
    if (clock->mark != NULL) {
        *clock->mark = clock->armed;
    }
    clock->wall_ns = iwi_thread_ns(clock);
    clock->cpu_ns = thread_cpu_ns();
    return clock->cpu_ns;
}

void iwi_cpu_clock_init(struct iwi_cpu_clock *clock)
{
    const struct timespec moment = {0, 1};

    *clock = (struct iwi_cpu_clock){
        .wall = {.has_counter = has_counter()}, .mark = mark_of_thread(), .armed = section_address()};
    if (clock->mark != NULL) {
        *clock->mark = clock->armed;
        (void)nanosleep(&moment, NULL);
        if (*clock->mark == clock->armed) {
            *clock->mark = 0;
            clock->mark = NULL;
        }
    }
    (void)iwi_cpu_clock_ask(clock);
}

const char *iwi_cpu_clock_name(const struct iwi_cpu_clock *clock)
{
    return clock->mark != NULL ? "rseq" : "syscall";
}
