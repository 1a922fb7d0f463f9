/* Any text as a YAML scalar in quotes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_YAML_TEXT_H
#define IWI_YAML_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Writes "TEXT", of which so many bytes are read back at most. What is no UTF-8 is replaced: YAML cannot hold
 * it. */
void iwi_yaml_write_text(FILE *out, const char *text, size_t most_bytes);

#endif
