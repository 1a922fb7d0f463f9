/* What the tests of files that are written share: a folder of their own, a look at what is in it, children.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_OUTPUT_TESTING_H
#define IWT_OUTPUT_TESTING_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/output.h"
#include "support/support.h"

enum { PATH_SIZE = 512, SKIPPED = 77 };

struct folder {
    char path[64], file[96], link[96];
};

static inline int make_folder(void **state)
{
    static struct folder folder;

    snprintf(folder.path, sizeof folder.path, "/tmp/iw_output_XXXXXX");
    if (mkdtemp(folder.path) == NULL) {
        return -1;
    }
    snprintf(folder.file, sizeof folder.file, "%s/file", folder.path);
    snprintf(folder.link, sizeof folder.link, "%s/link", folder.path);
    *state = &folder;
    return 0;
}

static inline int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *walk)
{
    (void)facts;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline int remove_folder(void **state)
{
    const struct folder *folder = *state;

    return nftw(folder->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- what is there ---- */

static inline void put(const char *path, const char *text, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
}

static inline bool holds(const char *path, const char *text)
{
    char found[256] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, found, sizeof found - 1) : -1;

    if (fd >= 0) {
        (void)close(fd);
    }
    return length >= 0 && strcmp(found, text) == 0;
}

static inline mode_t mode_of(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 ? info.st_mode & 07777 : 0;
}

static inline int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = -2; /* . and .. */

    if (folder == NULL) {
        return -1;
    }
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

static inline iw_status replace(const iw_log *log, const char *path, const char *text)
{
    return iwi_write_bytes(log, path, text, strlen(text));
}

static inline void assert_refused(const char *path, const char *sentence)
{
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(iw_output_check(&l.log, path, false), IW_ERR_IO);
    iwt_assert_logged(&l, sentence);
    iwt_log_init(&l);
    assert_status(replace(&l.log, path, "new"), IW_ERR_IO);
    iwt_assert_logged(&l, sentence);
    assert_int_equal(l.errors, 1);
}

/* ---- children ---- */

/* In a child: limits, mounts and users stay with the process. 0: as it should be, else a line. */
static inline int in_child(int (*body)(const struct folder *), const struct folder *folder)
{
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        const int line = body(folder);

        if (line != 0 && line != SKIPPED) {
            (void)fprintf(stderr, "line %d is not true\n", line);
        }
        _exit(line == 0 || line == SKIPPED ? line : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* SIGXFSZ must not end it */
    return WEXITSTATUS(status);
}

#define REQUIRE(condition)   \
    do {                     \
        if (!(condition)) {  \
            return __LINE__; \
        }                    \
    } while (0)

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

#endif
