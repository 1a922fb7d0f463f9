/* A made run as execution traces of Chakra, read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_CHAKRA_TESTING_H
#define IWT_CHAKRA_TESTING_H

#include <stdlib.h>

#include "features/explain/chakra/chakra.h"
#include "support/made_chakra.h"
#include "support/support.h"

/* Into `visits`, which it initialises. */
static inline iw_status read_chakra(const iw_log *log, const struct iwt_kineto_run *run,
                                    const struct iwt_chakra *made, struct iwi_visits *visits)
{
    struct iwi_chakra all;
    iw_status status = IW_OK;

    iwi_chakra_init(&all, log);
    iwi_visits_init(visits, log, "Chakra");
    for (uint32_t r = run->ranks; status == IW_OK && r-- > 0;) { /* in whatever order the files come */
        char name[32];
        size_t size;
        char *text = iwt_chakra_text(run, made, r, &size);

        (void)snprintf(name, sizeof name, "dir4/gpt2.%u.et", r);
        status = iwi_chakra_read(&all, NULL, name, text, size);
        free(text);
    }
    if (status == IW_OK) {
        status = iwi_chakra_fill(&all, visits);
    }
    iwi_chakra_release(&all);
    return status;
}

#endif
