/* idlewave/time.h - simulated time and cost per byte, and how people write them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_TIME_H
#define IW_TIME_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Simulated time in picoseconds; 106 days fit. */
typedef int64_t iw_time;

/** Cost per byte in femtoseconds, so that fractions of a picosecond per byte are exact. */
typedef int64_t iw_fs_per_byte;

#define IW_PS_PER_NS INT64_C(1000)
#define IW_PS_PER_US INT64_C(1000000)
#define IW_PS_PER_MS INT64_C(1000000000)
#define IW_PS_PER_S INT64_C(1000000000000)

/* Largest duration or time of one input value: 10 days. Sums of many stay far from overflow. */
#define IW_TIME_INPUT_MAX (INT64_C(864000) * IW_PS_PER_S)

/** "220us", "13.5ms", "1.5s", "0.77 us", "10ns", "580ps", "2min"; a bare number is refused except 0.
 *  Exact for decimal fractions down to a picosecond (rounded to nearest below that).
 *  IW_ERR_FORMAT or IW_ERR_RANGE, logged with the text. */
IW_API IW_NODISCARD iw_status iw_parse_time(const iw_log *log, const char *text, iw_time *ps_p);

/** "64KiB", "1MiB", "8", "8B", "100kB": bytes, or a plain count; Ki Mi Gi are powers of 1024, k M G of 1000.
 *  "2^20" is accepted too. */
IW_API IW_NODISCARD iw_status iw_parse_count(const iw_log *log, const char *text, uint64_t *value_p);

/** One count, or all of a range: "2^1..2^20" (powers of 2), "16..256 step x2", "3..9 step 2"; each within
 *  [min, max], at most 10,000. *values_p is to be freed by free(). */
IW_API IW_NODISCARD iw_status iw_parse_counts(const iw_log *log, const char *text, uint64_t min, uint64_t max,
                                              uint64_t **values_p, size_t *count_p);

/** "10Hz", "0.375Hz", "1kHz" to the period in picoseconds, rounded to nearest. */
IW_API IW_NODISCARD iw_status iw_parse_rate(const iw_log *log, const char *text, iw_time *period_ps_p);

/** "0.5%" or "0.005": a share as a plain fraction in [0, 1e6]. */
IW_API IW_NODISCARD iw_status iw_parse_share(const iw_log *log, const char *text, double *share_p);

/** "0.00125us", "1.25ns", "580ps" (per byte) to femtoseconds per byte. */
IW_API IW_NODISCARD iw_status iw_parse_per_byte(const iw_log *log, const char *text, iw_fs_per_byte *fs_p);

/** "25GB/s", "200Gbit/s" to femtoseconds per byte, rounded to nearest. */
IW_API IW_NODISCARD iw_status iw_parse_bandwidth(const iw_log *log, const char *text, iw_fs_per_byte *fs_p);
/** "40GB/s", "12.5GiB/s": what memory moves, in bytes per second, rounded to nearest, at most 1000 TB/s. */
IW_API IW_NODISCARD iw_status iw_parse_throughput(const iw_log *log, const char *text,
                                                  uint64_t *bytes_per_s_p);

/** Writes a time for people, four significant digits: "1.234 ms"; returns `buf`. 24 bytes are enough. */
IW_API char *iw_format_time(iw_time ps, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
