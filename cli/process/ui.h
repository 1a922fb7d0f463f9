/* What people see besides results: messages on stderr, and exit codes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_UI_H
#define IW_CLI_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <idlewave/log.h>

enum ui_exit {
    UI_DONE = 0,
    UI_ERROR = 1,
    UI_NEGATIVE = 2,  /* ran, but the verdict is negative */
    UI_UNDECIDED = 3, /* ran, but there is too little to tell */
    UI_USAGE = 64     /* EX_USAGE of sysexits.h */
};

struct opt_group;
struct progress;
struct config;

struct ui {
    iw_log log;                     /* hand &ui->log to the library */
    const char *verb;               /* "simulate", or NULL outside of verbs */
    const struct opt_group *groups; /* the options of the verb, for messages that name its settings */
    size_t group_count;
    const char *option;        /* the option whose value is being read: "--ranks", or NULL */
    const char *command;       /* that gives the same result, quoted for a shell */
    struct config *config;     /* what configuration files say, or NULL */
    struct progress *progress; /* a bar to wipe before a message, or NULL */
    bool has_mpi;              /* MPI was started: who fails from then on has told the others */
    const bool *is_heard;      /* NULL, or whether this process, of many alike, told an error */
};

void ui_init(struct ui *ui, const char *verb, const char *command);

/* "idlewave: simulate: TEXT" */
void ui_error(const struct ui *ui, const char *format, ...) IW_PRINTF(2, 3);

/* "hint: TEXT": what to do next; of many processes alike only those say it that told the error, and with a ui
 * of NULL all of them. */
void ui_hint(const struct ui *ui, const char *format, ...) IW_PRINTF(2, 3);

/* An error in how the command was called; names the help to read. Returns UI_USAGE. */
int ui_usage(const struct ui *ui, const char *format, ...) IW_PRINTF(2, 3);

/* What was asked for belongs to a feature that this build leaves out. `what`: "watch", "--fleet". Returns
 * UI_ERROR. */
int ui_lacks(const struct ui *ui, const char *what, const char *feature);

/* The line that ends every usage error. */
void ui_see_help(const struct ui *ui);

/* The exit code for a status that has been logged. */
int ui_exit_of(iw_status status);

/* The path without its folders. */
const char *ui_file_name(const char *path);

/* Whether `path` ends so: ".html". */
bool ui_ends_with(const char *path, const char *end);

/* As ui_exit_of(), for values that came straight from the command line: bad ones are usage errors. */
int ui_exit_of_value(const struct ui *ui, iw_status status);

/* A share that an option has: 1%, 0.01. The exit code says whether it is one. */
int ui_parse_share(struct ui *ui, const char *option, const char *text, double *share_p);

/* "text", quoted as JSON is. */
void ui_write_json_string(const char *text, FILE *out);

/* realloc() that ends the program with a message when there is no memory. */
void *ui_grow(void *array, size_t count, size_t element_size);

struct opt_group;

/* Writes a message: `rules` becomes --rules if the verb has that option, 'rules' if it has not. */
void setting_names_write(const struct opt_group *groups, size_t group_count, const char *text, FILE *out);

#endif
