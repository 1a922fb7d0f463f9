/* Options that say what the ranks run; shared by simulate and schedule.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_PROGRAM_OPTS_H
#define IW_CLI_PROGRAM_OPTS_H

#include <idlewave/program.h>

#include "options/opt.h"
#include "options/trace_opts.h"

/* What stands as FILE in verbs that take any program. */
#define PROGRAM_FILE_HELP \
    "a trace (its folder or a file of it), a GOAL schedule (text or binary) or a training program"

/* A job to try noise on, in commands that verbs suggest: ranks that work and meet. Without work every detour
 * would count whole, against the microseconds of a bare collective. */
#define SUGGESTED_JOB "--pattern allreduce --ranks 1Ki --compute 1ms --repeat 20"

struct program_opts {
    struct opt_origins origins;
    struct opt_list patterns;
    uint64_t ranks; /* 0: as many as were traced */
    uint64_t bytes, repeat, root, segment_bytes;
    iw_time compute_ps;
    uint64_t compute_bytes;
    iw_fs_per_byte reduce;
    struct opt_list delays;
    iw_time goal_unit_ps; /* LogGOPSim's is a nanosecond */
    /* halo and sweep patterns */
    const char *dims;
    int boundary, direction, exchange;
    uint64_t distance;
    iw_trace_opts trace;
    struct opt_list algorithms; /* of traces: OP[>SIZE]=ALGORITHM */
};

#define PROGRAM_OPTS_INIT                                                                                 \
    {                                                                                                     \
        .bytes = 1, .repeat = 1, .goal_unit_ps = IW_PS_PER_NS, .distance = 1, .trace = IW_TRACE_OPTS_INIT \
    }

/* Rows whose targets are in a struct program_opts. */
extern const struct opt program_rows[], halo_rows[];
enum { PROGRAM_ROW_COUNT = 11, HALO_ROW_COUNT = 5 };

/* What to run, once options and arguments have been checked against each other. */
struct program_source {
    const char *path; /* a GOAL file or a trace, or NULL */
    char *operations; /* or the patterns joined by '+' */
    iw_trace *trace;  /* the program's, or NULL */
    iw_traced traced; /* of it */
    char *note;       /* what was made of the trace, or NULL */
    iw_delay *delays;
    size_t delay_count;
};

/* Where it runs, which algorithms that use nodes have to know. */
struct program_place {
    const iw_net *net;       /* NULL: not known */
    uint64_t ranks_per_node; /* of patterns on a network without levels; 0: not known */
};

/* Computation takes `work` times as long: that of patterns and traces; GOAL schedules stay as they are. */
void program_scale_work(struct program_opts *opts, double work);

/* Makes the program. Returns UI_DONE or an exit code; `source` is to be released in any case, after the
 * program. */
int program_make(struct ui *ui, const struct program_opts *opts, const struct program_place *place,
                 const struct opt_args *args, struct program_source *source, iw_program **program_p);
void program_source_release(struct program_source *source);

/* "allreduce:ring", "app.goal", "run (256 replicas of 128 traced ranks)", in `buf` or as it is kept. */
enum { PROGRAM_NAME_SIZE = 512 };
const char *program_name(const struct program_source *source, char buf[PROGRAM_NAME_SIZE]);

#endif
