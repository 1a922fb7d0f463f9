/* idlewave/idlewave.h - the whole library. A good order to read: status, log, time, net, noise, program, sim,
 * recording; then whichever of the experimental headers is needed.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Options begin with their size, by which the library knows which fields the caller was built with. Start
 * with IW_..._INIT, which sets it and the defaults, then change fields; NULL stands for all defaults.
 */
#ifndef IW_IDLEWAVE_H
#define IW_IDLEWAVE_H

#include <idlewave/estimate.h>
#include <idlewave/log.h>
#include <idlewave/net.h>
#include <idlewave/noise.h>
#include <idlewave/output.h>
#include <idlewave/program.h>
#include <idlewave/recording.h>
#include <idlewave/sim.h>
#include <idlewave/status.h>
#include <idlewave/time.h>

/* experimental */
#include <idlewave/analysis.h>
#include <idlewave/blame.h>
#include <idlewave/caveat.h>
#include <idlewave/check.h>
#include <idlewave/coincidence.h>
#include <idlewave/collection.h>
#include <idlewave/convert.h>
#include <idlewave/digest.h>
#include <idlewave/doc.h>
#include <idlewave/explanation.h>
#include <idlewave/files.h>
#include <idlewave/fit.h>
#include <idlewave/fleet.h>
#include <idlewave/history.h>
#include <idlewave/measure.h>
#include <idlewave/model.h>
#include <idlewave/noise_set.h>
#include <idlewave/remedy.h>
#include <idlewave/result.h>
#include <idlewave/straggler.h>
#include <idlewave/study.h>
#include <idlewave/timeline.h>
#include <idlewave/training.h>
#include <idlewave/verify.h>
#include <idlewave/waits.h>
#include <idlewave/watch.h>
#include <idlewave/wave.h>
#include <idlewave/whatif.h>

#endif
