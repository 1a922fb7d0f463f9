/* idlewave/collection.h - networks and noise by name: folders with an index that says where each came from.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     char *found;
 *     st = iw_collection_find(log, IW_COLLECTED_NOISE, "sc10-chic", &found);
 *     ... found is NULL, or the caller's to free ...
 *     st = iw_noise_open(log, noise, found);
 *
 * docs/reference/formats/collection.md describes the folder.
 */
#ifndef IW_COLLECTION_H
#define IW_COLLECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <idlewave/log.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_collected_kind { IW_COLLECTED_NET, IW_COLLECTED_NOISE } iw_collected_kind;

/** One network or one noise, as the index has it. */
typedef struct iw_collected {
    iw_collected_kind kind;
    const char *name;
    const char *file, *sha256; /* below the folder of the collection; NULL: a spec */
    const char *spec;          /* noise without a file, as iw_noise_add() takes it; else NULL */
    uint64_t bytes;            /* of the file */
    const char *about;         /* one sentence */
    const char *licence;       /* an SPDX identifier */
    const char *origin;        /* who measured or published it, where and when */
    const char *made;          /* how: commands */
} iw_collected;

typedef struct iw_collection {
    size_t count;
    iw_collected *entries;
} iw_collection;

#define IW_COLLECTION_INDEX "index.yaml"

IW_API const char *iw_collected_kind_name(iw_collected_kind kind); /* "net", "noise" */

/** Reads the index of a folder. IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_TRUNCATED, IW_ERR_RANGE, IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_collection_load(const iw_log *log, const char *folder,
                                                 iw_collection **collection_p);
IW_API void iw_collection_free(iw_collection *collection);

/** NULL: it has no such name. */
IW_API const iw_collected *iw_collection_get(const iw_collection *collection, const char *name);

/** Whether the entry is what the index says: size and checksum of its file below `folder`, which can be read
 * as a network or as noise; a SPEC is one. IW_ERR_IO, IW_ERR_FORMAT and what readers of such files return. */
IW_API IW_NODISCARD iw_status iw_collection_check(const iw_log *log, const char *folder,
                                                  const iw_collected *entry);

/** Checks an entry of the folder `from` and copies it into the folder `to`, as "<kind>/<name>" with the
 * ending of its file; what is missing is made, an entry of that name is replaced. */
IW_API IW_NODISCARD iw_status iw_collection_copy(const iw_log *log, const char *from,
                                                 const iw_collected *entry, const char *to);

/** Writes what an index has to say of a noise file or a network, with the origin that `record` and `net`
 * wrote into it; what only people know is left as "FILL IN". */
IW_API IW_NODISCARD iw_status iw_collection_describe(const iw_log *log, const char *path, FILE *out);

/** Folders where names are looked for, the first first: 0 the user's, then the installed one. false: there
 * are no more, or it does not fit. */
IW_API bool iw_collection_place(size_t index, char *folder, size_t size);

/** What stands for a name: the path of its file, or its spec; to be freed. NULL: no place has it. A damaged
 * index is an error, an absent one is not. */
IW_API IW_NODISCARD iw_status iw_collection_find(const iw_log *log, iw_collected_kind kind, const char *name,
                                                 char **found_p);

#ifdef __cplusplus
}
#endif
#endif
