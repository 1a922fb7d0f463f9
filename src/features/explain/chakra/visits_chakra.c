/* Execution traces of Chakra as a format of traces.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "features/explain/arrivals/visits_reader.h"
#include "features/explain/chakra/chakra.h"

/* There is nothing in them that tells them: their names end in .et, and a first message has its length. */
static bool is_chakra(const struct iwi_visits_head *head)
{
    const size_t length = strlen(head->path);
    const bool is_packed = length > 3 && strcmp(head->path + length - 3, ".gz") == 0;
    const size_t end = length - (is_packed ? 3 : 0);

    return !head->is_folder && head->size > 0 && end > 3 && memcmp(head->path + end - 3, ".et", 3) == 0;
}

#if IW_HAVE_CHAKRA

static iw_status read_chakra(const iw_log *log, const char *const *paths, size_t count,
                             struct iwi_visits *visits)
{
    struct iwi_chakra all;
    iw_status status = IW_OK;

    iwi_chakra_init(&all, log);
    for (size_t i = 0; status == IW_OK && i < count; i++) {
        status = iwi_chakra_read(&all, paths[i], paths[i], NULL, 0);
    }
    if (status == IW_OK) {
        status = iwi_chakra_fill(&all, visits);
    }
    iwi_chakra_release(&all);
    return status;
}

#else

static iw_status read_chakra(const iw_log *log, const char *const *paths, size_t count,
                             struct iwi_visits *visits)
{
    (void)count;
    (void)visits;
    return iwi_fail(log, IW_ERR_UNSUPPORTED,
                    "'%s' is an execution trace of Chakra, and this idlewave was built without protobuf-c "
                    "(libprotobuf-c-dev, protobuf-c-compiler) or yajl and zlib (libyajl-dev, zlib1g-dev)",
                    paths[0]);
}

#endif

const struct iwi_visits_reader iwi_visits_chakra = {
    .origin = "Chakra",
    .what = "execution traces of Chakra (.et)",
    .is = is_chakra,
    .lacks_pauses = true,
    .read = read_chakra,
};
