/* Reads small files of /proc and /sys.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/sysfile.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"

/* A value is looked for in lines of at most this many bytes, and in no more of a file: /proc/cpuinfo of 8192
 * CPUs has 16 MB. */
enum { LINE_SIZE = 16384, MOST_BYTES = 1 << 26 };

/* False: it does not fit. */
static bool join(const char *root, const char *path, char whole[PATH_MAX])
{
    return snprintf(whole, PATH_MAX, "%s%s", root, path) < PATH_MAX;
}

/* A pipe in a copied tree would wait for ever. */
FILE *iwi_sysfile_open(const char *root, const char *path)
{
    char whole[PATH_MAX];
    const int fd = join(root, path, whole) ? open(whole, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    struct stat facts;
    FILE *in = NULL;

    if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
        in = fdopen(fd, "r");
    }
    if (fd >= 0 && in == NULL) {
        (void)close(fd);
    }
    return in;
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
    FILE *in = iwi_sysfile_open(root, path);
    const char *text;
    bool is_read;

    buf[0] = '\0';
    if (in == NULL) {
        return false;
    }
    if (fgets(buf, (int)size, in) == NULL) { /* empty files are read, too */
        buf[0] = '\0';
    }
    is_read = ferror(in) == 0;
    text = is_read ? trim(buf) : "";
    memmove(buf, text, strlen(text) + 1);
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
    FILE *in = iwi_sysfile_open(root, path);
    char line[LINE_SIZE], *value = NULL;
    bool is_begin = true;
    size_t bytes = 0;

    buf[0] = '\0';
    if (in == NULL) {
        return false;
    }
    while (value == NULL && bytes < MOST_BYTES && fgets(line, sizeof line, in) != NULL) {
        const size_t length = strlen(line);
        const bool is_end = length > 0 && line[length - 1] == '\n';

        value = is_begin ? value_of(line, key, separator) : NULL;
        is_begin = is_end;
        bytes += sizeof line; /* NUL bytes hide how many there were */
        bytes -= is_end ? sizeof line - length : 0;
    }
    if (value != NULL) {
        snprintf(buf, size, "%s", value);
    }
    (void)fclose(in);
    return value != NULL;
}

long iwi_sysfile_whole(const char *root, const char *path, char *buf, size_t size)
{
    FILE *in = iwi_sysfile_open(root, path);
    size_t length = 0;
    bool is_read;

    buf[0] = '\0';
    if (in == NULL) {
        return -1;
    }
    length = fread(buf, 1, size - 1, in);
    is_read = ferror(in) == 0;
    buf[is_read ? length : 0] = '\0';
    (void)fclose(in);
    return is_read ? (long)length : -1;
}

bool iwi_sysfile_exists(const char *root, const char *path)
{
    char whole[PATH_MAX];

    return join(root, path, whole) && access(whole, F_OK) == 0;
}

bool iwi_sysfile_is_hidden(const char *root, const char *path)
{
    char whole[PATH_MAX];

    return join(root, path, whole) && access(whole, R_OK) != 0 && errno == EACCES;
}

void iwi_sysfile_each(const char *root, const char *path, void (*take)(void *arg, const char *name),
                      void *arg)
{
    char whole[PATH_MAX];
    DIR *folder = join(root, path, whole) ? opendir(whole) : NULL;

    if (folder == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            take(arg, entry->d_name);
        }
    }
    (void)closedir(folder);
}

struct number_taker {
    void (*take)(void *arg, unsigned long number);
    void *arg;
};

static void take_number(void *arg, const char *name)
{
    const struct number_taker *taker = arg;
    char *end;
    const unsigned long number = strtoul(name, &end, 10);

    if (isdigit((unsigned char)name[0]) != 0 && *end == '\0') {
        taker->take(taker->arg, number);
    }
}

void iwi_sysfile_each_number(const char *root, const char *path,
                             void (*take)(void *arg, unsigned long number), void *arg)
{
    struct number_taker taker = {take, arg};

    iwi_sysfile_each(root, path, take_number, &taker);
}
