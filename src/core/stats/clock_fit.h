/* From exchanged time stamps to the offset and drift of a clock, with a bound of the error. Plain arithmetic:
 * also compiled into the parts that are built for each MPI.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CLOCK_FIT_H
#define IWI_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a local clock maps to the reference clock:
 *     reference(t) = t + offset_ns + drift * (t - at_ns)
 * and how wrong that may be at local time t, if clocks drift evenly:
 *     error(t) = error_ns + drift_error * |t - at_ns| */
struct iwi_clock_model {
    int64_t at_ns; /* local time */
    int64_t offset_ns;
    double drift; /* of the reference against the local clock; 1e-6: a microsecond per second */
    int64_t error_ns;
    double drift_error;
};

/* One exchange: asked at t0 and answered at t1 by the local clock, with the reference's time in between. */
struct iwi_clock_ping {
    int64_t t0_ns, t1_ns; /* local */
    int64_t reference_ns;
};

/* What a burst of exchanges says: at local time at_ns the offset is offset_ns +- half_ns, for certain. */
struct iwi_clock_point {
    int64_t at_ns, offset_ns, half_ns;
};

/* How wrong the reference's own answers may be: by so much, and by so much more or less a nanosecond later.
 * All zero where the reference clock itself answers. */
struct iwi_clock_doubt {
    int64_t error_ns;
    double drift_error;
};

/* The offset lies in [reference - t1, reference - t0] of each exchange; the shortest one says most. count >
 * 0. */
struct iwi_clock_point iwi_clock_best(const struct iwi_clock_ping *pings, size_t count);

/* Fits a line through points in the order of time; count > 0. The doubt goes into the model's errors. One
 * point, or points over less than IWI_CLOCK_DRIFT_NS: no drift is fitted, and
 * drift_error says what clocks of real machines do. */
void iwi_clock_fit(const struct iwi_clock_point *points, size_t count, const struct iwi_clock_doubt *doubt,
                   struct iwi_clock_model *model_p);

#define IWI_CLOCK_DRIFT_NS INT64_C(20000000)
#define IWI_CLOCK_USUAL_DRIFT 1e-4 /* 100 ppm: twice what crystals are allowed */

/* The reference itself, or a clock that is shared with it. */
struct iwi_clock_model iwi_clock_identity(int64_t at_ns);

/* One model from two taken at the begin and the end of a run: the line through both offsets. */
struct iwi_clock_model iwi_clock_join(const struct iwi_clock_model *begin, const struct iwi_clock_model *end);

/* Local time as the reference clock has it. */
int64_t iwi_clock_to_reference(const struct iwi_clock_model *model, int64_t local_ns);

/* The bound of the error at that local time. */
int64_t iwi_clock_error(const struct iwi_clock_model *model, int64_t local_ns);

#endif
