/* Whether the entries of a collection are what its index says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>
#include <idlewave/net.h>

#include "core/base/sha256.h"
#include "core/net/net.h"
#include "kit/files/collection/collection.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"
#include "kit/files/net/net_yaml.h"
#include "kit/files/recording/noise_file.h"

iw_status iwi_sha256_of_file(const iw_log *log, const char *path, char **text_p, uint64_t *bytes_p)
{
    struct iwi_sha256 sha;
    struct iwi_input input;
    char *text;

    IW_TRY(iwi_input_open(log, path, &input));
    iwi_sha256_init(&sha);
    iwi_sha256_add(&sha, input.data, input.size);
    *bytes_p = input.size;
    iwi_input_close(&input);
    text = iwi_new_array(log, IWI_SHA256_TEXT_SIZE, 1);
    if (text == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_sha256_text(&sha, text);
    *text_p = text;
    return IW_OK;
}

static iw_status check_bytes(const iw_log *log, const char *path, const iw_collected *entry)
{
    char *sha256;
    uint64_t bytes;
    iw_status status = IW_OK;

    IW_TRY(iwi_sha256_of_file(log, path, &sha256, &bytes));
    if (bytes != entry->bytes) {
        status = iwi_fail(log, IW_ERR_FORMAT,
                          "'%s' has %" PRIu64 " bytes where the index says %" PRIu64
                          ": it is damaged, or another file",
                          path, bytes, entry->bytes);
    } else if (strcmp(sha256, entry->sha256) != 0) {
        status = iwi_fail(log, IW_ERR_FORMAT,
                          "'%s' has another checksum (%.12s...) than the index says (%.12s...): it is "
                          "damaged, or another file",
                          path, sha256, entry->sha256);
    }
    free(sha256);
    return status;
}

static iw_status check_net(const iw_log *log, const char *path)
{
    iw_net net;

    IW_TRY(iwi_net_load(log, path, NULL, &net));
    iwi_net_release(&net);
    return IW_OK;
}

iw_status iw_collection_check(const iw_log *log, const char *folder, const iw_collected *entry)
{
    char *path;
    iw_status status;

    if (entry->spec != NULL) {
        return iwi_noise_try(log, entry->spec);
    }
    path = iwi_path_join(log, folder, entry->file);
    status = path != NULL ? check_bytes(log, path, entry) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = entry->kind == IW_COLLECTED_NET ? check_net(log, path) : iwi_noise_try(log, path);
    }
    free(path);
    return status;
}
