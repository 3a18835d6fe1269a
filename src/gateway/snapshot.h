// Snapshot: everything that a reload can change, immutable. An exchange keeps the one it began
// with; each loop holds its own shared_ptr, so that the data path touches no lock.
#pragma once

#include <memory>

#include "access/keys.h"
#include "gateway/options.h"
#include "http/server.h"
#include "route/catalogue.h"

namespace hw::gateway {

struct Snapshot {
  Options options;
  http::ServerOptions server;  // derived from options by server_options()
  std::shared_ptr<const route::Catalogue> catalogue;
  std::shared_ptr<const access::KeySnapshot> keys;
};

// The serving side's part of the settings, for each loop. connections_max is that of the process:
// whoever deals connections out over the loops keeps it.
http::ServerOptions server_options(const Options& options);

}  // namespace hw::gateway
