/* A link between threads that stand for processes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_link.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

struct iwt_message {
    struct iwt_message *next;
    uint32_t from, to, channel;
    size_t bytes;
    char data[];
};

struct iw_link_request {
    uint32_t from, channel;
    void *data;
    bool is_send; /* done */
    size_t bytes;
};

static iw_link_request *request_of(uint32_t from, uint32_t channel, void *data, size_t bytes, bool is_send)
{
    iw_link_request *request = malloc(sizeof *request);

    assert_non_null(request);
    *request = (iw_link_request){from, channel, data, is_send, bytes};
    return request;
}

static iw_status post(void *arg, const iw_log *log, uint32_t to, uint32_t channel, const void *data,
                      size_t bytes, iw_link_request **request_p)
{
    const struct iwt_end *end = arg;
    struct iwt_message *message = malloc(sizeof *message + bytes);

    (void)log;
    assert_non_null(message);
    *message = (struct iwt_message){NULL, end->rank, to, channel, bytes};
    if (bytes > 0) {
        memcpy(message->data, data, bytes);
    }
    pthread_mutex_lock(&end->office->lock);
    *end->office->last_p = message;
    end->office->last_p = &message->next;
    pthread_mutex_unlock(&end->office->lock);
    *request_p = request_of(0, channel, NULL, bytes, true);
    return IW_OK;
}

static iw_status expect(void *arg, const iw_log *log, uint32_t from, uint32_t channel, void *data,
                        size_t bytes, iw_link_request **request_p)
{
    (void)arg;
    (void)log;
    *request_p = request_of(from, channel, data, bytes, false);
    return IW_OK;
}

/* Where the first message for this end is kept, or NULL; the office is locked. */
static struct iwt_message **find(const struct iwt_end *end, uint32_t from, uint32_t channel)
{
    for (struct iwt_message **p = &end->office->first; *p != NULL; p = &(*p)->next) {
        if ((*p)->from == from && (*p)->to == end->rank && (*p)->channel == channel) {
            return p;
        }
    }
    return NULL;
}

static void deliver(struct iwt_post_office *office, struct iwt_message **p, const iw_link_request *request)
{
    struct iwt_message *message = *p;

    assert_int_equal(message->bytes, request->bytes);
    if (message->bytes > 0) {
        memcpy(request->data, message->data, message->bytes);
    }
    *p = message->next;
    if (message->next == NULL) {
        office->last_p = p;
    }
    free(message);
}

static iw_status look(void *arg, const iw_log *log, iw_link_request *request, bool *is_done_p)
{
    const struct iwt_end *end = arg;

    (void)log;
    *is_done_p = request->is_send;
    if (!*is_done_p) {
        struct iwt_message **p;

        pthread_mutex_lock(&end->office->lock);
        p = find(end, request->from, request->channel);
        *is_done_p = p != NULL;
        if (p != NULL) {
            deliver(end->office, p, request);
        }
        pthread_mutex_unlock(&end->office->lock);
    }
    if (*is_done_p) {
        free(request);
    }
    return IW_OK;
}

static iw_status probe(void *arg, const iw_log *log, uint32_t from, uint32_t channel, bool *is_there_p,
                       size_t *bytes_p)
{
    const struct iwt_end *end = arg;
    struct iwt_message **p;

    (void)log;
    pthread_mutex_lock(&end->office->lock);
    p = find(end, from, channel);
    *is_there_p = p != NULL;
    *bytes_p = p != NULL ? (*p)->bytes : 0;
    pthread_mutex_unlock(&end->office->lock);
    return IW_OK;
}

/* ---- the link ---- */

void iwt_open_office(struct iwt_post_office *office)
{
    *office = (struct iwt_post_office){.lock = PTHREAD_MUTEX_INITIALIZER};
    office->last_p = &office->first;
}

iw_link iwt_link(struct iwt_post_office *office, struct iwt_end *end, uint32_t rank, uint32_t processes)
{
    *end = (struct iwt_end){office, rank};
    return (iw_link){.rank = rank,
                     .size = processes,
                     .nodes = 1,
                     .most_threads = UINT32_MAX,
                     .most_channels = 1000,
                     .arg = end,
                     .send = post,
                     .receive = expect,
                     .test = look,
                     .probe = probe};
}
