/* What a node is set up for, for people: the verdict, a table, what to do.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/verify.h>

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/reach_report.h"
#include "report/kinds/verify_report.h"

enum { NAME_COLUMNS = 21, STATE_COLUMNS = 15, HOST_COLUMNS = 40 };

size_t iwi_verify_configured(const iw_verify *verify)
{
    return verify->counts[IW_MITIGATION_CONTRADICTED] + verify->counts[IW_MITIGATION_EFFECTIVE] +
           verify->counts[IW_MITIGATION_CONFIGURED];
}

/* "nohz_full, IRQ affinity": contradicted ones come first. */
static void append_contradicted(char *paragraph, const iw_verify *verify)
{
    for (size_t i = 0; i < verify->counts[IW_MITIGATION_CONTRADICTED]; i++) {
        iwi_append(paragraph, "%s%s", i > 0 ? ", " : "", verify->mitigations[i].name);
    }
}

/* "; 10 are not, 2 cannot be told": what an all-clear would hide. */
static void append_missing(char *paragraph, const iw_verify *verify)
{
    const size_t absent = verify->counts[IW_MITIGATION_ABSENT],
                 unknown = verify->counts[IW_MITIGATION_UNKNOWN];

    if (absent > 0) {
        iwi_append(paragraph, "; %zu %s not configured", absent, absent == 1 ? "is" : "are");
    }
    if (unknown > 0) {
        iwi_append(paragraph, "%s %zu cannot be told", absent > 0 ? "," : ";", unknown);
    }
    iwi_append(paragraph, ".");
}

static void append_checked(char *paragraph, const iw_verify *verify)
{
    const size_t effective = verify->counts[IW_MITIGATION_EFFECTIVE];

    if (verify->watched[0] == '\0') {
        iwi_append(paragraph, " None was checked against what happens there.");
    } else if (effective > 0) {
        iwi_append(paragraph, " %zu %s seen to be in effect.", effective, effective == 1 ? "was" : "were");
    }
    if (verify->quiet_origin[0] == '\0') {
        iwi_append(paragraph, " No CPU is set apart for applications.");
    }
}

static void append_judgement(char *paragraph, const iw_verify *verify, const char *host)
{
    const size_t contradicted = verify->counts[IW_MITIGATION_CONTRADICTED];
    const size_t configured = iwi_verify_configured(verify);

    if (contradicted > 0) {
        iwi_append(paragraph, "%zu of %zu configured mitigations %s contradicted on %s: ", contradicted,
                   configured, contradicted == 1 ? "is" : "are", host);
        append_contradicted(paragraph, verify);
        iwi_append(paragraph, ".");
        return;
    }
    if (configured == 0) {
        iwi_append(paragraph, "As far as can be told, %s is not set up against noise.", host);
        return;
    }
    iwi_append(paragraph, "%zu of %zu mitigations %s configured on %s, none contradicted", configured,
               verify->count, configured == 1 ? "is" : "are", host);
    append_missing(paragraph, verify);
    append_checked(paragraph, verify);
}

void iwi_verify_verdict(const iw_verify *verify, char paragraph[IWI_PARAGRAPH_SIZE])
{
    char host[IWI_NAME_SIZE], other[IWI_NAME_SIZE];

    paragraph[0] = '\0';
    (void)iwi_plain_name(strcmp(verify->host, "unknown") == 0 ? "this node" : verify->host, HOST_COLUMNS,
                         host);
    append_judgement(paragraph, verify, host);
    if (verify->recorded_host[0] != '\0') {
        iwi_append(paragraph, " But the recording is of %s, not of %s: what was seen tells nothing about %s.",
                   iwi_plain_name(verify->recorded_host, HOST_COLUMNS, other), host, host);
    }
}

static void write_basis(FILE *out, const iw_verify *verify)
{
    char paragraph[IWI_PARAGRAPH_SIZE] = "", list[IWI_NUMBER_SIZE], kernel[IWI_NAME_SIZE];

    iwi_append(paragraph, "Kernel %s. Checked against %s.",
               iwi_plain_name(verify->kernel, HOST_COLUMNS, kernel),
               verify->watched[0] != '\0' ? verify->watched : "nothing: settings only");
    if (verify->quiet_origin[0] != '\0') {
        iwi_append(paragraph, " CPUs that are to be quiet: %s, %s.",
                   iw_cpu_set_text(&verify->quiet, list, sizeof list), verify->quiet_origin);
    } else {
        iwi_append(paragraph, " The application's CPUs are not known: name them by --cpus.");
    }
    iwi_write_wrapped(out, paragraph);
}

/* In percent, three digits: "1.20", "15.3", "2677". */
static const char *digits_text(double share, char buf[IWI_NUMBER_SIZE])
{
    const double percent = 100.0 * share;

    snprintf(buf, IWI_NUMBER_SIZE, "%.*f", fabs(percent) < 10.0 ? 2 : (fabs(percent) < 100.0 ? 1 : 0),
             percent);
    return buf;
}

/* "worth 1.20 % (0.90 to 1.52 %)", on a line of its own; beyond the reach of the recording "worth at least".
 */
static void write_worth(FILE *out, const iw_mitigation *m)
{
    char value[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (m->has_worth && isinf(m->worth.high)) {
        (void)fprintf(out, "%*sworth at least %s %%\n", NAME_COLUMNS + STATE_COLUMNS, "",
                      digits_text(m->worth.low, low));
    } else if (m->has_worth) {
        (void)fprintf(out, "%*sworth %s %% (%s to %s %%)\n", NAME_COLUMNS + STATE_COLUMNS, "",
                      digits_text(m->worth.value, value), digits_text(m->worth.low, low),
                      digits_text(m->worth.high, high));
    }
}

static void write_row(FILE *out, const iw_mitigation *m)
{
    char text[IWI_PARAGRAPH_SIZE] = "", plain[IWI_PARAGRAPH_SIZE];

    iwi_append(text, "%s%s%s", m->setting, m->setting[0] != '\0' && m->evidence[0] != '\0' ? "; " : "",
               m->evidence);
    (void)fprintf(out, "%-*s %-*s", NAME_COLUMNS - 1, m->name, text[0] != '\0' ? STATE_COLUMNS : 0,
                  iw_mitigation_state_name(m->state));
    iwi_write_wrapped_after(out, iwi_plain_text(text, plain), NAME_COLUMNS + STATE_COLUMNS,
                            NAME_COLUMNS + STATE_COLUMNS);
    write_worth(out, m);
}

static void write_job(FILE *out, const iw_verify *verify)
{
    char paragraph[IWI_PARAGRAPH_SIZE] = "", slower[IWI_PHRASE_SIZE], range[IWI_RANGE_SIZE];

    if (verify->job[0] == '\0') {
        return;
    }
    if (isinf(verify->slowdown.high)) {
        iwi_append(paragraph, "With this noise %s", verify->job);
        iwi_append_bound(paragraph, verify->slowdown, "it");
        iwi_append(paragraph, "the recording cannot show what so many ranks meet; longer ones can.");
    } else {
        iwi_append(paragraph, "With this noise %s %s without (mean; 95 %% CI %s).", verify->job,
                   iwi_slower_text(verify->slowdown.value, slower),
                   iwi_slowdown_range_text(verify->slowdown.low, verify->slowdown.high, range));
    }
    iwi_write_wrapped(out, paragraph);
}

static void write_table(FILE *out, const iw_verify *verify)
{
    (void)fprintf(out, "\n%-*s %-*s%s\n", NAME_COLUMNS - 1, "mitigation", STATE_COLUMNS, "state",
                  "setting; seen");
    for (size_t i = 0; i < verify->count; i++) {
        write_row(out, &verify->mitigations[i]);
    }
}

bool iwi_verify_is_to_do(const iw_mitigation *m)
{
    if (m->advice[0] == '\0' || (m->has_worth && m->state == IW_MITIGATION_ABSENT && m->worth.low <= 0.0)) {
        return false;
    }
    return m->state == IW_MITIGATION_CONTRADICTED || (m->state == IW_MITIGATION_ABSENT && m->is_felt);
}

static void write_advice(FILE *out, const iw_verify *verify)
{
    char text[IWI_PARAGRAPH_SIZE], plain[IWI_PARAGRAPH_SIZE];
    bool is_begun = false, has_words = false;

    for (size_t i = 0; i < verify->count; i++) {
        const iw_mitigation *m = &verify->mitigations[i];

        if (iwi_verify_is_to_do(m)) {
            has_words |= strstr(m->advice, "CPUS") != NULL || strstr(m->advice, "OTHERS") != NULL;
            (void)fputs(is_begun ? "" : "\nWhat to do, the worst first:\n", out);
            is_begun = true;
            text[0] = '\0';
            iwi_append(text, "%s (%s): %s", m->name, m->removes, m->advice);
            iwi_write_item(out, iwi_plain_text(text, plain));
        }
    }
    if (has_words) {
        iwi_write_wrapped(out,
                          verify->quiet_origin[0] == '\0'
                              ? "CPUS are the application's, OTHERS the rest: with --cpus they are filled in."
                              : "CPUS are the application's, OTHERS the rest: too long a list to show.");
    }
    if (verify->watched[0] == '\0') {
        (void)fputs(is_begun ? "" : "\nWhat to do:\n", out);
        iwi_write_item(out, "see what happens on the CPUs: idlewave record --duration 60s -o node.h5, then "
                            "idlewave verify node.h5");
    }
}

static void write_notes(FILE *out, const iw_verify *verify)
{
    char plain[IWI_PARAGRAPH_SIZE];

    (void)fputs("\nHow sure:\n", out);
    for (size_t i = 0; i < verify->note_count; i++) {
        iwi_write_item(out, iwi_plain_text(verify->notes[i], plain));
    }
    if (verify->watched[0] != '\0') {
        iwi_write_item(out,
                       "A rate is above the allowed one where chance (a Poisson process) explains it with a "
                       "probability below 0.1 %, on the worst CPU, corrected for their number.");
    }
    iwi_write_item(out, "Nothing on the node was changed.");
}

iw_status iw_verify_write_text(const iw_log *log, const iw_verify *verify, FILE *out)
{
    char paragraph[IWI_PARAGRAPH_SIZE];

    iwi_verify_verdict(verify, paragraph);
    iwi_write_wrapped(out, paragraph);
    write_basis(out, verify);
    write_job(out, verify);
    write_table(out, verify);
    write_advice(out, verify);
    write_notes(out, verify);
    return iwi_check_written(log, out, "the result");
}

iw_status iw_verify_write_brief(const iw_log *log, const iw_verify *verify, FILE *out)
{
    char text[IWI_PARAGRAPH_SIZE], plain[IWI_PARAGRAPH_SIZE], host[IWI_NAME_SIZE];

    for (size_t i = 0; i < verify->counts[IW_MITIGATION_CONTRADICTED]; i++) {
        const iw_mitigation *m = &verify->mitigations[i];

        text[0] = '\0';
        iwi_append(text, "%s: %s contradicted: %s%s%s", iwi_plain_name(verify->host, HOST_COLUMNS, host),
                   m->name, m->setting, m->setting[0] != '\0' && m->evidence[0] != '\0' ? "; " : "",
                   m->evidence);
        (void)fprintf(out, "%s\n", iwi_plain_text(text, plain));
    }
    return iwi_check_written(log, out, "the result");
}
