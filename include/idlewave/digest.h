/* idlewave/digest.h - the noise of one node in a few kilobytes: sums by source and CPU, lengths of detours,
 * settings.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_digest *digest;
 *     iw_digest_writer *writer;
 *     st = iw_digest_make(log, "n0713", recording, &digest);
 *     st = iw_digest_writer_open(log, "n0713.digest", &writer);
 *     st = iw_digest_writer_add(writer, digest);
 *     st = iw_digest_writer_close(writer, true);
 *     iw_digest_free(digest);
 *
 * A file holds any number of digests one after the other (docs/reference/formats/digest.md).
 */
#ifndef IW_DIGEST_H
#define IW_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The recording is cut into so many stretches of time; detours are counted by powers of two of their length.
 */
#define IW_DIGEST_STRETCHES 20
#define IW_DIGEST_LENGTHS 48

/** What is summed up of detours. */
typedef enum iw_digest_sum {
    IW_DIGEST_COUNT,
    IW_DIGEST_BUSY,   /* ns */
    IW_DIGEST_SQUARE, /* of their lengths, ns^2 */
    IW_DIGEST_LONGEST /* ns; the largest in place of a sum */
} iw_digest_sum;
#define IW_DIGEST_SUMS 4

/** What one source took of one CPU. Sums are logarithms, right to 0.07 %: iw_digest_value(). */
typedef struct iw_digest_cell {
    uint32_t cpu;                    /* number in the digest's list of CPUs */
    uint32_t stretches;              /* a bit for each in which it came */
    uint16_t all[IW_DIGEST_SUMS];    /* of the whole recording */
    uint16_t steady[IW_DIGEST_SUMS]; /* of the stretches without the four with the most of each */
} iw_digest_cell;

typedef struct iw_digest_source {
    iw_source source; /* not set for number 0, which is all sources together */
    /* on all CPUs, exactly: */
    uint64_t count;
    int64_t busy_ns, longest_ns;
    uint64_t by_length[IW_DIGEST_LENGTHS]; /* detours of 2^i up to 2^(i+1) ns */
    size_t cell_count, cell_capacity;
    iw_digest_cell *cells; /* ascending by CPU; those without detours are left out */
} iw_digest_source;

typedef struct iw_digest_cpu {
    uint32_t cpu; /* as the operating system numbers it */
    int64_t length_ns;
} iw_digest_cpu;

typedef struct iw_digest {
    char *node;
    int64_t start_ns; /* since 1970, UTC; 0: not known */
    iw_probe probe;
    iw_attribution_level attribution;
    double threshold_ns; /* of the first CPU: shorter gaps were not kept */
    size_t attribute_count;
    iw_attribute *attributes; /* settings of the node: kernel, governor, ... */
    size_t cpu_count, cpu_capacity;
    iw_digest_cpu *cpus;                  /* ascending */
    size_t source_count, source_capacity; /* at least 1: number 0 is all sources together */
    iw_digest_source *sources;
} iw_digest;

/** Sums up a recording, of which nothing is kept; to be freed by iw_digest_free(). IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_digest_make(const iw_log *log, const char *node,
                                             const iw_recording *recording, iw_digest **digest_p);
IW_API void iw_digest_free(iw_digest *digest);

/** A digest of a file of another tool, which iw_is_runq_file() tells; its node has the file's name without
 * ".out". IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_RANGE, IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_digest_import(const iw_log *log, const char *path, iw_digest **digest_p);

/** How long detours are; all 0: there are none. */
typedef struct iw_detour_lengths {
    double median_ns, p99_ns; /* of their number; from powers of two, so right to a factor of two */
    double longest_ns;
} iw_detour_lengths;

/** From numbers of detours by length, as a digest has them. */
IW_API iw_detour_lengths iw_digest_lengths(const uint64_t by_length[IW_DIGEST_LENGTHS], double longest_ns);

/** The value of a logarithm in a cell; 0: none. */
IW_API double iw_digest_value(uint16_t code);

/** NULL if there is no such attribute. */
IW_API const char *iw_digest_get(const iw_digest *digest, const char *name);

/* ======== Files ======== */

/** A file that is written digest by digest. */
typedef struct iw_digest_writer iw_digest_writer;

/** Ended by iw_digest_writer_close(). IW_ERR_IO, IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_digest_writer_open(const iw_log *log, const char *path,
                                                    iw_digest_writer **writer_p);
IW_API IW_NODISCARD iw_status iw_digest_writer_add(iw_digest_writer *writer, const iw_digest *digest);

/** Brings it to its place, or `is_whole` false gives it up; returns the first failure there was. An older
 * file of that name stays then. NULL is fine. */
IW_API IW_NODISCARD iw_status iw_digest_writer_close(iw_digest_writer *writer, bool is_whole);

/** A file that is read digest by digest, as often as wanted. */
typedef struct iw_digest_file iw_digest_file;

/** To be closed by iw_digest_file_close(). IW_ERR_IO, IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_digest_file_open(const iw_log *log, const char *path,
                                                  iw_digest_file **file_p);

/** The next one, to be freed, or NULL behind the last. IW_ERR_FORMAT: damaged, with the byte at which. */
IW_API IW_NODISCARD iw_status iw_digest_file_next(const iw_log *log, iw_digest_file *file,
                                                  iw_digest **digest_p);

/** From now on only what sources took of the CPUs with numbers from `first` on, but before `end`, is wanted
 * of digests that were read before: the cells of others and attributes are left out, and checksums are not
 * looked at again. From 0 up to IW_CPU_SET_MOST: all, and checked. */
IW_API void iw_digest_file_want(iw_digest_file *file, uint32_t first, uint32_t end);

/** The byte at which the next one begins, or the size of the file. */
IW_API size_t iw_digest_file_at(const iw_digest_file *file);

/** The next one begins at that byte. */
IW_API void iw_digest_file_seek(iw_digest_file *file, size_t at);

/** The next one is the first that seems to begin at that byte or behind it; none may do so. */
IW_API void iw_digest_file_find(iw_digest_file *file, size_t at);
IW_API void iw_digest_file_close(iw_digest_file *file);

#ifdef __cplusplus
}
#endif
#endif
