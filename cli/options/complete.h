/* What the scripts of all shells are made of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_COMPLETE_H
#define IW_CLI_COMPLETE_H

#include "options/verbs.h"

/* "NAME NAME ... " */
void complete_verb_names(void);
void complete_subverb_names(const struct verb *verb);

/* The choices and known values of an option, as above; nothing where it may be anything. */
void complete_values(const struct opt *opt);

/* Whether its value may be a file. */
bool complete_takes_file(const struct opt *opt);

/* The words before which the value of an option stands, as a pattern of `case`: "    'VERB --NAME'|'VERB
 * -N'". */
void complete_case(const struct verb *verb, const struct opt *opt);

/* Calls `visit` for each option of the verb, those of all verbs too. */
void complete_each_option(const struct verb *verb,
                          void (*visit)(const struct verb *verb, const struct opt *opt));

/* `text` as it stands between single quotes, where the shell reads `quote` as a quote. */
void complete_quoted(const char *text, const char *quote);

/* One for each shell: writes the script. */
void complete_bash(void);
void complete_zsh(void);
void complete_fish(void);

#endif
