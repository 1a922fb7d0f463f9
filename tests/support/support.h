/* What unit tests share: cmocka's includes in their order, and a log that keeps the last messages.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_SUPPORT_H
#define IWT_SUPPORT_H

/* cmocka.h wants these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <idlewave/log.h>

/* Random cases are divided by IWT_FEWER: sanitizers are several times as slow (IWT_IS_SLOW), and look at
 * memory and threads, for which a part of the cases will do; the release preset runs a quarter every day, and
 * all of them in `.ci/run --full` (IW_ALL_CASES). */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { IWT_FEWER = 8, IWT_IS_SLOW = 1 };
#elif defined(IWT_ALL_CASES)
enum { IWT_FEWER = 1, IWT_IS_SLOW = 0 };
#else
enum { IWT_FEWER = 4, IWT_IS_SLOW = 0 };
#endif

struct iwt_log {
    iw_log log;      /* pass &l.log */
    char text[8192]; /* all messages, one a line, prefixed "error: ", "warning: " or "" */
    unsigned errors, warnings;
};

void iwt_log_init(struct iwt_log *l);

#define assert_ok(call) assert_string_equal(iw_status_name(call), "OK")
#define assert_status(call, expected) assert_string_equal(iw_status_name(call), iw_status_name(expected))

/* Fails with the whole log when `part` is not in it. */
void iwt_assert_logged(const struct iwt_log *l, const char *part);

#endif
