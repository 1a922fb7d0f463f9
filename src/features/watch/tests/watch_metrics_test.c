/* Metrics of a watching: names, what rises, how many series there are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { MOST = 64 };
static const int64_t SECOND_NS = 1000000000;

/* A watching as the kernel's side tells it. */
struct told {
    iw_watch_result result;
    iw_watch_source sources[MOST];
};

static void tell(struct told *told, iw_class class, const char *name, uint64_t count, uint64_t ns)
{
    iw_watch_source *source = &told->sources[told->result.source_count++];

    *source = (iw_watch_source){.source = {.kind = class}, .count = count, .time_ns = ns};
    snprintf(source->source.name, sizeof source->source.name, "%s", name);
    source->slots[9] = count; /* 512 to 1023 ns */
    told->result.sources = told->sources;
    told->result.job = (char *)(uintptr_t) "process 7";
}

static iw_watch_metrics *new_metrics(void)
{
    iw_watch_metrics *metrics;

    assert_int_equal(iw_watch_metrics_new(NULL, &metrics), IW_OK);
    return metrics;
}

static void update(iw_watch_metrics *metrics, const struct told *told, int64_t at_s)
{
    assert_int_equal(iw_watch_metrics_update(metrics, &told->result, at_s * SECOND_NS), IW_OK);
}

static char *text_of(const iw_watch_metrics *metrics, iw_metrics_format format)
{
    char *text;

    assert_int_equal(iw_watch_metrics_text(metrics, format, &text), IW_OK);
    return text;
}

static void check_has(const iw_watch_metrics *metrics, iw_metrics_format format, const char *line,
                      bool expected)
{
    char *text = text_of(metrics, format), whole[256];

    snprintf(whole, sizeof whole, "\n%s\n", line);
    if ((strstr(text, whole) != NULL) != expected) {
        fail_msg("%s '%s' in:\n%s", expected ? "no" : "there is", line, text);
    }
    free(text);
}

#define HAS(metrics, line) check_has(metrics, IW_METRICS_PROMETHEUS, line, true)
#define HAS_NOT(metrics, line) check_has(metrics, IW_METRICS_PROMETHEUS, line, false)
#define OPEN_HAS(metrics, line) check_has(metrics, IW_METRICS_OPENMETRICS, line, true)

static void each_format_names_counters_as_it_should(void **state)
{
    iw_watch_metrics *metrics = new_metrics();
    struct told told = {.result = {.totals = {.wanted_ns = 1500000001}}};
    char *text;

    (void)state;
    tell(&told, IW_CLASS_THREAD, "backup", 3, 2000000);
    update(metrics, &told, 100);
    HAS(metrics, "# TYPE idlewave_watch_wanted_seconds_total counter");
    HAS(metrics, "idlewave_watch_wanted_seconds_total{watched=\"process 7\"} 1.500000001");
    HAS(metrics, "# TYPE idlewave_watch_info gauge");
    HAS(metrics,
        "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"thread\",source=\"backup\"} "
        "0.002000000");
    HAS(metrics, "idlewave_watch_updated_timestamp_seconds{watched=\"process 7\"} 100.000000000");
    OPEN_HAS(metrics, "# TYPE idlewave_watch_wanted_seconds counter");
    OPEN_HAS(metrics, "# UNIT idlewave_watch_wanted_seconds seconds");
    OPEN_HAS(metrics, "# TYPE idlewave_watch info");
    OPEN_HAS(metrics, "idlewave_watch_wanted_seconds_total{watched=\"process 7\"} 1.500000001");
    text = text_of(metrics, IW_METRICS_OPENMETRICS);
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    free(text);
    iw_watch_metrics_free(metrics);
}

static void histograms_are_cumulative_and_end_with_all(void **state)
{
    iw_watch_metrics *metrics = new_metrics();
    struct told told = {.result = {.all = {.time_ns = 5000}}};

    (void)state;
    told.result.all.slots[0] = 1;  /* 1 ns: below the first border */
    told.result.all.slots[9] = 2;  /* [512, 1024) ns */
    told.result.all.slots[39] = 4; /* longer than the last border */
    tell(&told, IW_CLASS_IRQ, "local_timer", 5, 2000000);
    update(metrics, &told, 1);
    HAS(metrics, "idlewave_watch_detour_seconds_bucket{watched=\"process 7\",le=\"5.12e-07\"} 1");
    HAS(metrics, "idlewave_watch_detour_seconds_bucket{watched=\"process 7\",le=\"1.024e-06\"} 3");
    HAS(metrics, "idlewave_watch_detour_seconds_bucket{watched=\"process 7\",le=\"1.073741824\"} 3");
    HAS(metrics, "idlewave_watch_detour_seconds_bucket{watched=\"process 7\",le=\"+Inf\"} 7");
    HAS(metrics, "idlewave_watch_detour_seconds_count{watched=\"process 7\"} 7");
    HAS(metrics, "idlewave_watch_detour_seconds_sum{watched=\"process 7\"} 0.000005000");
    HAS(metrics, "idlewave_watch_interruption_seconds_count{watched=\"process 7\",class=\"irq\"} 5");
    HAS(metrics, "idlewave_watch_interruption_seconds_count{watched=\"process 7\",class=\"thread\"} 0");
    iw_watch_metrics_free(metrics);
}

static void names_without_cpu_and_queue_are_one_source(void **state)
{
    static const struct {
        iw_class class;
        const char *name, *common;
    } cases[] = {{IW_CLASS_THREAD, "kworker/3:1H", "kworker"},
                 {IW_CLASS_THREAD, "python3", "python3"},
                 {IW_CLASS_THREAD, "/bin", "/bin"},
                 {IW_CLASS_IRQ, "nvme0q12", "nvme0q"},
                 {IW_CLASS_IRQ, "eth0-TxRx-3", "eth0-TxRx"},
                 {IW_CLASS_IRQ, "mlx5_comp4@pci:0000:01", "mlx5_comp"},
                 {IW_CLASS_IRQ, "irq 24", "irq"},
                 {IW_CLASS_IRQ, "9", "9"},
                 {IW_CLASS_SOFTIRQ, "NET_RX", "NET_RX"}};
    iw_watch_metrics *metrics = new_metrics();
    struct told told = {.result = {.job = NULL}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        iw_source source = {.kind = cases[i].class}, common;

        snprintf(source.name, sizeof source.name, "%s", cases[i].name);
        iwi_metric_name(&source, &common);
        assert_string_equal(common.name, cases[i].common);
    }
    tell(&told, IW_CLASS_THREAD, "kworker/0:1", 1, 2000000);
    tell(&told, IW_CLASS_THREAD, "kworker/1:0", 2, 1000000);
    update(metrics, &told, 1);
    HAS(metrics,
        "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"thread\",source=\"kworker\"} "
        "0.003000000");
    iw_watch_metrics_free(metrics);
}

static void other_takes_what_has_no_place_and_nothing_falls(void **state)
{
    iw_watch_metrics *metrics = new_metrics();
    struct told told = {.result = {.job = NULL}};
    char name[16];

    (void)state;
    tell(&told, IW_CLASS_THREAD, "brief", 1, 999999); /* not worth a place */
    update(metrics, &told, 1);
    HAS(metrics, "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"other\",source=\"other\"} "
                 "0.000999999");
    told.sources[0].time_ns = 3999999; /* now it is: what it took before stays where it was */
    update(metrics, &told, 2);
    HAS(metrics, "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"thread\",source=\"brief\"} "
                 "0.003000000");
    HAS(metrics, "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"other\",source=\"other\"} "
                 "0.000999999");
    for (int i = 0; i < 33; i++) { /* 31 find places, two do not */
        snprintf(name, sizeof name, "t%02d", i);
        tell(&told, IW_CLASS_THREAD, name, 1, 1000000);
    }
    update(metrics, &told, 3);
    HAS(metrics, "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"other\",source=\"other\"} "
                 "0.002999999");
    HAS_NOT(metrics,
            "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"thread\",source=\"t31\"} "
            "0.001000000");
    iw_watch_metrics_free(metrics);
}

static void a_place_that_is_not_used_goes_to_another_source(void **state)
{
    iw_watch_metrics *metrics = new_metrics();
    struct told told = {.result = {.job = NULL}};
    char name[16];

    (void)state;
    for (int i = 0; i < IWI_METRIC_PLACES; i++) {
        snprintf(name, sizeof name, "t%02d", i);
        tell(&told, IW_CLASS_THREAD, name, 1, 1000000);
    }
    update(metrics, &told, 0);
    for (int i = 1; i < IWI_METRIC_PLACES; i++) {
        told.sources[i].time_ns += 1;
    }
    update(metrics, &told, 300); /* t00 has not moved */
    tell(&told, IW_CLASS_THREAD, "new", 1, 5000000);
    update(metrics, &told, 601);
    HAS(metrics, "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"thread\",source=\"new\"} "
                 "0.005000000");
    HAS_NOT(metrics,
            "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"thread\",source=\"t00\"} "
            "0.001000000");
    HAS(metrics, "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"other\",source=\"other\"} "
                 "0.000000000");
    iw_watch_metrics_free(metrics);
}

static void waiting_behind_others_never_falls(void **state)
{
    iw_watch_metrics *metrics = new_metrics();
    struct told told = {
        .result = {.totals = {.wait_ns = 3000000000, .wait_own_ns = 600000000, .wait_waking_ns = 400000000}}};

    (void)state;
    tell(&told, IW_CLASS_THREAD, "x", 1, 1);
    update(metrics, &told, 1);
    HAS(metrics, "idlewave_watch_wait_seconds_total{watched=\"process 7\",cause=\"others\"} 2.000000000");
    told.result.totals.wait_own_ns = 2000000000; /* a wait that has not ended yet */
    update(metrics, &told, 2);
    HAS(metrics, "idlewave_watch_wait_seconds_total{watched=\"process 7\",cause=\"others\"} 2.000000000");
    HAS(metrics,
        "idlewave_watch_wait_seconds_total{watched=\"process 7\",cause=\"own_threads\"} 2.000000000");
    HAS(metrics, "idlewave_watch_wait_seconds_total{watched=\"process 7\",cause=\"waking\"} 0.400000000");
    iw_watch_metrics_free(metrics);
}

static void names_that_threads_chose_do_no_harm(void **state)
{
    iw_watch_metrics *metrics = new_metrics();
    struct told told = {.result = {.job = NULL}};

    (void)state;
    tell(&told, IW_CLASS_THREAD, "a\"b\\c\n\xc3\xa4\xc3", 1, 2000000); /* the last character is cut */
    update(metrics, &told, 1);
    HAS(metrics, "idlewave_watch_lost_seconds_total{watched=\"process 7\",class=\"thread\","
                 "source=\"a\\\"b\\\\c?\xc3\xa4?\"} 0.002000000");
    iw_watch_metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_names_counters_as_it_should),
        cmocka_unit_test(histograms_are_cumulative_and_end_with_all),
        cmocka_unit_test(names_without_cpu_and_queue_are_one_source),
        cmocka_unit_test(other_takes_what_has_no_place_and_nothing_falls),
        cmocka_unit_test(a_place_that_is_not_used_goes_to_another_source),
        cmocka_unit_test(waiting_behind_others_never_falls),
        cmocka_unit_test(names_that_threads_chose_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
