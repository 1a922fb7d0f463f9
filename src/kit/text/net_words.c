/* A network in a sentence: every verdict names the one that it holds for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "kit/text/words.h"

const char *iwi_net_words(const char *name, char buf[IWI_PHRASE_SIZE])
{
    const size_t known = strcspn(name, ",");
    const char *change = name[known] == ',' && name[known + 1] == ' ' ? name + known + 2 : NULL;

    if (known == strlen("none") && strncmp(name, "none", known) == 0) {
        snprintf(buf, IWI_PHRASE_SIZE, "a network %s",
                 change != NULL ? "with the given costs" : "without costs");
    } else if (change == NULL) {
        snprintf(buf, IWI_PHRASE_SIZE, "%s", name);
    } else {
        snprintf(buf, IWI_PHRASE_SIZE, "%.*s with %s%s", (int)known, name, change,
                 strcmp(change, "changed") == 0 ? " costs" : "");
    }
    return buf;
}
