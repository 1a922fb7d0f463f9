/* Defaults of options from configuration files: the site's, the user's, and the one that --config names.
 * docs/reference/configuration.md says which files are read and what they may hold.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CONFIG_H
#define IW_CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "options/config.h"
#include "options/verbs.h"

/* ---- its lines: "[verb]", "option = value", and comments that begin with "#" ---- */

/* All texts are parts of the one that was read. */
struct config_line {
    const char *section; /* "simulate"; "" before the first section: for all verbs */
    const char *key, *value;
    size_t number; /* from 1 */
};

struct config_lines {
    struct config_line *all;
    size_t count;
};

enum { CONFIG_FAULT_SIZE = 200 };

/* What is wrong, and in which line. */
struct config_fault {
    char text[CONFIG_FAULT_SIZE];
    size_t number;
};

/* Cuts text[0..size), behind which there is room for one more byte, into lines. false: `fault` says why, and
 * there is nothing to release. */
bool config_lines_read(char *text, size_t size, struct config_lines *lines, struct config_fault *fault);
void config_lines_release(struct config_lines *lines);

/* Options of every verb. */
struct config_opts {
    struct opt_origins origins;
    const char *path;
    bool is_off;
};

enum { CONFIG_ROW_COUNT = 2 };
extern const struct opt config_rows[CONFIG_ROW_COUNT];

struct config_file {
    enum opt_origin origin;
    char *path;
    bool is_there;
    char *text; /* what the lines are parts of */
    struct config_lines lines;
};

enum { CONFIG_MOST_FILES = 3 };

/* A value that has become one of the verb's. */
struct config_use {
    const struct opt *opt;
    const char *value;
    const struct config_file *file;
    const struct config_line *line;
};

struct config {
    struct config_file files[CONFIG_MOST_FILES]; /* those that come first give way to later ones */
    size_t file_count;
    struct config_use *uses;
    size_t use_count;
    char **paths; /* values that were made absolute, or found in a collection */
    size_t path_count;
};

/* Reads the files and checks every line of them. `site` is the path of the site's. Returns UI_DONE or an exit
 * code; `config` is to be released in any case. */
int config_load(struct ui *ui, const struct config_opts *opts, const char *site, struct config *config);
void config_release(struct config *config);

/* Sets the options of `verb` that were not typed, in `values`; config->uses then tells which. */
void config_apply(struct ui *ui, struct config *config, const struct verb *verb, void *values);

/* Frees `text` with the configuration. Returns it. */
const char *config_keep(struct config *config, char *text);

/* "site", "user", "--config" */
const char *config_origin_name(enum opt_origin origin);

#endif
