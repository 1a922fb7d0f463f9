/* One page over HTTP, for programs that fetch it now and then.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_HTTP_PAGE_H
#define IW_CLI_HTTP_PAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "process/ui.h"

/* The same in another form, for those that accept it; the last one is for all. */
struct http_form {
    const char *type; /* "text/plain; version=0.0.4" */
    char *text;       /* allocated; NULL: none yet */
};

enum { HTTP_FORMS = 2 };

struct http_page {
    const char *path; /* "/metrics" */
    struct http_form forms[HTTP_FORMS];
    int listener, stop[2]; /* stop: a byte in this pipe ends the thread */
    pthread_t thread;
    pthread_mutex_t lock; /* of the texts */
};

/* "9913": on 127.0.0.1; "192.0.2.7:9913" and "[::1]:9913" as they say. False: it is something else. */
bool http_address(const char *text, struct sockaddr_storage *address, socklen_t *size_p);

/* Answers from now on, in a thread of its own; `page` must stay where it is, and has its path and types.
 * `text` is the address as it was given, for messages. */
int http_page_begin(const struct ui *ui, struct http_page *page, const char *text,
                    const struct sockaddr_storage *address, socklen_t size);

/* Shows these from now on; takes them. */
void http_page_show(struct http_page *page, char *const texts[HTTP_FORMS]);

void http_page_end(struct http_page *page);

#endif
