/* The outcome of a check as one line: "NOISY node07: CPU time lost: 3.4 %, required: at most 1 %".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/short_number.h"
#include "features/check/check_parts.h"
#include "kit/text/words.h"

static void say(iw_check *check, const char *format, ...) IW_PRINTF(2, 3);

static void say(iw_check *check, const char *format, ...)
{
    const size_t used = strlen(check->line);
    va_list args;

    va_start(args, format);
    vsnprintf(check->line + used, sizeof check->line - used, format, args);
    va_end(args);
}

/* " of hdr-fat-tree", of the job of that name; else nothing. */
static void say_net(iw_check *check, const char *name)
{
    char net[IWI_PHRASE_SIZE];

    for (size_t i = 0; i < check->job_count; i++) {
        if (strcmp(check->jobs[i].name, name) == 0 && check->jobs[i].net[0] != '\0') {
            say(check, " of %s", iwi_net_words(check->jobs[i].net, net));
        }
    }
}

/* `before` stands before the first. */
static void say_missed(iw_check *check, bool is_setting, const char *before)
{
    for (size_t i = 0; i < check->requirement_count; i++) {
        const iw_requirement *requirement = &check->requirements[i];

        if (requirement->is_setting == is_setting && requirement->state == IW_REQUIREMENT_MISSED) {
            say(check, "%s%s: %.80s, required: %.80s", before, requirement->name, requirement->found,
                requirement->wanted);
            say_net(check, requirement->name);
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
        say(check, "worst source %s; ", culprit.name);
    }
    say_missed(check, false, "");
    if (has_culprit && culprit.remedy != NULL) {
        say(check, "; remedy: %s", culprit.remedy);
    }
}

static void say_load(iw_check *check)
{
    const iw_load *load = &check->noise.facts.load;

    say(check, "users' programs take %s %% of its CPUs", iwi_short_percent(load->users, 2).text);
    if (load->programs[0] != '\0') {
        say(check, ": %s", load->programs);
    }
    if (check->is_watched && check->noise.facts.watched_ns > 0.0) {
        say(check, "; they lose %s %% to noise", iwi_short_percent(check->noise.facts.all.share, 2).text);
    } else {
        say(check, "; how noisy it is cannot be told");
    }
}

static void say_doubt(iw_check *check)
{
    const iw_noise_facts *facts = &check->noise.facts;

    if (iwi_is_of_another_node(check)) {
        say(check,
            "its settings are not known, those read are of %.64s: check it there, or with a copy of its "
            "files",
            check->verify->host);
        return;
    }
    if (iwi_is_too_short(facts)) { /* so there is a CPU */
        say(check, "%s s were measured, at least %g s is needed",
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
            say(check, "; %s on %" PRIu32 " ranks", job->name, job->ranks);
            if (is_first) { /* the network is that of all */
                say_net(check, job->name);
            }
            is_first = false;
            say(check, " %s%s %% slower", is_bound ? "at most " : "",
                iwi_short_percent(is_bound ? job->most_slowdown : job->slowdown.value, 2).text);
        }
    }
}

void iwi_check_write_line(iw_check *check)
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
