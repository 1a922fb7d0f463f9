/* Fuzzing what works in a child process: the fuzzer sees the child's branches, and faults of our own code in
 * it are found.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that crashes in the child is what the child is for. Whose fault one is, is told by what comes
 * first on the stack: the library, or code that is instrumented for coverage, which is all of ours. Without
 * libFuzzer nothing of this is needed.
 */
#ifndef IWT_FUZZ_CHILD_H
#define IWT_FUZZ_CHILD_H

#ifdef IWT_LIBFUZZER
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz.h"

enum { IWT_FUZZ_FRAMES = 64, IWT_FUZZ_CHILD_BYTES = 1 << 30 };

/* Of libFuzzer: a counter for each branch, and the addresses of branches, each with a word of flags. The
 * compiler has the sections' symbols for itself, so they need other names here. */
__asm__(".weakref iwt_counters, __start___sancov_cntrs\n"
        ".weakref iwt_counters_end, __stop___sancov_cntrs\n"
        ".weakref iwt_code, __start___sancov_pcs\n"
        ".weakref iwt_code_end, __stop___sancov_pcs\n");
extern uint8_t iwt_counters[], iwt_counters_end[];
extern const uintptr_t iwt_code[], iwt_code_end[];

static inline size_t iwt_counter_count(void)
{
    return (size_t)((uintptr_t)iwt_counters_end - (uintptr_t)iwt_counters);
}

/* What sanitizers call when they have found an error, before they print it. Names are theirs.
 * NOLINTBEGIN(bugprone-reserved-identifier) */
IW_API void __asan_on_error(void);
IW_API void __ubsan_on_report(void);
IW_API void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static struct {
    const char *library; /* a part of its file's name */
    uintptr_t code_begin, code_end;
    rlim_t memory_bytes; /* that a child may have, with what it has from the beginning */
    bool is_child;
    /* shared with the child: */
    volatile sig_atomic_t *has_fault;
    uint8_t *counters;
} iwt_fuzz_child;

/* Instead of the C library's: the child's branches count. */
_Noreturn void _exit(int code)
{
    if (iwt_fuzz_child.is_child) {
        memcpy(iwt_fuzz_child.counters, iwt_counters, iwt_counter_count());
    }
    for (;;) {
        (void)syscall(SYS_exit_group, code);
    }
}

static inline bool iwt_fuzz_is_ours(const void *code)
{
    return (uintptr_t)code >= iwt_fuzz_child.code_begin && (uintptr_t)code <= iwt_fuzz_child.code_end;
}

void __asan_on_error(void)
{
    void *frames[IWT_FUZZ_FRAMES];
    const int count = iwt_fuzz_child.is_child ? backtrace(frames, IWT_FUZZ_FRAMES) : 0;
    int i = 0;

    while (i < count && !iwt_fuzz_is_ours(frames[i])) { /* up to this function */
        i++;
    }
    for (i++; i < count; i++) {
        Dl_info info;

        if (iwt_fuzz_is_ours(frames[i])) {
            *iwt_fuzz_child.has_fault = 1;
            break;
        }
        if (dladdr(frames[i], &info) != 0 && strstr(info.dli_fname, iwt_fuzz_child.library) != NULL) {
            break;
        }
    }
    if (iwt_fuzz_child.is_child) {
        _exit(1); /* nobody would see what is printed, and it takes long */
    }
}

void __ubsan_on_report(void)
{
    if (iwt_fuzz_child.is_child) {
        *iwt_fuzz_child.has_fault = 1;
        _exit(1);
    }
}

/* libFuzzer would take a crash of the child for one of its own, and keep the input; so too when the child
 * gets much memory, so that it gets less: a child keeps limits that it has. */
static inline void iwt_fuzz_be_child(void)
{
    const rlim_t bytes = iwt_fuzz_child.memory_bytes;

    iwt_fuzz_child.is_child = true;
    (void)setrlimit(RLIMIT_AS, &(struct rlimit){bytes, RLIM_INFINITY});
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(NULL);
    }
    (void)signal(SIGABRT, SIG_DFL);
}
/* NOLINTEND(bugprone-reserved-identifier) */

static inline void *iwt_fuzz_share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    iwt_fuzz_require(memory != MAP_FAILED);
    return memory;
}

/* Before the first child. */
static inline void iwt_fuzz_child_begin(const char *library)
{
    FILE *file;
    void *frame;
    unsigned long pages = 0;

    if (iwt_fuzz_child.library != NULL) {
        return;
    }
    iwt_fuzz_child.library = library;
    iwt_fuzz_child.code_begin = UINTPTR_MAX;
    for (const uintptr_t *pc = iwt_code; pc < iwt_code_end; pc += 2) {
        iwt_fuzz_child.code_begin = *pc < iwt_fuzz_child.code_begin ? *pc : iwt_fuzz_child.code_begin;
        iwt_fuzz_child.code_end = *pc > iwt_fuzz_child.code_end ? *pc : iwt_fuzz_child.code_end;
    }
    file = fopen("/proc/self/statm", "re");
    iwt_fuzz_require(file != NULL && fscanf(file, "%lu", &pages) == 1 && fclose(file) == 0);
    iwt_fuzz_child.memory_bytes = pages * (rlim_t)sysconf(_SC_PAGESIZE) + IWT_FUZZ_CHILD_BYTES;
    iwt_fuzz_child.has_fault = iwt_fuzz_share(sizeof *iwt_fuzz_child.has_fault);
    iwt_fuzz_child.counters = iwt_fuzz_share(iwt_counter_count());
    (void)backtrace(&frame, 1); /* loads what it needs */
    iwt_fuzz_require(pthread_atfork(NULL, NULL, iwt_fuzz_be_child) == 0);
}

/* After each. */
static inline void iwt_fuzz_child_end(void)
{
    const size_t size = iwt_counter_count();

    iwt_fuzz_require(!*iwt_fuzz_child.has_fault);
    for (size_t i = 0; i < size; i++) { /* it began with those of this process */
        iwt_counters[i] =
            iwt_fuzz_child.counters[i] > iwt_counters[i] ? iwt_fuzz_child.counters[i] : iwt_counters[i];
    }
    memset(iwt_fuzz_child.counters, 0, size);
}
#else
static inline void iwt_fuzz_child_begin(const char *library)
{
    (void)library;
}

static inline void iwt_fuzz_child_end(void)
{
}
#endif

#endif
