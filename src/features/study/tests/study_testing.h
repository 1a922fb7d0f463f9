/* What the tests of studies share: a scratch folder, files in it, studies from text.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_STUDY_TESTING_H
#define IWT_STUDY_TESTING_H

#include "support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "features/study/files/study_yaml.h"

/* A folder of the test's own, and a buffer for paths in it. */
struct iwt_scratch {
    char dir[64], path[128];
};

static inline void iwt_scratch_make(struct iwt_scratch *scratch)
{
    snprintf(scratch->dir, sizeof scratch->dir, "/tmp/iw_study_XXXXXX");
    assert_non_null(mkdtemp(scratch->dir));
}

/* Removes the folder and the files in it. */
static inline void iwt_scratch_remove(struct iwt_scratch *scratch)
{
    DIR *dir = opendir(scratch->dir);
    const struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(scratch->path, sizeof scratch->path, "%s/%.50s", scratch->dir, entry->d_name);
            assert_int_equal(unlink(scratch->path), 0);
        }
    }
    closedir(dir);
    assert_int_equal(rmdir(scratch->dir), 0);
}

/* Writes a file; returns its path, valid until the next call. */
static inline const char *iwt_scratch_write(struct iwt_scratch *scratch, const char *name, const char *text)
{
    FILE *out;

    snprintf(scratch->path, sizeof scratch->path, "%s/%s", scratch->dir, name);
    out = fopen(scratch->path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    return scratch->path;
}

/* Reads a study from memory; its other files would be in a folder that does not exist. */
static inline iw_status iwt_read_study(struct iwt_log *l, const char *text, iw_study **study_p)
{
    bool has_name;

    iwt_log_init(l);
    return iwi_study_read_memory(&l->log, "/nowhere/s.yaml", text, strlen(text), true, &has_name, study_p);
}

/* The same, and it must be right. */
static inline iw_study *iwt_good_study(const char *text)
{
    struct iwt_log l;
    iw_study *study = NULL;

    if (iwt_read_study(&l, text, &study) != IW_OK) {
        fail_msg("%s", l.text);
    }
    assert_string_equal(l.text, "");
    return study;
}

#define IWT_SYSTEMS "systems:\n  - {name: one, net: chic, noise: 'periodic:10Hz,100us'}\n"
#define IWT_PATTERNS "patterns:\n  - allreduce:dissemination\n"
#define IWT_PARTS IWT_SYSTEMS IWT_PATTERNS

#endif
