/* The rseq descriptor that marks a thread that kept its CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/cpu_clock.h"

#include <stddef.h>

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

uint64_t iwi_cpu_clock_ask(struct iwi_cpu_clock *clock)
{
    if (clock->mark != NULL) {
        *clock->mark = clock->armed;
    }
    clock->wall_ns = iwi_wall_ns();
    clock->cpu_ns = thread_cpu_ns();
    return clock->cpu_ns;
}

void iwi_cpu_clock_init(struct iwi_cpu_clock *clock)
{
    const struct timespec moment = {0, 1};

    *clock = (struct iwi_cpu_clock){.mark = mark_of_thread(), .armed = section_address()};
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
