/* Verbs by their names, and words that are none.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options/suggest.h"
#include "options/verbs.h"

void verb_each(bool (*visit)(void *arg, const struct verb *verb), void *arg)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        for (size_t k = 0; verbs[i]->subverbs != NULL && verbs[i]->subverbs[k] != NULL; k++) {
            if (verbs[i]->subverbs[k]->group_count > 0 && !visit(arg, verbs[i]->subverbs[k])) {
                return;
            }
        }
        if (verbs[i]->group_count > 0 && !visit(arg, verbs[i])) {
            return;
        }
    }
}

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

/* ---- words that are none of these ---- */

static const struct {
    const char *old, *now;
} renamed[] = {
    {"noise fleet", "fleet"},
    {"noise digest", "fleet digest"},
    {"noise history", "fleet history"},
    {"waits", "explain --only waits"},
    {"stragglers", "explain --only stragglers"},
};

const char *verb_new_name(const char *name)
{
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        if (strcmp(renamed[i].old, name) == 0) {
            return renamed[i].now;
        }
    }
    return NULL;
}

static int say_new_name(const struct ui *ui, const char *name)
{
    ui_error(ui, "'%s' was renamed: type 'idlewave %s'", name, verb_new_name(name));
    return UI_USAGE;
}

/* What people call it elsewhere. */
static const struct {
    const char *word, *meant;
} synonyms[] = {
    {"analyse", "noise show"},   {"analyze", "noise show"},   {"audit", "verify"},
    {"capture", "record"},       {"concat", "noise merge"},   {"diff", "noise compare"},
    {"export", "noise convert"}, {"download", "get"},         {"fetch", "get"},
    {"fft", "noise spectrum"},   {"generate", "noise synth"}, {"health", "check"},
    {"html", "report"},          {"import", "noise convert"}, {"info", "noise show"},
    {"inject", "replay"},        {"measure", "record"},       {"network", "net"},
    {"nodes", "fleet"},          {"outliers", "fleet"},       {"ping", "net"},
    {"plot", "noise show"},      {"predict", "simulate"},     {"print", "noise show"},
    {"run", "simulate"},         {"stat", "noise show"},      {"stats", "noise show"},
    {"summary", "noise show"},   {"sweep", "study"},          {"view", "noise show"},
};

enum { MEANT_SIZE = 200 };

static void append_meant(char meant[MEANT_SIZE], const char *name)
{
    const size_t used = strlen(meant);

    (void)snprintf(meant + used, MEANT_SIZE - used, "%s'idlewave %s'", used > 0 ? " or " : "", name);
}

static void append_subverbs(char meant[MEANT_SIZE], const char *word)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        const struct verb *sub = verbs[i]->subverbs != NULL ? verb_find_sub(verbs[i], word) : NULL;

        if (sub != NULL) {
            append_meant(meant, sub->name);
        }
    }
}

/* A word that is well known, only not here: "'idlewave noise show'"; "" if it is not. */
static void find_meant(const char *word, char meant[MEANT_SIZE])
{
    meant[0] = '\0';
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
        if (strcmp(synonyms[i].word, word) == 0) {
            append_meant(meant, synonyms[i].meant);
        }
    }
    append_subverbs(meant, word);
}

/* The feature of a verb that this build leaves out; NULL: it leaves out none of that name. */
static const char *feature_left_out(const char *name)
{
    size_t i = 0;

    while (verbs_left_out[i].verb != NULL && strcmp(verbs_left_out[i].verb, name) != 0) {
        i++;
    }
    return verbs_left_out[i].feature;
}

int verb_unknown(const struct ui *ui, const char *name)
{
    struct suggestion suggestion;
    char meant[MEANT_SIZE];

    if (verb_new_name(name) != NULL) {
        return say_new_name(ui, name);
    }
    if (feature_left_out(name) != NULL) {
        return ui_lacks(ui, name, feature_left_out(name));
    }
    suggest_begin(&suggestion, name);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->summary != NULL) {
            suggest_offer(&suggestion, verbs[i]->name);
        }
    }
    find_meant(name, meant);
    if (meant[0] == '\0' && suggestion.best != NULL) {
        append_meant(meant, suggestion.best);
    }
    if (meant[0] != '\0') {
        return ui_usage(ui, "there is no verb '%s': did you mean %s?", name, meant);
    }
    return ui_usage(ui, "there is no verb '%s'", name);
}

bool verb_is_misspelt_sub(const struct verb *verb, const char *word)
{
    struct suggestion suggestion;

    suggest_begin(&suggestion, word);
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        suggest_offer(&suggestion, verb_last_word(verb->subverbs[i]));
    }
    return verb->most_arguments <= 1 && word[0] != '-' && suggestion.best != NULL && access(word, F_OK) != 0;
}

int verb_unknown_sub(const struct ui *ui, const struct verb *verb, const char *word)
{
    const struct verb *other = verb_find(word);
    struct suggestion suggestion;
    char meant[MEANT_SIZE], name[MEANT_SIZE];

    (void)snprintf(name, sizeof name, "%s %s", verb->name, word);
    if (verb_new_name(name) != NULL) {
        return say_new_name(ui, name);
    }
    suggest_begin(&suggestion, word);
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        suggest_offer(&suggestion, verb_last_word(verb->subverbs[i]));
    }
    find_meant(word, meant);
    if (meant[0] == '\0' && (suggestion.best != NULL || other != NULL)) {
        append_meant(meant, other != NULL ? other->name : verb_find_sub(verb, suggestion.best)->name);
    }
    if (meant[0] != '\0') {
        ui_error(ui, "there is no '%s %s': did you mean %s?", verb->name, word, meant);
    } else {
        ui_error(ui, "there is no '%s %s'", verb->name, word);
    }
    ui_hint(ui, "'idlewave %s --help' lists its verbs", verb->name);
    return UI_USAGE;
}
