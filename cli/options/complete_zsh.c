/* Completion for zsh: verbs, options and values with what help says of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "options/complete.h"

static const char quote[] = "'\\''";

/* 'NAME:what it is' */
static void write_described(const char *before, const char *name, const char *text)
{
    (void)printf("        '%s%s:", before, name);
    complete_quoted(text, quote);
    (void)fputs("'\n", stdout);
}

static void write_verbs(void)
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

static void write_value_case(const struct verb *verb, const struct opt *opt)
{
    if (opt->type == OPT_FLAG) {
        return;
    }
    complete_case(verb, opt);
    (void)fputs(") compadd -- ", stdout);
    complete_values(opt);
    (void)printf("%s; return ;;\n", complete_takes_file(opt) ? "; _files" : "");
}

static void write_option(const struct verb *verb, const struct opt *opt)
{
    (void)verb;
    write_described("--", opt->name, opt->help);
}

static bool write_value_cases(void *arg, const struct verb *verb)
{
    (void)arg;
    complete_each_option(verb, write_value_case);
    return true;
}

static bool write_options(void *arg, const struct verb *verb)
{
    (void)arg;
    (void)printf("    '%s') options=(\n", verb->name);
    write_described("", "--help", "explain the verb");
    write_described("", "--help-all", "explain all its options");
    complete_each_option(verb, write_option);
    (void)fputs("        ) ;;\n", stdout);
    return true;
}

void complete_zsh(void)
{
    (void)fputs("#compdef idlewave\n"
                "# zsh completion for idlewave; written by 'idlewave __complete zsh'\n"
                "_idlewave() {\n"
                "    local verb=$words[2] word=$words[2] at=$CURRENT\n"
                "    local -a subverbs options\n",
                stdout);
    write_verbs();
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
    verb_each(write_value_cases, NULL);
    (void)fputs("    esac\n"
                "    case $verb in\n",
                stdout);
    verb_each(write_options, NULL);
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
