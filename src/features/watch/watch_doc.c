/* What a running job lost: the verdict, where its time went, what took it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/watch.h>

#include "core/base/base.h"
#include "features/recordings/recordings.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- the table ---- */

static const struct iwi_field totals_fields[] = {
    IWI_VALUE(
        iw_watch_totals, wanted_ns,
        .about =
            "a thread of the job ran, or waited after being preempted; summed over CPUs, as all times here"),
    IWI_VALUE(iw_watch_totals, lost_ns, .about = "part of that, in detours"),
    IWI_VALUE(iw_watch_totals, detours),
    IWI_VALUE(iw_watch_totals, run_ns, .about = "threads of the job ran, interruptions included"),
    IWI_VALUE(iw_watch_totals, wait_ns,
              .about = "threads were ready and did not run, for all causes but quotas"),
    IWI_VALUE(iw_watch_totals, wait_own_ns,
              .about = "part of that, while another thread of the job ran: not noise"),
    IWI_VALUE(iw_watch_totals, wait_waking_ns,
              .about = "part of that, after being woken, while the CPU finished other work or served earlier "
                       "ones: not noise"),
    IWI_VALUE(iw_watch_totals, throttled_ns, .about = "threads were stopped by a quota: not noise"),
    IWI_VALUE(iw_watch_totals, steal_unplaced_ns,
              .about = "taken by the hypervisor while the job ran, at unknown moments; not in `lost_ns`"),
    IWI_VALUE(iw_watch_totals, nmi_count),
    IWI_VALUE(iw_watch_totals, nmi_ns,
              .about = "non-maskable interrupts while the job ran; not in `lost_ns`"),
    IWI_VALUE(iw_watch_totals, slices, .about = "times a thread got a CPU"),
    IWI_VALUE(iw_watch_totals, migrations, .about = "times a thread was moved"),
};
static const struct iwi_schema totals_schema = IWI_SCHEMA(iw_watch_totals, totals_fields);

static const struct iwi_field loss_fields[] = {
    IWI_VALUE(iw_watch_losses, detours,
              .about = "dropped for lack of room on their way: in all sums here, but not in the file"),
    IWI_VALUE(iw_watch_losses, time_ns),
    IWI_VALUE(iw_watch_losses, parts,
              .about = "of detours with more than 15 sources: counted as `other`, class `unknown`"),
    IWI_VALUE(iw_watch_losses, names,
              .about = "sources beyond the 1,024 names of the table: counted as `other`"),
    IWI_VALUE(iw_watch_losses, threads,
              .about = "of the job, dropped for lack of room: what they lost is not seen"),
    IWI_VALUE(iw_watch_losses, skipped,
              .about = "kernel events that were not seen: those that came while the same program ran on that "
                       "CPU, and switches that the next event shows to be missing. The time in between is "
                       "attributed to no source"),
};
static const struct iwi_schema losses_schema = IWI_SCHEMA(iw_watch_losses, loss_fields);

static const struct iwi_field source_fields[] = {
    IWI_INLINE(iw_watch_source, source, iwi_source_schema),
    IWI_VALUE(iw_watch_source, count, .about = "detours that it is part of"),
    IWI_VALUE(iw_watch_source, time_ns),
    IWI_VALUE_ARRAY(iw_watch_source, slots,
                    .about = "slot k counts parts of at least 2^k and less than 2^(k+1) ns"),
};
static const struct iwi_schema source_schema = IWI_SCHEMA(iw_watch_source, source_fields);

static const struct iwi_field cpu_fields[] = {
    IWI_VALUE(iw_watch_cpu, cpu),
    IWI_VALUE(iw_watch_cpu, wanted_ns),
    IWI_VALUE(iw_watch_cpu, lost_ns),
    IWI_VALUE(iw_watch_cpu, detours),
    IWI_VALUE(iw_watch_cpu, is_kept, .about = "included in the file"),
};
static const struct iwi_schema cpu_schema = IWI_SCHEMA(iw_watch_cpu, cpu_fields);

static const struct iwi_field watch_fields[] = {
    IWI_VALUE(iw_watch_result, job, .about = "which job, in words"),
    IWI_VALUE(iw_watch_result, watched_ns),
    IWI_VALUE(iw_watch_result, load_ns, .about = "time until the programs ran in the kernel"),
    IWI_OBJECT(iw_watch_result, totals, totals_schema),
    IWI_OBJECT(iw_watch_result, losses, losses_schema, .about = "all 0 where all was seen"),
    IWI_OBJECTS(iw_watch_result, sources, source_count, source_schema, .about = "the largest first"),
    IWI_OBJECT(iw_watch_result, all, source_schema, .about = "the same for whole detours"),
    IWI_OBJECTS(iw_watch_result, cpus, cpu_count, cpu_schema),
};
static const struct iwi_schema watch_schema = IWI_SCHEMA(iw_watch_result, watch_fields);

static const struct iwi_field report_fields[] = {
    IWI_VALUE(iw_watch_report, file, .about = "the noise file"),
    IWI_INLINE(iw_watch_report, noise, iwi_noise_schema),
    IWI_OBJECT(iw_watch_report, watch, watch_schema,
               .about = "what was counted in the kernel, also what is not in the file"),
};
static const struct iwi_schema report_schema = IWI_SCHEMA(iw_watch_report, report_fields);

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    return iwi_noise_check(log, name, &((const iw_watch_report *)subject)->noise);
}

/* ---- words ---- */

static double share_of(uint64_t part_ns, uint64_t whole_ns)
{
    return whole_ns > 0 ? (double)part_ns / (double)whole_ns : 0.0;
}

static void say_verdict(struct iwi_document *doc, const iw_watch_report *report)
{
    const iw_watch_totals *totals = &report->watch.totals;
    const char *job = iwi_doc_printf(doc, "%s", report->watch.job);

    if (totals->detours == 0) {
        iwi_verdict(doc, "%s lost no CPU in %s.", job, iwi_ns_round(doc, (double)report->watch.watched_ns));
        return;
    }
    iwi_verdict(doc, "%s lost %s of the CPU time that it wanted, in %s detour%s", job,
                iwi_percent(doc, share_of(totals->lost_ns, totals->wanted_ns)),
                iwi_count(doc, totals->detours), iwi_plural_s(totals->detours));
    if (report->noise.facts.all.max_ns > 0.0) {
        iwi_doc_append(doc, "; the longest took %s", iwi_ns_round(doc, report->noise.facts.all.max_ns));
    }
    iwi_doc_append(doc, ".");
}

static const char *of_wanted(struct iwi_document *doc, uint64_t ns, const iw_watch_totals *totals)
{
    return iwi_doc_printf(doc, "%s (%s of it)", iwi_ns_short(doc, (double)ns),
                          iwi_percent_short(doc, share_of(ns, totals->wanted_ns)));
}

/* Not by programs in the kernel: what those count meanwhile is not known. */
static bool is_by_events(const iw_watch_report *report)
{
    return report->noise.facts.attribution != IW_ATTRIBUTION_LEVEL_BPF;
}

/* What is not noise stands apart: nobody took a CPU from the job there. */
static void show_time(struct iwi_document *doc, const iw_watch_report *report)
{
    const iw_watch_result *watch = &report->watch;
    const iw_watch_totals *totals = &watch->totals;

    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_row(doc, "watched", iwi_ns_short(doc, (double)watch->watched_ns));
    iwi_row(doc, "CPUs wanted", iwi_ns_short(doc, (double)totals->wanted_ns));
    iwi_row(doc, "lost to noise", of_wanted(doc, totals->lost_ns, totals));
    iwi_row(doc, "threads ran", iwi_ns_short(doc, (double)totals->run_ns));
    if (!is_by_events(report)) {
        iwi_row(doc, "threads waited", iwi_ns_short(doc, (double)totals->wait_ns));
    }
    iwi_row(doc, is_by_events(report) ? "waited for own threads" : "  for own threads",
            iwi_doc_printf(doc, "%s (not noise)", iwi_ns_short(doc, (double)totals->wait_own_ns)));
    if (totals->wait_waking_ns > 0) {
        iwi_row(doc, "  on waking",
                iwi_doc_printf(doc, "%s (not noise)", iwi_ns_short(doc, (double)totals->wait_waking_ns)));
    }
    if (totals->throttled_ns > 0) {
        iwi_row(doc, "stopped by a quota",
                iwi_doc_printf(doc, "%s (not noise)", iwi_ns_short(doc, (double)totals->throttled_ns)));
    }
    if (!is_by_events(report)) {
        iwi_row(doc, "migrations", iwi_count(doc, totals->migrations));
    }
    iwi_row(doc, "file", report->file);
    iwi_unfold(doc);
}

static void show_sources(struct iwi_document *doc, const iw_watch_result *watch)
{
    char name[IWI_NAME_SIZE];

    if (watch->source_count == 0) {
        return;
    }
    iwi_section(doc, "sources", "What took the CPUs");
    IWI_TABLE(doc, "", {"source", IWI_WORDS}, {"share", IWI_NUMBER}, {"time", IWI_NUMBER},
              {"times", IWI_NUMBER}, {"mean", IWI_NUMBER});
    for (size_t i = 0; i < watch->source_count; i++) {
        const iw_watch_source *source = &watch->sources[i];
        const char *of = iwi_plain_name(source->source.name, 40, name);

        iwi_row(doc,
                iwi_doc_printf(doc, "%s%s%s",
                               source->source.kind == IW_CLASS_UNKNOWN ? "other"
                                                                       : iw_class_name(source->source.kind),
                               of[0] != '\0' ? " " : "", of),
                iwi_percent_short(doc, share_of(source->time_ns, watch->totals.wanted_ns)),
                iwi_ns_short(doc, (double)source->time_ns), iwi_count(doc, source->count),
                iwi_ns_short(doc, (double)source->time_ns / fmax((double)source->count, 1.0)));
    }
}

static void say_losses(struct iwi_document *doc, const iw_watch_losses *losses)
{
    if (losses->detours > 0) {
        iwi_item(doc,
                 "%s detour%s with a total of %s %s missing in the file for lack of room, but %s in all "
                 "sums here; raise the threshold.",
                 iwi_count(doc, losses->detours), iwi_plural_s(losses->detours),
                 iwi_ns_short(doc, (double)losses->time_ns), losses->detours == 1 ? "is" : "are",
                 losses->detours == 1 ? "is" : "are");
    }
    if (losses->names + losses->parts > 0) {
        iwi_item(doc, "%s small source%s summed as 'other'.", iwi_count(doc, losses->names + losses->parts),
                 losses->names + losses->parts == 1 ? " is" : "s are");
    }
    if (losses->threads > 0) {
        iwi_item(doc,
                 "%s time%s a thread of the job was not followed for lack of room; its losses are not seen.",
                 iwi_count(doc, losses->threads), iwi_plural_s(losses->threads));
    }
    if (losses->skipped > 0) {
        iwi_item(doc, "%s kernel event%s not seen; the time up to the next one has no source.",
                 iwi_count(doc, losses->skipped), losses->skipped == 1 ? " was" : "s were");
    }
}

static void say_limits(struct iwi_document *doc, const iw_watch_report *report)
{
    const iw_watch_result *watch = &report->watch;
    size_t left_out = 0;

    for (size_t i = 0; i < watch->cpu_count; i++) {
        left_out += watch->cpus[i].wanted_ns > 0 && !watch->cpus[i].is_kept;
    }
    if (left_out > 0) {
        iwi_item(doc, "%zu %s%s that %s less than half as long as others %s not in the file.", left_out,
                 is_by_events(report) ? "thread" : "CPU", iwi_plural_s(left_out),
                 is_by_events(report) ? "wanted a CPU" : "the job wanted", left_out == 1 ? "is" : "are");
    }
    if (watch->totals.steal_unplaced_ns > 0) {
        iwi_item(doc, "The hypervisor took another %s while the job ran, at unknown moments.",
                 iwi_ns_short(doc, (double)watch->totals.steal_unplaced_ns));
    }
    if (watch->totals.nmi_count > 0) {
        iwi_item(doc, "%s non-maskable interrupt%s, %s in total, %s not among the detours.",
                 iwi_count(doc, watch->totals.nmi_count), iwi_plural_s(watch->totals.nmi_count),
                 iwi_ns_short(doc, (double)watch->totals.nmi_ns),
                 watch->totals.nmi_count == 1 ? "is" : "are");
    }
    if (is_by_events(report)) {
        iwi_item(doc, "Watched by trace events: rows that stand for CPUs elsewhere stand for threads of the "
                      "job here; waits after being woken, quotas and the hypervisor are not seen.");
    }
    iwi_item(doc, "Only time that the kernel accounts for is seen, without its entry and exit, and without "
                  "what firmware and hypervisor take unnoticed. On an empty node 'record' shows these too.");
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_watch_report *report = subject;

    iwi_title(doc, "Noise of %s on %s", report->watch.job, iwi_noise_host(&report->noise));
    iwi_subtitle(doc, "%s", report->file);
    say_verdict(doc, report);
    iwi_noise_figures(doc, &report->noise);
    show_time(doc, report);
    show_sources(doc, &report->watch);
    iwi_only_in(doc, IWI_ON_PAGES);
    iwi_noise_tables(doc, &report->noise.facts);
    iwi_only_in(doc, IWI_EVERYWHERE);
    iwi_section(doc, "certainty", "How sure");
    say_losses(doc, &report->watch.losses);
    say_limits(doc, report);
}

const struct iwi_kind iwi_watch_kind = {
    .name = "watch",
    .schema_id = "idlewave.watch/3",
    .about = "A watched job, from `idlewave watch --format json`",
    .older_id = "idlewave.watch/2",
    .schema = &report_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_watch_doc, iw_watch_report, report, iwi_watch_kind)

iw_status iw_watch_report_init(const iw_log *log, const iw_watch_result *result, const char *file,
                               iw_watch_report *report)
{
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;

    opts.name = file;
    IW_TRY(iw_noise_report_init(log, result->recording, &opts, &report->noise));
    report->file = file;
    report->watch = *result;
    return IW_OK;
}
