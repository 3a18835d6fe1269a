#include "faults/schedule.h"

#include <array>
#include <cmath>
#include <string>

#include "base/text.h"
#include "json/scan.h"

namespace hw::faults {
namespace {

constexpr int64_t kDelayMsMax = 600'000;
constexpr int64_t kStepMax = int64_t{1} << 40;

// A field that is a whole number.
struct WholeField {
  std::string_view name;
  int64_t Faults::* member;
  int64_t min;
  int64_t max;
};

constexpr std::array<WholeField, 8> kWholeFields = {{
    {"hung_step", &Faults::hung_step, 0, kStepMax},
    {"hung_step_ms", &Faults::hung_step_ms, 0, kDelayMsMax},
    {"failed_step", &Faults::failed_step, 0, kStepMax},
    {"failed_steps", &Faults::failed_steps, 1, 1'000'000},
    {"crash_step", &Faults::crash_step, 0, kStepMax},
    {"late_first_token_ms", &Faults::late_first_token_ms, 0, kDelayMsMax},
    {"load_stall_ms", &Faults::load_stall_ms, 0, kDelayMsMax},
    {"memory_bytes_per_step", &Faults::memory_bytes_per_step, 0, int64_t{1} << 24},
}};

// A field that is any number.
struct RealField {
  std::string_view name;
  double Faults::* member;
  double min;
  double max;
};

constexpr std::array<RealField, 5> kRealFields = {{
    {"slow_step_factor", &Faults::slow_step_factor, 1, 1000},
    {"clock_ratio", &Faults::clock_ratio, 0.01, 1},
    {"leak_share", &Faults::leak_share, 0, 1},
    {"lost_blocks_share", &Faults::lost_blocks_share, 0, 1},
    {"lost_abort_share", &Faults::lost_abort_share, 0, 1},
}};

std::string known_names() {
  std::string names;
  for (const RealField& field : kRealFields) {
    names += concat(names.empty() ? "" : ", ", field.name);
  }
  for (const WholeField& field : kWholeFields) names += concat(", ", field.name);
  return names;
}

// Empty where it was taken.
std::string take(std::string_view name, const json::Value& value, Faults& faults) {
  const std::optional<double> number = value.number();
  for (const RealField& field : kRealFields) {
    if (field.name != name) continue;
    if (!number || !(*number >= field.min && *number <= field.max)) {
      return concat(name, ": a number from ", fixed(field.min, 2), " to ", fixed(field.max, 2));
    }
    faults.*field.member = *number;
    return {};
  }
  for (const WholeField& field : kWholeFields) {
    if (field.name != name) continue;
    const bool fits = number && *number == std::floor(*number) &&
                      *number >= static_cast<double>(field.min) &&
                      *number <= static_cast<double>(field.max);
    if (!fits) return concat(name, ": a whole number from ", field.min, " to ", field.max);
    faults.*field.member = static_cast<int64_t>(*number);
    return {};
  }
  return concat("unknown fault; there are ", known_names());
}

}  // namespace

Result<Faults> read_faults(std::string_view json) {
  json::Document document;
  if (Status opened = document.open(json); !opened) return fail(std::move(opened.error()));
  Faults faults;
  std::string wrong;
  document.root().each([&](std::string_view name, const json::Value& value) {
    if (wrong.empty()) wrong = take(name, value, faults);
  });
  if (Status whole = document.finish(); !whole) return fail(std::move(whole.error()));
  if (!wrong.empty()) return fail(ErrorCode::kBadRequest, std::move(wrong));
  return faults;
}

void Schedule::replace(const Faults& faults) {
  faults_ = faults;
  step_ = 0;
}

Harm Schedule::next(bool first_token) {
  ++step_;
  Harm harm;
  harm.factor = faults_.slow_step_factor / faults_.clock_ratio;
  harm.memory_bytes = faults_.memory_bytes_per_step;
  if (step_ == 1) harm.delay_ns += faults_.load_stall_ms * kMillisecond;
  if (step_ == faults_.hung_step) harm.delay_ns += faults_.hung_step_ms * kMillisecond;
  if (first_token) harm.delay_ns += faults_.late_first_token_ms * kMillisecond;
  const bool refused = faults_.failed_step != 0 && step_ >= faults_.failed_step &&
                       step_ - faults_.failed_step < faults_.failed_steps;
  const bool crashed = faults_.crash_step != 0 && step_ >= faults_.crash_step;
  harm.fails = refused || crashed;
  return harm;
}

}  // namespace hw::faults
