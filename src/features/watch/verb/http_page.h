/* One page over HTTP, for programs that fetch it now and then.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_HTTP_PAGE_H
#define IW_CLI_HTTP_PAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "features/watch/verb/http_serve.h"
#include "process/ui.h"

struct http_page {
    struct http_server server;
    int stop[2]; /* a byte in this pipe ends the thread */
    pthread_t thread;
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
