/* What an edit of recordings has written, for people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include <math.h>

#include "base/base.h"
#include "report/kinds/edit.h"

enum { PATH_COLUMNS = 60, MERGED_COLUMNS = 78, GROUPED_SIZE = 32 };

/* "4,001" */
static const char *grouped(uint64_t count, char buf[GROUPED_SIZE])
{
    char *at = &buf[GROUPED_SIZE - 1];
    int digits = 0;

    *at = '\0';
    do {
        if (digits > 0 && digits % 3 == 0) {
            *--at = ',';
        }
        *--at = (char)('0' + count % 10);
        count /= 10;
        digits++;
    } while (count > 0);
    return at;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ", 60 s each"; without an "each" for a single CPU, with both ends where lengths differ. */
static void append_length(char *paragraph, const iw_recording *recording)
{
    int64_t least_ns = INT64_MAX, most_ns = 0;
    char least[IWI_NUMBER_SIZE], most[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < recording->cpu_count; i++) {
        least_ns = iwi_min(least_ns, recording->cpus[i].length_ns);
        most_ns = iwi_max(most_ns, recording->cpus[i].length_ns);
    }
    iwi_ns_round_text((double)least_ns, least);
    iwi_ns_round_text((double)most_ns, most);
    if (recording->cpu_count == 1) {
        iwi_append(paragraph, ", %s", most);
    } else if (least_ns == most_ns) {
        iwi_append(paragraph, ", %s each", most);
    } else {
        iwi_append(paragraph, ", %s to %s each", least, most);
    }
}

/* "kept 812 of 4,001 detours on 2 of 4 CPUs" */
static void append_kept(char *paragraph, const iw_edit *edit, const iw_edit *after, bool is_quanta)
{
    char kept[GROUPED_SIZE], all[GROUPED_SIZE];
    const uint64_t before = is_quanta ? edit->sample_count : edit->detour_count;

    iwi_append(paragraph, "kept %s of %s %s%s on %zu of %zu CPU%s",
               grouped(is_quanta ? after->sample_count : after->detour_count, kept), grouped(before, all),
               is_quanta ? "sample" : "detour", plural(before), after->cpu_count, edit->cpu_count,
               plural(edit->cpu_count));
}

static void append_action(char *paragraph, const iw_edit *edit, const iw_recording *recording)
{
    const bool is_quanta = recording->probe != IW_PROBE_SELFISH;
    const iw_edit after = iwi_edit_after(recording);
    const uint64_t count = is_quanta ? after.sample_count : after.detour_count;
    char number[GROUPED_SIZE];

    if (edit->kind == IW_EDIT_CUT) {
        append_kept(paragraph, edit, &after, is_quanta);
    } else {
        iwi_append(paragraph, "%s %s%s on %zu CPU%s", grouped(count, number), is_quanta ? "sample" : "detour",
                   plural(count), after.cpu_count, plural(after.cpu_count));
    }
    if (edit->kind == IW_EDIT_MERGE) {
        iwi_append(paragraph, " of %zu recording%s", edit->recording_count, plural(edit->recording_count));
    } else if (edit->kind == IW_EDIT_APPEND) {
        iwi_append(paragraph, ", %zu recording%s one behind the other", edit->recording_count,
                   plural(edit->recording_count));
    }
    append_length(paragraph, recording);
    iwi_append(paragraph, ".");
}

static void append_noise(char *paragraph, const iw_edit *edit, const iw_recording *recording,
                         const iw_noise_facts *facts)
{
    const double before = iwi_edit_share(edit, recording);
    char now[IWI_NUMBER_SIZE], then[IWI_NUMBER_SIZE], longest[IWI_NUMBER_SIZE];

    iwi_append(paragraph, " Noise takes %s of the time", iwi_share_text(facts->all.share, now));
    if (isfinite(before) && edit->kind == IW_EDIT_CUT) {
        iwi_append(paragraph, " (%s before)", iwi_share_text(before, then));
    }
    if (facts->all.max_ns > 0.0) {
        iwi_append(paragraph,
                   recording->probe == IW_PROBE_SELFISH ? "; the longest detour takes %s"
                                                        : "; the worst sample lost %s",
                   iwi_ns_round_text(facts->all.max_ns, longest));
    }
    iwi_append(paragraph, ".");
}

/* What else one should know. */
static void append_remarks(char *paragraph, const iw_edit *edit, const iw_recording *recording)
{
    const char *merged = iw_recording_get(recording, "merged");
    char number[GROUPED_SIZE], plain[IWI_NAME_SIZE];

    if (edit->too_short > 0) {
        iwi_append(paragraph, " %s shorter detour%s %s below the threshold and left out.",
                   grouped(edit->too_short, number), plural(edit->too_short),
                   edit->too_short == 1 ? "is" : "are");
    }
    if (edit->renumbered > 0 && merged != NULL) {
        iwi_append(paragraph, " %s CPU%s got %s, because others have theirs (%s).",
                   grouped(edit->renumbered, number), plural(edit->renumbered),
                   edit->renumbered == 1 ? "a new number" : "new numbers",
                   iwi_plain_name(merged, MERGED_COLUMNS, plain));
    }
}

iw_status iw_edit_write_text(const iw_log *log, const iw_edit *edit, const iw_recording *recording,
                             const char *path, FILE *out)
{
    char paragraph[IWI_PARAGRAPH_SIZE] = "", name[IWI_NAME_SIZE];
    iw_noise_facts *facts;

    IW_TRY(iw_noise_facts_new(log, recording, IWI_EDIT_LONG_NS, &facts));
    iwi_append(paragraph, "%s: ", iwi_plain_name(path, PATH_COLUMNS, name));
    append_action(paragraph, edit, recording);
    append_noise(paragraph, edit, recording, facts);
    append_remarks(paragraph, edit, recording);
    iw_noise_facts_free(facts);
    iwi_write_wrapped(out, paragraph);
    return iwi_check_written(log, out, "the result");
}
