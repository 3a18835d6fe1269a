// The access check itself: sends one small request, changes one thing at a time where it is
// refused, then asks for a stream, and records all of it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/secret.h"
#include "probe/exchange.h"
#include "probe/record.h"

namespace hw::probe {

// What is to be checked.
struct CheckSettings {
  std::string base_url;
  std::string key;    // empty: none is sent
  std::string model;  // empty: the first that the endpoint lists
  std::optional<Dialect> dialect;
  config::Environment environment;  // for proxy variables
  ExchangeLimits limits;
  // Called before each request with its URL, for somebody who waits; may be empty.
  std::function<void(const std::string& url)> on_request;
};

// Runs the check. Blocking; takes as long as the endpoint; at most 30 requests,
// beside asking a Headway for its records.
Record run_check(const CheckSettings& settings);

}  // namespace hw::probe
