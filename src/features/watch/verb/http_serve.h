/* Many connections at once, each under one deadline.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_HTTP_SERVE_H
#define IW_CLI_HTTP_SERVE_H

#include <pthread.h>

/* The same in another form, for those that accept it; the last one is for all. */
struct http_form {
    const char *type; /* "text/plain; version=0.0.4" */
    char *text;       /* allocated; NULL: none yet */
};

enum { HTTP_FORMS = 2, HTTP_CONNECTIONS = 64 };

struct http_connection;

struct http_server {
    const char *path; /* "/metrics" */
    struct http_form forms[HTTP_FORMS];
    pthread_mutex_t lock; /* of the texts */
    int listener, stop;   /* stop: ends when there is something to read from it */
    struct http_connection *connections;
};

/* Room for the connections; NULL: no memory. To be freed. */
struct http_connection *http_connections_new(void);

/* Answers until it is stopped. Who says nothing keeps nobody waiting: the one that has waited longest makes
 * room for a new one. */
void http_serve(struct http_server *server);

#endif
