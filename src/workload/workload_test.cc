#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "workload/arrivals.h"
#include "workload/draw.h"
#include "workload/lengths.h"
#include "workload/trace.h"

namespace hw::workload {
namespace {

// Mean and coefficient of variation of the gaps.
struct Gaps {
  double mean_s = 0, variation = 0;
};

Gaps gaps_of(ArrivalKind kind, double burstiness, int count) {
  Arrivals arrivals(kind, 50, burstiness, 7);
  double sum = 0, squares = 0;
  Nanos before = 0;
  for (int i = 0; i < count; ++i) {
    const Nanos at = arrivals.next();
    REQUIRE(at >= before);
    const double gap = static_cast<double>(at - before) / 1e9;
    sum += gap, squares += gap * gap;
    before = at;
  }
  Gaps out;
  out.mean_s = sum / count;
  out.variation = std::sqrt(squares / count - out.mean_s * out.mean_s) / out.mean_s;
  return out;
}

std::string problem_of(std::string_view trace) {
  const auto rows = read_trace(trace);
  return rows.has_value() ? std::string("none") : rows.error().message;
}

}  // namespace

TEST_CASE("gaps have the rate's mean and the law's spread") {
  constexpr int kCount = 200'000;  // standard error of the mean: 0.2 % of it
  const Gaps poisson = gaps_of(ArrivalKind::kPoisson, 1, kCount);
  CHECK(poisson.mean_s == doctest::Approx(0.02).epsilon(0.01));
  CHECK(poisson.variation == doctest::Approx(1).epsilon(0.02));
  const Gaps bursts = gaps_of(ArrivalKind::kGamma, 0.25, kCount);
  CHECK(bursts.mean_s == doctest::Approx(0.02).epsilon(0.02));
  CHECK(bursts.variation == doctest::Approx(2).epsilon(0.03));
  const Gaps even = gaps_of(ArrivalKind::kGamma, 4, kCount);
  CHECK(even.mean_s == doctest::Approx(0.02).epsilon(0.01));
  CHECK(even.variation == doctest::Approx(0.5).epsilon(0.02));
  const Gaps same = gaps_of(ArrivalKind::kConstant, 1, 1000);
  CHECK(same.mean_s == doctest::Approx(0.02).epsilon(1e-6));
  CHECK(same.variation < 1e-3);
}

TEST_CASE("arrivals are the seed's, and constant ones do not drift") {
  Arrivals a(ArrivalKind::kGamma, 3, 0.5, 11), b(ArrivalKind::kGamma, 3, 0.5, 11);
  for (int i = 0; i < 100; ++i) CHECK(a.next() == b.next());
  Arrivals third(ArrivalKind::kConstant, 3, 1, 0);
  Nanos last = 0;
  for (int i = 0; i < 3'000'000; ++i) last = third.next();
  CHECK(std::abs(last - 1'000'000 * kSecond) < 10 * kMicrosecond);
}

TEST_CASE("lengths follow what the word says") {
  Random random(3);
  const auto mean_of = [&](std::string_view text) {
    const auto lengths = Lengths::parse(text);
    REQUIRE(lengths.has_value());
    double sum = 0;
    for (int i = 0; i < 100'000; ++i) {
      const int drawn = lengths->draw(random);
      REQUIRE(drawn >= 1);
      sum += drawn;
    }
    CHECK(sum / 100'000 == doctest::Approx(lengths->mean()).epsilon(0.02));
    return sum / 100'000;
  };
  CHECK(mean_of("1024") == 1024);
  CHECK(mean_of("512..2048") == doctest::Approx(1280).epsilon(0.01));
  CHECK(mean_of("lognormal:800,0.9") == doctest::Approx(800 * std::exp(0.405)).epsilon(0.02));
  CHECK(mean_of("exponential:300") == doctest::Approx(300).epsilon(0.02));
  const auto narrow = Lengths::parse("7..7");
  CHECK(narrow->draw(random) == 7);
}

TEST_CASE("a word that is no length is told what is one") {
  for (const std::string_view text :
       {"", "0", "-1", "x", "5..", "9..3", "lognormal:5", "lognormal:5,x", "lognormal:5,99",
        "exponential:", "99999999999", "1e3"}) {
    const auto lengths = Lengths::parse(text);
    REQUIRE_FALSE(lengths.has_value());
    CHECK(lengths.error().message.find("512..2048") != std::string::npos);
  }
}

TEST_CASE("each published trace is read, by its own units") {
  const auto mooncake = read_trace(
      "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, "
      "47]}\n"
      "{\"timestamp\": 30535, \"input_length\": 6472, \"output_length\": 26, \"hash_ids\": "
      "[46]}\n");
  REQUIRE(mooncake.has_value());
  REQUIRE(mooncake->size() == 2);
  CHECK((*mooncake)[0].at == 0);
  CHECK((*mooncake)[0].input_tokens == 6955);
  CHECK((*mooncake)[0].blocks == std::vector<uint64_t>{46, 47});
  CHECK((*mooncake)[1].at == 3053 * kMillisecond);

  const auto azure = read_trace(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:16:47.6805901,396,109\r\n");
  REQUIRE(azure.has_value());
  CHECK((*azure)[1].at == 61 * kSecond + 100);
  CHECK((*azure)[1].output_tokens == 109);
  const auto week = read_trace(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-12 00:00:10+00:00,1,2\n"
      "2024-05-12 00:00:00+00:00,3,4\n");
  REQUIRE(week.has_value());
  CHECK((*week)[0].input_tokens == 3);  // sorted
  CHECK((*week)[1].at == 10 * kSecond);

  const auto burst = read_trace(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
      "Type\n"
      "5.5,a,3.1,GPT-4,472,18,490,Conversation log\n45,b,1,ChatGPT,10,0,10,API log\n"
      "100.25,c,2,GPT-4,7,8,15,API log\n");
  REQUIRE(burst.has_value());
  REQUIRE(burst->size() == 2);  // the failure is left out
  CHECK((*burst)[0].input_tokens == 472);
  CHECK((*burst)[1].at == 94'750 * kMillisecond);
}

TEST_CASE("a trace that cannot be read is named with its line") {
  CHECK(problem_of("").find("none of the traces") != std::string::npos);
  CHECK(problem_of("a,b\n1,2\n").find("line 1") == 0);
  CHECK(problem_of("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,2\n").find("line 2") == 0);
  CHECK(problem_of("TIMESTAMP,ContextTokens,GeneratedTokens\n1,2\n").find("line 2") == 0);
  CHECK(problem_of("TIMESTAMP,ContextTokens,GeneratedTokens\n1,x,2\n").find("line 2") == 0);
  CHECK(problem_of("{\"timestamp\": 1, \"input_length\": 2, \"output_length\": 3}\n{\n")
            .find("line 2") == 0);
  CHECK(
      problem_of("{\"timestamp\": -1, \"input_length\": 2, \"output_length\": 3}").find("line 1") ==
      0);
  CHECK(problem_of("Timestamp,Request tokens,Response tokens\n1,1,0\n").find("no request") !=
        std::string::npos);
}

}  // namespace hw::workload
