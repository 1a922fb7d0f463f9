/* One page about a node: the outcome, what it is measured against, noise, jobs, settings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/check.h>

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/short_number.h"
#include "features/check/check_parts.h"
#include "features/recordings/recordings.h"
#include "features/settings/settings.h"
#include "features/tables.h"
#include "kit/text/words.h"

enum { LARGEST = 5 };

/* ---- the table ---- */

IWI_NAMED(outcome_name, value < IW_CHECK_OUTCOMES ? iw_check_outcome_name((iw_check_outcome)value) : NULL)
IWI_NAMES(requirement_name, "met", "missed", "unknown")
IWI_NAMES(compared_name, "same", "better", "slightly worse", "worse", "unknown")
IWI_OF(bool, is_done, iw_check_job, it->is_done)
IWI_OF(bool, has_worst, iw_check_job, it->worst[0] != '\0')
IWI_OF(bool, has_sensitivity, iw_check_job, it->sensitivity.length_ns > 0)
IWI_OF(bool, has_baseline, iw_check, it->has_baseline)
IWI_OF(bool, has_fleet, iw_check, it->has_fleet)
IWI_OF(bool, has_taken, iw_check, it->took_s > 0.0)

static const struct iwi_field requirement_fields[] = {
    IWI_CHARS(iw_requirement, name,
              .about =
                  "a mitigation, `CPU time lost`, `against the baseline`, `against the fleet`, or a job"),
    IWI_VALUE(iw_requirement, is_setting, .about = "false: a limit of noise"),
    IWI_ENUM(iw_requirement, state, "state", requirement_name),
    IWI_CHARS(iw_requirement, wanted, .about = "for people"),
    IWI_CHARS(iw_requirement, found, .about = "for people"),
};
static const struct iwi_schema requirement_schema = IWI_SCHEMA(iw_requirement, requirement_fields);

static const struct iwi_field job_fields[] = {
    IWI_CHARS(iw_check_job, name),
    IWI_CHARS(iw_check_job, what, .about = "what it does"),
    IWI_CHARS(iw_check_job, net, .is_optional = true, .about = "missing in files of 0.2 and before"),
    IWI_VALUE(iw_check_job, ranks),
    IWI_VALUE(iw_check_job, is_done, .about = "false: there was no time left to simulate it"),
    IWI_VALUE(iw_check_job, trials,
              .about = "simulations of each change; fewer than `--trials` where time was short"),
    IWI_ESTIMATE(iw_check_job, slowdown, .is_there = is_done,
                 .about = "T / T0 - 1. No upper limit: a lower bound, because the recording is too short for "
                          "this number of ranks"),
    IWI_VALUE(
        iw_check_job, most_slowdown, .is_optional = true,
        .about = "upper limit of `slowdown`, also of a lower bound: allows for longer detours of the "
                 "recorded kinds. If the limit lies between the two, the requirement is unknown. 0: unknown"),
    IWI_CHARS(iw_check_job, worst, .about = "source whose removal would save most; empty: none"),
    IWI_ESTIMATE(iw_check_job, saving, .is_there = has_worst, .about = "what its removal saves"),
    IWI_VALUE(iw_check_job, remedy, .may_be_null = true, .about = "remedy for it"),
    IWI_OBJECT(iw_check_job, sensitivity, iwi_sensitivity_schema, .is_there = has_sensitivity,
               .is_optional = true,
               .about = "if the job uses more than a third of the recorded CPU time: what an interruption "
                        "that was never recorded would cost"),
};
static const struct iwi_schema job_schema = IWI_SCHEMA(iw_check_job, job_fields);

static const struct iwi_field value_fields[] = {
    IWI_VALUE_AS(iw_compare_value, a, "baseline"),
    IWI_VALUE_AS(iw_compare_value, b, "now"),
    IWI_ESTIMATE(iw_compare_value, difference, .about = "b - a"),
};
static const struct iwi_schema value_schema = IWI_SCHEMA(iw_compare_value, value_fields);

static const struct iwi_field fleet_fields[] = {
    IWI_VALUE(iw_check_fleet, path, .may_be_null = true),
    IWI_VALUE(iw_check_fleet, node_count, .about = "other nodes, measured in the same way"),
    IWI_VALUE(iw_check_fleet, finding_count, .about = "findings that set this node apart"),
    IWI_CHARS(iw_check_fleet, largest, .about = "the worst of these, for people"),
};
static const struct iwi_schema fleet_schema = IWI_SCHEMA(iw_check_fleet, fleet_fields);

static const struct iwi_field check_fields[] = {
    IWI_ENUM(iw_check, outcome, "outcome", outcome_name,
             .about = "exit codes are 0, 2, 3, 4, 5 in this order"),
    IWI_CHARS(iw_check, line, .about = "outcome and reason, as `--quiet` prints it"),
    IWI_VALUE(iw_check, took_s, .is_there = has_taken, .about = "null if nothing was measured"),
    IWI_VALUE(iw_check, profile, .may_be_null = true, .about = "file of `--require`"),
    IWI_OBJECTS(iw_check, requirements, requirement_count, requirement_schema, .is_row = true,
                .about = "requirements"),
    IWI_OBJECTS(iw_check, jobs, job_count, job_schema,
                .about = "what noise costs these jobs; empty on a busy or watched node"),
    IWI_VALUE(iw_check, has_baseline),
    IWI_VALUE(iw_check, baseline, .may_be_null = true, .about = "file of an earlier recording"),
    IWI_ENUM(iw_check, compared, "compared", compared_name, .is_there = has_baseline,
             .about = "the node against the baseline, as in `noise compare`"),
    IWI_OBJECT(iw_check, baseline_share, value_schema, .is_there = has_baseline, .about = "CPU time lost"),
    IWI_VALUE(iw_check, has_fleet),
    IWI_OBJECT(iw_check, fleet, fleet_schema, .is_there = has_fleet, .about = "comparison with other nodes"),
    IWI_VALUE(iw_check, is_watched,
              .about = "user programs ran: they were watched instead of recording, and no job was simulated"),
    IWI_INLINE(iw_check, caveats, iwi_caveats_schema),
    IWI_POINTER(iw_check, verify, iwi_verify_schema, .about = "on a busy or watched node, settings only"),
    IWI_OBJECT(iw_check, noise, iwi_noise_schema),
    IWI_VALUE(iw_check, command, .may_be_null = true, .about = "as typed"),
};
static const struct iwi_schema check_schema = IWI_SCHEMA(iw_check, check_fields);

static iw_status check_file(const iw_log *log, const char *name, const void *subject)
{
    const iw_check *check = subject;

    if (check->verify == NULL) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': verify: is null", name);
    }
    return iwi_noise_check(log, name, &check->noise);
}

/* ---- what was looked at ---- */

static bool has_measured(const iw_check *check)
{
    return check->noise.facts.watched_ns > 0.0;
}

/* Of the node that was recorded. */
static const char *kernel_of(const iw_check *check)
{
    const char *recorded = iwi_said_fact(&check->noise.facts, "kernel");

    return !iwi_is_of_another_node(check) ? check->verify->kernel : recorded != NULL ? recorded : "unknown";
}

static void say_basis(struct iwi_document *doc, const iw_check *check)
{
    const iw_noise_facts *facts = &check->noise.facts;
    const double cpus = fmax((double)facts->cpu_count, 1.0);

    if (!has_measured(check)) {
        iwi_paragraph(doc, "Kernel %s. Noise not measured: programs run on the %zu CPU%s.", kernel_of(check),
                      facts->cpu_count, iwi_plural_s(facts->cpu_count));
        return;
    }
    iwi_paragraph(
        doc, "Kernel %s; %zu CPU%s %s for %s; sources %s.", kernel_of(check), facts->cpu_count,
        iwi_plural_s(facts->cpu_count),
        check->is_watched ? "watched (while programs wanted them)" : "measured",
        iwi_ns_round(doc, facts->watched_ns / cpus),
        facts->attribution != IW_ATTRIBUTION_LEVEL_NONE
            ? iwi_doc_printf(doc, "identified with %s", iw_attribution_level_name(facts->attribution))
        : facts->has_sources ? "named"
                             : "not identified");
    if (has_taken(check)) {
        iwi_doc_append(doc, " The check took %s.", iwi_ns_round(doc, 1e9 * check->took_s));
    }
}

static void list_requirements(struct iwi_document *doc, const iw_check *check)
{
    if (check->requirement_count == 0) {
        return;
    }
    iwi_section(doc, "requirements", "What is required");
    IWI_TABLE(doc, "", {"what", IWI_WORDS}, {"state", IWI_WORDS}, {"wanted", IWI_WORDS},
              {"found", IWI_WORDS});
    iwi_unfold(doc);
    for (size_t i = 0; i < check->requirement_count; i++) {
        const iw_requirement *requirement = &check->requirements[i];

        iwi_row(doc, requirement->name, requirement_name(requirement->state), requirement->wanted,
                requirement->found);
    }
}

/* ---- jobs ---- */

/* Always in percent, as the limit is: beside it "4.77x" would be another number. */
static const char *percent_text(struct iwi_document *doc, double share)
{
    return iwi_doc_printf(doc, "%s %%", iwi_short_percent(share, 3).text);
}

static const char *interval_text(struct iwi_document *doc, const iw_check_job *job)
{
    const double high = iwi_has_most(job) ? job->most_slowdown : job->slowdown.high;

    return isfinite(high) ? iwi_from_to(doc, percent_text(doc, job->slowdown.low), percent_text(doc, high))
                          : "lower bound";
}

/* Of a bound that starts at 0 only the upper end says something. */
static const char *slower_text(struct iwi_document *doc, const iw_check_job *job)
{
    if (!iwi_is_bound(job->slowdown)) {
        return percent_text(doc, job->slowdown.value);
    }
    if (job->slowdown.low > 0.0) {
        return iwi_doc_printf(doc, "> %s", percent_text(doc, job->slowdown.low));
    }
    return iwi_has_most(job) ? iwi_doc_printf(doc, "< %s", percent_text(doc, job->most_slowdown)) : "unknown";
}

static void add_job(struct iwi_document *doc, const iw_check_job *job)
{
    const bool is_bound = iwi_is_bound(job->slowdown);

    if (!job->is_done) {
        iwi_row(doc, job->name, "-", "no time left", "", "");
        return;
    }
    iwi_row(doc, job->name, slower_text(doc, job), interval_text(doc, job), job->worst,
            has_worst(job)
                ? iwi_doc_printf(doc, "%s%s", is_bound ? "> " : "",
                                 iwi_short_percent(is_bound ? job->saving.low : job->saving.value, 3).text)
                : "");
}

/* All jobs are simulated on one network. */
static const char *net_of(struct iwi_document *doc, const iw_check *check)
{
    char net[IWI_PHRASE_SIZE];

    for (size_t i = 0; i < check->job_count; i++) {
        if (check->jobs[i].net[0] != '\0') {
            return iwi_doc_printf(doc, "%s", iwi_net_words(check->jobs[i].net, net));
        }
    }
    return "these nodes";
}

/* Of the job that it would cost most. */
static void say_sensitivity(struct iwi_document *doc, const iw_check *check)
{
    const iw_check_job *worst = NULL;
    char text[IWI_PARAGRAPH_SIZE] = "";

    for (size_t i = 0; i < check->job_count; i++) {
        const iw_check_job *job = &check->jobs[i];

        if (job->is_done && job->sensitivity.length_ns > 0 &&
            (worst == NULL || job->sensitivity.slowdown > worst->sensitivity.slowdown)) {
            worst = job;
        }
    }
    if (worst != NULL) {
        iwi_append_sensitivity(text, &worst->sensitivity);
        iwi_item(doc, "%s on %s ranks: %s", worst->name,
                 iwi_ranks_text(worst->ranks, (char[IWI_NUMBER_SIZE]){0}), text);
    }
}

static void list_jobs(struct iwi_document *doc, const iw_check *check)
{
    if (check->job_count == 0) {
        return;
    }
    iwi_section(doc, "jobs", iwi_doc_printf(doc, "What this noise costs jobs on %s", net_of(doc, check)));
    IWI_TABLE(doc, "Slowdown against a node without noise, and the source whose removal saves most",
              {"job", IWI_WORDS}, {"slower", IWI_NUMBER}, {"95 % CI", IWI_WORDS}, {"worst source", IWI_WORDS},
              {"saves (points)", IWI_NUMBER});
    iwi_unfold(doc);
    for (size_t i = 0; i < check->job_count; i++) {
        add_job(doc, &check->jobs[i]);
    }
    for (size_t i = 0; i < check->job_count; i++) {
        iwi_item(doc, "%s: %s.", check->jobs[i].name, check->jobs[i].what);
    }
    say_sensitivity(doc, check);
}

/* ---- noise and load ---- */

static void say_load(struct iwi_document *doc, const iw_check *check)
{
    const iw_load *load = &check->noise.facts.load;

    if (!load->is_known) {
        iwi_paragraph(doc, "It is unknown whether user programs ran.");
        return;
    }
    iwi_paragraph(doc, "%s, user programs used %s of these CPUs%s%s%s, services %s, kernel threads %s.",
                  !has_measured(check) ? "During one second"
                  : check->is_watched  ? "Before watching"
                                       : "While recording",
                  iwi_percent_short(doc, load->users), load->programs[0] != '\0' ? " (" : "", load->programs,
                  load->programs[0] != '\0' ? ")" : "", iwi_percent_short(doc, load->services),
                  iwi_percent_short(doc, load->kernel));
}

static void say_noise(struct iwi_document *doc, const iw_check *check)
{
    const iw_noise_facts *facts = &check->noise.facts;

    iwi_section(doc, "noise",
                !has_measured(check)  ? "What runs here"
                : check->is_watched   ? "What running programs lose"
                : facts->load.is_busy ? "What took the CPUs"
                                      : "Noise");
    if (has_measured(check)) {
        iwi_paragraph(doc, "%s of the time was lost; the longest detour took %s.",
                      iwi_percent_short(doc, facts->all.share), iwi_ns_round(doc, facts->all.max_ns));
    }
    say_load(doc, check);
    if (!has_measured(check)) {
        return;
    }
    iwi_only_in(doc, IWI_IN_TEXT);
    for (size_t i = 0; facts->has_sources && i < facts->source_count && i < LARGEST; i++) {
        const iw_noise_origin *origin = &facts->sources[i];

        if (i == 0) {
            IWI_TABLE(doc, "", {"largest sources", IWI_WORDS}, {"share of time", IWI_NUMBER},
                      {"longest", IWI_NUMBER});
        }
        iwi_row(doc,
                iwi_doc_printf(doc, "%s%s%s", iwi_origin_class(origin),
                               origin->source.name[0] != '\0' ? " " : "", origin->source.name),
                iwi_percent_short(doc, origin->row.share), iwi_ns_short(doc, origin->row.max_ns));
    }
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    iwi_noise_figures(doc, &check->noise);
    iwi_only_in(doc, IWI_ON_PAGES);
    iwi_noise_tables(doc, facts);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

/* ---- all of it ---- */

static bool has_advice(const iw_verify *verify)
{
    for (size_t i = 0; i < verify->count; i++) {
        if (verify->mitigations[i].is_to_do) {
            return true;
        }
    }
    return false;
}

/* Whether a job before this one has the same worst source. */
static bool is_said(const iw_check *check, const iw_check_job *job)
{
    for (const iw_check_job *before = check->jobs; before < job; before++) {
        if (before->remedy != NULL && strcmp(before->worst, job->worst) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_remedy(const iw_check *check)
{
    for (size_t i = 0; i < check->job_count; i++) {
        if (check->jobs[i].remedy != NULL) {
            return true;
        }
    }
    return false;
}

/* Sources that cost jobs most, else the one that the line names; then settings. */
static void say_advice(struct iwi_document *doc, const iw_check *check)
{
    const bool has_settings = has_advice(check->verify) && !iwi_is_of_another_node(check);
    struct iwi_culprit culprit = {.remedy = NULL};

    if (!has_remedy(check)) {
        (void)iwi_check_culprit(check, &culprit);
    }
    if (!has_settings && !has_remedy(check) && culprit.remedy == NULL) {
        return;
    }
    iwi_section(doc, "advice", "What to do, most urgent first");
    for (size_t i = 0; i < check->job_count; i++) {
        const iw_check_job *job = &check->jobs[i];

        if (job->remedy != NULL && !is_said(check, job)) {
            iwi_item(doc, "%s: %s", job->worst, job->remedy);
        }
    }
    if (culprit.remedy != NULL) {
        iwi_item(doc, "%s: %s", culprit.name, culprit.remedy);
    }
    if (has_settings) {
        iwi_list_advice(doc, check->verify);
    }
}

static bool has_bound(const iw_check *check)
{
    bool has = false;

    for (size_t i = 0; i < check->job_count; i++) {
        has |= check->jobs[i].is_done && iwi_is_bound(check->jobs[i].slowdown);
    }
    return has;
}

static void say_certainty(struct iwi_document *doc, const iw_check *check)
{
    iwi_section(doc, "certainty", "How sure");
    if (iwi_recorded_host(check) == NULL) {
        iwi_item(doc, "The recording does not name its node; it is assumed to be of %s.",
                 iwi_check_node(check));
    }
    if (has_measured(check)) {
        iwi_noise_warnings(doc, &check->noise.facts);
    }
    for (size_t i = 0; i < check->verify->remark_count && !iwi_is_of_another_node(check); i++) {
        iwi_item(doc, "%s", check->verify->remarks[i]);
    }
    if (check->is_watched) {
        iwi_item(doc,
                 "User programs ran, so no probe took CPU time from them and no job was simulated beside "
                 "them. Without a probe, time taken by firmware is not seen. Settings are not compared with "
                 "observations%s.",
                 check->noise.facts.load.is_busy ? ", and limits and a baseline are not applied" : "");
    } else if (check->noise.facts.load.is_busy) {
        iwi_item(doc, "While user programs run, settings are not compared with observations, and limits and "
                      "a baseline are not applied. 'idlewave watch' reports what a running job loses.");
    } else if (check->job_count > 0) {
        iwi_item(doc, "A job misses its limit only if the whole 95 %% interval is above it.%s",
                 has_bound(check)
                     ? " Where the recording is too short for an estimate, the job keeps its limit if the "
                       "upper limit, which allows for longer detours of the recorded kinds, is below it. "
                       "Otherwise record longer, or check with fewer ranks."
                     : "");
    }
    iwi_item(doc, "Nothing was changed on the node.");
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_check *check = subject;

    iwi_title(doc, "Check of %s", iwi_check_node(check));
    iwi_verdict(doc, "%s", check->line);
    if (check->outcome != IW_CHECK_BUSY) { /* which says it */
        iwi_say_caveats(doc, &check->caveats, check->line);
    }
    say_basis(doc, check);
    list_requirements(doc, check);
    list_jobs(doc, check);
    say_advice(doc, check);
    say_noise(doc, check);
    if (!iwi_is_of_another_node(check)) {
        iwi_only_in(doc, IWI_ON_PAGES);
        iwi_list_mitigations(doc, check->verify);
        iwi_only_in(doc, IWI_EVERYWHERE);
    }
    say_certainty(doc, check);
    if (check->command != NULL) {
        iwi_only_in(doc, IWI_ON_PAGES);
        iwi_section(doc, "command", "Made by");
        iwi_code(doc, "%s", check->command);
    }
}

const struct iwi_kind iwi_check_kind = {
    .name = "check",
    .schema_id = "idlewave.check/3",
    .about =
        "A node judged by `idlewave check --format json` or `--json FILE`. CSV has a line per requirement",
    .older_id = "idlewave.check/2",
    .schema = &check_schema,
    .write_doc = write_doc,
    .check = check_file,
};

IWI_DOC(iw_check_doc, iw_check, check, iwi_check_kind)
