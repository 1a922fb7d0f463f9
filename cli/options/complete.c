/* Shell completion from the tables: `idlewave __complete bash` writes a script. The build runs it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "options/config.h"

static void write_verb_names(void)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->summary != NULL) {
            (void)printf("%s ", verbs[i]->name);
        }
    }
}

/* What may follow one option: its choices, known values, files; or nothing that could be listed. */
static void write_value_case(const struct verb *verb, const struct opt *opt)
{
    (void)printf("    '%s --%s'", verb->name, opt->name);
    if (opt->letter != '\0') {
        (void)printf("|'%s -%c'", verb->name, opt->letter);
    }
    (void)fputs(") COMPREPLY=($(compgen -W '", stdout);
    for (size_t i = 0; opt->type == OPT_CHOICE && opt->choices[i] != NULL; i++) {
        (void)printf("%s ", opt->choices[i]);
    }
    for (size_t i = 0; opt->known != NULL && opt->known(i) != NULL; i++) {
        (void)printf("%s ", opt->known(i));
    }
    (void)printf("'%s -- \"$current\")); return ;;\n", strstr(opt->metavar, "FILE") != NULL ? " -f" : "");
}

static bool write_option_names(void *arg, const struct verb *verb)
{
    (void)arg;
    (void)printf("    '%s') options='--help ", verb->name);
    for (size_t g = 0; g < verb->group_count; g++) {
        for (size_t i = 0; i < verb->groups[g].count; i++) {
            (void)printf("--%s ", verb->groups[g].rows[i].name);
        }
    }
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        (void)printf("--%s ", config_rows[i].name);
    }
    (void)fputs("' ;;\n", stdout);
    return true;
}

static bool write_value_cases(void *arg, const struct verb *verb)
{
    (void)arg;
    for (size_t g = 0; g < verb->group_count; g++) {
        for (size_t i = 0; i < verb->groups[g].count; i++) {
            if (verb->groups[g].rows[i].type != OPT_FLAG) {
                write_value_case(verb, &verb->groups[g].rows[i]);
            }
        }
    }
    return true;
}

static void write_subverb_names(const struct verb *verb)
{
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        (void)printf("%s ", verb_last_word(verb->subverbs[i]));
    }
}

/* What follows `help`: a verb, then a subverb. */
static void write_help_case(void)
{
    (void)fputs("    if [ \"$verb\" = help ]; then\n"
                "        case $COMP_CWORD:${COMP_WORDS[2]} in\n"
                "        2:*) COMPREPLY=($(compgen -W '",
                stdout);
    write_verb_names();
    (void)fputs("' -- \"$current\")) ;;\n", stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->subverbs != NULL) {
            (void)printf("        3:%s) COMPREPLY=($(compgen -W '", verbs[i]->name);
            write_subverb_names(verbs[i]);
            (void)fputs("' -- \"$current\")) ;;\n", stdout);
        }
    }
    (void)fputs("        esac\n"
                "        return\n"
                "    fi\n",
                stdout);
}

/* The second word of verbs that take either a subverb or arguments. */
static void write_optional_subverb_case(const struct verb *verb)
{
    (void)printf("    %s)\n        case ${COMP_WORDS[2]} in\n", verb->name);
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        (void)printf("        %s) [ \"$COMP_CWORD\" -eq 2 ] || verb='%s' ;;\n",
                     verb_last_word(verb->subverbs[i]), verb->subverbs[i]->name);
    }
    (void)fputs("        esac\n"
                "        if [ \"$COMP_CWORD\" -eq 2 ] && [ \"${current#-}\" = \"$current\" ]; then\n"
                "            COMPREPLY=($(compgen -f -W '",
                stdout);
    write_subverb_names(verb);
    (void)fputs("' -- \"$current\"))\n"
                "            return\n"
                "        fi ;;\n",
                stdout);
}

/* The second word of verbs with subverbs; from there on both words together are the verb. */
static void write_subverb_case(const struct verb *verb)
{
    (void)printf("    %s)\n"
                 "        if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
                 "            COMPREPLY=($(compgen -W '--help ",
                 verb->name);
    write_subverb_names(verb);
    (void)fputs("' -- \"$current\"))\n"
                "            return\n"
                "        fi\n"
                "        verb=\"$verb ${COMP_WORDS[2]}\" ;;\n",
                stdout);
}

static void write_bash(void)
{
    (void)fputs("# bash completion for idlewave; written by 'idlewave __complete bash'\n"
                "_idlewave() {\n"
                "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    local verb=${COMP_WORDS[1]} options=\n"
                "    COMPREPLY=()\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        COMPREPLY=($(compgen -W '--help --version ",
                stdout);
    write_verb_names();
    (void)fputs("' -- \"$current\"))\n"
                "        return\n"
                "    fi\n",
                stdout);
    write_help_case();
    (void)fputs("    case $verb in\n", stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->subverbs != NULL) {
            (verbs[i]->run != NULL ? write_optional_subverb_case : write_subverb_case)(verbs[i]);
        }
    }
    (void)fputs("    esac\n"
                "    case \"$verb $previous\" in\n",
                stdout);
    verb_each(write_value_cases, NULL);
    (void)fputs("    esac\n"
                "    case $verb in\n",
                stdout);
    verb_each(write_option_names, NULL);
    (void)fputs("    esac\n"
                "    case $current in\n"
                "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
                "    *) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
                "    esac\n"
                "}\n"
                "complete -o filenames -F _idlewave idlewave\n",
                stdout);
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    (void)values;
    if (args->count != 1 || strcmp(args->values[0], "bash") != 0) {
        return ui_usage(ui, "completion is written for bash only: idlewave __complete bash");
    }
    write_bash();
    return UI_DONE;
}

static const char *const synopsis[] = {"bash", NULL};

const struct verb verb_complete = {
    .name = "__complete",
    .synopsis = synopsis,
    .description = "Writes completion for a shell.",
    .most_arguments = 1,
    .run = run,
};
