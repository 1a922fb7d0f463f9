/* A folder of its own for each process that fuzzes, and several files in one input.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In an input, "\n@@N\n" begins file N of the target's list of names, N being 0 to 9, then a to z; what is
 * before the first such line is left out. make_corpus.py packs real folders like this.
 */
#ifndef IWT_FUZZ_FOLDER_H
#define IWT_FUZZ_FOLDER_H

#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

enum { IWT_FUZZ_PATH_SIZE = 256, IWT_FUZZ_MARK_SIZE = 5 };

static char iwt_fuzz_folder_path[] = "/dev/shm/iw_fuzz_XXXXXX";

static inline int iwt_fuzz_remove_one(const char *path, const struct stat *info, int flag, struct FTW *place)
{
    (void)info;
    (void)flag;
    return place->level > 0 ? remove(path) : 0;
}

static inline void iwt_fuzz_empty(const char *folder)
{
    iwt_fuzz_require(nftw(folder, iwt_fuzz_remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

static inline void iwt_fuzz_remove_folder(void)
{
    iwt_fuzz_empty(iwt_fuzz_folder_path);
    (void)rmdir(iwt_fuzz_folder_path);
}

/* Made by the first call, in memory; removed when the process ends well. */
static inline const char *iwt_fuzz_folder(void)
{
    static bool is_made;

    if (!is_made) {
        is_made = true;
        iwt_fuzz_require(mkdtemp(iwt_fuzz_folder_path) != NULL && atexit(iwt_fuzz_remove_folder) == 0);
    }
    return iwt_fuzz_folder_path;
}

/* The path of a file of the folder. */
static inline const char *iwt_fuzz_path(const char *name, char path[IWT_FUZZ_PATH_SIZE])
{
    (void)snprintf(path, IWT_FUZZ_PATH_SIZE, "%s/%s", iwt_fuzz_folder(), name);
    return path;
}

static inline void iwt_fuzz_make_folder(const char *name)
{
    char path[IWT_FUZZ_PATH_SIZE];

    iwt_fuzz_require(mkdir(iwt_fuzz_path(name, path), 0777) == 0 || errno == EEXIST);
}

static inline void iwt_fuzz_write_file(const char *name, const void *data, size_t size)
{
    char path[IWT_FUZZ_PATH_SIZE];
    FILE *file = fopen(iwt_fuzz_path(name, path), "wbe");

    iwt_fuzz_require(file != NULL);
    iwt_fuzz_require(fwrite(data, 1, size, file) == size);
    iwt_fuzz_require(fclose(file) == 0);
}

/* The next mark, or NULL; *number_p: of the file that it begins. */
static inline const uint8_t *iwt_fuzz_next_mark(const uint8_t *at, const uint8_t *end, size_t count,
                                                size_t *number_p)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    while (end - at >= IWT_FUZZ_MARK_SIZE && (at = memmem(at, (size_t)(end - at), "\n@@", 3)) != NULL) {
        const char *digit =
            end - at >= IWT_FUZZ_MARK_SIZE && at[4] == '\n' && at[3] != '\0' ? strchr(digits, at[3]) : NULL;

        if (digit != NULL && (size_t)(digit - digits) < count) {
            *number_p = (size_t)(digit - digits);
            return at;
        }
        at++;
    }
    return NULL;
}

/* The files of an input, in the empty folder; folders within it have been made. */
static inline void iwt_fuzz_lay_out(const uint8_t *data, size_t size, const char *const *names, size_t count)
{
    const uint8_t *end = data + size;
    size_t number = 0, next_number = 0;
    const uint8_t *mark = iwt_fuzz_next_mark(data, end, count, &number), *next;

    for (; mark != NULL; mark = next, number = next_number) {
        const uint8_t *begin = mark + IWT_FUZZ_MARK_SIZE;

        next = iwt_fuzz_next_mark(begin, end, count, &next_number);
        iwt_fuzz_write_file(names[number], begin, (size_t)((next != NULL ? next : end) - begin));
    }
}

#endif
