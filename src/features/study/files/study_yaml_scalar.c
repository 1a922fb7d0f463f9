/* Single values of a study: numbers with units, words, names, paths.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/nearest.h"
#include "features/study/files/study_yaml.h"

/* What a parser of base said, with its place. */
static iw_status fail_kept(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key,
                           iw_status status, const struct iwi_log_keeper *keeper)
{
    return iwi_yaml_fail(&reader->yaml, iwi_yaml_line(node), status, "key '%s': %s", key, keeper->text);
}

iw_status iwi_study_count(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key,
                          uint64_t min, uint64_t max, uint64_t *value_p)
{
    struct iwi_log_keeper keeper;
    const char *text;
    uint64_t value = 0;
    iw_status status;

    IW_TRY(iwi_yaml_text(&reader->yaml, node, key, &text));
    iwi_log_keeper_init(&keeper, reader->yaml.log);
    status = iw_parse_count(&keeper.log, text, &value);
    if (status != IW_OK) {
        return fail_kept(reader, node, key, status, &keeper);
    }
    if (value < min || value > max) {
        return iwi_yaml_fail(&reader->yaml, iwi_yaml_line(node), IW_ERR_RANGE,
                             "key '%s': '%s' is not between %" PRIu64 " and %" PRIu64, key, text, min, max);
    }
    *value_p = value;
    return IW_OK;
}

iw_status iwi_study_count32(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key,
                            uint32_t min, uint32_t max, uint32_t *value_p)
{
    uint64_t value;

    IW_TRY(iwi_study_count(reader, node, key, min, max, &value));
    *value_p = (uint32_t)value;
    return IW_OK;
}

iw_status iwi_study_time(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key,
                         iw_time *ps_p)
{
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_text(&reader->yaml, node, key, &text));
    iwi_log_keeper_init(&keeper, reader->yaml.log);
    status = iw_parse_time(&keeper.log, text, ps_p);
    return status == IW_OK ? IW_OK : fail_kept(reader, node, key, status, &keeper);
}

iw_status iwi_study_per_byte(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key,
                             iw_fs_per_byte *fs_p)
{
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_text(&reader->yaml, node, key, &text));
    iwi_log_keeper_init(&keeper, reader->yaml.log);
    status = iw_parse_per_byte(&keeper.log, text, fs_p);
    return status == IW_OK ? IW_OK : fail_kept(reader, node, key, status, &keeper);
}

iw_status iwi_study_share(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key,
                          double *share_p)
{
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_text(&reader->yaml, node, key, &text));
    iwi_log_keeper_init(&keeper, reader->yaml.log);
    status = iw_parse_share(&keeper.log, text, share_p);
    return status == IW_OK ? IW_OK : fail_kept(reader, node, key, status, &keeper);
}

iw_status iwi_study_choice(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key,
                           const char *const *words, size_t *index_p)
{
    char known[128] = "", hint[IWI_HINT_SIZE];
    struct iwi_nearest nearest;
    const char *text;

    IW_TRY(iwi_yaml_text(&reader->yaml, node, key, &text));
    iwi_nearest_begin(&nearest, text);
    for (size_t i = 0; words[i] != NULL; i++) {
        const size_t used = strlen(known);

        if (strcmp(text, words[i]) == 0) {
            *index_p = i;
            return IW_OK;
        }
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", words[i]);
        iwi_nearest_offer(&nearest, words[i]);
    }
    return iwi_yaml_fail(&reader->yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                         "key '%s': '%.60s' is none of %s%s", key, text, known,
                         iwi_nearest_hint(&nearest, hint));
}

iw_status iwi_study_switch(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key,
                           bool *is_on_p)
{
    static const char *const switches[] = {"false", "true", NULL};
    size_t index = 0;

    IW_TRY(iwi_study_choice(reader, node, key, switches, &index));
    *is_on_p = index != 0;
    return IW_OK;
}

iw_status iwi_copy_text(const iw_log *log, const char *text, char **copy_p)
{
    char *copy = strdup(text);

    if (copy == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a text of %zu bytes", strlen(text));
    }
    *copy_p = copy;
    return IW_OK;
}

/* Control characters would break tables and pages. */
static bool is_one_line(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c < ' ' || *c == 0x7f) {
            return false;
        }
    }
    return true;
}

iw_status iwi_study_line(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key,
                         size_t max_bytes, char **text_p)
{
    const char *text;
    char *copy = NULL;

    IW_TRY(iwi_yaml_text(&reader->yaml, node, key, &text));
    if (text[0] == '\0' || strlen(text) > max_bytes || !is_one_line(text)) {
        return iwi_yaml_fail(&reader->yaml, iwi_yaml_line(node), IW_ERR_RANGE,
                             "key '%s' needs one line of 1 to %zu bytes", key, max_bytes);
    }
    IW_TRY(iwi_copy_text(reader->yaml.log, text, &copy));
    free(*text_p);
    *text_p = copy;
    return IW_OK;
}

iw_status iwi_study_path(const struct iwi_study_reader *reader, const char *path, char **path_p)
{
    const char *folder = path[0] == '/' ? "" : reader->folder;
    const size_t size = strlen(folder) + strlen(path) + 1;
    char *whole = iwi_new_array(reader->yaml.log, size, 1);

    if (whole == NULL) {
        return IW_ERR_NOMEM;
    }
    snprintf(whole, size, "%s%s", folder, path);
    *path_p = whole;
    return IW_OK;
}
