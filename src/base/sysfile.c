/* Reads small files of /proc and /sys.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "base/sysfile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static FILE *open_below(const char *root, const char *path)
{
    char whole[PATH_MAX];

    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole) {
        return NULL;
    }
    return fopen(whole, "re");
}

/* Where the text without blanks around it begins; what is behind it is cut off. */
static char *trim(char *text)
{
    static const char blanks[] = " \t\n";
    size_t length;

    text += strspn(text, blanks);
    length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL) {
        length--;
    }
    text[length] = '\0';
    return text;
}

bool iwi_sysfile_line(const char *root, const char *path, char *buf, size_t size)
{
    FILE *in = open_below(root, path);
    char *line = NULL;
    size_t capacity = 0;
    bool is_read;

    buf[0] = '\0';
    if (in == NULL) {
        return false;
    }
    if (getline(&line, &capacity, in) >= 0) {
        snprintf(buf, size, "%s", trim(line));
    }
    is_read = ferror(in) == 0; /* empty files are read, too */
    free(line);
    (void)fclose(in);
    return is_read;
}

/* "key <blanks> separator value": the value, or NULL. */
static char *value_of(char *line, const char *key, char separator)
{
    const size_t length = strlen(key);

    if (strncmp(line, key, length) != 0) {
        return NULL;
    }
    line += length;
    line += separator != ' ' ? strspn(line, " \t") : 0;
    return *line == separator ? trim(line + 1) : NULL;
}

bool iwi_sysfile_value(const char *root, const char *path, const char *key, char separator, char *buf,
                       size_t size)
{
    FILE *in = open_below(root, path);
    char *line = NULL, *value = NULL;
    size_t capacity = 0;

    buf[0] = '\0';
    if (in == NULL) {
        return false;
    }
    while (value == NULL && getline(&line, &capacity, in) >= 0) {
        value = value_of(line, key, separator);
    }
    if (value != NULL) {
        snprintf(buf, size, "%s", value);
    }
    free(line);
    (void)fclose(in);
    return value != NULL;
}
