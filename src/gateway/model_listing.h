// ModelListing: GET /v1/models and /v1/models/{id}: an exchange that no channel takes part in. It
// is in the log of calls as the others are, and in no metric of models, since it asks none.
#pragma once

#include <memory>
#include <string>

#include "gateway/exchange_state.h"

namespace hw::gateway {

class ModelListing {
 public:
  // `route` is kModels or kModel. `settings` is the snapshot that the exchange keeps.
  ModelListing(LoopContext& context, http::ServerConnection& client,
               std::shared_ptr<const Snapshot> settings, const edge::Route& route);

  // Answers the request and records it. Ends the exchange.
  static net::Task<void> run(std::unique_ptr<ModelListing> listing, const http::RequestHead& head);

 private:
  Status compose(const http::RequestHead& head);
  edge::OwnHead answer_head(const Status& composed);

  ExchangeState state_;
  std::string body_;
};

}  // namespace hw::gateway
