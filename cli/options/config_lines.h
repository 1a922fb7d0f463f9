/* The lines of a configuration file: "[verb]", "option = value", and comments that begin with '#'.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CONFIG_LINES_H
#define IW_CLI_CONFIG_LINES_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
