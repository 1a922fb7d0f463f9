/* Shell completion from the tables: `idlewave __complete SHELL` writes a script. The build runs it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/complete.h"

#include <stdio.h>
#include <string.h>

#include "options/config.h"

void complete_verb_names(void)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->summary != NULL) {
            (void)printf("%s ", verbs[i]->name);
        }
    }
}

void complete_subverb_names(const struct verb *verb)
{
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        (void)printf("%s ", verb_last_word(verb->subverbs[i]));
    }
}

void complete_values(const struct opt *opt)
{
    for (size_t i = 0; opt->type == OPT_CHOICE && opt->choices[i] != NULL; i++) {
        (void)printf("%s ", opt->choices[i]);
    }
    for (size_t i = 0; opt->known != NULL && opt->known(i) != NULL; i++) {
        (void)printf("%s ", opt->known(i));
    }
}

void complete_case(const struct verb *verb, const struct opt *opt)
{
    (void)printf("    '%s --%s'", verb->name, opt->name);
    if (opt->letter != '\0') {
        (void)printf("|'%s -%c'", verb->name, opt->letter);
    }
}

bool complete_takes_file(const struct opt *opt)
{
    return opt->type != OPT_FLAG && strstr(opt->metavar, "FILE") != NULL;
}

void complete_each_option(const struct verb *verb,
                          void (*visit)(const struct verb *verb, const struct opt *opt))
{
    for (size_t g = 0; g < verb->group_count; g++) {
        for (size_t i = 0; i < verb->groups[g].count; i++) {
            visit(verb, &verb->groups[g].rows[i]);
        }
    }
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        visit(verb, &config_rows[i]);
    }
}

void complete_quoted(const char *text, const char *quote)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void)fputs(quote, stdout);
        } else {
            (void)fputc(*text, stdout);
        }
    }
}

static const struct {
    const char *name;
    void (*write)(void);
} shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    (void)values;
    for (size_t i = 0; args->count == 1 && i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(args->values[0], shells[i].name) == 0) {
            shells[i].write();
            return UI_DONE;
        }
    }
    return ui_usage(ui, "completion is written for bash, zsh and fish: idlewave __complete zsh");
}

static const char *const synopsis[] = {"bash|zsh|fish", NULL};

const struct verb verb_complete = {
    .name = "__complete",
    .synopsis = synopsis,
    .description = "Writes completion for a shell.",
    .most_arguments = 1,
    .run = run,
};
