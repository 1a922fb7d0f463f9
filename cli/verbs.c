/* The table of verbs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "verbs.h"

#include <string.h>

#include "suggest.h"

const struct verb *const verbs[] = {
    /* as help lists them */
    &verb_record,
    &verb_noise,
    &verb_verify,
    &verb_net,
    &verb_trace,
    &verb_replay,
    &verb_bench,
    &verb_simulate,
    &verb_study,
    &verb_whatif,
    &verb_model,
    &verb_wave,
    &verb_report,
    &verb_schedule,
    &verb_help,
    /* for the build */
    &verb_man,
    &verb_complete,
    NULL,
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

const char *verb_last_word(const struct verb *verb)
{
    const char *space = strrchr(verb->name, ' ');

    return space != NULL ? space + 1 : verb->name;
}

const struct verb *verb_find_sub(const struct verb *verb, const char *word)
{
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        if (strcmp(verb_last_word(verb->subverbs[i]), word) == 0) {
            return verb->subverbs[i];
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

int verb_unknown_sub(const struct ui *ui, const struct verb *verb, const char *word)
{
    struct suggestion suggestion;

    suggest_begin(&suggestion, word);
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        suggest_offer(&suggestion, verb_last_word(verb->subverbs[i]));
    }
    if (suggestion.best != NULL) {
        ui_error(ui, "there is no '%s %s': did you mean '%s %s'?", verb->name, word, verb->name,
                 suggestion.best);
    } else {
        ui_error(ui, "there is no '%s %s'", verb->name, word);
    }
    ui_hint(ui, "'idlewave %s --help' lists what there is", verb->name);
    return UI_USAGE;
}
