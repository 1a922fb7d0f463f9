/* idlewave/idlewave.h - everything. Reading order: status, log, time, net, noise, program, sim, stats,
 * result.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_IDLEWAVE_H
#define IW_IDLEWAVE_H

#include <idlewave/bench.h>
#include <idlewave/certainty.h>
#include <idlewave/cpu_set.h>
#include <idlewave/fleet.h>
#include <idlewave/forecast.h>
#include <idlewave/inject.h>
#include <idlewave/link.h>
#include <idlewave/log.h>
#include <idlewave/measure.h>
#include <idlewave/model.h>
#include <idlewave/model_recording.h>
#include <idlewave/model_report.h>
#include <idlewave/mpi.h>
#include <idlewave/net.h>
#include <idlewave/net_measure.h>
#include <idlewave/noise.h>
#include <idlewave/noise_compare.h>
#include <idlewave/noise_fit.h>
#include <idlewave/noise_report.h>
#include <idlewave/noise_spectrum.h>
#include <idlewave/output.h>
#include <idlewave/program.h>
#include <idlewave/recording.h>
#include <idlewave/recording_convert.h>
#include <idlewave/recording_edit.h>
#include <idlewave/remedy.h>
#include <idlewave/result.h>
#include <idlewave/sim.h>
#include <idlewave/stats.h>
#include <idlewave/status.h>
#include <idlewave/step.h>
#include <idlewave/study.h>
#include <idlewave/time.h>
#include <idlewave/timeline.h>
#include <idlewave/verify.h>
#include <idlewave/wave.h>
#include <idlewave/whatif.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library, "0.1.0". */
IW_API const char *iw_version(void);

#ifdef __cplusplus
}
#endif
#endif
