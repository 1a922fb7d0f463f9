/* What the fuzz targets share: the entry point, and a log that counts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_FUZZ_H
#define IWT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <idlewave/log.h>

/* libFuzzer's entry point, called once for each input; always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void iwt_fuzz_count_error(void *arg, iw_log_level level, const char *text)
{
    unsigned *errors = arg;

    (void)text;
    *errors += level == IW_LOG_ERROR;
}

static inline void iwt_fuzz_require_at(int is_true, const char *condition, const char *file, int line)
{
    if (!is_true) {
        (void)fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
        abort();
    }
}

/* Whatever must hold for every input. */
#define iwt_fuzz_require(condition) iwt_fuzz_require_at((condition), #condition, __FILE__, __LINE__)

/* An error is logged exactly once, and success without any. */
static inline void iwt_fuzz_check_log(iw_status status, unsigned errors)
{
    iwt_fuzz_require(errors == (status == IW_OK ? 0 : 1));
}

#endif
