/* Completion for fish: one rule for each verb, subverb and option, with what help says of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "options/complete.h"

static const char quote[] = "\\'";

/* complete -c idlewave -n 'CONDITION "VERB"' -a WORD -d 'what it is' */
static void write_word(const char *condition, const char *verb, const char *word, const char *text)
{
    (void)printf("complete -c idlewave -n '%s \"%s\"' -a %s -d '", condition, verb, word);
    complete_quoted(text, quote);
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

static void write_verbs(void)
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

static void write_option(const struct verb *verb, const struct opt *opt)
{
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
    complete_quoted(opt->help, quote);
    (void)fputs("'\n", stdout);
}

static bool write_options(void *arg, const struct verb *verb)
{
    (void)arg;
    (void)printf(
        "complete -c idlewave -n '__idlewave_is \"%s\"' -F -l help -l help-all -d 'explain the verb'\n",
        verb->name);
    complete_each_option(verb, write_option);
    return true;
}

void complete_fish(void)
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
    write_verbs();
    verb_each(write_options, NULL);
}
