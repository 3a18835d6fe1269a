#include "gateway/model_listing.h"

#include "wire/error_body.h"
#include "wire/model_list.h"

namespace hw::gateway {
namespace {

using timeline::ExchangeStamp;

// Of a name that was asked for, in the record.
constexpr size_t kModelBytesMax = 256;

}  // namespace

ModelListing::ModelListing(LoopContext& context, http::ServerConnection& client,
                           std::shared_ptr<const Snapshot> settings, const edge::Route& route)
    : state_(context, client, std::move(settings)) {
  state_.route = route;
}

net::Task<void> ModelListing::run(std::unique_ptr<ModelListing> listing,
                                  const http::RequestHead& head) {
  ExchangeState& state = listing->state_;
  http::ServerConnection& client = state.client;
  state.begin(head, "/v1/models", edge::shape_of(state.route.family));
  state.own.resume(client.head_read());
  const Status composed = listing->compose(head);
  const edge::OwnHead own = listing->answer_head(composed);
  if (client.body_complete()) {
    const Nanos now = state.offset(monotonic_ns());
    state.call.stamps.set_once(ExchangeStamp::kBodyRead, state.offset(client.head_read()));
    state.call.stamps.set_once(ExchangeStamp::kAuthorized, now);
    state.call.stamps.set_once(ExchangeStamp::kAdmitted, now);
  }
  client.watch();
  std::string text;
  edge::append_own_head(text, own);
  const std::string_view body = head.method == "HEAD" ? std::string_view() : listing->body_;
  const bool written = co_await state.write_whole(text, body, own.status);
  if (!written) state.set_gone();
  state.finish();
  state.context.sink.end(state.call);
}

// Makes the body: the list, the one model, or the error that says why not.
Status ModelListing::compose(const http::RequestHead& head) {
  const Result<const access::Key*> who = state_.admit(head);
  if (!who) return fail(who.error());
  const access::Key& key = **who;
  const route::Catalogue& catalogue = *state_.settings->catalogue;
  if (state_.route.kind == edge::RouteKind::kModel) {
    const std::string id = edge::decode_segment(state_.route.id);
    state_.call.model = id.substr(0, kModelBytesMax);
    std::vector<route::Candidate> found;
    route::NoMatch why{};
    for (int i = 0; i < route::kEndpointCount && found.empty(); ++i) {
      const auto endpoint = static_cast<route::Endpoint>(i);
      catalogue.find(id, endpoint, state_.context.random, found, why);
    }
    if (found.empty() || !key.allows(id)) return fail(wire::unknown_model(id));
    wire::append_model(body_, state_.route.family, id);
    return {};
  }
  std::vector<std::string> names;
  for (const std::string& name : catalogue.model_names()) {
    if (key.allows(name)) names.push_back(name);
  }
  wire::append_model_list(body_, state_.route.family, names);
  return {};
}

edge::OwnHead ModelListing::answer_head(const Status& composed) {
  timeline::Call& call = state_.call;
  if (!state_.client.body_complete()) state_.client.end_connection();
  if (!composed) {
    const Error& error = composed.error();
    call.outcome = Outcome::kRejected;
    call.error = {std::string(error.name()), error.message};
    wire::append_error_body(body_, call.dialect, error, call.id.view());
    return state_.error_head(error, body_.size());
  }
  call.outcome = Outcome::kOk;
  edge::OwnHead out;
  out.framing = {edge::AnswerFraming::Kind::kLength, body_.size()};
  out.labels = state_.labels();
  out.keep_alive = state_.client.keep_alive();
  out.server_timing = state_.server_timing();
  return out;
}

}  // namespace hw::gateway
