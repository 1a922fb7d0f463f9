/* Completion for bash.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "options/complete.h"

/* What may follow one option: its choices, known values, files; or nothing that could be listed. */
static void write_value_case(const struct verb *verb, const struct opt *opt)
{
    if (opt->type == OPT_FLAG) {
        return;
    }
    complete_case(verb, opt);
    (void)fputs(") COMPREPLY=($(compgen -W '", stdout);
    complete_values(opt);
    (void)printf("'%s -- \"$current\")); return ;;\n", complete_takes_file(opt) ? " -f" : "");
}

static bool write_value_cases(void *arg, const struct verb *verb)
{
    (void)arg;
    complete_each_option(verb, write_value_case);
    return true;
}

static void write_option_name(const struct verb *verb, const struct opt *opt)
{
    (void)verb;
    (void)printf("--%s ", opt->name);
}

static bool write_option_names(void *arg, const struct verb *verb)
{
    (void)arg;
    (void)printf("    '%s') options='--help --help-all ", verb->name);
    complete_each_option(verb, write_option_name);
    (void)fputs("' ;;\n", stdout);
    return true;
}

/* What follows `help`: a verb, then a subverb. */
static void write_help_case(void)
{
    (void)fputs("    if [ \"$verb\" = help ]; then\n"
                "        case $COMP_CWORD:${COMP_WORDS[2]} in\n"
                "        2:*) COMPREPLY=($(compgen -W '",
                stdout);
    complete_verb_names();
    (void)fputs("' -- \"$current\")) ;;\n", stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->subverbs != NULL) {
            (void)printf("        3:%s) COMPREPLY=($(compgen -W '", verbs[i]->name);
            complete_subverb_names(verbs[i]);
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
    complete_subverb_names(verb);
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
    complete_subverb_names(verb);
    (void)fputs("' -- \"$current\"))\n"
                "            return\n"
                "        fi\n"
                "        verb=\"$verb ${COMP_WORDS[2]}\" ;;\n",
                stdout);
}

void complete_bash(void)
{
    (void)fputs("# bash completion for idlewave; written by 'idlewave __complete bash'\n"
                "_idlewave() {\n"
                "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    local verb=${COMP_WORDS[1]} options=\n"
                "    COMPREPLY=()\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        COMPREPLY=($(compgen -W '--help --version ",
                stdout);
    complete_verb_names();
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
