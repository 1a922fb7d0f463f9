/* Completion for shells, written from the tables of verbs and options.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "options/config.h"
#include "options/verbs.h"

/* "NAME NAME ... " */
static void complete_verb_names(void)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->summary != NULL) {
            (void)printf("%s ", verbs[i]->name);
        }
    }
}

static void complete_subverb_names(const struct verb *verb)
{
    for (size_t i = 0; verb->subverbs[i] != NULL; i++) {
        (void)printf("%s ", verb_last_word(verb->subverbs[i]));
    }
}

/* The choices and known values of an option, as above; nothing where it may be anything. */
static void complete_values(const struct opt *opt)
{
    for (size_t i = 0; opt->type == OPT_CHOICE && opt->choices[i] != NULL; i++) {
        (void)printf("%s ", opt->choices[i]);
    }
    for (size_t i = 0; opt->known != NULL && opt->known(i) != NULL; i++) {
        const char *const text = opt->known(i), *const colon = strchr(text, ':');

        (void)printf("%.*s ", (int)(colon != NULL ? (size_t)(colon + 1 - text) : strlen(text)), text);
    }
}

/* The words before which the value of an option stands, as a pattern of `case`: "    'VERB --NAME'|'VERB
 * -N'". */
static void complete_case(const struct verb *verb, const struct opt *opt)
{
    (void)printf("    '%s --%s'", verb->name, opt->name);
    if (opt->letter != '\0') {
        (void)printf("|'%s -%c'", verb->name, opt->letter);
    }
}

/* Whether its value may be a file. */
static bool complete_takes_file(const struct opt *opt)
{
    return opt->type != OPT_FLAG && strstr(opt->metavar, "FILE") != NULL;
}

/* Calls `visit` for each option of the verb, those of all verbs too. */
static void complete_each_option(const struct verb *verb,
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

/* `text` as it stands between single quotes, where the shell reads `quote` as a quote. */
static void complete_quoted(const char *text, const char *quote)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void)fputs(quote, stdout);
        } else {
            (void)fputc(*text, stdout);
        }
    }
}

/* ======== bash ======== */

/* What may follow one option: its choices, known values, files; or nothing that could be listed. */
static void bash_value_case(const struct verb *verb, const struct opt *opt)
{
    if (opt->type == OPT_FLAG) {
        return;
    }
    complete_case(verb, opt);
    (void)fputs(") COMPREPLY=($(compgen -W '", stdout);
    complete_values(opt);
    (void)printf("'%s -- \"$current\")); return ;;\n", complete_takes_file(opt) ? " -f" : "");
}

static bool bash_value_cases(void *arg, const struct verb *verb)
{
    (void)arg;
    complete_each_option(verb, bash_value_case);
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

/* One for each shell: writes the script. */
static void complete_bash(void)
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
    verb_each(bash_value_cases, NULL);
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

/* ======== fish ======== */

static const char fish_quoted[] = "\\'";

/* complete -c idlewave -n 'CONDITION "VERB"' -a WORD -d 'what it is' */
static void write_word(const char *condition, const char *verb, const char *word, const char *text)
{
    (void)printf("complete -c idlewave -n '%s \"%s\"' -a %s -d '", condition, verb, word);
    complete_quoted(text, fish_quoted);
    (void)fputs("'\n", stdout);
}

/* Two words that are one verb, for __idlewave_is. */
static void write_pairs(void)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        for (size_t k = 0; verbs[i]->subverbs != NULL && verbs[i]->subverbs[k] != NULL; k++) {
            (void)printf(" '%s'", verbs[i]->subverbs[k]->name);
        }
        if (verbs[i]->subverbs != NULL) {
            (void)printf(" 'help %s'", verbs[i]->name);
        }
    }
}

static void fish_verbs(void)
{
    char helped[64];

    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->summary == NULL) {
            continue;
        }
        write_word("__idlewave_is", "", verbs[i]->name, verbs[i]->summary);
        write_word("__idlewave_is_just", "help", verbs[i]->name, verbs[i]->summary);
        (void)snprintf(helped, sizeof helped, "help %s", verbs[i]->name);
        for (size_t k = 0; verbs[i]->subverbs != NULL && verbs[i]->subverbs[k] != NULL; k++) {
            const struct verb *sub = verbs[i]->subverbs[k];

            write_word("__idlewave_is_just", verbs[i]->name, verb_last_word(sub), sub->summary);
            write_word("__idlewave_is_just", helped, verb_last_word(sub), sub->summary);
        }
    }
}

static void fish_option(const struct verb *verb, const struct opt *opt)
{
    char text[OPT_TEXT_SIZE];

    (void)printf("complete -c idlewave -n '__idlewave_is \"%s\"' -l %s", verb->name, opt->name);
    if (opt->letter != '\0') {
        (void)printf(" -s %c", opt->letter);
    }
    if (opt->type != OPT_FLAG) {
        (void)fputs(complete_takes_file(opt) ? " -r -F" : " -x", stdout);
        (void)fputs(" -a '", stdout);
        complete_values(opt);
        (void)fputc('\'', stdout);
    }
    (void)fputs(" -d '", stdout);
    complete_quoted(opt_text(opt->help, opt->lists, text), fish_quoted);
    (void)fputs("'\n", stdout);
}

static bool fish_options(void *arg, const struct verb *verb)
{
    (void)arg;
    (void)printf("complete -c idlewave -n '__idlewave_is \"%s\"' -F -l help -l help-all -d 'show help'\n",
                 verb->name);
    complete_each_option(verb, fish_option);
    return true;
}

static void complete_fish(void)
{
    (void)fputs("# fish completion for idlewave; written by 'idlewave __complete fish'\n"
                "# whether the words before the cursor are of that verb; is_just: and nothing else follows\n"
                "function __idlewave_is\n"
                "    set -l words (commandline -opc)\n"
                "    set -l verb \"$words[2]\"\n"
                "    contains -- \"$words[2] $words[3]\"",
                stdout);
    write_pairs();
    (void)fputs("\n"
                "    and set verb \"$words[2] $words[3]\"\n"
                "    test \"$verb\" = \"$argv[1]\"\n"
                "end\n"
                "function __idlewave_is_just\n"
                "    set -l words (commandline -opc)\n"
                "    test \"$words[2..-1]\" = \"$argv[1]\"\n"
                "end\n"
                "complete -c idlewave -n '__idlewave_is \"\"' -f\n"
                "complete -c idlewave -n '__idlewave_is help' -f\n"
                "complete -c idlewave -n '__idlewave_is \"\"' -l version -l help\n",
                stdout);
    fish_verbs();
    verb_each(fish_options, NULL);
}

/* ======== zsh ======== */

static const char zsh_quoted[] = "'\\''";

/* 'NAME:what it is' */
static void write_described(const char *before, const char *name, const char *text)
{
    (void)printf("        '%s%s:", before, name);
    complete_quoted(text, zsh_quoted);
    (void)fputs("'\n", stdout);
}

static void zsh_verbs(void)
{
    (void)fputs("    local -a verbs=(\n", stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->summary != NULL) {
            write_described("", verbs[i]->name, verbs[i]->summary);
        }
    }
    (void)fputs("    )\n", stdout);
}

/* $subverbs of the word that `help` or the command itself is followed by. */
static void write_subverbs(void)
{
    (void)fputs("    case $word in\n", stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->subverbs != NULL) {
            (void)printf("    %s) subverbs=(\n", verbs[i]->name);
            for (size_t k = 0; verbs[i]->subverbs[k] != NULL; k++) {
                write_described("", verb_last_word(verbs[i]->subverbs[k]), verbs[i]->subverbs[k]->summary);
            }
            (void)fputs("        ) ;;\n", stdout);
        }
    }
    (void)fputs("    esac\n", stdout);
}

static void zsh_value_case(const struct verb *verb, const struct opt *opt)
{
    if (opt->type == OPT_FLAG) {
        return;
    }
    complete_case(verb, opt);
    (void)fputs(") compadd -- ", stdout);
    complete_values(opt);
    (void)printf("%s; return ;;\n", complete_takes_file(opt) ? "; _files" : "");
}

static void zsh_option(const struct verb *verb, const struct opt *opt)
{
    char text[OPT_TEXT_SIZE];

    (void)verb;
    write_described("--", opt->name, opt_text(opt->help, opt->lists, text));
}

static bool zsh_value_cases(void *arg, const struct verb *verb)
{
    (void)arg;
    complete_each_option(verb, zsh_value_case);
    return true;
}

static bool zsh_options(void *arg, const struct verb *verb)
{
    (void)arg;
    (void)printf("    '%s') options=(\n", verb->name);
    write_described("", "--help", "show help");
    write_described("", "--help-all", "show all options");
    complete_each_option(verb, zsh_option);
    (void)fputs("        ) ;;\n", stdout);
    return true;
}

static void complete_zsh(void)
{
    (void)fputs("#compdef idlewave\n"
                "# zsh completion for idlewave; written by 'idlewave __complete zsh'\n"
                "_idlewave() {\n"
                "    local verb=$words[2] word=$words[2] at=$CURRENT\n"
                "    local -a subverbs options\n",
                stdout);
    zsh_verbs();
    (void)fputs("    if (( at == 2 )); then\n"
                "        _describe verb verbs\n"
                "        compadd -- --help --version\n"
                "        return\n"
                "    fi\n"
                "    if [[ $verb == help ]]; then\n"
                "        (( at == 3 )) && { _describe verb verbs; return }\n"
                "        word=$words[3] at=$((at - 1))\n"
                "    fi\n",
                stdout);
    write_subverbs();
    (void)fputs("    if (( at == 3 && $#subverbs )); then\n"
                "        _describe verb subverbs\n"
                "    fi\n"
                "    [[ $verb == help ]] && return\n"
                "    if (( at > 3 )) && [[ -n ${(M)subverbs:#$words[3]:*} ]]; then\n"
                "        verb=\"$verb $words[3]\"\n"
                "    fi\n"
                "    case \"$verb $words[CURRENT-1]\" in\n",
                stdout);
    verb_each(zsh_value_cases, NULL);
    (void)fputs("    esac\n"
                "    case $verb in\n",
                stdout);
    verb_each(zsh_options, NULL);
    (void)fputs(
        "    esac\n"
        "    (( at == 3 && $#subverbs && ! $#options )) && return # nothing but a subverb can follow\n"
        "    case $words[CURRENT] in\n"
        "    -*) _describe option options ;;\n"
        "    *) _files ;;\n"
        "    esac\n"
        "}\n"
        "_idlewave \"$@\"\n",
        stdout);
}

/* ======== the verb ======== */

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
    .description = "Write completion for a shell.",
    .most_arguments = 1,
    .run = run,
};
