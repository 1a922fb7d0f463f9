/* Which sources of a recording a user means: names, classes, patterns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/source_filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/recording_head.h"

enum { LIST_SIZE = 400 };

/* A text that is the same fits too, whatever its brackets mean. */
static bool fits_text(const char *pattern, const char *text)
{
    return strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0;
}

/* As tables print it: "irq local_timer", "kernel thread kdamond.0". No pattern: "k*" is not all threads. */
static bool is_printed(const char *text, const iw_source *source)
{
    char printed[IWI_SOURCE_TEXT_SIZE + sizeof "kernel "];

    snprintf(printed, sizeof printed, "kernel %s %s", iw_class_name(source->kind), source->name);
    return strcmp(text, printed + strlen("kernel ")) == 0 ||
           (source->kind == IW_CLASS_THREAD && strcmp(text, printed) == 0);
}

bool iwi_source_fits(const char *pattern, const iw_source *source)
{
    const char *class_name = iw_class_name(source->kind);
    char whole[IWI_SOURCE_TEXT_SIZE];

    snprintf(whole, sizeof whole, "%s/%s", class_name, source->name);
    return fits_text(pattern, class_name) || fits_text(pattern, whole) || is_printed(pattern, source) ||
           (source->name[0] != '\0' && fits_text(pattern, source->name));
}

static iw_status mark(const iw_log *log, const char *name, const iw_recording *recording, const char *pattern,
                      bool value, bool *is_dropped)
{
    char list[LIST_SIZE];
    bool is_found = false;

    for (size_t i = 0; i < recording->source_count; i++) {
        if (iwi_source_fits(pattern, &recording->sources[i])) {
            is_dropped[i] = value;
            is_found = true;
        }
    }
    if (!is_found) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' has no source '%s'; it has %s", name, pattern,
                        iwi_list_sources(recording, list, sizeof list));
    }
    return IW_OK;
}

static iw_status mark_all(const iw_log *log, const char *name, const iw_recording *recording,
                          const iw_cut_opts *opts, bool *is_dropped)
{
    for (size_t i = 0; i < recording->source_count; i++) {
        is_dropped[i] = opts->keep_count > 0;
    }
    for (size_t i = 0; i < opts->keep_count; i++) {
        IW_TRY(mark(log, name, recording, opts->keep[i], false, is_dropped));
    }
    for (size_t i = 0; i < opts->drop_count; i++) {
        IW_TRY(mark(log, name, recording, opts->drop[i], true, is_dropped));
    }
    return IW_OK;
}

iw_status iwi_source_filter(const iw_log *log, const char *name, const iw_recording *recording,
                            const iw_cut_opts *opts, bool **is_dropped_p)
{
    bool *is_dropped;
    iw_status status;

    *is_dropped_p = NULL;
    if (opts->keep_count == 0 && opts->drop_count == 0) {
        return IW_OK;
    }
    is_dropped = iwi_new_array(log, recording->source_count, sizeof *is_dropped);
    if (is_dropped == NULL) {
        return IW_ERR_NOMEM;
    }
    status = mark_all(log, name, recording, opts, is_dropped);
    if (status != IW_OK) {
        free(is_dropped);
        return status;
    }
    *is_dropped_p = is_dropped;
    return IW_OK;
}
