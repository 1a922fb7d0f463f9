/* idlewave/program.h - what the ranks run: a generated pattern, or a stored schedule.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_pattern p = IW_PATTERN_INIT;
 *     p.ranks = 1 << 20;  p.bytes = 8;
 *     st = iw_program_from_pattern(log, "allreduce:dissemination", &p, &program);
 *     ...  iw_program_free(program);
 *
 * A program is immutable and may be shared by threads.
 */
#ifndef IW_PROGRAM_H
#define IW_PROGRAM_H

#include <stdbool.h>

#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iw_program iw_program;

#define IW_MAX_DIMS 3

/** One delay: `time_ps` of extra work on `rank` in compute phase `step` (the first is 1). */
typedef struct iw_delay {
    uint32_t rank;
    uint64_t step;
    iw_time time_ps;
} iw_delay;

/** Everything about a pattern but its operations. */
typedef struct iw_pattern {
    uint32_t ranks;
    uint64_t bytes;         /* size of each rank's data, as MPI's count x type */
    uint64_t segment_bytes; /* pipelined algorithms cut messages into these; 0: not cut */
    uint32_t root;
    uint64_t repeat;       /* the operations are run so often */
    iw_time compute_ps;    /* work on every rank before each repetition */
    iw_fs_per_byte reduce; /* CPU time of a reduction per byte */
    /* halo and sweep patterns only */
    uint32_t dims[IW_MAX_DIMS]; /* 0: chosen as square as possible */
    uint32_t distance;          /* halo1d: partners up to this far */
    bool is_periodic;
    bool is_one_way;        /* halo: send to the higher, receive from the lower neighbour only */
    bool is_split;          /* halo: one wait for each direction instead of one for all */
    const iw_delay *delays; /* borrowed until the constructor returns */
    size_t delay_count;
} iw_pattern;

#define IW_PATTERN_INIT                                                                                   \
    {                                                                                                     \
        .ranks = 2, .bytes = 1, .segment_bytes = 0, .root = 0, .repeat = 1, .compute_ps = 0, .reduce = 0, \
        .dims = {0, 0, 0}, .distance = 1, .is_periodic = true, .is_one_way = false, .is_split = false,    \
        .delays = NULL, .delay_count = 0                                                                  \
    }

/** `operations`: one or more OP[:ALGORITHM] joined by "+", run in this order in each repetition:
 *  "barrier", "halo2d+allreduce:ring". IW_ERR_USAGE (unknown name: the known ones are logged), IW_ERR_RANGE.
 */
IW_API IW_NODISCARD iw_status iw_program_from_pattern(const iw_log *log, const char *operations,
                                                      const iw_pattern *pattern, iw_program **program_p);

/** Reads a GOAL file, text or binary (told apart by content; docs/reference/formats/goal.md). Calc lengths
 * are in units of `unit_ps` (GOAL has no unit; LogGOPSim's is the nanosecond). Errors are logged as
 * 'file:line' or with the byte offset: IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_TRUNCATED, IW_ERR_RANGE,
 * IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_program_from_goal(const iw_log *log, const char *path, iw_time unit_ps,
                                                   iw_program **program_p);

/** Writes a program as GOAL to a file, or to standard output for "-"; a pattern is unrolled first. Calc
 * lengths are written in units of `unit_ps`, rounded to nearest; a warning tells when a length was not a
 * whole number of units. */
IW_API IW_NODISCARD iw_status iw_program_write_goal(const iw_log *log, const iw_program *program,
                                                    const char *path, bool is_binary, iw_time unit_ps);

IW_API void iw_program_free(iw_program *program);

IW_API uint32_t iw_program_ranks(const iw_program *program);

/** Messages of one run. */
IW_API uint64_t iw_program_messages(const iw_program *program);

/** What the first halo of a pattern was made of, in *halo_p: dims as chosen ({ranks, 0, 0} of halo1d, the
 * last one fastest); its delays are left out. *is_alone_p: nothing else runs. False: there is no halo. */
IW_API bool iw_program_halo(const iw_program *program, iw_pattern *halo_p, bool *is_alone_p);

/** Delays for a stored schedule (patterns carry theirs): step n is the rank's n-th calc. Copies the array. */
IW_API IW_NODISCARD iw_status iw_program_set_delays(const iw_log *log, iw_program *program,
                                                    const iw_delay *delays, size_t count);

/** The registry, for help texts: fills name and summary of algorithm `index`; false past the last.
 *  `op` is "allreduce", `algorithm` "ring"; the first algorithm of an op is its default. */
IW_API bool iw_algorithm_info(size_t index, const char **op_p, const char **algorithm_p,
                              const char **summary_p);

#ifdef __cplusplus
}
#endif
#endif
