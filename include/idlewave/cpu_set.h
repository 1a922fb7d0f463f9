/* idlewave/cpu_set.h - sets of CPUs, as people and Linux write them: "0-3,8", "0-31:2".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CPU_SET_H
#define IW_CPU_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IW_CPU_SET_MOST 8192 /* CPUs are numbered below; Linux has no more either */
#define IW_CPU_SET_WORDS (IW_CPU_SET_MOST / 64)
#define IW_CPU_FAULT_SIZE 160

typedef struct iw_cpu_set {
    uint64_t words[IW_CPU_SET_WORDS]; /* CPU n: bit n % 64 of word n / 64 */
} iw_cpu_set;

/** Reads numbers and ranges, "0-31:2" (every second one), "0-31:2/8" (the first two of each eight, as the
 * kernel's parameters have it). False: `fault` says what is wrong, and where; the set is left alone. */
IW_API IW_NODISCARD bool iw_cpu_set_parse(const char *text, iw_cpu_set *set, char fault[IW_CPU_FAULT_SIZE]);

/** Reads a mask as Linux writes it: "ff", "00000003,ffffffff". False: it is none. */
IW_API IW_NODISCARD bool iw_cpu_set_parse_mask(const char *text, iw_cpu_set *set);

/** "0-3,8", cut to `size` with "..." at its end where it does not fit; "none". Returns `buf`. */
IW_API char *iw_cpu_set_text(const iw_cpu_set *set, char *buf, size_t size);

/** "00000003,ffffffff", as Linux wants it in files that take masks; cut with "..." at its end where it does
 * not fit. Returns `buf`. */
IW_API char *iw_cpu_set_mask(const iw_cpu_set *set, char *buf, size_t size);

static inline bool iw_cpu_set_has(const iw_cpu_set *set, uint32_t cpu)
{
    return cpu < IW_CPU_SET_MOST && (set->words[cpu / 64] >> (cpu % 64) & 1) != 0;
}

static inline void iw_cpu_set_add(iw_cpu_set *set, uint32_t cpu)
{
    if (cpu < IW_CPU_SET_MOST) {
        set->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
    }
}

IW_API size_t iw_cpu_set_count(const iw_cpu_set *set);
IW_API bool iw_cpu_set_is_empty(const iw_cpu_set *set);
IW_API bool iw_cpu_set_meets(const iw_cpu_set *a, const iw_cpu_set *b);
IW_API bool iw_cpu_set_is_within(const iw_cpu_set *part, const iw_cpu_set *whole);
IW_API iw_cpu_set iw_cpu_set_and(const iw_cpu_set *a, const iw_cpu_set *b);
IW_API iw_cpu_set iw_cpu_set_or(const iw_cpu_set *a, const iw_cpu_set *b);
IW_API iw_cpu_set iw_cpu_set_without(const iw_cpu_set *from, const iw_cpu_set *taken);

#ifdef __cplusplus
}
#endif
#endif
