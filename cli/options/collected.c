/* Looks names of networks and noise up in the collections.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/collected.h"

#include <string.h>
#include <unistd.h>

#include <idlewave/collection.h>
#include <idlewave/files.h>
#include <idlewave/net.h>
#include <idlewave/recording.h>

int collected_find_net(const struct ui *ui, const char *name, char **found_p)
{
    *found_p = NULL;
    if (strcmp(name, "none") == 0 || iw_net_builtin(name) != NULL || access(name, F_OK) == 0) {
        return UI_DONE;
    }
    return ui_exit_of(iw_collection_find(&ui->log, IW_COLLECTED_NET, name, found_p));
}

static int find_noise(const struct ui *ui, const char *name, char **found_p)
{
    *found_p = NULL;
    return iw_noise_form_of(name) != IW_NOISE_ABSENT
               ? UI_DONE
               : ui_exit_of(iw_collection_find(&ui->log, IW_COLLECTED_NOISE, name, found_p));
}

static int resolve(const struct ui *ui, struct config *config, const struct opt *opt, const char **text_p)
{
    char *found = NULL;
    int code = UI_DONE;

    if (*text_p != NULL) {
        code = (opt->collected == OPT_COLLECTED_NET ? collected_find_net : find_noise)(ui, *text_p, &found);
    }
    if (found != NULL) {
        *text_p = config_keep(config, found);
    }
    return code;
}

static int resolve_row(const struct ui *ui, struct config *config, const struct opt *opt, void *target)
{
    struct opt_list *list = target;
    int code = UI_DONE;

    if (opt->type != OPT_LIST) {
        return resolve(ui, config, opt, target);
    }
    for (size_t i = 0; i < list->count && code == UI_DONE; i++) {
        code = resolve(ui, config, opt, &list->items[i]);
    }
    return code;
}

int collected_resolve(struct ui *ui, struct config *config, const struct verb *verb, void *values)
{
    int code = UI_DONE;

    for (size_t g = 0; g < verb->group_count; g++) {
        const struct opt_group *group = &verb->groups[g];

        for (size_t i = 0; i < group->count && code == UI_DONE; i++) {
            if (group->rows[i].collected != OPT_NOT_COLLECTED) {
                code = resolve_row(ui, config, &group->rows[i],
                                   (char *)values + group->offset + group->rows[i].offset);
            }
        }
    }
    return code;
}
