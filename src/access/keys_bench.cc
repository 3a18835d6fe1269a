// What the key costs an exchange: one digest and one look-up among 10,000 keys.
#include <benchmark/benchmark.h>

#include <string>

#include "access/keys.h"
#include "base/text.h"

namespace {

using namespace hw;

constexpr std::string_view kSecret = "sk-hw-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

void digest_of_a_key(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(access::sha256(kSecret));
}
BENCHMARK(digest_of_a_key);

void authorize_among_10000(benchmark::State& state) {
  std::vector<access::KeyEntry> entries;
  for (int i = 0; i < 10'000; ++i) {
    access::KeyEntry entry;
    entry.digest = access::sha256(concat("secret-", i));
    entry.key.name = concat("key-", i);
    entries.push_back(entry);
  }
  entries.back().digest = access::sha256(kSecret);
  const access::KeySnapshot keys(std::move(entries));
  const std::string value = concat("Bearer ", kSecret);
  const access::Presented one{access::CredentialSource::kAuthorization, value};
  for (auto _ : state) benchmark::DoNotOptimize(access::authorize(keys, std::span(&one, 1)));
}
BENCHMARK(authorize_among_10000);

}  // namespace
