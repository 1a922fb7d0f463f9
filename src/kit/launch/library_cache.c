/* Reads /etc/ld.so.cache: format 1.1 of the GNU C library, alone or behind the older format.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Format 1.1: 20 bytes "glibc-ld.so.cache1.1", u32 number of entries, 24 more bytes; entries of 24 bytes: i32
 * flags, u32 name, u32 path, 12 more bytes; texts, which name and path point at from the beginning of the 20
 * bytes. The older one: "ld.so-1.7.0", a filler, u32 number of entries at 12; entries of 12 bytes from 16 on;
 * then, at the next multiple of 8, the newer one may follow.
 */
#include "kit/launch/library_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
