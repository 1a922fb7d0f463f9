/* The job as the programs in the kernel know it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JOB_PROGRAMS_H
#define IWI_JOB_PROGRAMS_H

#include "features/watch/job.h"
#include "features/watch/kernel_side.h"

/* Before they are loaded. IW_ERR_RANGE: the kernel does not know the hierarchy of its control group. */
IW_NODISCARD iw_status iwi_job_configure(const iw_log *log, const struct iwi_watched_job *job,
                                         struct iwi_bpf_config *config);

/* The programs run: its processes and their descendants are told to them. */
IW_NODISCARD iw_status iwi_job_follow(const iw_log *log, const struct iwi_watched_job *job,
                                      const struct iwi_kernel_side *side);

/* `may_be_empty`: a control group goes on while nobody is in it. */
bool iwi_job_has_ended(const struct iwi_watched_job *job, const struct iwi_kernel_side *side,
                       bool may_be_empty);

#endif
