/* The verbs: one row of a table each. To add one: write cmd_<verb>.c with a `const struct verb verb_<verb>`,
 * declare it here, list it in cli/verbs.c, and add tests/cli/<verb>/. Verbs with subverbs
 * (`noise show`) list them in a table of the same kind; each is found, parsed and explained as a verb is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_VERBS_H
#define IW_CLI_VERBS_H

#include "options/opt.h"

struct example {
    const char *text;    /* "An allreduce on a million ranks, twenty times" */
    const char *command; /* continued lines end with a backslash */
};

/* What people come for, in the order of help. */
enum verb_group { VERB_NODE, VERB_RUN, VERB_PREDICTION, VERB_FILES };

struct verb {
    const char *name; /* of a subverb the whole, "noise show" */
    enum verb_group group;
    const char *summary;         /* an imperative for lists, "run a ... "; NULL: hidden */
    const char *const *synopsis; /* what follows "idlewave VERB", one form each; NULL after the last */
    const char *description;     /* paragraphs, separated by '\n' */
    const char *(*lists[OPT_LISTS])(size_t index); /* what each "{}" of it stands for */
    const char *argument_name, *argument_help;     /* of the one positional argument, or NULL */
    const struct opt_group *groups;
    size_t group_count;
    const char
        *most_used; /* options between blanks, those of --help; the others need --help-all. NULL: all */
    const struct example *examples; /* .command is NULL after the last */
    const void *defaults;           /* what the values begin with */
    size_t values_size;
    size_t most_arguments;
    bool meets_others; /* under a launcher its processes, or what they become, wait for each other in MPI_Init
                        */
    bool takes_command; /* the first argument and all behind it are a command: options end there */
    /* NULL after the last, or NULL. A verb that has them and `run` too runs itself if its first argument is
     * none of them; without `run` it has no options and arguments of its own. */
    const struct verb *const *subverbs;
    /* Returns an exit code. `values` has been parsed. */
    int (*run)(struct ui *ui, const void *values, const struct opt_args *args);
};

/* Options of a verb: an array of groups; the values they begin with, of the type that `run` gets. */
#define VERB_GROUPS(of) .groups = (of), .group_count = sizeof(of) / sizeof((of)[0])
#define VERB_DEFAULTS(of) .defaults = &(of), .values_size = sizeof(of)

extern const struct verb verb_record, verb_simulate, verb_schedule, verb_study, verb_whatif, verb_report,
    verb_noise, verb_net, verb_bench, verb_model, verb_training, verb_wave, verb_trace, verb_explain,
    verb_replay, verb_verify, verb_check, verb_watch, verb_fleet, verb_get, verb_config, verb_help, verb_man,
    verb_complete, verb_schema, verb_options;

/* All verbs, also the hidden ones; NULL after the last. */
extern const struct verb *const verbs[];

/* Verbs and subverbs whose feature is not built; both are NULL after the last. */
struct left_out {
    const char *verb, *feature;
};
extern const struct left_out verbs_left_out[];

/* Calls `visit` for each verb that has options, subverbs too, until it returns false. */
void verb_each(bool (*visit)(void *arg, const struct verb *verb), void *arg);

/* "fleet digest" of "noise digest", a verb that has got another name; NULL for all others. */
const char *verb_new_name(const char *name);

/* NULL for an unknown name. */
const struct verb *verb_find(const char *name);

/* The subverb of that last word ("show"), or NULL. */
const struct verb *verb_find_sub(const struct verb *verb, const char *word);

/* Whether a word is no file, but nearly the name of a subverb. Verbs that take many words take names. */
bool verb_is_misspelt_sub(const struct verb *verb, const char *word);

/* "show" of "noise show". */
const char *verb_last_word(const struct verb *verb);

/* Reports an unknown verb with the nearest one. Returns UI_USAGE. */
int verb_unknown(const struct ui *ui, const char *name);

/* The same for a word that is no subverb, with a list of those that are. */
int verb_unknown_sub(const struct ui *ui, const struct verb *verb, const char *word);

#endif
