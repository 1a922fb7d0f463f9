/* Lines of NCCL's Inspector plugin as a format of traces.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "features/explain/arrivals/visits_reader.h"
#include "features/explain/inspector/inspector.h"

static bool is_inspector(const struct iwi_visits_head *head)
{
    static const char mark[] = "\"inspector_output_format_version\"";

    return !head->is_folder && head->size > 0 && head->bytes[0] == '{' &&
           memmem(head->bytes, head->size, mark, sizeof mark - 1) != NULL;
}

#if IW_HAVE_YAJL

static iw_status read_inspector(const iw_log *log, const char *const *paths, size_t count,
                                struct iwi_visits *visits)
{
    struct iwi_inspector all;
    iw_status status = IW_OK;

    iwi_inspector_init(&all, log);
    for (size_t i = 0; status == IW_OK && i < count; i++) {
        status = iwi_inspector_read(&all, paths[i], paths[i], NULL, 0);
    }
    if (status == IW_OK) {
        status = iwi_inspector_fill(&all, visits);
    }
    iwi_inspector_release(&all);
    return status;
}

#else

static iw_status read_inspector(const iw_log *log, const char *const *paths, size_t count,
                                struct iwi_visits *visits)
{
    (void)count;
    (void)visits;
    return iwi_fail(
        log, IW_ERR_UNSUPPORTED,
        "'%s' is JSON of NCCL's Inspector, and this idlewave was built without yajl (libyajl-dev)", paths[0]);
}

#endif

const struct iwi_visits_reader iwi_visits_inspector = {
    .origin = "NCCL Inspector",
    .what = "lines of NCCL's Inspector plugin",
    .is = is_inspector,
    .lacks_pauses = true,
    .read = read_inspector,
};
