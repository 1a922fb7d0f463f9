/* Fits for programs: one JSON object, schema "idlewave.noise-fit/1", or a line of CSV for each law.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <jansson.h>
#include <math.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/fit_report.h"
#include "schema/json_util.h"

static json_t *estimate_object(const iw_estimate *e)
{
    return json_pack("{s:o, s:[o, o]}", "value", iwi_json_number(e->value), "ci95", iwi_json_number(e->low),
                     iwi_json_number(e->high));
}

static json_t *law_object(iw_fit_law law, const iw_duration_fit *fit)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "law", iw_fit_law_name(law),
                     "scale_ns", estimate_object(&fit->scale_ns), "shape",
                     isnan(fit->shape.value) ? json_null() : estimate_object(&fit->shape), "log_likelihood",
                     iwi_json_number(fit->log_likelihood), "aic", iwi_json_number(fit->aic), "bic",
                     iwi_json_number(fit->bic), "ks", iwi_json_number(fit->distance), "p",
                     iwi_json_number(fit->p), "seen", iwi_json_number(fit->seen), "at_limit",
                     fit->is_at_limit);
}

static json_t *laws_array(const iw_durations *d)
{
    json_t *array = json_array();

    for (iw_fit_law law = IW_FIT_FIXED; law < IW_FIT_LAWS; law++) {
        if (d->laws[law].is_fitted) {
            (void)json_array_append_new(array, law_object(law, &d->laws[law]));
        }
    }
    return array;
}

/* null: too few for one. */
static json_t *tail_object(const iw_durations *d)
{
    if (!(d->tail_share > 0.0)) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o}", "share", iwi_json_number(d->tail_share), "recorded_ns",
                     iwi_json_number(d->tail_recorded_ns), "fitted_ns", iwi_json_number(d->tail_fitted_ns));
}

static json_t *durations_object(const iw_durations *d)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count", iwi_json_count(d->count),
                     "left_out", iwi_json_count(d->left_out), "total_ns", iwi_json_number(d->total_ns),
                     "longest_ns", iwi_json_number(d->longest_ns), "best",
                     d->is_fitted ? json_string(iw_fit_law_name(d->best)) : json_null(), "laws",
                     laws_array(d), "tail", tail_object(d), "expected_as_long",
                     iwi_json_number(d->expected_as_long));
}

static json_t *arrivals_object(const iw_arrivals *a)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rate_hz", iwi_json_number(a->rate_hz),
                     "period_ns", a->beats > 0 ? iwi_json_number(a->period_ns) : json_null(), "beats",
                     iwi_json_count(a->beats), "missing", iwi_json_number(a->missing), "others",
                     iwi_json_count(a->others), "gap_ks", iwi_json_number(a->gap_distance), "gap_p",
                     iwi_json_number(a->gap_p), "gap_variation", iwi_json_number(a->gap_variation));
}

static const char *class_of(const iw_recording *recording, const iw_fit_group *group)
{
    static const char *const names[] = {[IW_FIT_ALL] = "all", [IW_FIT_OTHERS] = "others"};

    return group->kind == IW_FIT_SOURCE ? iw_class_name(recording->sources[group->source].kind)
                                        : names[group->kind];
}

static const char *name_of(const iw_recording *recording, const iw_fit_group *group)
{
    return group->kind == IW_FIT_SOURCE ? recording->sources[group->source].name : "";
}

static json_t *group_object(const iw_recording *recording, const iw_fit_group *group)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "class", class_of(recording, group), "name",
                     iwi_json_text(name_of(recording, group)), "share", iwi_json_number(group->share),
                     "arrivals", arrivals_object(&group->arrivals), "durations",
                     durations_object(&group->durations), "beats",
                     group->has_parts ? durations_object(&group->beats) : json_null(), "others",
                     group->has_parts ? durations_object(&group->others) : json_null());
}

static json_t *groups_array(const iw_recording *recording, const iw_noise_fit *fit)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fit->group_count; i++) {
        (void)json_array_append_new(array, group_object(recording, &fit->groups[i]));
    }
    return array;
}

static json_t *specs_array(const iw_noise_fit *fit)
{
    json_t *array = json_array();

    for (size_t i = 0; i < fit->spec_count; i++) {
        const iw_fit_spec *spec = &fit->specs[i];

        (void)json_array_append_new(
            array, json_pack("{s:s, s:o, s:o, s:o, s:o, s:b}", "spec", spec->text, "group",
                             iwi_json_count(spec->group), "share", iwi_json_number(spec->share), "seen",
                             iwi_json_number(spec->seen), "overlapping", iwi_json_number(spec->overlapping),
                             "by_mean", spec->is_by_mean));
    }
    return array;
}

static json_t *agreement_object(const iw_fit_agreement *a)
{
    if (!a->is_known) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:[o, o], s:o, s:o, s:o}", "length_ns",
                     iwi_json_number((double)a->length_ns), "share_recorded", iwi_json_number(a->recorded),
                     "share_made", iwi_json_number(a->made), "difference_ci95", iwi_json_number(a->low),
                     iwi_json_number(a->high), "rate_recorded_hz", iwi_json_number(a->recorded_hz),
                     "rate_made_hz", iwi_json_number(a->made_hz), "ks",
                     iwi_json_number(a->durations.distance));
}

static void add_note(void *arg, const char *text)
{
    (void)json_array_append_new(arg, iwi_json_text(text));
}

iw_status iw_fit_write_json(const iw_log *log, const iw_recording *recording, const iw_noise_fit *fit,
                            const char *name, FILE *out)
{
    json_t *notes = json_array();

    iwi_fit_notes(fit, add_note, notes);
    return iwi_json_write(
        log,
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "schema",
                  "idlewave.noise-fit/1", "name", iwi_json_text(name), "threshold_ns",
                  iwi_json_number(fit->threshold_ns), "watched_ns", iwi_json_number(fit->watched_ns), "seed",
                  iwi_json_count(fit->opts.seed), "replicates", iwi_json_count(fit->opts.replicates),
                  "criterion", "bic", "groups", groups_array(recording, fit), "specs", specs_array(fit),
                  "left_out_share", iwi_json_number(fit->left_out_share), "agreement",
                  agreement_object(&fit->agreement), "notes", notes, "version", iw_version()),
        out, "the JSON report");
}

/* ---- CSV ---- */

static void write_number(FILE *out, double value)
{
    (void)fputc(',', out);
    if (!isnan(value)) {
        iwi_write_real(out, value);
    }
}

static void write_law(FILE *out, const iw_recording *recording, const iw_fit_group *group, iw_fit_law law)
{
    const iw_durations *d = &group->durations;
    const iw_duration_fit *f = &d->laws[law];
    const double values[] = {f->scale_ns.value,
                             f->scale_ns.low,
                             f->scale_ns.high,
                             f->shape.value,
                             f->shape.low,
                             f->shape.high,
                             f->aic,
                             f->bic,
                             f->distance,
                             f->p,
                             f->seen};

    (void)fprintf(out, "%s,", class_of(recording, group));
    iwi_write_csv_field(out, name_of(recording, group));
    (void)fprintf(out, ",%" PRIu64 ",%s,%d", d->count, iw_fit_law_name(law), law == d->best);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        write_number(out, values[i]);
    }
    (void)fputc('\n', out);
}

iw_status iw_fit_write_csv(const iw_log *log, const iw_recording *recording, const iw_noise_fit *fit,
                           FILE *out)
{
    (void)fputs("class,source,count,law,is_best,scale_ns,scale_low_ns,scale_high_ns,shape,shape_low,"
                "shape_high,aic,bic,ks,p,seen\n",
                out);
    for (size_t i = 0; i < fit->group_count; i++) {
        for (iw_fit_law law = IW_FIT_FIXED; law < IW_FIT_LAWS; law++) {
            if (fit->groups[i].durations.laws[law].is_fitted) {
                write_law(out, recording, &fit->groups[i], law);
            }
        }
    }
    return iwi_check_written(log, out, "the fit");
}
