#include "engine_server/admin_exchange.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "engine_server/prompt_tokens.h"
#include "engine_server/reply.h"

namespace hw::engine_server {
namespace {

constexpr int64_t kFaultsBytesMax = 4096;  // all fields at their longest are a tenth of it
constexpr std::string_view kBearer = "Bearer ";

// In a time that depends on the lengths alone.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differ = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differ |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return differ == 0;
}

}  // namespace

net::Task<void> AdminExchange::run(std::string_view authorization) {
  const bool allowed = may(authorization);
  Status done;
  if (!allowed) {
    done = fail(ErrorCode::kUnauthorized, "/admin takes the instance's admin_token, if it has one");
  } else {
    done = co_await client_.read_body(kFaultsBytesMax, monotonic_ns() + kBodyTimeout);
    if (!done && done.error().code == ErrorCode::kClientGone) co_return;
    if (done) done = take();
  }
  Reply reply;
  if (done) {
    reply.body = R"({"status":"ok"})";
  } else {
    reply = error_reply(done.error(), {});
  }
  co_await send_reply(client_, reply);
}

Status AdminExchange::take() const {
  const Result<faults::Faults> faults = faults::read_faults(client_.body());
  if (!faults) return fail(faults.error());
  log_warning("engine", concat("faults on purpose from now on: ", client_.body()));
  services_.faults->replace(*faults);
  return {};
}

bool AdminExchange::may(std::string_view authorization) const {
  if (services_.faults == nullptr || !authorization.starts_with(kBearer)) return false;
  return same(authorization.substr(kBearer.size()), services_.admin_token);
}

}  // namespace hw::engine_server
