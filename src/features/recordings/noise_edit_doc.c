/* What an edit of recordings has written.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/recordings/recordings.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- the table ---- */

IWI_NAMES(edit_name, [IW_EDIT_SYNTH] = "synth", [IW_EDIT_CUT] = "cut", [IW_EDIT_MERGE] = "merge",
          [IW_EDIT_APPEND] = "append")

/* Share of time that was noise before; NaN where it is not known: nothing was before, or there are only
 * samples. */
IWI_OF(double, share_before, iw_edit,
       it->sample_count == 0 && it->watched_ns > 0.0 ? it->busy_ns / it->watched_ns : (double)NAN)

static const struct iwi_field before_fields[] = {
    IWI_VALUE_AS(iw_edit, recording_count, "recordings"),
    IWI_VALUE_AS(iw_edit, cpu_count, "cpus"),
    IWI_VALUE_AS(iw_edit, detour_count, "detours"),
    IWI_VALUE_AS(iw_edit, sample_count, "samples"),
    IWI_VALUE(iw_edit, busy_ns),
    IWI_VALUE(iw_edit, watched_ns),
    IWI_REAL_OF("share", share_before, .about = "null with FWQ and FTQ"),
};
static const struct iwi_schema before_schema = IWI_SCHEMA(iw_edit, before_fields);

IWI_OF(bool, is_cut, iw_edit_report, it->edit.kind == IW_EDIT_CUT && it->edit.sample_count == 0)
IWI_OF(bool, has_before, iw_edit_report, it->edit.kind != IW_EDIT_SYNTH)

static const struct iwi_field edit_fields[] = {
    IWI_ENUM(iw_edit_report, edit.kind, "edit", edit_name),
    IWI_VALUE(iw_edit_report, file, .about = "that was written"),
    {.key = "before",
     .about = "of all inputs; null for synth",
     .type = IWI_T_OBJECT,
     IWI_MEMBER(iw_edit_report, edit),
     .of = &before_schema,
     .is_there = has_before},
    IWI_VALUE_AS(iw_edit_report, edit.kept_count, "kept", .is_there = is_cut, .is_optional = true,
                 .about = "cut: detours of which something is left; there may be more in the file, since "
                          "what was dropped can lie within one"),
    IWI_VALUE_AS(iw_edit_report, edit.too_short, "too_short",
                 .about = "synth: detours below the threshold that were left out"),
    IWI_VALUE_AS(iw_edit_report, edit.renumbered, "renumbered",
                 .about = "merge: CPUs that got new numbers; the attribute `merged` says which"),
    IWI_INLINE(iw_edit_report, noise, iwi_noise_schema),
};
static const struct iwi_schema edit_schema = IWI_SCHEMA(iw_edit_report, edit_fields);

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    return iwi_noise_check(log, name, &((const iw_edit_report *)subject)->noise);
}

/* ---- words ---- */

/* "4,001" */
static const char *grouped(struct iwi_document *doc, uint64_t count)
{
    return iwi_say(doc, "%s", iwi_ranks_text(count, (char[IWI_NUMBER_SIZE]){0}));
}

/* "60 s each"; without an "each" for a single CPU, with both ends where lengths differ. */
static const char *length_of(struct iwi_document *doc, const iw_noise_facts *facts)
{
    int64_t least_ns = INT64_MAX, most_ns = 0;

    for (size_t i = 0; i < facts->cpu_count; i++) {
        least_ns = iwi_min(least_ns, facts->cpus[i].length_ns);
        most_ns = iwi_max(most_ns, facts->cpus[i].length_ns);
    }
    if (least_ns < most_ns) {
        return iwi_say(doc, "%s to %s each", iwi_ns_round(doc, (double)least_ns),
                       iwi_ns_round(doc, (double)most_ns));
    }
    return iwi_say(doc, "%s%s", iwi_ns_round(doc, (double)most_ns), facts->cpu_count == 1 ? "" : " each");
}

/* Files of 0.2 do not say. */
static uint64_t kept_of(const iw_edit *edit, uint64_t count, uint64_t before)
{
    return edit->kept_count > 0 ? edit->kept_count : count < before ? count : before;
}

/* "kept 812 of 4,001 detours on 2 of 4 CPUs" */
static void say_action(struct iwi_document *doc, const iw_edit *edit, const iw_noise_facts *facts)
{
    const bool is_quanta = iw_probe_has_quanta(facts->probe);
    const char *what = is_quanta ? "sample" : "detour", *count = grouped(doc, facts->all.count);

    if (edit->kind == IW_EDIT_CUT) {
        const uint64_t before = is_quanta ? edit->sample_count : edit->detour_count,
                       kept = kept_of(edit, facts->all.count, before);

        iwi_more(doc, "kept %s of %s %s%s on %zu of %zu CPU%s", grouped(doc, kept), grouped(doc, before),
                 what, iwi_s(before), facts->cpu_count, edit->cpu_count, iwi_s(edit->cpu_count));
        if (facts->all.count > kept) {
            iwi_more(doc, ", some of them in two or more pieces (%s)", count);
        }
    } else {
        iwi_more(doc, "%s %s%s on %zu CPU%s", count, what, iwi_s(facts->all.count), facts->cpu_count,
                 iwi_s(facts->cpu_count));
    }
    if (edit->kind == IW_EDIT_MERGE || edit->kind == IW_EDIT_APPEND) {
        iwi_more(doc,
                 edit->kind == IW_EDIT_MERGE ? " of %zu recording%s" : ", %zu recording%s one after another",
                 edit->recording_count, iwi_s(edit->recording_count));
    }
    iwi_more(doc, ", %s.", length_of(doc, facts));
}

static void say_noise(struct iwi_document *doc, const iw_edit *edit, const iw_noise_facts *facts)
{
    iwi_more(doc, " Noise takes %s of the time", iwi_percent_short(doc, facts->all.share));
    if (edit->kind == IW_EDIT_CUT && isfinite(share_before(edit))) {
        iwi_more(doc, " (%s before)", iwi_percent_short(doc, share_before(edit)));
    }
    if (facts->all.max_ns > 0.0) {
        iwi_more(doc, "; the %s %s",
                 !iw_probe_has_quanta(facts->probe) ? "longest detour takes" : "worst sample lost",
                 iwi_ns_round(doc, facts->all.max_ns));
    }
    iwi_more(doc, ".");
}

/* What else one should know. */
static void say_remarks(struct iwi_document *doc, const iw_edit *edit, const iw_noise_facts *facts)
{
    const char *merged = iwi_fact(facts, "merged");

    if (edit->too_short > 0) {
        iwi_more(doc, " %s shorter detour%s %s below the threshold and left out.",
                 grouped(doc, edit->too_short), iwi_s(edit->too_short), edit->too_short == 1 ? "is" : "are");
    }
    if (edit->renumbered > 0 && merged != NULL) {
        iwi_more(doc, " %s CPU%s got %s, because others have theirs (%s).", grouped(doc, edit->renumbered),
                 iwi_s(edit->renumbered), edit->renumbered == 1 ? "a new number" : "new numbers", merged);
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_edit_report *report = subject;
    const iw_noise_facts *facts = &report->noise.facts;

    iwi_title(doc, "Recording %s", report->file);
    iwi_verdict(doc, "%s: ", report->file);
    say_action(doc, &report->edit, facts);
    say_noise(doc, &report->edit, facts);
    say_remarks(doc, &report->edit, facts);
    iwi_noise_figures(doc, &report->noise);
    iwi_only(doc, IWI_ON_PAGES);
    iwi_noise_tables(doc, facts);
    iwi_section(doc, "certainty", "Keep in mind");
    iwi_noise_warnings(doc, facts);
}

const struct iwi_kind iwi_noise_edit_kind = {
    .name = "noise-edit",
    .schema_id = "idlewave.noise-edit/4",
    .about = "A recording that `idlewave noise synth`, `cut` or `merge` wrote, and what it was made of; the "
             "rest is as in `noise`",
    .older_id = "idlewave.noise-edit/3",
    .schema = &edit_schema,
    .write_doc = write_doc,
    .check = check,
};

iw_doc iw_edit_doc(const iw_edit_report *report)
{
    return (iw_doc){&iwi_noise_edit_kind, report};
}
