/* A page over HTTP beside clients that say nothing, say half, or do not read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "features/watch/verb/http_serve.h"
#include "support/support.h"

enum { LONG_MS = 60000 }; /* nothing here takes that long, on the busiest machine */

static struct http_server server;
static struct sockaddr_in address;
static pthread_t thread;
static int stop[2];

static void *serve(void *arg)
{
    http_serve(arg);
    return NULL;
}

static int set_up(void **state)
{
    socklen_t size = sizeof address;

    (void)state;
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    server = (struct http_server){
        .path = "/metrics",
        .forms = {{"application/openmetrics-text", strdup("open\n")}, {"text/plain", strdup("plain\n")}},
        .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
        .connections = http_connections_new()};
    if (bind(server.listener, (void *)&address, sizeof address) != 0 ||
        listen(server.listener, SOMAXCONN) != 0 || pipe(stop) != 0 ||
        getsockname(server.listener, (void *)&address, &size) != 0) {
        return -1;
    }
    server.stop = stop[0];
    return pthread_mutex_init(&server.lock, NULL) + pthread_create(&thread, NULL, serve, &server);
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(write(stop[1], "", 1), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(server.listener);
    (void)close(stop[0]);
    (void)close(stop[1]);
    free(server.connections);
    free(server.forms[0].text);
    free(server.forms[1].text);
    return pthread_mutex_destroy(&server.lock);
}

static int connect_to(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (void *)&address, sizeof address), 0);
    return fd;
}

/* All that comes until the end; how long that took. */
static int64_t read_all(int fd, char *text, size_t size)
{
    struct timespec begin, end;
    size_t used = 0;
    ssize_t got;

    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        struct pollfd wait = {.fd = fd, .events = POLLIN};

        assert_int_equal(poll(&wait, 1, LONG_MS), 1);
        got = recv(fd, text + used, size - 1 - used, 0);
        used += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    text[used] = '\0';
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    (void)close(fd);
    return (int64_t)(end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
}

static int64_t ask(const char *request, char *text, size_t size)
{
    const int fd = connect_to();

    assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
    return read_all(fd, text, size);
}

static void assert_answer(const char *request, const char *first, const char *last)
{
    char text[1024];

    (void)ask(request, text, sizeof text);
    assert_int_equal(strncmp(text, first, strlen(first)), 0);
    assert_string_equal(text + strlen(text) - strlen(last), last);
}

static void each_gets_what_it_asks_for(void **state)
{
    (void)state;
    assert_answer("GET /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n", "\r\n\r\nplain\n");
    assert_answer("GET /metrics?x HTTP/1.1\r\nAccept: application/openmetrics-text;q=1\r\n\r\n",
                  "HTTP/1.1 200 OK\r\n", "\r\n\r\nopen\n");
    assert_answer("HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n",
                  "Content-Length: 6\r\nConnection: close\r\n\r\n");
    assert_answer("GET /metricsx HTTP/1.1\r\n\r\n", "HTTP/1.1 404", "available: /metrics\n");
    assert_answer("PUT /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405", "GET or HEAD\n");
}

/* Each second of patience counts from the beginning, whatever comes meanwhile. */
static void who_says_nothing_is_not_waited_for_long(void **state)
{
    char text[64];
    int idle = connect_to(), half = connect_to();

    (void)state;
    assert_int_equal(send(half, "GET /met", 8, 0), 8);
    assert_true(read_all(idle, text, sizeof text) < LONG_MS);
    assert_string_equal(text, "");
    assert_true(read_all(half, text, sizeof text) < LONG_MS);
}

/* Also more than there is room for: the oldest go. */
static void idle_clients_delay_nobody(void **state)
{
    enum { IDLE = 3 * HTTP_CONNECTIONS / 2, SCRAPES = 5 };
    static const size_t counts[] = {40, IDLE};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        int idle[IDLE];
        int64_t least_ms = LONG_MS;

        for (size_t i = 0; i < counts[k]; i++) {
            idle[i] = connect_to();
        }
        for (int i = 0; i < SCRAPES; i++) {
            char text[1024];
            const int64_t took_ms = ask("GET /metrics HTTP/1.1\r\n\r\n", text, sizeof text);

            assert_non_null(strstr(text, "plain\n"));
            least_ms = took_ms < least_ms ? took_ms : least_ms;
        }
        assert_true(least_ms < 1000); /* one after the other they would have taken 80 s */
        for (size_t i = 0; i < counts[k]; i++) {
            (void)close(idle[i]);
        }
    }
}

static void who_does_not_read_delays_nobody(void **state)
{
    enum { LARGE = 16 << 20 };
    char *large = malloc(LARGE), text[1024];
    const int deaf = connect_to();
    struct pollfd first = {.fd = deaf, .events = POLLIN};

    (void)state;
    assert_non_null(large);
    memset(large, 'x', LARGE - 1);
    large[LARGE - 1] = '\0';
    (void)pthread_mutex_lock(&server.lock);
    free(server.forms[1].text);
    server.forms[1].text = large;
    (void)pthread_mutex_unlock(&server.lock);
    assert_int_equal(send(deaf, "GET /metrics HTTP/1.1\r\n\r\n", 25, 0), 25);
    assert_int_equal(poll(&first, 1, LONG_MS), 1); /* its answer is on the way */
    assert_true(ask("GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text\r\n\r\n", text,
                    sizeof text) < LONG_MS);
    assert_non_null(strstr(text, "open\n"));
    (void)close(deaf);
}

static void what_is_too_long_is_refused(void **state)
{
    char *request = malloc(1 << 14);

    (void)state;
    assert_non_null(request);
    memset(request, 'x', (1 << 14) - 1);
    request[(1 << 14) - 1] = '\0';
    for (int i = 0; i < 3; i++) {
        char text[256];
        const int fd = connect_to();

        assert_int_equal(send(fd, request, 8191, MSG_NOSIGNAL), 8191);
        (void)read_all(fd, text, sizeof text);
        assert_non_null(strstr(text, "400 Bad Request"));
    }
    free(request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_gets_what_it_asks_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_says_nothing_is_not_waited_for_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(idle_clients_delay_nobody, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_does_not_read_delays_nobody, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_too_long_is_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
