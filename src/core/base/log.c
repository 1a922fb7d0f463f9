/* Formats messages and hands them to the caller's sink.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/base/base.h"

enum { MESSAGE_SIZE = 2048 };

static void emit(const iw_log *log, iw_log_level level, const char *format, va_list args) IW_PRINTF(3, 0);

static void emit(const iw_log *log, iw_log_level level, const char *format, va_list args)
{
    char text[MESSAGE_SIZE];

    if (log == NULL || log->write == NULL) {
        return;
    }
    vsnprintf(text, sizeof text, format, args);
    log->write(log->arg, level, text);
}

void iwi_error(const iw_log *log, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit(log, IW_LOG_ERROR, format, args);
    va_end(args);
}

void iwi_warn(const iw_log *log, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    emit(log, IW_LOG_WARN, format, args);
    va_end(args);
}
