/* The distributions of detour lengths, by inversion: one uniform number in, one duration out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/duration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/source.h"
#include "core/noise/spec.h"
#include "core/numeric/numeric.h"

struct iwi_duration_ops {
    const char *name, *usage, *example;
    const char *shape_name; /* NULL: the only field is the scale */
    bool is_scale_last;     /* else the shape is */
    double (*mean_ps)(const struct iwi_duration *duration);
    double (*quantile_ps)(const struct iwi_duration *duration, double u); /* NULL: always scale_ps */
    double (*drawn_mean_ps)(const struct iwi_duration *duration);         /* NULL: mean_ps */
    /* Of durations met at an instant, whose density is x f(x) / mean; NULL: always scale_ps. */
    double (*met_quantile_ps)(const struct iwi_duration *duration, double u);
    bool is_memoryless; /* age and rest of one that is met are independent draws of quantile_ps instead */
};

static double scale_as_mean(const struct iwi_duration *duration)
{
    return (double)duration->scale_ps;
}

static double exp_quantile(const struct iwi_duration *duration, double u)
{
    return -log(u) * (double)duration->scale_ps;
}

static double pareto_mean(const struct iwi_duration *duration)
{
    const double a = duration->shape;

    return a > 1 ? (double)duration->scale_ps * a / (a - 1) : (double)INFINITY;
}

/* E min(D, T) = MIN (1 + ((T / MIN)^(1 - A) - 1) / (1 - A)), T being the longest that is drawn; for A = 1 its
 * limit. */
static double pareto_drawn_mean(const struct iwi_duration *duration)
{
    const double least = (double)duration->scale_ps, b = 1 - duration->shape;
    const double decades = log((double)IW_TIME_INPUT_MAX / least);

    return least * (1 + (fabs(b) > 1e-9 ? expm1(b * decades) / b : decades));
}

/* P(D > x) = (MIN / x)^A */
static double pareto_quantile(const struct iwi_duration *duration, double u)
{
    return (double)duration->scale_ps * pow(u, -1 / duration->shape);
}

/* With T the longest that is drawn, b = 1 - A and r = (T / MIN)^b, the integral of y f(y) up to x < T is
 * A MIN ((x / MIN)^b - 1) / b, and the mean MIN (b + r - 1) / b. So P(met > x) = u at (x / MIN)^b =
 * (r + u (A - r)) / A; above T lies what has the length T. Only for A > 1. */
static double pareto_met_quantile(const struct iwi_duration *duration, double u)
{
    const double least = (double)duration->scale_ps, a = duration->shape, b = 1 - a;
    const double r = exp(b * log((double)IW_TIME_INPUT_MAX / least));

    return least * pow((r + u * (a - r)) / a, 1 / b);
}

static double lognormal_mean(const struct iwi_duration *duration)
{
    return (double)duration->scale_ps * exp(duration->shape * duration->shape / 2);
}

static double lognormal_quantile(const struct iwi_duration *duration, double u)
{
    return (double)duration->scale_ps * exp(duration->shape * iwi_normal_quantile(u));
}

/* x f(x) is again a lognormal density, its logarithm later by SIGMA^2. */
static double lognormal_met_quantile(const struct iwi_duration *duration, double u)
{
    return lognormal_quantile(duration, u) * exp(duration->shape * duration->shape);
}

static const struct iwi_duration_ops kinds[] = {
    {.name = "fixed", .usage = "fixed:T", .example = "fixed:5us", .mean_ps = scale_as_mean},
    {.name = "exp",
     .usage = "exp:MEAN",
     .example = "exp:5us",
     .mean_ps = scale_as_mean,
     .quantile_ps = exp_quantile,
     .is_memoryless = true},
    {.name = "pareto",
     .usage = "pareto:A,MIN",
     .example = "pareto:1.5,1us",
     .shape_name = "A",
     .is_scale_last = true,
     .mean_ps = pareto_mean,
     .quantile_ps = pareto_quantile,
     .drawn_mean_ps = pareto_drawn_mean,
     .met_quantile_ps = pareto_met_quantile},
    {.name = "lognormal",
     .usage = "lognormal:MEDIAN,SIGMA",
     .example = "lognormal:5us,0.8",
     .shape_name = "SIGMA",
     .mean_ps = lognormal_mean,
     .quantile_ps = lognormal_quantile,
     .met_quantile_ps = lognormal_met_quantile},
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

const char *iw_noise_duration_usage(size_t index)
{
    return index < KIND_COUNT ? kinds[index].usage : NULL;
}

static iw_status parse_shape(const iw_log *log, const char *spec, const char *field,
                             struct iwi_duration *duration)
{
    const struct iwi_duration_ops *ops = duration->ops;

    if (strchr(field, '%') != NULL || iw_parse_share(NULL, field, &duration->shape) != IW_OK ||
        (ops->is_scale_last && duration->shape <= 0)) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': %s is '%s', not a number %s; write for example '%s'", spec,
                        ops->shape_name, field, ops->is_scale_last ? "above 0" : "of at least 0",
                        ops->example);
    }
    return IW_OK;
}

static iw_status parse_fields(const iw_log *log, const char *spec, const char *arguments,
                              struct iwi_duration *duration)
{
    const struct iwi_duration_ops *ops = duration->ops;
    const size_t count = ops->shape_name != NULL ? 2 : 1;
    const size_t scale_at = ops->is_scale_last ? 1 : 0;
    char fields[2][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, ops->usage, ops->example, count, fields));
    IW_TRY(iwi_spec_time(log, spec, fields[scale_at], &duration->scale_ps));
    if (count == 2) {
        IW_TRY(parse_shape(log, spec, fields[1 - scale_at], duration));
    }
    return IW_OK;
}

iw_status iwi_duration_parse(const iw_log *log, const char *spec, const char *text,
                             struct iwi_duration *duration_p)
{
    char usages[256];

    for (size_t i = 0; i < KIND_COUNT; i++) {
        const char *arguments = iwi_spec_arguments(text, kinds[i].name);

        if (arguments != NULL) {
            *duration_p = (struct iwi_duration){.ops = &kinds[i]};
            return parse_fields(log, spec, arguments, duration_p);
        }
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s': '%s' is not a distribution of durations: write one of %s",
                    spec, text, iwi_list_usages(iw_noise_duration_usage, usages, sizeof usages));
}

double iwi_duration_mean_ps(const struct iwi_duration *duration)
{
    return duration->ops->mean_ps(duration);
}

double iwi_duration_drawn_mean_ps(const struct iwi_duration *duration)
{
    const struct iwi_duration_ops *ops = duration->ops;

    return ops->drawn_mean_ps != NULL ? ops->drawn_mean_ps(duration) : ops->mean_ps(duration);
}

iw_time iwi_duration_draw(const struct iwi_duration *duration, struct iwi_draw_id draw, uint64_t index)
{
    if (duration->ops->quantile_ps == NULL) {
        return duration->scale_ps;
    }
    draw.purpose = IWI_DRAW_DURATION;
    return iwi_round_ps(duration->ops->quantile_ps(duration, iwi_draw_unit(draw, index)));
}

struct iwi_under_way iwi_duration_under_way(const struct iwi_duration *duration, double u, double v)
{
    const struct iwi_duration_ops *ops = duration->ops;
    iw_time length_ps, age_ps;

    if (ops->is_memoryless) {
        return (struct iwi_under_way){iwi_round_ps(ops->quantile_ps(duration, u)),
                                      iwi_round_ps(ops->quantile_ps(duration, v))};
    }
    length_ps =
        ops->met_quantile_ps != NULL ? iwi_round_ps(ops->met_quantile_ps(duration, u)) : duration->scale_ps;
    age_ps = llround(v * (double)length_ps);
    return (struct iwi_under_way){age_ps, length_ps - age_ps};
}
