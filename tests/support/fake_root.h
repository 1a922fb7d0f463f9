/* A folder that plays the root of another machine: files of /proc and /sys in it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_FAKE_ROOT_H
#define IWT_FAKE_ROOT_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

enum { FAKE_ROOT_SIZE = 64, FAKE_PATH_SIZE = 512 };

static inline void fake_root_make(char root[FAKE_ROOT_SIZE])
{
    snprintf(root, FAKE_ROOT_SIZE, "/tmp/iw_root_XXXXXX");
    assert_non_null(mkdtemp(root));
}

/* Makes the file, and the folders above it. */
static inline void fake_root_file(const char *root, const char *path, const char *text)
{
    char whole[FAKE_PATH_SIZE];
    FILE *out;

    assert_true(snprintf(whole, sizeof whole, "%s%s", root, path) < (int)sizeof whole);
    for (char *slash = strchr(whole + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0700);
        *slash = '/';
    }
    out = fopen(whole, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static inline int fake_root_remove_one(const char *path, const struct stat *unused, int kind,
                                       struct FTW *place)
{
    (void)unused;
    (void)kind;
    (void)place;
    return remove(path);
}

static inline void fake_root_remove(const char *root)
{
    assert_int_equal(nftw(root, fake_root_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

#endif
