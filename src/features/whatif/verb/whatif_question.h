/* The job that a what-if is asked for, from the options that simulate has too.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_WHATIF_QUESTION_H
#define IW_CLI_WHATIF_QUESTION_H

#include <idlewave/idlewave.h>

#include "options/simulate_opts.h"

/* One program that has been made, with what it borrows from. */
struct question_program {
    iw_program *program;
    struct program_source source;
    struct question_program *next;
};

struct question {
    struct ui *ui;
    const struct program_opts *program;
    const struct opt_args *args;
    struct question_program *made; /* the last one first */
    bool is_first_used;            /* what question_init() made is handed out; it is kept until the end */
    iw_net *net;
    uint64_t ranks_per_node; /* 0: as recorded */
    iw_noise_set *noise;
    char *noise_names;            /* joined by " + " */
    const iw_traced *traced;      /* of the first made; NULL: the program is no trace */
    char what[PROGRAM_NAME_SIZE]; /* "allreduce:ring", "run (256 replicas of 128 traced ranks)" */
};

/* Makes network, noise set, and the program as the user asked for it. Returns UI_DONE or an exit code; `q` is
 * to be released in any case. */
int question_init(struct question *q, struct ui *ui, const struct program_opts *program,
                  const struct net_opts *net, const struct memory_opts *memory,
                  const struct noise_opts *noise, const struct opt_args *args);
void question_release(struct question *q);

/* Makes what the ranks run; valid as long as `q`. */
iw_program_maker question_maker(struct question *q);

#endif
