/* idlewave/status.h - what every fallible call returns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * 0 is success, negative values are errors. The function that first knows of an error logs it once
 * (idlewave/log.h), with its exact cause and place; callers only pass the status on.
 */
#ifndef IW_STATUS_H
#define IW_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IW_API __attribute__((visibility("default")))
#define IW_NODISCARD __attribute__((warn_unused_result))
#define IW_PRINTF(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#else
#define IW_API
#define IW_NODISCARD
#define IW_PRINTF(format_index, first_arg)
#endif

/* name, value, text */
#define IW_STATUS_MAP(X)                                    \
    X(OK, 0, "ok")                                          \
    X(ERR_NOMEM, -1, "out of memory")                       \
    X(ERR_IO, -2, "input/output error")                     \
    X(ERR_FORMAT, -3, "malformed input")                    \
    X(ERR_TRUNCATED, -4, "input ends early")                \
    X(ERR_RANGE, -5, "value out of range")                  \
    X(ERR_USAGE, -6, "wrong use")                           \
    X(ERR_DEADLOCK, -7, "the program cannot make progress") \
    X(ERR_UNSUPPORTED, -8, "not supported by this engine")  \
    X(ERR_CANCELLED, -9, "stopped by the caller")

typedef enum iw_status {
#define IW_STATUS_ENUM(name, value, text) IW_##name = (value),
    IW_STATUS_MAP(IW_STATUS_ENUM)
#undef IW_STATUS_ENUM
} iw_status;

/** "ERR_IO" for IW_ERR_IO; "?" for a value that is none. */
IW_API const char *iw_status_name(iw_status status);

/** One line for people: "input/output error". */
IW_API const char *iw_status_text(iw_status status);

/** The version of the library, "0.2.0". */
IW_API const char *iw_version(void);

/* Pass an error on. Only where nothing is held that needs releasing. */
#define IW_TRY(call)                             \
    do {                                         \
        const iw_status iw_try_status_ = (call); \
        if (iw_try_status_ != IW_OK) {           \
            return iw_try_status_;               \
        }                                        \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
