/* Keeps messages of threads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

void iwi_messages_init(struct iwi_messages *messages)
{
    *messages = (struct iwi_messages){.items = NULL};
    (void)pthread_mutex_init(&messages->lock, NULL);
}

void iwi_messages_release(struct iwi_messages *messages)
{
    for (size_t i = 0; i < messages->count; i++) {
        free(messages->items[i].about);
        free(messages->items[i].text);
    }
    free(messages->items);
    (void)pthread_mutex_destroy(&messages->lock);
}

/* Errors are told of each that has them; anything else once. */
static bool is_said_already(const struct iwi_messages *messages, iw_log_level level, const char *about,
                            const char *text)
{
    bool is_said = false;

    for (size_t i = 0; i < messages->count; i++) {
        const struct iwi_message *said = &messages->items[i];

        is_said |= said->level == level && strcmp(said->text, text) == 0 &&
                   (level != IW_LOG_ERROR || strcmp(said->about, about) == 0);
    }
    return is_said;
}

static void keep(struct iwi_messages *messages, iw_log_level level, const char *about, const char *text)
{
    struct iwi_message message = {.level = level};

    if (iwi_grow(NULL, (void **)&messages->items, &messages->capacity, messages->count + 1,
                 sizeof *messages->items) != IW_OK) {
        return;
    }
    message.about = strdup(about);
    message.text = strdup(text);
    if (message.about == NULL || message.text == NULL) {
        free(message.about);
        free(message.text);
        return;
    }
    messages->items[messages->count++] = message;
}

void iwi_messages_add(struct iwi_messages *messages, iw_log_level level, const char *about, const char *text)
{
    (void)pthread_mutex_lock(&messages->lock);
    if (!is_said_already(messages, level, about, text)) {
        keep(messages, level, about, text);
    }
    (void)pthread_mutex_unlock(&messages->lock);
}

void iwi_messages_hand_on(struct iwi_messages *messages, const iw_log *log)
{
    char line[2048];

    (void)pthread_mutex_lock(&messages->lock);
    for (; messages->handed_on < messages->count; messages->handed_on++) {
        const struct iwi_message *message = &messages->items[messages->handed_on];

        if (log != NULL && log->write != NULL) {
            snprintf(line, sizeof line, "%s%s%s", message->about, message->about[0] != '\0' ? ": " : "",
                     message->text);
            log->write(log->arg, message->level, line);
        }
    }
    (void)pthread_mutex_unlock(&messages->lock);
}
