/* Listens, and answers in a thread of its own.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/verb/http_page.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- the thread ---- */

static void *answer_all(void *page)
{
    http_serve(&((struct http_page *)page)->server);
    return NULL;
}

static int listen_at(const struct sockaddr_storage *address, socklen_t size)
{
    const int one = 1, listener = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (listener < 0) {
        return -1;
    }
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (const void *)address, size) != 0 || listen(listener, SOMAXCONN) != 0) {
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

/* What the thread needs. Gives errno. */
static int prepare(struct http_page *page)
{
    page->server.connections = http_connections_new();
    if (page->server.connections == NULL) {
        return ENOMEM;
    }
    if (pipe2(page->stop, O_CLOEXEC) != 0) {
        return errno;
    }
    page->server.stop = page->stop[0];
    return pthread_mutex_init(&page->server.lock, NULL);
}

static void release(struct http_page *page)
{
    (void)close(page->server.listener);
    (void)close(page->stop[0]);
    (void)close(page->stop[1]);
    free(page->server.connections);
}

int http_page_begin(const struct ui *ui, struct http_page *page, const char *text,
                    const struct sockaddr_storage *address, socklen_t size)
{
    int error;

    page->stop[0] = page->stop[1] = -1;
    page->server.listener = listen_at(address, size);
    if (page->server.listener < 0) {
        return tell_no_listener(ui, text, errno);
    }
    error = prepare(page);
    error = error == 0 ? start_thread(page) : error;
    if (error != 0) {
        ui_error(ui, "cannot answer requests: %s", strerror(error));
        release(page);
        return UI_ERROR;
    }
    return UI_DONE;
}

void http_page_show(struct http_page *page, char *const texts[HTTP_FORMS])
{
    (void)pthread_mutex_lock(&page->server.lock);
    for (size_t i = 0; i < HTTP_FORMS; i++) {
        free(page->server.forms[i].text);
        page->server.forms[i].text = texts[i];
    }
    (void)pthread_mutex_unlock(&page->server.lock);
}

void http_page_end(struct http_page *page)
{
    (void)!write(page->stop[1], "", 1);
    (void)pthread_join(page->thread, NULL);
    release(page);
    for (size_t i = 0; i < HTTP_FORMS; i++) {
        free(page->server.forms[i].text);
    }
    (void)pthread_mutex_destroy(&page->server.lock);
}
