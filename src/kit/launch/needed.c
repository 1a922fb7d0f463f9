/* The libraries that a program needs, and the MPI among them. Nothing is loaded or run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/launch/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/launch/libraries.h"

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

/* Reads /etc/ld.so.cache: format 1.1 of the GNU C library, alone or behind the older format.
 *
 * Format 1.1: 20 bytes "glibc-ld.so.cache1.1", u32 number of entries, 24 more bytes; entries of 24 bytes: i32
 * flags, u32 name, u32 path, 12 more bytes; texts, which name and path point at from the beginning of the 20
 * bytes. The older one: "ld.so-1.7.0", a filler, u32 number of entries at 12; entries of 12 bytes from 16 on;
 * then, at the next multiple of 8, the newer one may follow.
 */

static const char MAGIC[] = "glibc-ld.so.cache1.1", OLD_MAGIC[] = "ld.so-1.7.0";

enum { HEADER_SIZE = 48, ENTRY_SIZE = 24, OLD_HEADER_SIZE = 16, OLD_ENTRY_SIZE = 12 };
enum { MOST_BYTES = 64 << 20, PIECE_BYTES = 1 << 16 };

static uint32_t u32_at(const struct iwi_library_cache *cache, size_t offset)
{
    uint32_t value;

    memcpy(&value, cache->data + offset, sizeof value);
    return value;
}

static bool begins_with(const struct iwi_library_cache *cache, size_t offset, const char *magic)
{
    const size_t length = strlen(magic);

    return offset <= cache->size && cache->size - offset >= length &&
           memcmp(cache->data + offset, magic, length) == 0;
}

/* Behind the older format, if the file begins with it. */
static size_t find_base(const struct iwi_library_cache *cache)
{
    size_t end;

    if (!begins_with(cache, 0, OLD_MAGIC) || cache->size < OLD_HEADER_SIZE) {
        return 0;
    }
    end = OLD_HEADER_SIZE + (size_t)u32_at(cache, 12) * OLD_ENTRY_SIZE;
    return (end + 7) / 8 * 8;
}

static bool find_entries(struct iwi_library_cache *cache)
{
    cache->base = find_base(cache);
    if (!begins_with(cache, cache->base, MAGIC) || cache->size - cache->base < HEADER_SIZE) {
        return false;
    }
    cache->count = u32_at(cache, cache->base + strlen(MAGIC));
    return cache->count <= (cache->size - cache->base - HEADER_SIZE) / ENTRY_SIZE;
}

static bool read_file(const char *path, struct iwi_library_cache *cache)
{
    FILE *in = fopen(path, "re");
    size_t capacity = 0, count = 0;
    bool is_read = in != NULL;

    while (is_read) {
        void *data = cache->data;

        is_read = cache->size < MOST_BYTES &&
                  iwi_grow(NULL, &data, &capacity, cache->size + PIECE_BYTES, 1) == IW_OK;
        cache->data = data;
        count = is_read ? fread(cache->data + cache->size, 1, PIECE_BYTES, in) : 0;
        cache->size += count;
        if (count < PIECE_BYTES) {
            break;
        }
    }
    if (in != NULL) {
        is_read = is_read && ferror(in) == 0;
        (void)fclose(in);
    }
    return is_read;
}

void iwi_library_cache_load(const char *path, struct iwi_library_cache *cache_p)
{
    struct iwi_library_cache cache = {.data = NULL};

    if (!read_file(path, &cache) || !find_entries(&cache)) {
        iwi_library_cache_release(&cache);
    }
    *cache_p = cache;
}

void iwi_library_cache_release(struct iwi_library_cache *cache)
{
    free(cache->data);
    *cache = (struct iwi_library_cache){.data = NULL};
}

/* NULL: points outside, or does not end. */
static const char *text_at(const struct iwi_library_cache *cache, uint32_t place)
{
    const size_t size = cache->size - cache->base;
    const char *text;

    if (place >= size) {
        return NULL;
    }
    text = cache->data + cache->base + place;
    return memchr(text, '\0', size - place) != NULL ? text : NULL;
}

const char *iwi_library_cache_next(const struct iwi_library_cache *cache, const char *name, size_t *at_p)
{
    while (*at_p < cache->count) {
        const size_t entry = cache->base + HEADER_SIZE + *at_p * ENTRY_SIZE;
        const char *found = text_at(cache, u32_at(cache, entry + 4));

        ++*at_p;
        if (found != NULL && strcmp(found, name) == 0) {
            const char *path = text_at(cache, u32_at(cache, entry + 8));

            if (path != NULL) {
                return path;
            }
        }
    }
    return NULL;
}

/* Which program would run, and which MPI its libraries are of. */

/* ---- where it is ---- */

/* What execvp() would run. errno tells why not. */
static bool is_runnable(const char *path)
{
    struct stat facts;

    if (stat(path, &facts) != 0) {
        return false;
    }
    if (!S_ISREG(facts.st_mode)) {
        errno = EACCES;
        return false;
    }
    return access(path, X_OK) == 0;
}

static iw_status check_path(const iw_log *log, const char *program, char *path, size_t size)
{
    const int length = snprintf(path, size, "%s", program);

    if (length <= 0 || (size_t)length >= size) {
        return iwi_fail(log, IW_ERR_IO, "'%s' is not the name of a program", program);
    }
    return is_runnable(path) ? IW_OK
                             : iwi_fail(log, IW_ERR_IO, "'%s' cannot be run: %s", program, strerror(errno));
}

iw_status iwi_target_path(const iw_log *log, const char *program, char *path, size_t size)
{
    const char *places = getenv("PATH");

    if (program[0] == '\0' || strchr(program, '/') != NULL) {
        return check_path(log, program, path, size);
    }
    for (places = places != NULL ? places : "/bin:/usr/bin"; places != NULL;) {
        const int length = (int)strcspn(places, ":");
        const int written = snprintf(path, size, "%.*s%s%s", length, places, length > 0 ? "/" : "", program);

        if (written > 0 && (size_t)written < size && is_runnable(path)) {
            return IW_OK;
        }
        places = places[length] != '\0' ? places + length + 1 : NULL;
    }
    if (is_runnable(program)) {
        return iwi_fail(log, IW_ERR_IO, "'%s' is not in PATH: for the one in this folder, type ./%s", program,
                        program);
    }
    return iwi_fail(log, IW_ERR_IO, "no program '%s' in PATH", program);
}

/* ---- what it needs ---- */

static bool look_at_library(void *arg, const char *name)
{
    struct iwi_target_mpi *mpi = arg;
    const char *found;
    const enum iwi_library_role role = iwi_library_role_of(name, &found);
    const char *slash = strrchr(name, '/');

    if (role != IWI_LIBRARY_NONE) {
        mpi->name = found;
    }
    if (role == IWI_LIBRARY_MPI) {
        snprintf(mpi->library, sizeof mpi->library, "%s", slash != NULL ? slash + 1 : name);
        mpi->is_other = found == NULL;
    }
    return role != IWI_LIBRARY_MPI;
}

iw_status iwi_target_mpi_of(const iw_log *log, const char *path, struct iwi_target_mpi *mpi_p)
{
    struct iwi_target_mpi mpi = {.name = NULL};

    IW_TRY(iwi_needed_walk(log, path, IWI_LIBRARY_CACHE, look_at_library, &mpi));
    *mpi_p = mpi;
    return IW_OK;
}
