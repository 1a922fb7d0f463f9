/* The place of this process among those that run a study together.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/verb/study_share.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_of_many(const struct study_share *share)
{
    return share->launcher.size > 1 || share->launcher.rank > 0;
}

bool study_share_is_first(const struct study_share *share)
{
    return share->launcher.rank == 0;
}

/* ---- messages ---- */

static void tell_with_rank(void *arg, iw_log_level level, const char *text)
{
    const struct study_share *share = arg;
    char line[4096];

    if (share->is_running) {
        snprintf(line, sizeof line, "process %u: %s", (unsigned)share->launcher.rank, text);
    }
    share->own_log.write(share->own_log.arg, level, share->is_running ? line : text);
}

static void tell(void *arg, iw_log_level level, const char *text)
{
    struct study_share *share = arg;

    if (level == IW_LOG_ERROR) {
        share->node_log.log.write(share->node_log.log.arg, level, text);
    } else if (study_share_is_first(share)) {
        share->own_log.write(share->own_log.arg, level, text);
    }
}

static void take_log(struct study_share *share)
{
    node_log_init(&share->node_log, share->ui);
    share->node_log.is_one_of_many = true;
    share->node_log.rank = share->launcher.rank;
    share->node_log.below = (iw_log){tell_with_rank, share};
    share->ui->log = (iw_log){tell, share};
    share->ui->is_heard = &share->node_log.has_spoken;
}

/* ---- its place ---- */

/* Tasks of an array come and go as Slurm has room; each may be a launcher's processes itself. */
static void read_array(struct study_share *share)
{
    const struct shard_slurm slurm = shard_slurm_variables();
    char fault[SHARD_FAULT_SIZE];
    struct shard task;

    if (slurm.id == NULL) {
        return;
    }
    share->is_array = true;
    if (shard_of_slurm(&slurm, &task, fault)) {
        share->process += task.index * share->processes;
        share->processes *= task.count;
    } else { /* a list with holes: only where there are no locks does it matter how many there are */
        share->process += (uint32_t)strtoul(slurm.id, NULL, 10) * share->processes;
        share->processes = 1;
    }
    if (study_share_is_first(share)) {
        ui_error(
            share->ui,
            "note: task %s of a Slurm array shares the cells with all that run this study in this folder "
            "(--shard I/N would run a part by itself)",
            slurm.id);
    }
}

int study_share_begin(struct study_share *share, struct ui *ui, const char *shard_text)
{
    char fault[SHARD_FAULT_SIZE];

    *share = (struct study_share){.ui = ui, .own_log = ui->log, .shard = {0, 1}};
    iw_launcher_read(&share->launcher);
    share->process = share->launcher.rank;
    share->processes = share->launcher.size > 1 ? share->launcher.size : 1;
    if (is_of_many(share)) {
        take_log(share);
    }
    if (shard_text == NULL) {
        read_array(share);
    } else if (!shard_parse(shard_text, &share->shard, fault)) {
        return ui_usage(ui, "--shard: %s", fault);
    }
    return UI_DONE;
}

void study_share_end(struct study_share *share)
{
    share->ui->log = share->own_log;
    share->ui->is_heard = NULL;
}

void study_share_fill(const struct study_share *share, iw_study_opts *opts)
{
    opts->shard = share->shard.index;
    opts->shards = share->shard.count;
    opts->process = share->process;
    opts->processes = share->processes;
    opts->local_processes = share->launcher.local_size;
    opts->leaves = share->is_array;
}
