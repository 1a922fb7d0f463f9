/* The distributions of detour lengths, by inversion: one uniform number in, one duration out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "noise/duration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/base.h"
#include "noise/source.h"
#include "noise/spec.h"

struct iwi_duration_ops {
    const char *name, *usage, *example;
    const char *shape_name; /* NULL: the only field is the scale */
    bool is_scale_last;     /* else the shape is */
    double (*mean_ps)(const struct iwi_duration *duration);
    double (*quantile_ps)(const struct iwi_duration *duration, double u); /* NULL: always scale_ps */
    double (*drawn_mean_ps)(const struct iwi_duration *duration);         /* NULL: mean_ps */
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

static double lognormal_mean(const struct iwi_duration *duration)
{
    return (double)duration->scale_ps * exp(duration->shape * duration->shape / 2);
}

static double lognormal_quantile(const struct iwi_duration *duration, double u)
{
    return (double)duration->scale_ps * exp(duration->shape * gsl_cdf_ugaussian_Pinv(u));
}

static const struct iwi_duration_ops kinds[] = {
    {"fixed", "fixed:T", "fixed:5us", NULL, false, scale_as_mean, NULL, NULL},
    {"exp", "exp:MEAN", "exp:5us", NULL, false, scale_as_mean, exp_quantile, NULL},
    {"pareto", "pareto:A,MIN", "pareto:1.5,1us", "A", true, pareto_mean, pareto_quantile, pareto_drawn_mean},
    {"lognormal", "lognormal:MEDIAN,SIGMA", "lognormal:5us,0.8", "SIGMA", false, lognormal_mean,
     lognormal_quantile, NULL},
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static iw_status parse_shape(const iw_log *log, const char *spec, const char *field,
                             struct iwi_duration *duration)
{
    const struct iwi_duration_ops *ops = duration->ops;

    if (strchr(field, '%') != NULL || iw_parse_share(NULL, field, &duration->shape) != IW_OK ||
        (ops->is_scale_last && duration->shape <= 0)) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': %s is '%s', not a number %s: write for example '%s'", spec,
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
    char usages[128] = "";

    for (size_t i = 0; i < KIND_COUNT; i++) {
        const char *arguments = iwi_spec_arguments(text, kinds[i].name);
        const size_t used = strlen(usages);

        if (arguments != NULL) {
            *duration_p = (struct iwi_duration){.ops = &kinds[i]};
            return parse_fields(log, spec, arguments, duration_p);
        }
        snprintf(usages + used, sizeof usages - used, "%s%s", i > 0 ? ", " : "", kinds[i].usage);
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s': '%s' is not a distribution of durations: write one of %s",
                    spec, text, usages);
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
