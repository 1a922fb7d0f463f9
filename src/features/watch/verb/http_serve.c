/* Answers GET and HEAD, without waiting for anybody: one poll() over all connections.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/verb/http_serve.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_SIZE = 8192, HEAD_SIZE = 512 };

/* From the first moment to the last byte of the answer. */
static const int64_t PATIENCE_MS = 2000;

struct http_connection {
    int fd; /* -1: free */
    int64_t end_ms;
    char request[REQUEST_SIZE];
    size_t got;
    char *answer; /* NULL: the request has not come yet */
    size_t size, sent;
};

struct http_connection *http_connections_new(void)
{
    struct http_connection *all = calloc(HTTP_CONNECTIONS, sizeof *all);

    for (size_t i = 0; all != NULL && i < HTTP_CONNECTIONS; i++) {
        all[i].fd = -1;
    }
    return all;
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void end_connection(struct http_connection *connection)
{
    if (connection->fd >= 0) {
        (void)close(connection->fd);
    }
    free(connection->answer);
    connection->fd = -1;
    connection->answer = NULL;
}

/* ---- answers ---- */

/* Without memory the connection just ends. */
static void answer(struct http_connection *connection, const char *status, const char *type, const char *text,
                   bool is_head)
{
    const size_t length = strlen(text);
    char head[HEAD_SIZE];
    const int size = snprintf(head, sizeof head,
                              "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                              "Connection: close\r\n\r\n",
                              status, type, length);

    connection->answer = size > 0 && size < HEAD_SIZE ? malloc((size_t)size + length) : NULL;
    if (connection->answer == NULL) {
        end_connection(connection);
        return;
    }
    memcpy(connection->answer, head, (size_t)size);
    memcpy(connection->answer + size, text, length);
    connection->size = (size_t)size + (is_head ? 0 : length);
    connection->sent = 0;
}

/* Whether a line "Accept: ..." names the type, whatever its parameters. */
static bool is_accepted(const char *request, const char *type)
{
    const size_t length = strcspn(type, ";");

    for (const char *line = strstr(request, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        const char *end;

        line += 2;
        end = strstr(line, "\r\n");
        if (strncasecmp(line, "accept:", 7) == 0) {
            for (const char *at = line; end != NULL && at + length <= end; at++) {
                if (strncasecmp(at, type, length) == 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

static bool is_path(const char *target, const char *path)
{
    const size_t length = strlen(path);

    return strncmp(target, path, length) == 0 && strchr(" ?", target[length]) != NULL &&
           target[length] != '\0';
}

static void show(struct http_server *server, struct http_connection *connection, bool is_head)
{
    const struct http_form *form =
        &server->forms[is_accepted(connection->request, server->forms[0].type) ? 0 : 1];

    (void)pthread_mutex_lock(&server->lock);
    if (form->text != NULL) {
        answer(connection, "200 OK", form->type, form->text, is_head);
    } else {
        answer(connection, "503 Service Unavailable", "text/plain", "nothing yet\n", is_head);
    }
    (void)pthread_mutex_unlock(&server->lock);
}

static void decide(struct http_server *server, struct http_connection *connection)
{
    const char *request = connection->request;
    const bool is_head = strncmp(request, "HEAD ", 5) == 0;
    char where[64];

    if (!is_head && strncmp(request, "GET ", 4) != 0) {
        answer(connection, "405 Method Not Allowed", "text/plain", "GET or HEAD\n", false);
        return;
    }
    if (!is_path(strchr(request, ' ') + 1, server->path)) {
        (void)snprintf(where, sizeof where, "available: %s\n", server->path);
        answer(connection, "404 Not Found", "text/plain", where, is_head);
        return;
    }
    show(server, connection, is_head);
}

/* ---- connections ---- */

static bool has_to_wait(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* Up to the empty line. */
static void receive(struct http_server *server, struct http_connection *connection)
{
    const ssize_t got = recv(connection->fd, connection->request + connection->got,
                             REQUEST_SIZE - 1 - connection->got, MSG_DONTWAIT);

    if (got < 0 && has_to_wait()) {
        return;
    }
    connection->got += got > 0 ? (size_t)got : 0;
    connection->request[connection->got] = '\0';
    if (strstr(connection->request, "\r\n\r\n") != NULL) {
        decide(server, connection);
    } else if (got <= 0 || connection->got == REQUEST_SIZE - 1) {
        answer(connection, "400 Bad Request", "text/plain", "no request\n", false);
    }
}

/* Who does not wait for the answer does not want it. */
static void deliver(struct http_connection *connection)
{
    const ssize_t sent = send(connection->fd, connection->answer + connection->sent,
                              connection->size - connection->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && has_to_wait()) {
        return;
    }
    connection->sent += sent > 0 ? (size_t)sent : 0;
    if (sent <= 0 || connection->sent == connection->size) {
        end_connection(connection);
    }
}

/* A free one, or the one that has been there longest. */
static struct http_connection *make_room(struct http_connection *all)
{
    struct http_connection *oldest = &all[0];

    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        if (all[i].fd < 0) {
            return &all[i];
        }
        oldest = all[i].end_ms < oldest->end_ms ? &all[i] : oldest;
    }
    end_connection(oldest);
    return oldest;
}

static void accept_all(struct http_server *server)
{
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        const int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        struct http_connection *connection;

        if (fd < 0) {
            return;
        }
        connection = make_room(server->connections);
        connection->fd = fd;
        connection->end_ms = now_ms() + PATIENCE_MS;
        connection->got = 0;
        connection->request[0] = '\0';
    }
}

/* ---- the loop ---- */

enum { LISTENER, STOP, FIRST };

/* Whom to wait for, and until when: -1 if nobody is there. */
static int list_waits(struct http_server *server, struct pollfd waits[FIRST + HTTP_CONNECTIONS])
{
    int64_t end_ms = INT64_MAX, left_ms;

    waits[LISTENER] = (struct pollfd){.fd = server->listener, .events = POLLIN};
    waits[STOP] = (struct pollfd){.fd = server->stop, .events = POLLIN};
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        const struct http_connection *connection = &server->connections[i];

        waits[FIRST + i] =
            (struct pollfd){.fd = connection->fd, .events = connection->answer != NULL ? POLLOUT : POLLIN};
        end_ms = connection->fd >= 0 && connection->end_ms < end_ms ? connection->end_ms : end_ms;
    }
    if (end_ms == INT64_MAX) {
        return -1;
    }
    left_ms = end_ms - now_ms();
    return left_ms > 0 ? (int)left_ms : 0;
}

static void serve_connections(struct http_server *server, const struct pollfd *waits)
{
    const int64_t at_ms = now_ms();

    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        struct http_connection *connection = &server->connections[i];

        if (connection->fd >= 0 && connection->answer == NULL && waits[i].revents != 0) {
            receive(server, connection);
        }
        if (connection->fd >= 0 && connection->answer != NULL) {
            deliver(connection);
        }
        if (connection->fd >= 0 && connection->end_ms <= at_ms) {
            end_connection(connection);
        }
    }
}

void http_serve(struct http_server *server)
{
    struct pollfd waits[FIRST + HTTP_CONNECTIONS];
    int wait_ms = list_waits(server, waits);

    while (poll(waits, FIRST + HTTP_CONNECTIONS, wait_ms) >= 0 || errno == EINTR) {
        if (waits[STOP].revents != 0) {
            break;
        }
        serve_connections(server, waits + FIRST);
        if (waits[LISTENER].revents != 0) {
            accept_all(server);
        }
        wait_ms = list_waits(server, waits);
    }
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        end_connection(&server->connections[i]);
    }
}
