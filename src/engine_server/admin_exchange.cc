#include "engine_server/admin_exchange.h"

#include <chrono>
#include <future>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "engine_server/prompt_tokens.h"
#include "engine_server/reply.h"
#include "json/scan.h"

namespace hw::engine_server {
namespace {

constexpr int64_t kBodyMax = 4096;  // all faults at their longest are a quarter of it
constexpr std::string_view kBearer = "Bearer ";
// The engine answers between two steps; one that hangs does not.
constexpr std::chrono::seconds kEngineWait{10};

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

// What the engine says to `ask`, which gets a function to tell it; nullopt: nothing in time.
// Blocks.
template <class Value, class Ask>
std::optional<Value> answer_of_engine(Ask ask) {
  const auto promise = std::make_shared<std::promise<Value>>();
  std::future<Value> answer = promise->get_future();
  ask([promise](Value value) { promise->set_value(value); });
  if (answer.wait_for(kEngineWait) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

tl::unexpected<Error> no_answer() {
  return fail(ErrorCode::kOverloaded, "the engine does not answer; see /health/live");
}

}  // namespace

std::optional<AdminAction> admin_action(std::string_view path) {
  if (path == "/admin/faults") return AdminAction::kFaults;
  if (path == "/admin/abort") return AdminAction::kAbort;
  if (path == "/admin/reset_prefix_cache") return AdminAction::kResetPrefixCache;
  return std::nullopt;
}

net::Task<void> AdminExchange::run(std::string_view authorization) {
  const bool allowed = may(authorization);
  Status done;
  if (!allowed) {
    done = fail(ErrorCode::kUnauthorized, "/admin takes the instance's admin_token, if it has one");
  } else {
    done = co_await client_.read_body(kBodyMax, monotonic_ns() + kBodyTimeout);
    if (!done && done.error().code == ErrorCode::kClientGone) co_return;
  }
  if (done && action_ == AdminAction::kFaults) done = take_faults();
  if (done && action_ == AdminAction::kAbort) done = co_await abort();
  if (done && action_ == AdminAction::kResetPrefixCache) done = co_await reset_prefix_cache();
  Reply reply;
  if (done) {
    reply.body = R"({"status":"ok"})";
  } else {
    reply = error_reply(done.error(), {});
  }
  co_await send_reply(client_, reply);
}

Status AdminExchange::take_faults() const {
  const Result<faults::Faults> faults = faults::read_faults(client_.body());
  if (!faults) return fail(faults.error());
  log_warning("engine", concat("faults on purpose from now on: ", client_.body()));
  suffer(services_, *faults);
  return {};
}

net::Task<Status> AdminExchange::abort() {
  json::Document document(ErrorCode::kBadRequest);
  if (Status opened = document.open(client_.body()); !opened) co_return opened;
  const std::string id(document.root().find("id").text_or(""));
  if (Status whole = document.finish(); !whole) co_return whole;
  if (id.empty()) co_return fail(ErrorCode::kBadRequest, "id: expected a request's x-request-id");
  std::optional<int> ended;
  std::function<void()> job = [this, &id, &ended] {
    ended = answer_of_engine<int>(
        [&](std::function<void(int)> tell) { services_.engine.abort_id(id, std::move(tell)); });
  };
  const bool ran = co_await services_.blocking.run(services_.loop, job);
  if (!ran || !ended.has_value()) co_return no_answer();
  if (*ended == 0) {
    co_return fail(ErrorCode::kNotFound, concat("no request with the id ", id, " is here"));
  }
  co_return Status{};
}

net::Task<Status> AdminExchange::reset_prefix_cache() {
  std::optional<bool> forgotten;
  std::function<void()> job = [this, &forgotten] {
    forgotten = answer_of_engine<bool>([&](std::function<void(bool)> tell) {
      services_.engine.reset_prefix_cache(std::move(tell));
    });
  };
  const bool ran = co_await services_.blocking.run(services_.loop, job);
  if (!ran || !forgotten.has_value()) co_return no_answer();
  if (!*forgotten) {
    co_return fail(ErrorCode::kOverloaded,
                   "the prefix cache is in use by running requests; try again when none runs");
  }
  co_return Status{};
}

bool AdminExchange::may(std::string_view authorization) const {
  if (services_.admin_token.empty() || !authorization.starts_with(kBearer)) return false;
  return same(authorization.substr(kBearer.size()), services_.admin_token);
}

void suffer(const Services& services, const faults::Faults& faults) {
  if (services.faults != nullptr) services.faults->replace(faults);
  services.engine.suffer({faults.leak_share, faults.lost_blocks_share, faults.lost_abort_share});
}

}  // namespace hw::engine_server
