/* Compares what was found on a node with what is required of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/remedy.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/short_number.h"
#include "features/check/check_parts.h"
#include "features/recordings/recordings.h"
#include "kit/text/words.h"

static bool is_missed(const iw_check *check, const char *name);

static void check_write_line(iw_check *check);

const char *iw_check_outcome_name(iw_check_outcome outcome)
{
    static const char *const names[] = {"good", "contradicted", "unknown", "noisy", "busy"};

    return (unsigned)outcome < IW_CHECK_OUTCOMES ? names[outcome] : "?";
}

int iw_check_exit_code(iw_check_outcome outcome)
{
    static const int codes[] = {0, 2, 3, 4, 5}; /* 1 is a failure of the check itself; 2, 3 as other verbs */

    return (unsigned)outcome < IW_CHECK_OUTCOMES ? codes[outcome] : 1;
}

bool iwi_is_set_up(const iw_mitigation *mitigation)
{
    return mitigation->state == IW_MITIGATION_EFFECTIVE || mitigation->state == IW_MITIGATION_CONFIGURED;
}

/* ---- whose recording ---- */

const char *iwi_recorded_host(const iw_check *check)
{
    const char *host = iwi_fact(&check->noise.facts, "host");

    return host != NULL && host[0] != '\0' && iwi_fact(&check->noise.facts, "specs") == NULL ? host : NULL;
}

const char *iwi_check_node(const iw_check *check)
{
    const char *recorded = iwi_recorded_host(check);

    return recorded != NULL ? recorded : check->verify->host[0] != '\0' ? check->verify->host : "unknown";
}

bool iwi_is_of_another_node(const iw_check *check)
{
    const char *host = check->verify->host;

    return host[0] != '\0' && strcmp(host, "unknown") != 0 && strcmp(host, iwi_check_node(check)) != 0;
}

/* ---- requirements ---- */

static iw_requirement *add(iw_check *check, const char *name, bool is_setting)
{
    iw_requirement *requirement = &check->requirements[check->requirement_count++];

    *requirement = (iw_requirement){.is_setting = is_setting, .state = IW_REQUIREMENT_UNKNOWN};
    snprintf(requirement->name, sizeof requirement->name, "%s", name);
    return requirement;
}

static const iw_mitigation *find_mitigation(const iw_verify *verify, const char *name)
{
    for (size_t i = 0; i < verify->count; i++) {
        if (strcmp(verify->mitigations[i].name, name) == 0) {
            return &verify->mitigations[i];
        }
    }
    return NULL;
}

static void require_setting(const iw_profile_setting *wanted, iw_check *check)
{
    const iw_mitigation *found = find_mitigation(check->verify, wanted->name);
    iw_requirement *requirement = add(check, wanted->name, true);

    snprintf(requirement->wanted, sizeof requirement->wanted, "%s",
             wanted->setting[0] != '\0' ? wanted->setting : "configured");
    if (iwi_is_of_another_node(check)) {
        snprintf(requirement->found, sizeof requirement->found, "unknown: the settings read are of %.200s",
                 check->verify->host);
        return;
    }
    if (found == NULL) {
        snprintf(requirement->found, sizeof requirement->found,
                 "unknown name, or does not apply to this node");
        return;
    }
    snprintf(requirement->found, sizeof requirement->found, "%s%s%.400s",
             iw_mitigation_state_name(found->state), found->setting[0] != '\0' ? ": " : "", found->setting);
    if (found->state == IW_MITIGATION_UNKNOWN) {
        return;
    }
    requirement->state =
        iwi_is_set_up(found) && (wanted->setting[0] == '\0' || strcmp(wanted->setting, found->setting) == 0)
            ? IW_REQUIREMENT_MET
            : IW_REQUIREMENT_MISSED;
}

static void require_share(double most_lost, iw_check *check)
{
    const iw_noise_facts *facts = &check->noise.facts;
    iw_requirement *requirement;

    if (isnan(most_lost)) {
        return;
    }
    requirement = add(check, IWI_CHECK_LOST, false);
    requirement->limit = most_lost;
    snprintf(requirement->wanted, sizeof requirement->wanted, "at most %s %%",
             iwi_short_percent(most_lost, 3).text);
    snprintf(requirement->found, sizeof requirement->found, "%s %%",
             iwi_short_percent(facts->all.share, 3).text);
    requirement->state = facts->all.share <= most_lost ? IW_REQUIREMENT_MET : IW_REQUIREMENT_MISSED;
}

static void add_found(iw_requirement *requirement, const char *text)
{
    const size_t used = strlen(requirement->found);

    snprintf(requirement->found + used, sizeof requirement->found - used, "%s", text);
}

static iw_requirement *add_slowdown(const char *job, uint32_t ranks, double most_slowdown, iw_check *check)
{
    iw_requirement *requirement = add(check, job, false);

    requirement->ranks = ranks;
    requirement->limit = most_slowdown;
    snprintf(requirement->wanted, sizeof requirement->wanted, "at most %s %% slower on %s ranks",
             iwi_short_percent(most_slowdown, 3).text, iwi_ranks_text(ranks, (char[IWI_NUMBER_SIZE]){0}));
    return requirement;
}

/* "at least 0.31 %, at most 4.2 %" */
static void say_bound(const iw_check_job *job, iw_requirement *requirement)
{
    const double low = job->slowdown.low;
    const bool has_low = low > 0.0, has_most = iwi_has_most(job);

    snprintf(requirement->found, sizeof requirement->found, "%s%s%s%s%s%s%s", has_low ? "at least " : "",
             has_low ? iwi_short_percent(low, 3).text : "",
             has_low    ? " %"
             : has_most ? ""
                        : "unknown",
             has_low && has_most ? ", " : "", has_most ? "at most " : "",
             has_most ? iwi_short_percent(job->most_slowdown, 3).text : "", has_most ? " %" : "");
}

/* The lower end of the interval counts: a slowdown that is not sure is no reason to drain a node. A lower
 * bound below the limit proves nothing, but that what unseen detours may add stays below it does. */
static iw_requirement_state state_of(const iw_check_job *job, double most_slowdown)
{
    if (job->slowdown.low > most_slowdown) {
        return IW_REQUIREMENT_MISSED;
    }
    return !iwi_is_bound(job->slowdown) || (iwi_has_most(job) && job->most_slowdown <= most_slowdown)
               ? IW_REQUIREMENT_MET
               : IW_REQUIREMENT_UNKNOWN;
}

static void require_slowdown(const iw_check_job *job, double most_slowdown, iw_check *check)
{
    iw_requirement *requirement = add_slowdown(job->name, job->ranks, most_slowdown, check);

    if (!job->is_done) {
        snprintf(requirement->found, sizeof requirement->found, "no time left to simulate it");
        return;
    }
    requirement->state = state_of(job, most_slowdown);
    if (job->slowdown.low == job->slowdown.high) {
        snprintf(requirement->found, sizeof requirement->found, "%s %%",
                 iwi_short_percent(job->slowdown.value, 3).text);
        return;
    }
    if (!iwi_is_bound(job->slowdown)) {
        snprintf(requirement->found, sizeof requirement->found, "%s %% (95 %% CI %s to %s %%)",
                 iwi_short_percent(job->slowdown.value, 3).text, iwi_short_percent(job->slowdown.low, 3).text,
                 iwi_short_percent(job->slowdown.high, 3).text);
        return;
    }
    say_bound(job, requirement);
    if (requirement->state == IW_REQUIREMENT_UNKNOWN) {
        add_found(requirement, "; record longer");
    }
}

static const iw_check_job *find_job(const iw_check *check, const char *name, uint32_t ranks)
{
    for (size_t i = 0; i < check->job_count; i++) {
        if (strcmp(check->jobs[i].name, name) == 0 && check->jobs[i].ranks == ranks) {
            return &check->jobs[i];
        }
    }
    return NULL;
}

static void require_profile_job(const iw_profile_job *wanted, iw_check *check)
{
    const iw_check_job *job = find_job(check, wanted->name, wanted->ranks);

    if (job != NULL) {
        require_slowdown(job, wanted->most_slowdown, check);
    } else {
        iw_requirement *requirement = add_slowdown(wanted->name, wanted->ranks, wanted->most_slowdown, check);

        snprintf(requirement->found, sizeof requirement->found, "not simulated on %s ranks",
                 iwi_ranks_text(wanted->ranks, (char[IWI_NUMBER_SIZE]){0}));
    }
}

static void require_baseline(iw_check *check)
{
    const iw_compare_value *share = &check->baseline_share;
    iw_requirement *requirement = add(check, "against the baseline", false);

    snprintf(requirement->wanted, sizeof requirement->wanted, "%s %%, as in %.200s",
             iwi_short_percent(share->a, 3).text, check->baseline);
    snprintf(requirement->found, sizeof requirement->found, "%s %%, %s%s points (95 %% CI %s to %s)",
             iwi_short_percent(share->b, 3).text, share->difference.value > 0.0 ? "+" : "",
             iwi_short_percent(share->difference.value, 2).text,
             iwi_short_percent(share->difference.low, 2).text,
             iwi_short_percent(share->difference.high, 2).text);
    if (check->compared != IW_COMPARE_UNKNOWN) {
        requirement->state = check->compared == IW_COMPARE_WORSE ? IW_REQUIREMENT_MISSED : IW_REQUIREMENT_MET;
    }
}

static void require_fleet(iw_check *check)
{
    const iw_check_fleet *fleet = &check->fleet;
    iw_requirement *requirement = add(check, "against the fleet", false);
    const bool is_enough = fleet->node_count + 1 >= IW_CHECK_FEW_NODES;

    snprintf(requirement->wanted, sizeof requirement->wanted, "like the %zu other node%s in %.200s",
             fleet->node_count, fleet->node_count == 1 ? "" : "s", fleet->path);
    if (fleet->finding_count > 0) {
        requirement->state = IW_REQUIREMENT_MISSED;
        snprintf(requirement->found, sizeof requirement->found, "%s", fleet->largest);
    } else {
        requirement->state = is_enough ? IW_REQUIREMENT_MET : IW_REQUIREMENT_UNKNOWN;
        snprintf(requirement->found, sizeof requirement->found, "%s",
                 is_enough ? "does not stand out" : "too few nodes to compare");
    }
}

/* What a load hides is left out, and jobs where none was simulated beside running programs. */
static void require_limits(const iw_check_opts *opts, iw_check *check)
{
    const iw_profile *profile = opts->profile;

    require_share(profile != NULL ? profile->most_lost : opts->most_lost, check);
    if (check->has_baseline) {
        require_baseline(check);
    }
    if (check->has_fleet) {
        require_fleet(check);
    }
    for (size_t i = 0; profile != NULL && !check->is_watched && i < profile->job_count; i++) {
        require_profile_job(&profile->jobs[i], check);
    }
    for (size_t i = 0; profile == NULL && i < check->job_count; i++) {
        require_slowdown(&check->jobs[i], opts->most_slowdown, check);
    }
}

/* What was measured cannot be told from a load, since neither processes nor sources are known. */
static bool is_unexplained(const iw_check *check)
{
    return !check->noise.facts.load.is_known && !check->noise.facts.has_sources;
}

static bool is_too_short(const iw_noise_facts *facts)
{
    return facts->watched_ns < IW_CHECK_SHORTEST_NS * (double)facts->cpu_count;
}

/* Noise that was measured for too short a time keeps no limit and misses none, nor does that of a node whose
 * settings were not read; what may be a load misses none. They stay the first. */
static void doubt_limits(iw_check *check)
{
    const bool is_short = is_too_short(&check->noise.facts), is_other = iwi_is_of_another_node(check);

    for (size_t i = 0; i < check->requirement_count; i++) {
        iw_requirement *requirement = &check->requirements[i];
        const bool is_missed = requirement->state == IW_REQUIREMENT_MISSED;
        const bool is_judged = is_missed || requirement->state == IW_REQUIREMENT_MET;

        if (!requirement->is_setting &&
            (((is_short || is_other) && is_judged) || (is_missed && is_unexplained(check)))) {
            requirement->state = IW_REQUIREMENT_UNKNOWN;
            add_found(requirement, is_short   ? "; recording too short"
                                   : is_other ? "; not judged without the node's settings"
                                              : IWI_CHECK_UNEXPLAINED);
        }
    }
}

/* Those that are missed first, then those that cannot be told; otherwise in their order. */
static void sort_requirements(iw_check *check)
{
    static const int ranks[IW_REQUIREMENT_STATES] = {
        [IW_REQUIREMENT_MISSED] = 0, [IW_REQUIREMENT_UNKNOWN] = 1, [IW_REQUIREMENT_MET] = 2};

    for (size_t i = 1; i < check->requirement_count; i++) {
        const iw_requirement moved = check->requirements[i];
        size_t k = i;

        for (; k > 0 && ranks[check->requirements[k - 1].state] > ranks[moved.state]; k--) {
            check->requirements[k] = check->requirements[k - 1];
        }
        check->requirements[k] = moved;
    }
}

/* ---- the outcome ---- */

static bool has_requirement(const iw_check *check, bool is_setting, iw_requirement_state state)
{
    for (size_t i = 0; i < check->requirement_count; i++) {
        if (check->requirements[i].is_setting == is_setting && check->requirements[i].state == state) {
            return true;
        }
    }
    return false;
}

static iw_check_outcome outcome_of(const iw_check *check)
{
    const bool is_noisy = has_requirement(check, false, IW_REQUIREMENT_MISSED);

    if (iwi_is_of_another_node(check)) {
        return check->noise.facts.load.is_busy ? IW_CHECK_BUSY : IW_CHECK_UNKNOWN;
    }
    if (check->verify->counts[IW_MITIGATION_CONTRADICTED] > 0 ||
        has_requirement(check, true, IW_REQUIREMENT_MISSED)) {
        return IW_CHECK_CONTRADICTED;
    }
    if (check->noise.facts.load.is_busy) {
        return IW_CHECK_BUSY;
    }
    if (is_noisy) {
        return IW_CHECK_NOISY;
    }
    return is_too_short(&check->noise.facts) || has_requirement(check, true, IW_REQUIREMENT_UNKNOWN) ||
                   has_requirement(check, false, IW_REQUIREMENT_UNKNOWN) ||
                   iw_caveats_have(&check->caveats, IW_CAVEAT_KINDS)
               ? IW_CHECK_UNKNOWN
               : IW_CHECK_GOOD;
}

iw_status iw_check_judge(const iw_log *log, const iw_check_opts *given, iw_check *check)
{
    iw_check_opts opts = IW_CHECK_OPTS_INIT;
    size_t most = 3 + check->job_count; /* share, baseline, fleet */

    IW_TRY(IWI_READ_OPTS(log, "IW_CHECK_OPTS_INIT", given, &opts));
    most += opts.profile != NULL ? opts.profile->setting_count + opts.profile->job_count : 0;
    check->requirement_count = 0;
    check->requirements = iwi_new_array(log, most, sizeof *check->requirements);
    if (check->requirements == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; opts.profile != NULL && i < opts.profile->setting_count; i++) {
        require_setting(&opts.profile->settings[i], check);
    }
    if (!check->noise.facts.load.is_busy) {
        require_limits(&opts, check);
    }
    sort_requirements(check);
    doubt_limits(check);
    iw_caveats_join(&check->caveats, &check->noise.facts.caveats);
    if (check->noise.recording != NULL && check->verify->recorded_host[0] == '\0') {
        iw_caveats_of_boot(check->noise.recording, check->noise.name, check->verify->boot_s, &check->caveats);
    }
    check->outcome = outcome_of(check);
    check_write_line(check);
    return IW_OK;
}

void iw_check_release(iw_check *check)
{
    free(check->requirements);
    check->requirements = NULL;
    check->requirement_count = 0;
}

/* The outcome of a check as one line: "NOISY node07: CPU time lost 3.4 % (limit 1 %)". */

static void say(iw_check *check, const char *format, ...) IW_PRINTF(2, 3);

static void say(iw_check *check, const char *format, ...)
{
    const size_t used = strlen(check->line);
    va_list args;

    va_start(args, format);
    vsnprintf(check->line + used, sizeof check->line - used, format, args);
    va_end(args);
}

/* " of hdr-fat-tree", or nothing. */
static void say_net(iw_check *check, const iw_check_job *job)
{
    char net[IWI_PHRASE_SIZE];

    if (job->net[0] != '\0') {
        say(check, " of %s", iwi_net_words(job->net, net));
    }
}

/* "barrier on 1,024 ranks of chic 76.1 % slower (limit 10 %)" */
static void say_slower(iw_check *check, const iw_check_job *job, double limit)
{
    const bool is_bound = iwi_is_bound(job->slowdown);

    say(check, "%s on %s ranks", job->name, iwi_ranks_text(job->ranks, (char[IWI_NUMBER_SIZE]){0}));
    say_net(check, job);
    say(check, " %s%s %% slower (limit %s %%)", is_bound ? "at least " : "",
        iwi_short_percent(is_bound ? job->slowdown.low : job->slowdown.value, 3).text,
        iwi_short_percent(limit, 3).text);
}

/* `before` stands before the first. */
static void say_missed(iw_check *check, bool is_setting, const char *before)
{
    for (size_t i = 0; i < check->requirement_count; i++) {
        const iw_requirement *requirement = &check->requirements[i];

        if (requirement->is_setting == is_setting && requirement->state == IW_REQUIREMENT_MISSED) {
            const iw_check_job *job = find_job(check, requirement->name, requirement->ranks);

            say(check, "%s", before);
            if (job != NULL) {
                say_slower(check, job, requirement->limit);
            } else if (!is_setting && strcmp(requirement->name, IWI_CHECK_LOST) == 0) {
                say(check, IWI_CHECK_LOST " %s (limit %s %%)", requirement->found,
                    iwi_short_percent(requirement->limit, 3).text);
            } else {
                say(check, "%s: %.80s, required: %.80s", requirement->name, requirement->found,
                    requirement->wanted);
            }
            before = "; ";
        }
    }
}

static bool is_missed(const iw_check *check, const char *name)
{
    for (size_t i = 0; i < check->requirement_count; i++) {
        if (check->requirements[i].state == IW_REQUIREMENT_MISSED &&
            strcmp(check->requirements[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Of the first of them that has one. */
static void say_advice(iw_check *check)
{
    for (size_t i = 0; i < check->verify->count; i++) {
        const iw_mitigation *m = &check->verify->mitigations[i];

        if (m->advice[0] != '\0' && (m->state == IW_MITIGATION_CONTRADICTED || is_missed(check, m->name))) {
            say(check, "; remedy: %.240s", m->advice);
            return;
        }
    }
}

/* Settings that what was seen contradicts, and then those that are not as required. */
static void say_contradictions(iw_check *check)
{
    const char *before = "";

    for (size_t i = 0; i < check->verify->count; i++) {
        const iw_mitigation *m = &check->verify->mitigations[i];

        if (m->state == IW_MITIGATION_CONTRADICTED && !is_missed(check, m->name)) {
            say(check, "%s%s: %.80s%s%.120s", before, m->name, m->setting,
                m->setting[0] != '\0' && m->evidence[0] != '\0' ? ", " : "", m->evidence);
            before = "; ";
        }
    }
    say_missed(check, true, before);
    say_advice(check);
}

/* The source first, so that it stays where the line is cut. */
static void say_noisy(iw_check *check)
{
    struct iwi_culprit culprit;
    const bool has_culprit = iwi_check_culprit(check, &culprit);

    if (has_culprit) {
        say(check, "%s is the worst source; ", culprit.name);
    }
    say_missed(check, false, "");
    if (has_culprit && culprit.remedy != NULL) {
        say(check, "; remedy: %s", culprit.short_remedy != NULL ? culprit.short_remedy : culprit.remedy);
    }
}

static void say_load(iw_check *check)
{
    const iw_load *load = &check->noise.facts.load;

    say(check, "user programs take %s %% of its CPUs", iwi_short_percent(load->users, 2).text);
    if (load->programs[0] != '\0') {
        say(check, " (%s)", load->programs);
    }
    if (check->is_watched && check->noise.facts.watched_ns > 0.0) {
        say(check, "; they lose %s %% to noise", iwi_short_percent(check->noise.facts.all.share, 2).text);
    } else {
        say(check, "; noise not measured");
    }
}

static void say_doubt(iw_check *check)
{
    const iw_noise_facts *facts = &check->noise.facts;

    if (iwi_is_of_another_node(check)) {
        say(check,
            "not judged, because the settings read are of %.64s; run the check there, or with a copy of its "
            "files",
            check->verify->host);
        return;
    }
    if (is_too_short(facts)) { /* so there is a CPU */
        say(check, "measured for %s s only; at least %g s is needed",
            iwi_short(facts->watched_ns / 1e9 / (double)facts->cpu_count, 2).text,
            IW_CHECK_SHORTEST_NS / 1e9);
        return;
    }
    for (size_t i = 0; i < check->requirement_count; i++) {
        const iw_requirement *requirement = &check->requirements[i];

        if (requirement->state != IW_REQUIREMENT_MET) {
            say(check, "%s: %.160s", requirement->name, requirement->found);
            return;
        }
    }
    for (size_t i = 0; i < check->caveats.count; i++) {
        if (check->caveats.caveats[i].is_known) {
            say(check, "%.200s", check->caveats.caveats[i].text);
            return;
        }
    }
}

static void say_good(iw_check *check)
{
    bool is_first = true;

    say(check,
        check->is_watched ? "running programs lose %s %% to noise" : "loses %s %% of its CPUs to noise",
        iwi_short_percent(check->noise.facts.all.share, 2).text);
    for (size_t i = 0; i < check->job_count; i++) {
        const iw_check_job *job = &check->jobs[i];
        const bool is_bound = iwi_has_most(job);

        if (job->is_done) {
            say(check, "; %s on %s ranks", job->name, iwi_ranks_text(job->ranks, (char[IWI_NUMBER_SIZE]){0}));
            if (is_first) { /* the network is that of all */
                say_net(check, job);
            }
            is_first = false;
            say(check, " %s%s %% slower", is_bound ? "at most " : "",
                iwi_short_percent(is_bound ? job->most_slowdown : job->slowdown.value, 2).text);
        }
    }
}

/* Writes the line for logs of an outcome that has been found. */
static void check_write_line(iw_check *check)
{
    check->line[0] = '\0';
    for (const char *at = iw_check_outcome_name(check->outcome); *at != '\0'; at++) {
        say(check, "%c", toupper((unsigned char)*at));
    }
    say(check, " %.64s: ", iwi_check_node(check));
    switch (check->outcome) {
    case IW_CHECK_CONTRADICTED: say_contradictions(check); break;
    case IW_CHECK_BUSY: say_load(check); break;
    case IW_CHECK_NOISY: say_noisy(check); break;
    case IW_CHECK_UNKNOWN: say_doubt(check); break;
    default: say_good(check); break;
    }
}

/* Which sources are to blame for a node that misses its limits, and what to do against them. */

/* "thread/collectd" */
static void name_source(const iw_source *source, char name[IWI_CULPRIT_SIZE])
{
    snprintf(name, IWI_CULPRIT_SIZE, "%s%s%.64s", iw_class_name(source->kind),
             source->name[0] != '\0' ? "/" : "", source->name);
}

static void blame_largest(const iw_noise_facts *facts, struct iwi_culprit *culprit)
{
    const iw_source *source = &facts->sources[0].source;

    name_source(source, culprit->name);
    culprit->remedy = iw_remedy_of(source->kind, source->name)->how;
    culprit->short_remedy = iw_remedy_of(source->kind, source->name)->name;
}

/* NULL: the name is of no recorded source. */
static const char *short_remedy_of(const iw_noise_facts *facts, const char *name)
{
    char known[IWI_CULPRIT_SIZE];

    for (size_t i = 0; i < facts->source_count; i++) {
        const iw_source *source = &facts->sources[i].source;

        name_source(source, known);
        if (strcmp(known, name) == 0) {
            return iw_remedy_of(source->kind, source->name)->name;
        }
    }
    return NULL;
}

bool iwi_check_culprit(const iw_check *check, struct iwi_culprit *culprit)
{
    const iw_noise_facts *facts = &check->noise.facts;
    bool has_lost = false;

    for (size_t i = 0; i < check->requirement_count; i++) {
        const iw_requirement *missed = &check->requirements[i];
        const iw_check_job *job = find_job(check, missed->name, missed->ranks);

        if (missed->state != IW_REQUIREMENT_MISSED || missed->is_setting) {
            continue;
        }
        if (job != NULL && job->worst[0] != '\0') {
            snprintf(culprit->name, sizeof culprit->name, "%s", job->worst);
            culprit->remedy = job->remedy;
            culprit->short_remedy = short_remedy_of(facts, job->worst);
            return true;
        }
        has_lost |= strcmp(missed->name, IWI_CHECK_LOST) == 0;
    }
    if (!has_lost || !facts->has_sources || facts->source_count == 0) {
        return false;
    }
    blame_largest(facts, culprit);
    return true;
}
