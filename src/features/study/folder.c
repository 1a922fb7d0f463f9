/* Makes the folder of a study and writes what describes it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include <idlewave/study.h>

#include "core/base/output.h"
#include "features/study/files/study_line.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"

static const char study_name[] = "study.yaml", origin_name[] = "origin.json";

/* ---- files ---- */

iw_status iwi_read_text(const iw_log *log, const char *path, char **text_p, size_t *size_p)
{
    struct stat info = {0};
    struct iwi_input input;
    char *text;

    *text_p = NULL;
    *size_p = 0;
    if (stat(path, &info) != 0 && errno == ENOENT) {
        return IW_OK;
    }
    if (!S_ISREG(info.st_mode)) { /* a pipe would stop us for ever */
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': it is not a regular file", path);
    }
    IW_TRY(iwi_input_open(log, path, &input));
    text = iwi_new_array(log, input.size + 1, 1);
    if (text != NULL) {
        memcpy(text, input.data, input.size);
        *text_p = text;
        *size_p = input.size;
    }
    iwi_input_close(&input);
    return text != NULL ? IW_OK : IW_ERR_NOMEM;
}

/* ---- the folder ---- */

iw_status iwi_folder_each_results(const iw_log *log, const char *dir, iwi_visit_results visit, void *arg)
{
    struct dirent **names = NULL;
    const int count = scandir(dir, &names, iwi_is_results_file, alphasort);
    iw_status status = IW_OK;

    if (count < 0 && errno != ENOENT) {
        return iwi_fail(log, IW_ERR_IO, "cannot read the folder '%s': %s", dir, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        if (status == IW_OK) {
            status = visit(log, dir, names[i]->d_name, arg);
        }
        free(names[i]);
    }
    free(names);
    return status;
}

/* ---- what describes it ---- */

static void put(json_t *object, const char *name, const char *value)
{
    (void)json_object_set_new(object, name, json_string(value)); /* text that is not UTF-8 is left out */
}

static json_t *new_origin(const iw_study *study, const char *command)
{
    const time_t now = time(NULL);
    char date[32] = "", host[256] = "";
    json_t *origin = json_object();
    struct tm utc;

    if (origin == NULL) {
        return NULL;
    }
    if (gmtime_r(&now, &utc) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    (void)gethostname(host, sizeof host - 1);
    put(origin, "version", iw_version());
    put(origin, "date", date);
    put(origin, "host", host);
    put(origin, "study", study->path != NULL ? study->path : "");
    put(origin, "command", command != NULL ? command : "");
    return origin;
}

static iw_status write_origin(const iw_log *log, const char *path, const iw_study *study, const char *command)
{
    json_t *origin = new_origin(study, command);
    char *text = origin != NULL ? json_dumps(origin, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    const size_t length = text != NULL ? strlen(text) : 0;
    iw_status status;

    json_decref(origin);
    if (text == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for '%s'", path);
    }
    text[length] = '\n'; /* in the place of the NUL: the size says where it ends */
    status = iwi_write_bytes(log, path, text, length + 1);
    free(text);
    return status;
}

static iw_status count_results(const iw_log *log, const char *dir, const char *name, void *arg)
{
    (void)log;
    (void)dir;
    (void)name;
    (*(size_t *)arg)++;
    return IW_OK;
}

/* *is_there_p: there is a study.yaml; *is_same_p: and it is this study's. */
static iw_status compare_study(const iw_log *log, const char *path, const iw_study *study, bool *is_there_p,
                               bool *is_same_p)
{
    const size_t length = strlen(study->text);
    char *before = NULL;
    size_t size = 0;

    IW_TRY(iwi_read_text(log, path, &before, &size));
    *is_there_p = before != NULL;
    *is_same_p = before != NULL && size == length && memcmp(before, study->text, length) == 0;
    free(before);
    return IW_OK;
}

static iw_status check_owner(const iw_log *log, const char *dir, const iw_study *study,
                             const char *study_path, const char *origin_path)
{
    bool is_there = false, is_same = false;
    size_t results = 0;

    IW_TRY(compare_study(log, study_path, study, &is_there, &is_same));
    IW_TRY(iwi_folder_each_results(log, dir, count_results, &results));
    if (is_there && !is_same && results == 0 && access(origin_path, F_OK) != 0) {
        return iwi_fail(log, IW_ERR_IO,
                        "'%s' is another study, and its folder holds no results: choose another folder",
                        study_path);
    }
    return IW_OK;
}

static iw_status describe(const iw_log *log, const iw_study *study, const char *command,
                          const char *study_path, const char *origin_path, bool *is_other_p)
{
    bool is_there = false, is_same = false;

    IW_TRY(compare_study(log, study_path, study, &is_there, &is_same));
    if (access(origin_path, F_OK) != 0) {
        IW_TRY(write_origin(log, origin_path, study, command));
    }
    if (!is_same) {
        IW_TRY(iwi_write_bytes(log, study_path, study->text, strlen(study->text)));
    }
    *is_other_p = is_there && !is_same;
    return IW_OK;
}

iw_status iwi_folder_check_owner(const iw_log *log, const char *dir, const iw_study *study)
{
    char *study_path = iwi_path_join(log, dir, study_name);
    char *origin_path = iwi_path_join(log, dir, origin_name);
    iw_status status = IW_ERR_NOMEM;

    if (study_path != NULL && origin_path != NULL) {
        status = check_owner(log, dir, study, study_path, origin_path);
    }
    free(study_path);
    free(origin_path);
    return status;
}

iw_status iwi_folder_describe(const iw_log *log, const char *dir, const iw_study *study, const char *command,
                              bool *is_other_p)
{
    char *study_path = iwi_path_join(log, dir, study_name);
    char *origin_path = iwi_path_join(log, dir, origin_name);
    iw_status status = IW_ERR_NOMEM;

    if (study_path != NULL && origin_path != NULL) {
        status = describe(log, study, command, study_path, origin_path, is_other_p);
    }
    free(study_path);
    free(origin_path);
    return status;
}

static iw_status copy_missing(const iw_log *log, const char *from, const char *to, const char *name)
{
    char *source = iwi_path_join(log, from, name), *target = iwi_path_join(log, to, name), *text = NULL;
    iw_status status = source != NULL && target != NULL ? IW_OK : IW_ERR_NOMEM;
    size_t size = 0;

    if (status == IW_OK && access(target, F_OK) != 0) {
        status = iwi_read_text(log, source, &text, &size);
        if (status == IW_OK && text != NULL) {
            status = iwi_write_bytes(log, target, text, size);
        }
    }
    free(source);
    free(target);
    free(text);
    return status;
}

iw_status iwi_folder_copy_description(const iw_log *log, const char *from, const char *to)
{
    IW_TRY(copy_missing(log, from, to, origin_name));
    return copy_missing(log, from, to, study_name);
}
