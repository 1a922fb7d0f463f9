/* The table of verbs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "verbs.h"

#include <string.h>

#include "suggest.h"

const struct verb *const verbs[] = {
    &verb_simulate, &verb_schedule, &verb_help, /* in the order of help texts */
    &verb_man,      &verb_complete, NULL,       /* for the build */
};

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (strcmp(verbs[i]->name, name) == 0) {
            return verbs[i];
        }
    }
    return NULL;
}

int verb_unknown(const struct ui *ui, const char *name)
{
    struct suggestion suggestion;

    suggest_begin(&suggestion, name);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->summary != NULL) {
            suggest_offer(&suggestion, verbs[i]->name);
        }
    }
    if (suggestion.best != NULL) {
        return ui_usage(ui, "there is no verb '%s': did you mean '%s'?", name, suggestion.best);
    }
    return ui_usage(ui, "there is no verb '%s'", name);
}
