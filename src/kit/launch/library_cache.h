/* The system's list of libraries, as ldconfig writes it (/etc/ld.so.cache).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LIBRARY_CACHE_H
#define IWI_LIBRARY_CACHE_H

#include "core/base/base.h"

struct iwi_library_cache {
    char *data; /* NULL: there is none */
    size_t size;
    size_t base;  /* where the header begins that texts count from */
    size_t count; /* entries */
};

/* A cache that is missing, damaged or of another format is as an empty one. */
void iwi_library_cache_load(const char *path, struct iwi_library_cache *cache_p);
void iwi_library_cache_release(struct iwi_library_cache *cache);

/* The path of the next library called `name`, from entry *at_p on, which moves behind it; NULL: no more.
 * There may be several, for other machines too. */
const char *iwi_library_cache_next(const struct iwi_library_cache *cache, const char *name, size_t *at_p);

#endif
