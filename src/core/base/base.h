/* What every internal file may use: errors logged once, checked allocation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BASE_H
#define IWI_BASE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

/* Logs an error and gives `status`: return iwi_fail(log, IW_ERR_FORMAT, "'%s:%u': ...", path, line, ...);
 * A macro, so that compilers and static analysis see that the result is not IW_OK. */
#define iwi_fail(log, status, ...) (iwi_error(log, __VA_ARGS__), (status))
void iwi_error(const iw_log *log, const char *format, ...) IW_PRINTF(2, 3);
void iwi_warn(const iw_log *log, const char *format, ...) IW_PRINTF(2, 3);

/* Zeroed array, or NULL with the failure logged. count may be 0 (a valid pointer is returned). */
void *iwi_new_array(const iw_log *log, size_t count, size_t element_size);

/* Makes room for at least `need` elements in *array_p; doubles. On failure nothing changes. */
IW_NODISCARD iw_status iwi_grow(const iw_log *log, void **array_p, size_t *capacity_p, size_t need,
                                size_t element_size);

#if defined(__x86_64__) && defined(__GLIBC__) && __GNUC__ >= 12 && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Before a function: compiled for several generations of vectors (64-bit maxima are one instruction from
 * AVX-512 on), picked at run time, which musl cannot and older compilers call otherwise. */
#define IWI_VECTOR_VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define IWI_VECTOR_VERSIONS
#endif

/* Before a function that measures: sanitizers leave it as it is. */
#define IWI_UNTOUCHED __attribute__((no_sanitize("address", "undefined", "thread")))

static inline int64_t iwi_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t iwi_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#include "core/base/banned.h"

#endif
