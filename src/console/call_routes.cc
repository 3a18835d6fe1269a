#include "console/call_routes.h"

#include <algorithm>

#include "base/text.h"
#include "console/answer.h"
#include "console/query.h"
#include "json/writer.h"
#include "store/call_json.h"

namespace hw::console {
namespace {

tl::unexpected<Error> wrong(std::string_view name, std::string_view expected,
                            std::string_view value) {
  constexpr size_t kShownMax = 60;
  return fail(ErrorCode::kBadRequest, concat("The parameter ", name, " takes ", expected,
                                             ", not \"", value.substr(0, kShownMax), "\"."));
}

std::string outcome_names() {
  std::string out;
  for (int i = 0; i < kOutcomeCount; ++i) {
    out += concat(i == 0 ? "" : ", ", outcome_name(static_cast<Outcome>(i)));
  }
  return out;
}

Status read_parameter(const std::string& name, const std::string& value, Nanos now,
                      store::CallQuery& out) {
  if (name == "limit") {
    const bool good = parse_number(value, out.limit) && out.limit >= 1 &&
                      out.limit <= store::CallQuery::kLimitMax;
    if (!good)
      return wrong(name, concat("a number from 1 to ", store::CallQuery::kLimitMax), value);
  } else if (name == "before") {
    out.before = value;
  } else if (name == "outcome") {
    Outcome outcome;
    if (!parse_outcome(value, outcome))
      return wrong(name, concat("one of ", outcome_names()), value);
    out.outcome = outcome;
  } else if (name == "model") {
    out.model = value;
  } else if (name == "key") {
    out.key = value;
  } else if (name == "channel") {
    out.channel = value;
  } else if (name == "since") {
    const std::optional<Nanos> since = parse_time(value, now);
    if (!since.has_value()) {
      return wrong(name, "a time (2026-01-01T00:00:00Z) or a duration back (15m)", value);
    }
    out.since_wall = *since;
  } else if (name == "slow_ms") {
    constexpr int64_t kLongestMs = 86'400'000;
    int64_t slow_ms = 0;
    if (!parse_number(value, slow_ms) || slow_ms < 0 || slow_ms > kLongestMs) {
      return wrong(name, "a number of milliseconds", value);
    }
    out.slow_ns = slow_ms * kMillisecond;
  } else {
    return fail(
        ErrorCode::kBadRequest,
        concat("There is no parameter \"", name.substr(0, 40),
               "\"; there are limit, before, outcome, model, key, channel, since, slow_ms."));
  }
  return {};
}

}  // namespace

Result<store::CallQuery> parse_call_query(std::string_view query, Nanos now) {
  store::CallQuery out;
  if (query.starts_with('?')) query.remove_prefix(1);
  for (const auto& [name, value] : parse_query(query)) {
    if (const Status ok = read_parameter(name, value, now, out); !ok) return fail(ok.error());
  }
  return out;
}

ApiResponse list_calls(const ApiSources& sources, std::string_view query) {
  const Result<store::CallQuery> wanted = parse_call_query(query, sources.clock->wall());
  if (!wanted.has_value()) return error_answer(wanted.error());
  const Result<store::CallPage> page = sources.list_calls(*wanted);
  if (!page.has_value()) return error_answer(page.error());
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  writer.key("calls");
  writer.begin_array();
  std::string one;
  for (const timeline::Call& call : page->calls) {
    one.clear();
    store::append_call_json(one, call);
    writer.raw(one);
  }
  writer.end_array();
  if (page->next.empty()) {
    writer.field_null("next");
  } else {
    writer.field("next", page->next);
  }
  writer.end_object();
  return json_answer(std::move(body));
}

ApiResponse show_call(const ApiSources& sources, std::string_view id, const access::Key* owner) {
  const Result<std::vector<timeline::Call>> found = sources.find_calls(id);
  if (!found.has_value()) return error_answer(found.error());
  const auto call = std::find_if(found->begin(), found->end(), [&](const timeline::Call& one) {
    return owner == nullptr || one.key == owner->name;
  });
  if (call == found->end()) {
    constexpr size_t kShownMax = 80;
    return error_answer(Error(
        ErrorCode::kNotFound,
        concat("There is no call \"", id.substr(0, kShownMax), "\"",
               owner == nullptr ? "" : " of this key",
               "; look it up by the x-request-id or x-headway-trace-id of its answer, or by the "
               "x-request-id that was sent.")));
  }
  std::string body;
  store::append_call_json(body, *call);
  return json_answer(std::move(body));
}

}  // namespace hw::console
