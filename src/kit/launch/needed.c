/* Walks through needed libraries, breadth first. Nothing is loaded or run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/launch/needed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/launch/elf.h"
#include "kit/launch/library_cache.h"

/* A walk ends here whatever files say; programs need some hundred libraries at most. */
enum { MOST_OBJECTS = 2048, MOST_NAMES = 16384 };

struct object {
    char *folder;  /* where it is: $ORIGIN */
    size_t parent; /* who needed it; the program: itself */
    struct iwi_elf elf;
};

struct walk {
    const iw_log *log;
    struct iwi_library_cache cache;
    struct object *objects; /* those behind the one that is looked at are still to be done */
    size_t object_count, object_capacity;
    const char **names; /* all that were met; borrowed from the objects */
    size_t name_count, name_capacity;
    iw_status status;
};

/* ---- objects ---- */

static char *folder_of(const char *path)
{
    char *real = realpath(path, NULL);
    char *slash = real != NULL ? strrchr(real, '/') : NULL;

    if (slash != NULL) {
        slash[slash == real] = '\0';
    }
    return real;
}

static iw_status add_object(struct walk *w, const char *path, size_t parent, struct iwi_elf *elf)
{
    void *objects = w->objects;
    char *folder = folder_of(path);

    if (folder == NULL) {
        return iwi_fail(w->log, IW_ERR_IO, "'%s' cannot be found: %s", path, strerror(errno));
    }
    if (iwi_grow(w->log, &objects, &w->object_capacity, w->object_count + 1, sizeof *w->objects) != IW_OK) {
        free(folder);
        return IW_ERR_NOMEM;
    }
    w->objects = objects;
    w->objects[w->object_count++] = (struct object){folder, parent, *elf};
    *elf = (struct iwi_elf){.kind = IWI_ELF_NONE};
    return IW_OK;
}

/* A file that cannot be a library of this program is passed over, as the loader does. */
static bool try_library(struct walk *w, const char *path, size_t parent)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct iwi_elf elf;
    bool is_taken = false;

    if (file < 0) {
        return false;
    }
    if (iwi_elf_read(NULL, file, path, &elf) == IW_OK) {
        is_taken = elf.kind == IWI_ELF_DYNAMIC;
        if (is_taken) {
            w->status = add_object(w, path, parent, &elf);
        }
        iwi_elf_release(&elf);
    }
    (void)close(file);
    return is_taken;
}

/* ---- places ---- */

/* One place of a search path, with $ORIGIN replaced; false: too long, or with something else to be replaced.
 */
static bool expand(const char *place, size_t length, const char *origin, char *buf, size_t size)
{
    static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
    int written;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t word = strlen(words[i]);

        if (length >= word && memcmp(place, words[i], word) == 0) {
            written = snprintf(buf, size, "%s%.*s", origin, (int)(length - word), place + word);
            return written > 0 && (size_t)written < size && strchr(buf, '$') == NULL;
        }
    }
    written = length > 0 ? snprintf(buf, size, "%.*s", (int)length, place) : snprintf(buf, size, ".");
    return written > 0 && (size_t)written < size && strchr(buf, '$') == NULL;
}

static bool try_places(struct walk *w, const char *places, const char *origin, const char *name,
                       size_t parent)
{
    while (places != NULL) {
        const size_t length = strcspn(places, ":;");
        char folder[PATH_MAX], path[2 * PATH_MAX];

        if (length < PATH_MAX && expand(places, length, origin, folder, sizeof folder)) {
            snprintf(path, sizeof path, "%s/%s", folder, name);
            if (try_library(w, path, parent)) {
                return true;
            }
        }
        places = places[length] != '\0' ? places + length + 1 : NULL;
    }
    return false;
}

/* RPATH of the one who needs it and of those who needed that one, unless it has a RUNPATH. */
static bool try_rpaths(struct walk *w, const char *name, size_t parent)
{
    size_t i = parent;

    if (w->objects[parent].elf.runpath != NULL) {
        return false;
    }
    for (;;) {
        const struct object object = w->objects[i];

        if (object.elf.runpath == NULL && try_places(w, object.elf.rpath, object.folder, name, parent)) {
            return true;
        }
        if (object.parent == i) {
            return false;
        }
        i = object.parent;
    }
}

static bool try_cache(struct walk *w, const char *name, size_t parent)
{
    const char *path;
    size_t at = 0;

    while ((path = iwi_library_cache_next(&w->cache, name, &at)) != NULL) {
        if (try_library(w, path, parent)) {
            return true;
        }
    }
    return false;
}

/* In the loader's order. */
static void find_library(struct walk *w, const char *name, size_t parent)
{
    static const char always[] = "/lib/" IW_LIBRARY_ARCHITECTURE ":/usr/lib/" IW_LIBRARY_ARCHITECTURE
                                 ":/lib64:/usr/lib64:/lib:/usr/lib";
    const struct object needer = w->objects[parent];
    char path[PATH_MAX];

    if (strchr(name, '/') != NULL) {
        if (strlen(name) < sizeof path && expand(name, strlen(name), needer.folder, path, sizeof path)) {
            (void)try_library(w, path, parent);
        }
        return;
    }
    (void)(try_rpaths(w, name, parent) ||
           try_places(w, getenv("LD_LIBRARY_PATH"), needer.folder, name, parent) ||
           try_places(w, needer.elf.runpath, needer.folder, name, parent) || try_cache(w, name, parent) ||
           try_places(w, always, needer.folder, name, parent));
}

/* ---- the walk ---- */

/* True if the name was not met before, and has been noted. */
static bool is_new_name(struct walk *w, const char *name)
{
    void *names = w->names;

    for (size_t i = 0; i < w->name_count; i++) {
        if (strcmp(w->names[i], name) == 0) {
            return false;
        }
    }
    w->status = iwi_grow(w->log, &names, &w->name_capacity, w->name_count + 1, sizeof *w->names);
    if (w->status != IW_OK) {
        return false;
    }
    w->names = names;
    w->names[w->name_count++] = name;
    return true;
}

/* False: the walk is over. */
static bool walk_object(struct walk *w, size_t index, iwi_needed_fn each, void *arg)
{
    for (size_t i = 0; i < w->objects[index].elf.needed_count && w->status == IW_OK; i++) {
        const char *name = w->objects[index].elf.needed[i];

        if (is_new_name(w, name)) {
            if (!each(arg, name)) {
                return false;
            }
            if (w->object_count < MOST_OBJECTS) {
                find_library(w, name, index);
            }
        }
    }
    return w->status == IW_OK && w->name_count < MOST_NAMES;
}

static void release(struct walk *w)
{
    for (size_t i = 0; i < w->object_count; i++) {
        free(w->objects[i].folder);
        iwi_elf_release(&w->objects[i].elf);
    }
    free(w->objects);
    free(w->names);
    iwi_library_cache_release(&w->cache);
}

static iw_status open_program(struct walk *w, const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct iwi_elf elf = {.kind = IWI_ELF_NONE};
    iw_status status;

    if (file < 0) { /* programs may be started that may not be read */
        return errno == EACCES
                   ? IW_OK
                   : iwi_fail(w->log, IW_ERR_IO, "'%s' cannot be read: %s", path, strerror(errno));
    }
    status = iwi_elf_read(w->log, file, path, &elf);
    (void)close(file);
    if (status == IW_OK) {
        status = add_object(w, path, 0, &elf);
        iwi_elf_release(&elf);
    }
    return status;
}

iw_status iwi_needed_walk(const iw_log *log, const char *path, const char *cache, iwi_needed_fn each,
                          void *arg)
{
    struct walk w = {.log = log, .status = IW_OK};

    w.status = open_program(&w, path);
    iwi_library_cache_load(cache, &w.cache);
    for (size_t i = 0; i < w.object_count && walk_object(&w, i, each, arg); i++) {
    }
    release(&w);
    return w.status;
}
