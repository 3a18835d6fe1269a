#include "probe/record.h"

#include "base/assert.h"

namespace hw::probe {
namespace {

// A status that says: there is nothing here, or not like this.
bool is_wrong_place(int status) {
  return status == 404 || status == 405 || status == 501 || status == 410;
}

Progress progress_of_answer(const Exchange& exchange, std::string_view model) {
  const Reading& reading = exchange.reading;
  const bool spoke_json = reading.kind == BodyKind::kJson;
  const bool shaped = spoke_json && reading.error_shape != wire::ErrorShape::kNone;
  if (exchange.status == 401) return Progress::kApi;
  if (exchange.status == 403) return spoke_json ? Progress::kApi : Progress::kHttp;
  if (is_wrong_place(exchange.status)) {
    return shaped && is_about_model(reading.error, model) ? Progress::kAccepted : Progress::kHttp;
  }
  if (exchange.status >= 400) {
    const bool judged = shaped || exchange.status == 429 || exchange.status >= 500;
    return judged ? Progress::kAccepted : Progress::kHttp;
  }
  if (exchange.status >= 300) return Progress::kHttp;
  if (exchange.is_stream) return Progress::kAccepted;
  if (reading.answers()) return Progress::kAnswer;
  // An error inside a 200 and an answer without its member are still of an API.
  const bool of_api =
      spoke_json &&
      (reading.error_member || reading.member != AnswerMember::kMissing || reading.usage.told);
  return of_api ? Progress::kAccepted : Progress::kHttp;
}

}  // namespace

std::string_view key_header_name(KeyHeader header) {
  switch (header) {
    case KeyHeader::kBearer:
      return "Authorization: Bearer";
    case KeyHeader::kXApiKey:
      return "x-api-key";
    case KeyHeader::kApiKey:
      return "api-key";
  }
  return {};
}

std::string_view Exchange::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Progress progress_of(const Exchange& exchange, std::string_view model) {
  if (exchange.status != 0) return progress_of_answer(exchange, model);
  if (exchange.times.sent >= 0) return Progress::kSecured;
  if (exchange.times.connected >= 0 && exchange.failure != Failure::kTunnel) {
    return Progress::kConnection;
  }
  return exchange.times.resolved >= 0 ? Progress::kAddress : Progress::kNothing;
}

const Try& Record::best() const {
  HW_ASSERT(!tries.empty());
  const Try* best = &tries.front();
  for (const Try& each : tries) {
    if (each.helped) best = &each;
  }
  return *best;
}

}  // namespace hw::probe
