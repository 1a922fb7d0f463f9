/* Reads the noise of a system of a study: specs, files beside the study, names of collections.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "core/base/nearest.h"
#include "core/noise/source.h"
#include "features/study/files/study_yaml.h"

/* Whose noise is being read. */
struct noisy {
    struct iwi_study_reader *reader;
    iw_study_system *system;
    const yaml_node_t *list;
    bool needs_files; /* which are not to be opened */
};

iw_status iwi_study_collected_path(const struct iwi_study_reader *reader, iw_collected_kind kind,
                                   const char *text, char **path_p)
{
    char *found = NULL;

    IW_TRY(iwi_study_path(reader, text, path_p));
    if (!reader->wants_files || access(*path_p, F_OK) == 0) {
        return IW_OK;
    }
    IW_TRY(iw_collection_find(reader->yaml.log, kind, text, &found));
    if (found != NULL) {
        free(*path_p);
        *path_p = found;
    }
    return IW_OK;
}

static iw_status unknown_noise(const struct noisy *s, size_t line, const char *text)
{
    char word[32], hint[IWI_HINT_SIZE];
    struct iwi_nearest nearest;

    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":"), text);
    iwi_nearest_begin(&nearest, word);
    for (size_t i = 0; iwi_source_kinds[i]->name != NULL; i++) {
        iwi_nearest_offer(&nearest, iwi_source_kinds[i]->name);
    }
    return iwi_yaml_fail(&s->reader->yaml, line, IW_ERR_FORMAT,
                         "noise '%.200s' is neither 'none', nor a SPEC such as 'periodic:10Hz,100us', nor a "
                         "file beside the study, nor a name of a collection%s",
                         text, iwi_nearest_hint(&nearest, hint));
}

/* "[periodic:10Hz,100us]" has two items: a comma ends them there. */
static bool is_cut_spec(const struct noisy *s, const char *text)
{
    const yaml_node_t *list = s->list;

    return list->type == YAML_SEQUENCE_NODE && list->data.sequence.style == YAML_FLOW_SEQUENCE_STYLE &&
           iwi_noise_is_spec(text) && strchr(text, ',') == NULL;
}

static iw_status add_source(struct noisy *s, iw_noise *noise, size_t line, const char *spec_or_path)
{
    struct iwi_log_keeper keeper;
    iw_status status;

    iwi_log_keeper_init(&keeper, s->reader->yaml.log);
    status = iw_noise_open(&keeper.log, noise, spec_or_path);
    if (status != IW_OK) {
        return iwi_yaml_fail(
            &s->reader->yaml, line, status, "noise: %s%s", keeper.text,
            is_cut_spec(s, spec_or_path) ? "; a comma within [] ends a value: put it in quotes" : "");
    }
    return IW_OK;
}

/* Fills the place of one source; the study owns its text from then on. */
static iw_status read_source(struct noisy *s, const yaml_node_t *node, iw_noise *noise)
{
    char **place = &s->system->noise[s->system->noise_count];
    const size_t line = iwi_yaml_line(node);
    const char *text;

    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "noise", &text));
    if (strcmp(text, "none") == 0) {
        return IW_OK;
    }
    if (iwi_noise_is_spec(text)) {
        IW_TRY(iwi_copy_text(s->reader->yaml.log, text, place));
        s->system->noise_count++;
        return add_source(s, noise, line, *place);
    }
    s->system->noise_count++; /* from here on the text is released with the study */
    IW_TRY(iwi_study_collected_path(s->reader, IW_COLLECTED_NOISE, text, place));
    if (!s->reader->wants_files) {
        s->needs_files = true;
        return IW_OK;
    }
    if (text[0] == '\0' || (!iwi_noise_is_spec(*place) && access(*place, F_OK) != 0)) {
        return unknown_noise(s, line, text);
    }
    return add_source(s, noise, line, *place);
}

iw_status iwi_study_read_noise(struct iwi_study_reader *reader, const yaml_node_t *node,
                               iw_study_system *system, iw_noise *noise, bool *needs_files_p)
{
    struct noisy s = {.reader = reader, .system = system, .list = node};
    const size_t count = node != NULL ? iwi_yaml_item_count(node) : 0;

    if (count > IW_NOISE_MAX_SOURCES) {
        return iwi_yaml_fail(&reader->yaml, iwi_yaml_line(node), IW_ERR_RANGE,
                             "%zu sources of noise; at most %d can be added up", count, IW_NOISE_MAX_SOURCES);
    }
    system->noise = iwi_new_array(reader->yaml.log, count, sizeof *system->noise);
    if (system->noise == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(read_source(&s, iwi_yaml_item(&reader->yaml, node, i), noise));
    }
    *needs_files_p |= s.needs_files;
    return IW_OK;
}
