/* Fuzzing what works in a child process: the fuzzer sees the child's branches, and faults of our own code in
 * it are found.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that crashes in the child is what the child is for. Whose fault one is, is told by what comes
 * first on the stack: the library, or code that is instrumented for coverage, which is all of ours. Under
 * ctest, without libFuzzer, nothing of this does anything.
 */
#ifndef IWT_FUZZ_CHILD_H
#define IWT_FUZZ_CHILD_H

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

enum { IWT_FUZZ_FRAMES = 64 };

/* Names of the compiler, the linker and the sanitizers. NOLINTBEGIN(bugprone-reserved-identifier) */
/* Counters of branches; addresses of code, each with a word of flags. */
extern uint8_t __start___sancov_cntrs[] __attribute__((weak));
extern uint8_t __stop___sancov_cntrs[] __attribute__((weak));
extern const uintptr_t __start___sancov_pcs[] __attribute__((weak));
extern const uintptr_t __stop___sancov_pcs[] __attribute__((weak));

IW_API void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
/* Called when an error has been found, before the process ends. */
IW_API void __asan_on_error(void);
IW_API void __ubsan_on_report(void);

static struct {
    const char *library; /* a part of its file's name */
    uintptr_t code_begin, code_end;
    bool is_child;
    volatile sig_atomic_t *has_fault; /* shared */
} iwt_fuzz_child;

void __asan_on_error(void)
{
    void *frames[IWT_FUZZ_FRAMES];
    const int count = iwt_fuzz_child.is_child ? backtrace(frames, IWT_FUZZ_FRAMES) : 0;

    for (int i = 1; i < count; i++) { /* the first is this function */
        const uintptr_t pc = (uintptr_t)frames[i];
        Dl_info info;

        if (pc >= iwt_fuzz_child.code_begin && pc < iwt_fuzz_child.code_end) {
            *iwt_fuzz_child.has_fault = 1;
            return;
        }
        if (dladdr(frames[i], &info) != 0 && strstr(info.dli_fname, iwt_fuzz_child.library) != NULL) {
            return;
        }
    }
}

void __ubsan_on_report(void)
{
    if (iwt_fuzz_child.is_child) {
        *iwt_fuzz_child.has_fault = 1;
    }
}

/* libFuzzer would take a crash of the child for one of its own, and keep the input. */
static inline void iwt_fuzz_be_child(void)
{
    iwt_fuzz_child.is_child = true;
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(NULL);
    }
    (void)signal(SIGABRT, SIG_DFL);
}

/* Whole pages of the counters, so that nothing else is shared. */
static inline void iwt_fuzz_share_counters(void)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)__start___sancov_cntrs + page - 1) / page * page;
    const uintptr_t end = (uintptr_t)__stop___sancov_cntrs / page * page;

    if (begin < end) { /* they are 0 so far */
        iwt_fuzz_require(mmap((void *)begin, end - begin, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
    }
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* Before the first child. */
static inline void iwt_fuzz_child_begin(const char *library)
{
    void *frame;

    if (iwt_fuzz_child.library != NULL || __start___sancov_cntrs == NULL) {
        return;
    }
    iwt_fuzz_child.library = library;
    iwt_fuzz_child.code_begin = UINTPTR_MAX;
    for (const uintptr_t *pc = __start___sancov_pcs; pc < __stop___sancov_pcs; pc += 2) {
        iwt_fuzz_child.code_begin = *pc < iwt_fuzz_child.code_begin ? *pc : iwt_fuzz_child.code_begin;
        iwt_fuzz_child.code_end = *pc > iwt_fuzz_child.code_end ? *pc : iwt_fuzz_child.code_end;
    }
    iwt_fuzz_child.has_fault = mmap(NULL, sizeof *iwt_fuzz_child.has_fault, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    iwt_fuzz_require(iwt_fuzz_child.has_fault != MAP_FAILED);
    (void)backtrace(&frame, 1); /* loads what it needs */
    iwt_fuzz_share_counters();
    iwt_fuzz_require(pthread_atfork(NULL, NULL, iwt_fuzz_be_child) == 0);
}

/* After each. */
static inline void iwt_fuzz_child_check(void)
{
    iwt_fuzz_require(iwt_fuzz_child.has_fault == NULL || !*iwt_fuzz_child.has_fault);
}

#endif
