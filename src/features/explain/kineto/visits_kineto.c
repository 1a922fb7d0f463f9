/* Profiles of PyTorch as a format of traces.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "features/explain/arrivals/visits_reader.h"
#include "features/explain/kineto/kineto.h"

/* Its first members; "traceEvents" may be behind long lists of groups. */
static bool is_kineto(const struct iwi_visits_head *head)
{
    static const char *const marks[] = {"\"traceEvents\"", "\"distributedInfo\"", "\"deviceProperties\"",
                                        "\"baseTimeNanoseconds\""};
    size_t first = 0;

    while (first < head->size && strchr(" \t\r\n", head->bytes[first]) != NULL) {
        first++;
    }
    if (head->is_folder || first == head->size) {
        return false;
    }
    if (head->bytes[first] == '[') { /* of a PyTorch without Kineto: known, to be refused with its reason */
        return memmem(head->bytes, head->size, "\"CPU functions\"", strlen("\"CPU functions\"")) != NULL;
    }
    if (head->bytes[first] != '{') {
        return false;
    }
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (memmem(head->bytes, head->size, marks[i], strlen(marks[i])) != NULL) {
            return true;
        }
    }
    return false;
}

#if IW_HAVE_YAJL

static iw_status read_kineto(const iw_log *log, const char *const *paths, size_t count,
                             struct iwi_visits *visits)
{
    IW_TRY(iwi_kineto_read(log, paths, count, visits));
    return iwi_visits_align(visits);
}

#else

static iw_status read_kineto(const iw_log *log, const char *const *paths, size_t count,
                             struct iwi_visits *visits)
{
    (void)count;
    (void)visits;
    return iwi_fail(
        log, IW_ERR_UNSUPPORTED,
        "'%s' is a profile of PyTorch, which this idlewave was built without: it needs libyajl-dev and "
        "zlib1g-dev when it is built",
        paths[0]);
}

#endif

const struct iwi_visits_reader iwi_visits_kineto = {
    .origin = "Kineto",
    .what = "profiles of PyTorch (Kineto's JSON, one file a rank)",
    .is = is_kineto,
    .read = read_kineto,
};
