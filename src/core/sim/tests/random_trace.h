/* Random traces that cannot deadlock: communicators, messages, waits, collectives of all kinds.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_RANDOM_TRACE_H
#define IWT_RANDOM_TRACE_H

#include "random_program.h"
#include "support/made_trace.h"

/* Calls are added to all their ranks at once, in one global order. */
void iwt_random_trace(struct iwt_random *random, struct iwt_made_trace *t);

/* Up to four random wishes for algorithms; `texts` has room for five and ends with NULL. */
enum { IWT_WISH_SIZE = 64, IWT_WISHES = 4 };
struct iwt_overrides {
    char text[IWT_WISHES][IWT_WISH_SIZE];
    const char *texts[IWT_WISHES + 1];
};
void iwt_random_overrides(struct iwt_random *random, struct iwt_overrides *wishes);

#endif
