/* Answers GET and HEAD, one connection at a time: those who ask are few, near and soon served.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/verb/http_page.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_SIZE = 8192, HEAD_SIZE = 512, PATIENCE_S = 2, WAITING = 16 };

/* ---- addresses ---- */

static bool read_port(const char *text, in_port_t *port_p)
{
    char *end;
    long port;

    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    port = strtol(text, &end, 10);
    if (*end != '\0' || errno != 0 || port < 1 || port > 65535) {
        return false;
    }
    *port_p = htons((in_port_t)port);
    return true;
}

bool http_address(const char *text, struct sockaddr_storage *address, socklen_t *size_p)
{
    struct sockaddr_in *v4 = (void *)address;
    struct sockaddr_in6 *v6 = (void *)address;
    const char *colon = strrchr(text, ':');
    char host[64];

    memset(address, 0, sizeof *address);
    if (colon == NULL) {
        v4->sin_family = AF_INET;
        v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *size_p = sizeof *v4;
        return read_port(text, &v4->sin_port);
    }
    if ((size_t)(colon - text) >= sizeof host) {
        return false;
    }
    (void)snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    if (host[0] == '[' && host[strlen(host) - 1] == ']') {
        host[strlen(host) - 1] = '\0';
        v6->sin6_family = AF_INET6;
        *size_p = sizeof *v6;
        return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1 && read_port(colon + 1, &v6->sin6_port);
    }
    v4->sin_family = AF_INET;
    *size_p = sizeof *v4;
    return inet_pton(AF_INET, host, &v4->sin_addr) == 1 && read_port(colon + 1, &v4->sin_port);
}

/* ---- one request ---- */

static void send_all(int connection, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t sent = send(connection, bytes, count, MSG_NOSIGNAL);

        if (sent <= 0) {
            return; /* who does not wait for the answer does not want it */
        }
        bytes += sent;
        count -= (size_t)sent;
    }
}

static void answer(int connection, const char *status, const char *type, const char *text, bool is_head)
{
    char head[HEAD_SIZE];
    const int size = snprintf(head, sizeof head,
                              "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                              "Connection: close\r\n\r\n",
                              status, type, strlen(text));

    send_all(connection, head, (size_t)size);
    if (!is_head) {
        send_all(connection, text, strlen(text));
    }
}

/* Up to the empty line; false: it never came. */
static bool read_request(int connection, char request[REQUEST_SIZE])
{
    struct timespec start, now;
    size_t used = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    now = start;
    while (used < REQUEST_SIZE - 1 && now.tv_sec - start.tv_sec <= PATIENCE_S) {
        const ssize_t got = recv(connection, request + used, REQUEST_SIZE - 1 - used, 0);

        if (got <= 0) {
            return false;
        }
        used += (size_t)got;
        request[used] = '\0';
        if (strstr(request, "\r\n\r\n") != NULL) {
            return true;
        }
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    }
    return false;
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

static void show(struct http_page *page, int connection, const char *request, bool is_head)
{
    const struct http_form *form = &page->forms[is_accepted(request, page->forms[0].type) ? 0 : 1];
    char *text;

    (void)pthread_mutex_lock(&page->lock);
    text = form->text != NULL ? strdup(form->text) : NULL;
    (void)pthread_mutex_unlock(&page->lock);
    if (text != NULL) {
        answer(connection, "200 OK", form->type, text, is_head);
    } else {
        answer(connection, "503 Service Unavailable", "text/plain", "nothing yet\n", is_head);
    }
    free(text);
}

static void serve(struct http_page *page, int connection)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    char request[REQUEST_SIZE] = "", where[64];
    bool is_head;
    const char *target;

    (void)setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (!read_request(connection, request)) {
        answer(connection, "400 Bad Request", "text/plain", "no request\n", false);
        return;
    }
    is_head = strncmp(request, "HEAD ", 5) == 0;
    if (!is_head && strncmp(request, "GET ", 4) != 0) {
        answer(connection, "405 Method Not Allowed", "text/plain", "GET or HEAD\n", false);
        return;
    }
    target = strchr(request, ' ') + 1;
    if (!is_path(target, page->path)) {
        (void)snprintf(where, sizeof where, "all that is here: %s\n", page->path);
        answer(connection, "404 Not Found", "text/plain", where, is_head);
        return;
    }
    show(page, connection, request, is_head);
}

/* ---- the thread ---- */

static void *answer_all(void *arg)
{
    struct http_page *page = arg;
    struct pollfd waits[] = {{.fd = page->listener, .events = POLLIN},
                             {.fd = page->stop[0], .events = POLLIN}};

    while (poll(waits, 2, -1) >= 0 || errno == EINTR) {
        int connection;

        if (waits[1].revents != 0) {
            break;
        }
        connection = waits[0].revents != 0 ? accept4(page->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (connection >= 0) {
            serve(page, connection);
            (void)close(connection);
        }
    }
    return NULL;
}

static int listen_at(const struct sockaddr_storage *address, socklen_t size)
{
    const int one = 1, listener = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (listener < 0) {
        return -1;
    }
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (const void *)address, size) != 0 || listen(listener, WAITING) != 0) {
        const int error = errno;

        (void)close(listener);
        errno = error;
        return -1;
    }
    return listener;
}

/* Signals are for the thread that watches. */
static int start_thread(struct http_page *page)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&page->thread, NULL, answer_all, page);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int tell_no_listener(const struct ui *ui, const char *text, int error)
{
    ui_error(ui, "cannot listen on '%s': %s", text, strerror(error));
    if (error == EADDRINUSE) {
        ui_hint(ui, "'ss -ltnp' shows which process listens there; give another port");
    } else if (error == EADDRNOTAVAIL) {
        ui_hint(ui, "'ip address' lists the addresses of this node");
    }
    return UI_ERROR;
}

int http_page_begin(const struct ui *ui, struct http_page *page, const char *text,
                    const struct sockaddr_storage *address, socklen_t size)
{
    int error;

    page->listener = listen_at(address, size);
    if (page->listener < 0) {
        return tell_no_listener(ui, text, errno);
    }
    error = pipe2(page->stop, O_CLOEXEC) == 0 ? 0 : errno;
    if (error == 0) {
        (void)pthread_mutex_init(&page->lock, NULL);
        error = start_thread(page);
        if (error != 0) {
            (void)close(page->stop[0]);
            (void)close(page->stop[1]);
        }
    }
    if (error != 0) {
        ui_error(ui, "cannot answer requests: %s", strerror(error));
        (void)close(page->listener);
        return UI_ERROR;
    }
    return UI_DONE;
}

void http_page_show(struct http_page *page, char *const texts[HTTP_FORMS])
{
    (void)pthread_mutex_lock(&page->lock);
    for (size_t i = 0; i < HTTP_FORMS; i++) {
        free(page->forms[i].text);
        page->forms[i].text = texts[i];
    }
    (void)pthread_mutex_unlock(&page->lock);
}

void http_page_end(struct http_page *page)
{
    (void)!write(page->stop[1], "", 1);
    (void)pthread_join(page->thread, NULL);
    (void)close(page->listener);
    (void)close(page->stop[0]);
    (void)close(page->stop[1]);
    for (size_t i = 0; i < HTTP_FORMS; i++) {
        free(page->forms[i].text);
    }
    (void)pthread_mutex_destroy(&page->lock);
}
