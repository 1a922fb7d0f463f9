/* Messages of threads, kept until the calling thread hands them on: nobody's log is called from elsewhere.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MESSAGES_H
#define IWI_MESSAGES_H

#include <pthread.h>

#include <idlewave/log.h>

struct iwi_message {
    iw_log_level level;
    char *about, *text;
};

struct iwi_messages {
    pthread_mutex_t lock;
    struct iwi_message *items;
    size_t count, capacity, handed_on;
};

void iwi_messages_init(struct iwi_messages *messages);
void iwi_messages_release(struct iwi_messages *messages);

/* From any thread. `about` goes before the text: "cell 17: ..."; it may be "". */
void iwi_messages_add(struct iwi_messages *messages, iw_log_level level, const char *about, const char *text);

/* Writes what has come since the last time, but of warnings that say the same about several only the first.
 */
void iwi_messages_hand_on(struct iwi_messages *messages, const iw_log *log);

#endif
