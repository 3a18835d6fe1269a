#include "timeline/gaps.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/varint.h"

namespace hw::timeline {
namespace {

// An encoded event is a varint of (microseconds since the previous event) << 2 | cause.
constexpr int kCauseBits = 2;
constexpr uint64_t kCauseMask = (1 << kCauseBits) - 1;

// The value at rank ceil(q * size) of unsorted `lengths`, which it reorders.
Nanos quantile_of(std::vector<Nanos>& lengths, double q) {
  const double wanted = std::ceil(q * static_cast<double>(lengths.size()));
  const auto rank = std::clamp<size_t>(static_cast<size_t>(wanted), 1, lengths.size());
  const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(lengths.begin(), at, lengths.end());
  return *at;
}

// The gaps between encoded events.
std::vector<Nanos> decoded_gaps(std::string_view encoded, uint64_t events) {
  std::vector<Nanos> lengths;
  lengths.reserve(std::min<uint64_t>(events, encoded.size()));
  TokenTime previous, next;
  bool first = true;
  while (next_token_time(encoded, previous, next)) {
    if (!first) lengths.push_back(next.at - previous.at);
    first = false;
    previous = next;
  }
  return lengths;
}

// A string doubles when it grows, and thousands of streams would hold as much again as they need.
void reserve_little_more(std::string& out, size_t size) {
  if (out.size() + size > out.capacity()) out.reserve(out.size() + out.size() / 8 + 64);
}

}  // namespace

std::string_view gap_cause_name(GapCause cause) {
  switch (cause) {
    case GapCause::kUpstream:
      return "upstream";
    case GapCause::kGateway:
      return "gateway";
    case GapCause::kClient:
      return "client";
  }
  return "?";
}

GapCause attribute_gap(Nanos length, Nanos client_blocked, Nanos gateway_late) {
  const Nanos larger = std::max(client_blocked, gateway_late);
  // Tokens of one read came from the upstream at once.
  if (length <= 0 || larger <= 0 || larger < length - larger) return GapCause::kUpstream;
  return client_blocked >= gateway_late ? GapCause::kClient : GapCause::kGateway;
}

TokenTimes::Added TokenTimes::add(Nanos at, Nanos client_blocked, Nanos gateway_late) {
  at = std::max(at, last_);
  Added added;
  added.first = events_ == 0;
  if (!added.first) {
    added.gap.at = last_;
    added.gap.length = at - last_;
    added.gap.cause = attribute_gap(added.gap.length, client_blocked, gateway_late);
    const auto cause = static_cast<size_t>(added.gap.cause);
    ++totals_.count;
    ++totals_.count_by_cause[cause];
    totals_.time_by_cause[cause] += added.gap.length;
    totals_.max = std::max(totals_.max, added.gap.length);
    keep_longest(added.gap);
  }
  ++events_;
  last_ = at;
  encode(added.gap);
  return added;
}

void TokenTimes::encode(const Gap& gap) {
  if (overflow_ == nullptr) {
    const Nanos rounded = last_ - last_ % kMicrosecond;
    const auto micros = static_cast<uint64_t>((rounded - last_coded_) / kMicrosecond);
    char bytes[kVarintBytesMax];
    const auto cause = static_cast<uint64_t>(gap.cause);
    const char* end = write_varint(bytes, micros << kCauseBits | cause);
    const auto size = static_cast<size_t>(end - bytes);
    if (encoded_.size() + size <= kBytesMax) {
      reserve_little_more(encoded_, size);
      encoded_.append(bytes, size);
      last_coded_ = rounded;
      return;
    }
    overflow_ = std::make_unique<Histogram>();
  }
  overflow_->record(gap.length);
}

void TokenTimes::keep_longest(const Gap& gap) {
  auto& longest = totals_.longest;
  if (gap.length <= longest.back().length) return;
  size_t place = longest.size() - 1;
  for (; place > 0 && longest[place - 1].length < gap.length; --place) {
    longest[place] = longest[place - 1];
  }
  longest[place] = gap;
}

GapSummary TokenTimes::summary() const {
  GapSummary summary = totals_;
  if (summary.count == 0) return summary;
  std::vector<Nanos> lengths = decoded_gaps(encoded_, events_);
  if (overflow_ == nullptr) {
    summary.p50 = quantile_of(lengths, 0.5);
    summary.p99 = quantile_of(lengths, 0.99);
  } else {
    Histogram all;
    for (Nanos length : lengths) all.record(length);
    all.merge(*overflow_);
    summary.p50 = all.quantile(0.5);
    summary.p99 = all.quantile(0.99);
  }
  // Encoded times are rounded to the microsecond; the longest gap is known to the nanosecond.
  summary.p50 = std::min(summary.p50, summary.max);
  summary.p99 = std::min(summary.p99, summary.max);
  return summary;
}

bool next_token_time(std::string_view& encoded, const TokenTime& previous, TokenTime& out) {
  constexpr uint64_t kMicrosMax = INT64_MAX / kMicrosecond;
  std::string_view rest = encoded;
  uint64_t value;
  if (!read_varint(rest, value) || (value & kCauseMask) > 2) return false;
  const uint64_t micros = value >> kCauseBits;
  if (micros > kMicrosMax) return false;
  const Nanos delta = static_cast<Nanos>(micros) * kMicrosecond;
  if (previous.at > INT64_MAX - delta) return false;
  out.at = previous.at + delta;
  out.cause = static_cast<GapCause>(value & kCauseMask);
  encoded = rest;
  return true;
}

}  // namespace hw::timeline
