/* What a node is set up for against noise, and whether that works.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/verify.h>

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/settings/settings.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- the table ---- */

IWI_NAMED(state_name,
          value < IW_MITIGATION_STATES ? iw_mitigation_state_name((iw_mitigation_state)value) : NULL)
IWI_OF(bool, has_worth, iw_mitigation, it->has_worth)

IWI_OF(bool, has_job, iw_verify, it->job[0] != '\0')

static const struct iwi_field mitigation_fields[] = {
    IWI_VALUE(iw_mitigation, name, .about = "stays the same between versions"),
    IWI_VALUE(iw_mitigation, removes, .about = "what it removes"),
    IWI_ENUM(iw_mitigation, state, "state", state_name),
    IWI_CHARS(iw_mitigation, setting,
              .about = "for people, as are the next two; `CPUS` and `OTHERS` stand for lists that are "
                       "unknown or too long"),
    IWI_CHARS(iw_mitigation, evidence),
    IWI_CHARS(iw_mitigation, advice),
    IWI_VALUE(iw_mitigation, is_felt, .about = "what it removes was seen more often than allowed"),
    IWI_VALUE(iw_mitigation, is_to_do,
              .about = "worth following its advice: contradicted, or not configured and felt"),
    IWI_VALUE(iw_mitigation, seen_hz, .about = "rate of its sources on the worst CPU that should be quiet"),
    IWI_VALUE(iw_mitigation, share,
              .about = "share of the time of these CPUs that its sources took; recordings only"),
    IWI_VALUES(iw_mitigation, sources, source_count,
               .about = "sources of the recording that it removes, as patterns of `whatif --without` and "
                        "`noise cut --drop`"),
    IWI_VALUE(iw_mitigation, has_worth),
    IWI_ESTIMATE(iw_mitigation, worth, .is_there = has_worth,
                 .about = "the job's slowdown now minus that without these sources"),
};
static const struct iwi_schema mitigation_schema = IWI_SCHEMA(iw_mitigation, mitigation_fields);

static const struct iwi_field verify_fields[] = {
    IWI_CHARS(iw_verify, host),
    IWI_CHARS(iw_verify, recorded_host, .about = "node of the recording, if it is another one"),
    IWI_CHARS(iw_verify, kernel),
    IWI_CPUS(iw_verify, online, "cpus", .about = "CPUs online"),
    IWI_CPUS(iw_verify, quiet, "quiet_cpus", .about = "CPUs that should be quiet"),
    IWI_CHARS(iw_verify, quiet_origin, .about = "where that is known from; empty: nowhere"),
    IWI_CHARS(iw_verify, watched, .about = "what it was checked against, for people"),
    IWI_CHARS(iw_verify, job, .about = "job that worths are for; empty: none"),
    IWI_ESTIMATE(iw_verify, slowdown, .is_there = has_job, .about = "of the job now, T/T0 - 1"),
    IWI_VALUES_BY_NAME(iw_verify, counts, state_name, .about = "the exit code is 2 if any is contradicted"),
    IWI_OBJECTS(iw_verify, mitigations, count, mitigation_schema, .is_row = true,
                .about = "by state, then by urgency"),
    IWI_CHARS_LIST(iw_verify, remarks, remark_count, .about = "about the node"),
    IWI_INLINE(iw_verify, caveats, iwi_caveats_schema),
};
const struct iwi_schema iwi_verify_schema = IWI_SCHEMA(iw_verify, verify_fields);

/* ---- the verdict ---- */

static size_t configured_count(const iw_verify *verify)
{
    return verify->counts[IW_MITIGATION_CONTRADICTED] + verify->counts[IW_MITIGATION_EFFECTIVE] +
           verify->counts[IW_MITIGATION_CONFIGURED];
}

static void list_contradicted(struct iwi_document *doc, const iw_verify *verify)
{
    const char *before = " ";

    for (size_t i = 0; i < verify->count; i++) {
        if (verify->mitigations[i].state == IW_MITIGATION_CONTRADICTED) {
            iwi_doc_append(doc, "%s%s", before, verify->mitigations[i].name);
            before = ", ";
        }
    }
    iwi_doc_append(doc, ".");
}

/* What an all-clear would hide. */
static void say_missing(struct iwi_document *doc, const iw_verify *verify)
{
    const size_t absent = verify->counts[IW_MITIGATION_ABSENT],
                 unknown = verify->counts[IW_MITIGATION_UNKNOWN],
                 effective = verify->counts[IW_MITIGATION_EFFECTIVE];

    if (absent > 0) {
        iwi_doc_append(doc, "; %zu %s not configured", absent, absent == 1 ? "is" : "are");
    }
    if (unknown > 0) {
        iwi_doc_append(doc, "%s %zu unknown", absent > 0 ? "," : ";", unknown);
    }
    iwi_doc_append(doc, ".");
    if (verify->watched[0] == '\0') {
        iwi_doc_append(doc, " None was checked against what happens on the node.");
    } else if (effective > 0) {
        iwi_doc_append(doc, " %zu %s seen to be in effect.", effective, effective == 1 ? "was" : "were");
    }
    if (verify->quiet_origin[0] == '\0') {
        iwi_doc_append(doc, " No CPU is set apart for applications.");
    }
}

static void say_verdict(struct iwi_document *doc, const iw_verify *verify)
{
    const size_t contradicted = verify->counts[IW_MITIGATION_CONTRADICTED];
    const size_t configured = configured_count(verify);
    const char *host = strcmp(verify->host, "unknown") == 0 ? "this node" : verify->host;

    if (contradicted > 0) {
        iwi_verdict(doc, "%zu of %zu configured mitigations %s contradicted on %s:", contradicted, configured,
                    contradicted == 1 ? "is" : "are", host);
        list_contradicted(doc, verify);
    } else if (configured == 0) {
        iwi_verdict(doc, "As far as can be seen, %s is not configured against noise.", host);
    } else {
        iwi_verdict(doc, "%zu of %zu mitigations %s configured on %s, none contradicted", configured,
                    verify->count, configured == 1 ? "is" : "are", host);
        say_missing(doc, verify);
    }
    if (verify->recorded_host[0] != '\0') {
        iwi_doc_append(doc, " The recording is of %s, not of %s, and says nothing about %s.",
                       verify->recorded_host, host, host);
    }
}

static void say_basis(struct iwi_document *doc, const iw_verify *verify)
{
    char list[IWI_NUMBER_SIZE];

    iwi_paragraph(doc, "Kernel %s. Checked against %s.", verify->kernel,
                  verify->watched[0] != '\0' ? verify->watched : "nothing (settings only)");
    if (verify->quiet_origin[0] != '\0') {
        iwi_doc_append(doc, " CPUs that should be quiet: %s (%s).",
                       iw_cpu_set_text(&verify->quiet, list, sizeof list), verify->quiet_origin);
    } else {
        iwi_doc_append(doc, " The application's CPUs are unknown.");
    }
}

/* ---- what it is worth to a job ---- */

static void say_job(struct iwi_document *doc, const iw_verify *verify)
{
    char paragraph[IWI_PARAGRAPH_SIZE] = "", range[IWI_RANGE_SIZE], slower[IWI_PHRASE_SIZE];

    if (!isfinite(verify->slowdown.high)) {
        iwi_append_bound(paragraph, verify->slowdown, "it");
        iwi_paragraph(doc, "With this noise, %s%sthe recording is too short for this number of ranks.",
                      verify->job, paragraph);
    } else {
        iwi_paragraph(doc, "With this noise, %s %s without noise", verify->job,
                      iwi_slower_text(verify->slowdown.value, slower));
        if (verify->slowdown.low < verify->slowdown.high) {
            iwi_doc_append(doc, " (mean; 95 %% CI %s)",
                           iwi_slowdown_range_text(verify->slowdown.low, verify->slowdown.high,
                                                   verify->slowdown.value, range));
        }
        iwi_doc_append(doc, ".");
    }
}

static void say_worths(struct iwi_document *doc, const iw_verify *verify)
{
    if (!has_job(verify)) {
        return;
    }
    iwi_section(doc, "worth", "What each mitigation would save the job");
    say_job(doc, verify);
    IWI_TABLE(doc, "Points of slowdown that disappear, in percent of the time without noise",
              {"mitigation", IWI_WORDS}, {"saves", IWI_NUMBER}, {"", IWI_BAR}, {"95 % CI", IWI_WORDS});
    for (size_t i = 0; i < verify->count; i++) {
        const iw_mitigation *m = &verify->mitigations[i];

        if (m->has_worth) {
            const bool is_bound = iwi_is_bound(m->worth);

            iwi_row(doc, m->name, is_bound ? "" : iwi_percent(doc, m->worth.value),
                    is_bound
                        ? iwi_doc_printf(doc, "at least %s", iwi_percent(doc, m->worth.low))
                        : iwi_from_to(doc, iwi_percent(doc, m->worth.low), iwi_percent(doc, m->worth.high)));
            iwi_bar(doc, (iw_estimate){iwi_shown(m->worth), m->worth.low, m->worth.high});
        }
    }
}

/* ---- mitigations ---- */

static const char *seen_text(struct iwi_document *doc, const iw_mitigation *m)
{
    return iwi_doc_printf(doc, "%s%s%s", m->setting,
                          m->setting[0] != '\0' && m->evidence[0] != '\0' ? "; " : "", m->evidence);
}

void iwi_list_mitigations(struct iwi_document *doc, const iw_verify *verify)
{
    iwi_section(doc, "mitigations", "Mitigations");
    IWI_TABLE(doc, "", {"mitigation", IWI_WORDS}, {"state", IWI_WORDS}, {"setting; seen", IWI_WORDS});
    iwi_unfold(doc);
    for (size_t i = 0; i < verify->count; i++) {
        const iw_mitigation *m = &verify->mitigations[i];

        iwi_row(doc, m->name, iw_mitigation_state_name(m->state), seen_text(doc, m));
    }
}

void iwi_list_advice(struct iwi_document *doc, const iw_verify *verify)
{
    bool has_words = false;

    for (size_t i = 0; i < verify->count; i++) {
        const iw_mitigation *m = &verify->mitigations[i];

        if (m->is_to_do) {
            has_words |= strstr(m->advice, "CPUS") != NULL || strstr(m->advice, "OTHERS") != NULL;
            iwi_item(doc, "%s (removes %s): %s", m->name, m->removes, m->advice);
        }
    }
    if (verify->watched[0] == '\0') {
        iwi_item(doc, "Record this node for a minute and verify it against the recording: settings alone do "
                      "not show what happens on its CPUs.");
    }
    if (has_words) {
        iwi_note(doc, "CPUS stands for the application's CPUs, OTHERS for the rest: %s.",
                 verify->quiet_origin[0] == '\0' ? "name the application's CPUs to have both filled in"
                                                 : "the list is too long to show");
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_verify *verify = subject;

    iwi_title(doc, "Noise mitigations on %s", verify->host);
    iwi_say_caveats(doc, &verify->caveats, NULL);
    say_verdict(doc, verify);
    say_basis(doc, verify);
    say_worths(doc, verify);
    iwi_list_mitigations(doc, verify);
    iwi_section(doc, "advice", "What to do, most urgent first");
    iwi_list_advice(doc, verify);
    iwi_section(doc, "certainty", "How sure");
    for (size_t i = 0; i < verify->remark_count; i++) {
        iwi_item(doc, "%s", verify->remarks[i]);
    }
    if (verify->watched[0] != '\0') {
        iwi_item(doc, "A rate counts as too high if chance (a Poisson process) explains it with a "
                      "probability below 0.1 %%, on the worst CPU and corrected for the number of CPUs.");
    }
    iwi_item(doc, "Nothing was changed on the node.");
}

const struct iwi_kind iwi_verify_kind = {
    .name = "verify",
    .schema_id = "idlewave.verify/3",
    .about = "Settings of a node, from `idlewave verify --format json`. CSV has a line per mitigation",
    .older_id = "idlewave.verify/2",
    .schema = &iwi_verify_schema,
    .write_doc = write_doc,
};

IWI_DOC(iw_verify_doc, iw_verify, verify, iwi_verify_kind)

/* ---- for logs ---- */

iw_status iw_verify_write_brief(const iw_log *log, const iw_verify *verify, FILE *out)
{
    char text[IWI_PARAGRAPH_SIZE], plain[IWI_PARAGRAPH_SIZE];

    for (size_t i = 0; i < verify->count; i++) {
        const iw_mitigation *m = &verify->mitigations[i];

        if (m->state == IW_MITIGATION_CONTRADICTED) {
            text[0] = '\0';
            iwi_append(text, "%s: %s contradicted: %s%s%s", verify->host, m->name, m->setting,
                       m->setting[0] != '\0' && m->evidence[0] != '\0' ? "; " : "", m->evidence);
            (void)fprintf(out, "%s\n", iwi_plain_text(text, plain));
        }
    }
    return iwi_check_written(log, out, "the result");
}
