/* Defaults of options from configuration files: the site's, the user's, and the one that --config names.
 * docs/reference/configuration.md says which files are read and what they may hold.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CONFIG_H
#define IW_CLI_CONFIG_H

#include "options/config_lines.h"
#include "options/verbs.h"

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
