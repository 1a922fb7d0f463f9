/* Opens folders and URLs of collections, and takes entries out of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "verbs/get_source.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/download.h"

enum { INDEX_BYTES_MOST = 1 << 24 };

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool get_source_next(const char **list_p, struct get_source *source)
{
    static const char separators[] = " \t,";
    const char *word = *list_p + strspn(*list_p, separators);
    size_t length = strcspn(word, separators);

    *list_p = word + length;
    *source = (struct get_source){.index = NULL};
    if (length == 0 || length >= sizeof source->place) {
        return false;
    }
    while (length > 1 && word[length - 1] == '/') {
        length--;
    }
    memcpy(source->place, word, length);
    source->is_url = begins(source->place, "http://") || begins(source->place, "https://");
    return true;
}

/* What a URL has below it; it stays below the temporary folder, since names in an index do. */
static int fetch(const struct ui *ui, const struct get_source *source, const char *file, uint64_t most_bytes)
{
    char url[2 * PATH_MAX], path[2 * PATH_MAX];

    (void)snprintf(url, sizeof url, "%s/%s", source->place, file);
    (void)snprintf(path, sizeof path, "%s/%s", source->folder, file);
    return download(ui, url, path, most_bytes);
}

static int make_temporary(const struct ui *ui, struct get_source *source)
{
    const char *below = getenv("TMPDIR");

    (void)snprintf(source->folder, sizeof source->folder, "%s/idlewave-get-XXXXXX",
                   below != NULL && below[0] == '/' ? below : "/tmp");
    if (mkdtemp(source->folder) == NULL) {
        ui_error(ui, "cannot make the folder '%s': %s", source->folder, strerror(errno));
        source->folder[0] = '\0';
        return UI_ERROR;
    }
    return UI_DONE;
}

int get_source_open(const struct ui *ui, struct get_source *source)
{
    int code = UI_DONE;

    if (source->is_url) {
        code = make_temporary(ui, source);
        if (code == UI_DONE) {
            code = fetch(ui, source, IW_COLLECTION_INDEX, INDEX_BYTES_MOST);
        }
    } else {
        memcpy(source->folder, source->place, sizeof source->folder);
    }
    return code == UI_DONE ? ui_exit_of(iw_collection_load(&ui->log, source->folder, &source->index)) : code;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *level)
{
    (void)facts;
    (void)kind;
    (void)level;
    return remove(path);
}

void get_source_release(struct get_source *source)
{
    iw_collection_free(source->index);
    source->index = NULL;
    if (source->is_url && source->folder[0] != '\0') {
        (void)nftw(source->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

int get_source_take(const struct ui *ui, const struct get_source *source, const iw_collected *entry,
                    const char *to)
{
    int code = UI_DONE;

    if (source->is_url && entry->file != NULL) {
        code = fetch(ui, source, entry->file, entry->bytes);
    }
    return code == UI_DONE ? ui_exit_of(iw_collection_copy(&ui->log, source->folder, entry, to)) : code;
}
