/* The place of this process among those that run a study together: started by a launcher, as tasks of a Slurm
 * job array, or just so. SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_STUDY_SHARE_H
#define IW_CLI_STUDY_SHARE_H

#include <idlewave/idlewave.h>
#include <idlewave/internal/mpi.h>

#include "features/study/verb/shard.h"
#include "process/node_log.h"

/* Stays where it was begun: the log points to it. */
struct study_share {
    struct ui *ui;
    struct node_log node_log;
    iw_log own_log; /* of ui, as it was */
    iw_launcher launcher;
    bool is_running; /* from now on errors are those of one process */
    bool is_array;   /* a task of a job array, which shares the folder with the other tasks */
    struct shard shard;
    uint32_t process, processes;
};

/* From here on messages that all processes of the launcher meet are told once for each node, notes and
 * warnings by the first one, and errors of one with its rank. Reads --shard (or NULL) and the variables of
 * launchers and Slurm. */
int study_share_begin(struct study_share *share, struct ui *ui, const char *shard_text);
void study_share_end(struct study_share *share);

/* Who shows progress and results: the first process of the launcher. */
bool study_share_is_first(const struct study_share *share);

/* Fills the members that say which cells this process runs, and with whom. */
void study_share_fill(const struct study_share *share, iw_study_opts *opts);

#endif
