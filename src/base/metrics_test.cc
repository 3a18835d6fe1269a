#include "base/metrics.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"

namespace hw {
namespace {

constexpr double kBuckets[] = {0.005, 0.1, 2.5};

std::string collected(Registry& registry) {
  std::string out;
  registry.collect(out);
  return out;
}

bool has_line(const std::string& text, std::string_view line) {
  return text.find(concat("\n", line, "\n")) != std::string::npos;
}

TEST_CASE("a scrape reads as Prometheus' text format 0.0.4") {
  Registry registry;
  const Counter requests = registry.counter("headway_requests_total", "Requests by outcome.",
                                            {{"model", "m"}, {"channel", "c"}});
  const Gauge depth = registry.gauge("headway_queue_depth", "Waiting.");
  const HistogramMetric latency =
      registry.histogram("headway_latency_seconds", "How long.", {{"stage", "send"}}, kBuckets);
  requests.add(3);
  depth.set(7);
  latency.record(5'000'000);      // 0.005 s: its bucket is inclusive
  latency.record(5'000'001);      // the next one
  latency.record(3'000'000'000);  // beyond all
  CHECK(collected(registry) ==
        "# HELP headway_requests_total Requests by outcome.\n"
        "# TYPE headway_requests_total counter\n"
        "headway_requests_total{channel=\"c\",model=\"m\"} 3\n"
        "# HELP headway_queue_depth Waiting.\n"
        "# TYPE headway_queue_depth gauge\n"
        "headway_queue_depth 7\n"
        "# HELP headway_latency_seconds How long.\n"
        "# TYPE headway_latency_seconds histogram\n"
        "headway_latency_seconds_bucket{stage=\"send\",le=\"0.005\"} 1\n"
        "headway_latency_seconds_bucket{stage=\"send\",le=\"0.1\"} 2\n"
        "headway_latency_seconds_bucket{stage=\"send\",le=\"2.5\"} 2\n"
        "headway_latency_seconds_bucket{stage=\"send\",le=\"+Inf\"} 3\n"
        "headway_latency_seconds_sum{stage=\"send\"} 3.010000001\n"
        "headway_latency_seconds_count{stage=\"send\"} 3\n"
        "# HELP headway_metric_series_dropped_total Series that found no room in the registry.\n"
        "# TYPE headway_metric_series_dropped_total counter\n"
        "headway_metric_series_dropped_total 0\n");
}

TEST_CASE("label values and help are escaped, so that they cannot forge a line") {
  Registry registry;
  registry.counter("x_total", "a\\b\nc \"d\"", {{"model", "q\"\\\n7\xc3\xa9"}}).add();
  const std::string text = collected(registry);
  CHECK(text.find("# HELP x_total a\\\\b\\nc \"d\"\n") != std::string::npos);
  CHECK(has_line(text, "x_total{model=\"q\\\"\\\\\\n7\xc3\xa9\"} 1"));
}

TEST_CASE("a histogram without labels has only le, large bounds read as they were written") {
  Registry registry;
  const double buckets[] = {100, 100000, 1e18};
  registry.histogram("ms", "h", {}, buckets, 1).record(100);
  const std::string text = collected(registry);
  CHECK(has_line(text, "ms_bucket{le=\"100\"} 1"));
  CHECK(has_line(text, "ms_bucket{le=\"100000\"} 1"));
  CHECK(has_line(text, "ms_bucket{le=\"1e+18\"} 1"));
  CHECK(has_line(text, "ms_sum 100"));
}

TEST_CASE("each bound puts values at and below it into its own bucket") {
  for (size_t count = 0; count <= 20; ++count) {
    std::vector<double> buckets;
    for (size_t i = 0; i < count; ++i) buckets.push_back(static_cast<double>(10 * (i + 1)));
    Registry registry;
    const HistogramMetric metric = registry.histogram("h", "h", {}, buckets, 1);
    for (int64_t value = 0; value <= 10 * static_cast<int64_t>(count) + 5; ++value) {
      metric.record(value);
    }
    const std::string text = collected(registry);
    for (size_t i = 0; i < count; ++i) {
      CHECK(text.find(concat("h_bucket{le=\"", 10 * (i + 1), "\"} ", 10 * (i + 1) + 1, "\n")) !=
            std::string::npos);
    }
    CHECK(metric.count() == 10 * static_cast<int64_t>(count) + 6);
  }
}

TEST_CASE("the same name and labels are the same series, in whatever order labels come") {
  Registry registry;
  const Counter one = registry.counter("x_total", "h", {{"a", "1"}, {"b", "2"}});
  const Counter two = registry.counter("x_total", "other help", {{"b", "2"}, {"a", "1"}});
  const Counter other = registry.counter("x_total", "h", {{"a", "2"}, {"b", "1"}});
  one.add(2);
  two.add(3);
  other.add(10);
  CHECK(one.value() == 5);
  CHECK(other.value() == 10);
  const std::string text = collected(registry);
  CHECK(text.find("# HELP x_total h\n") != std::string::npos);
  CHECK(text.find("other help") == std::string::npos);
}

TEST_CASE("scale turns integer units into exported ones") {
  Registry registry;
  registry.gauge("ratio", "h", {}, 1e6).set(250'000);
  registry.counter("seconds_total", "h", {}, kSecondsFromNs).add(1'500'000'000);
  const std::string text = collected(registry);
  CHECK(has_line(text, "ratio 0.25"));
  CHECK(has_line(text, "seconds_total 1.5"));
}

TEST_CASE("sums do not overflow where nanoseconds of many streams add up") {
  Registry registry;
  const HistogramMetric metric = registry.histogram("h", "h", {}, kBuckets);
  for (int i = 0; i < 4; ++i) metric.record(INT64_MAX);
  CHECK(metric.sum() == doctest::Approx(4.0 * 9223372036854775807.0));
  CHECK(metric.count() == 4);
}

TEST_CASE("a handle that was never registered counts nowhere") {
  const Counter counter;
  const Gauge gauge;
  const HistogramMetric histogram;
  counter.add();
  gauge.add(1);
  gauge.set(2);
  histogram.record(3);
  CHECK(counter.value() == 0);
  CHECK(gauge.value() == 0);
  CHECK(histogram.count() == 0);
  CHECK(histogram.sum() == 0);
}

TEST_CASE("beyond its room the registry counts the series it drops") {
  Registry registry;
  const double buckets[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  std::vector<HistogramMetric> handles;
  const int series = static_cast<int>(Registry::kCellsMax / 22) + 10;
  for (int i = 0; i < series; ++i) {
    handles.push_back(registry.histogram("h", "h", {{"i", std::to_string(i)}}, buckets, 1));
    handles.back().record(1);
  }
  CHECK(handles.front().count() == 1);
  CHECK(handles.back().count() == 0);
  const std::string text = collected(registry);
  const size_t at = text.rfind("headway_metric_series_dropped_total ");
  int dropped = 0;
  CHECK(parse_number(trim(text.substr(at + 36, text.size() - at - 37)), dropped));
  CHECK(dropped >= 10);
  CHECK(dropped < 500);  // what is left at the end of a chunk is small
}

TEST_CASE("hooks run before each scrape and end with their owner") {
  Registry registry;
  const Gauge gauge = registry.gauge("g", "h");
  int runs = 0;
  {
    CollectHook hook = registry.on_collect([&] { gauge.set(++runs); });
    CHECK(has_line(collected(registry), "g 1"));
    CollectHook moved = std::move(hook);
    CHECK(has_line(collected(registry), "g 2"));
    hook = registry.on_collect([] {});
    moved = std::move(hook);  // ends the first hook
    CHECK(has_line(collected(registry), "g 2"));
  }
  collected(registry);
  CHECK(runs == 2);
}

TEST_CASE("shards of loops and of other threads add up, while series are added and scraped") {
  Registry registry;
  const Counter counter = registry.counter("x_total", "h");
  const Gauge gauge = registry.gauge("open", "h");
  const HistogramMetric metric = registry.histogram("h", "h", {}, kBuckets);
  constexpr int kThreads = 6, kRounds = 4000;
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // Two threads share the shard of threads that have none.
      if (t >= 2) set_metric_shard(t);
      for (int i = 0; i < kRounds; ++i) {
        counter.add();
        gauge.add(i % 2 == 0 ? 1 : -1);
        metric.record(1'000'000);
      }
      --running;
    });
  }
  int added = 0;
  while (running.load() > 0) {
    if (added < 3000) registry.counter("later_total", "h", {{"i", std::to_string(added++)}}).add();
    if (added % 100 == 0) collected(registry);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(counter.value() == kThreads * kRounds);
  CHECK(gauge.value() == 0);
  CHECK(metric.count() == kThreads * kRounds);
  CHECK(metric.sum() == doctest::Approx(1e6 * kThreads * kRounds));
}

TEST_CASE("a shard beyond the maximum counts with the threads that have none") {
  Registry registry;
  const Counter counter = registry.counter("x_total", "h");
  std::thread([&] {
    set_metric_shard(kMetricShardsMax + 5);
    counter.add(4);
  }).join();
  CHECK(counter.value() == 4);
}

TEST_CASE("the process has one registry") {
  CHECK(&metrics() == &metrics());
}

}  // namespace
}  // namespace hw
