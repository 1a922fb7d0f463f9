/* Fits offset and drift of a clock to exchanged time stamps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/clock_fit.h"

#include <math.h>

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct iwi_clock_point iwi_clock_best(const struct iwi_clock_ping *pings, size_t count)
{
    const struct iwi_clock_ping *best = &pings[0];
    int64_t trip_ns;

    for (size_t i = 1; i < count; i++) {
        if (pings[i].t1_ns - pings[i].t0_ns < best->t1_ns - best->t0_ns) {
            best = &pings[i];
        }
    }
    trip_ns = best->t1_ns - best->t0_ns;
    return (struct iwi_clock_point){.at_ns = best->t0_ns + trip_ns / 2,
                                    .offset_ns = best->reference_ns - (best->t0_ns + trip_ns / 2),
                                    .half_ns = trip_ns / 2 + 1};
}

struct iwi_clock_model iwi_clock_identity(int64_t at_ns)
{
    return (struct iwi_clock_model){.at_ns = at_ns};
}

/* Sharper points weigh more: by the inverse square of their half width. Times and offsets are taken from
 * those of the first point, so that doubles keep nanoseconds. */
static void fit_line(const struct iwi_clock_point *points, size_t count, struct iwi_clock_model *model)
{
    double weights = 0, mean_t = 0, mean_y = 0, tt = 0, ty = 0;

    for (size_t i = 0; i < count; i++) {
        const double weight = 1.0 / ((double)points[i].half_ns * (double)points[i].half_ns);

        weights += weight;
        mean_t += weight * (double)(points[i].at_ns - points[0].at_ns);
        mean_y += weight * (double)(points[i].offset_ns - points[0].offset_ns);
    }
    mean_t /= weights;
    mean_y /= weights;
    for (size_t i = 0; i < count; i++) {
        const double weight = 1.0 / ((double)points[i].half_ns * (double)points[i].half_ns);
        const double t = (double)(points[i].at_ns - points[0].at_ns) - mean_t;

        tt += weight * t * t;
        ty += weight * t * ((double)(points[i].offset_ns - points[0].offset_ns) - mean_y);
    }
    model->drift = ty / tt;
    model->at_ns = points[0].at_ns + llround(mean_t);
    model->offset_ns = points[0].offset_ns + llround(mean_y);
}

/* The error of the fit is a straight line e(t), if the clocks drift evenly, and |e| <= |residual| + half
 * width at each point. So two points bound its slope, and any point with the slope bounds its value at at_ns;
 * the sharpest pair and point are taken. */
static void bound_error(const struct iwi_clock_point *points, size_t count, struct iwi_clock_model *model)
{
    double slope = INFINITY, value = INFINITY;

    for (size_t i = 0; i < count; i++) {
        const double at_i = fabs((double)(iwi_clock_to_reference(model, points[i].at_ns) - points[i].at_ns -
                                          points[i].offset_ns)) +
                            (double)points[i].half_ns + 1;

        for (size_t j = i + 1; j < count; j++) {
            const double at_j = fabs((double)(iwi_clock_to_reference(model, points[j].at_ns) -
                                              points[j].at_ns - points[j].offset_ns)) +
                                (double)points[j].half_ns + 1;
            const double span = (double)(points[j].at_ns - points[i].at_ns);

            slope = span > 0 ? fmin(slope, (at_i + at_j) / span) : slope;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const double at_i = fabs((double)(iwi_clock_to_reference(model, points[i].at_ns) - points[i].at_ns -
                                          points[i].offset_ns)) +
                            (double)points[i].half_ns + 1;

        value = fmin(value, at_i + slope * fabs((double)(points[i].at_ns - model->at_ns)));
    }
    model->drift_error = slope;
    model->error_ns = (int64_t)ceil(value);
}

void iwi_clock_fit(const struct iwi_clock_point *points, size_t count, const struct iwi_clock_doubt *doubt,
                   struct iwi_clock_model *model_p)
{
    struct iwi_clock_model model = {.drift = 0};

    if (points[count - 1].at_ns - points[0].at_ns < IWI_CLOCK_DRIFT_NS) {
        const struct iwi_clock_point *best = &points[0];

        for (size_t i = 1; i < count; i++) {
            best = points[i].half_ns < best->half_ns ? &points[i] : best;
        }
        model.at_ns = best->at_ns;
        model.offset_ns = best->offset_ns;
        model.error_ns = best->half_ns;
        model.drift_error = IWI_CLOCK_USUAL_DRIFT;
    } else {
        fit_line(points, count, &model);
        bound_error(points, count, &model);
    }
    model.error_ns += doubt->error_ns;
    model.drift_error += doubt->drift_error * (1 + fabs(model.drift)); /* per reference's, not local time */
    *model_p = model;
}

struct iwi_clock_model iwi_clock_join(const struct iwi_clock_model *begin, const struct iwi_clock_model *end)
{
    const int64_t span_ns = end->at_ns - begin->at_ns, half_ns = span_ns / 2;
    struct iwi_clock_model model = *begin;

    if (span_ns < IWI_CLOCK_DRIFT_NS) {
        return begin->error_ns <= end->error_ns ? *begin : *end;
    }
    model.drift = (double)(end->offset_ns - begin->offset_ns) / (double)span_ns;
    model.error_ns = larger(begin->error_ns, end->error_ns);
    model.drift_error = (double)(begin->error_ns + end->error_ns) / (double)span_ns;
    /* in the middle, where both ends hold it: between them the error stays below the larger of theirs */
    model.at_ns = begin->at_ns + half_ns;
    model.offset_ns = begin->offset_ns + llround(model.drift * (double)half_ns);
    return model;
}

int64_t iwi_clock_to_reference(const struct iwi_clock_model *model, int64_t local_ns)
{
    return local_ns + model->offset_ns + llround(model->drift * (double)(local_ns - model->at_ns));
}

int64_t iwi_clock_error(const struct iwi_clock_model *model, int64_t local_ns)
{
    return model->error_ns + llround(model->drift_error * fabs((double)(local_ns - model->at_ns)));
}
