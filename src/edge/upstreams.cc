#include "edge/upstreams.h"

#include <unordered_set>

namespace hw::edge {

Upstreams::Entry& Upstreams::entry(const route::Channel& channel) {
  std::unique_ptr<Entry>& found = entries_[channel.transport];
  if (found == nullptr)
    found = std::make_unique<Entry>(loop_, channel.options.connections_max, waiting_);
  return *found;
}

Result<net::TlsContext*> Upstreams::tls(const route::Channel& channel) {
  if (!channel.options.base_url.tls) return nullptr;
  Entry& to = entry(channel);
  if (to.tls != nullptr) return to.tls.get();
  const std::string pem = channel.options.ca_pem == nullptr ? "" : *channel.options.ca_pem;
  std::weak_ptr<net::TlsContext>& shared = contexts_[pem];
  to.tls = shared.lock();
  if (to.tls != nullptr) return to.tls.get();
  Result<std::unique_ptr<net::TlsContext>> made = net::TlsContext::client(pem);
  if (!made) return fail(made.error());
  to.tls = std::move(*made);
  shared = to.tls;
  return to.tls.get();
}

void Upstreams::follow(const route::Catalogue& catalogue) {
  std::unordered_set<std::string_view> known;
  for (const auto& channel : catalogue.channels()) {
    known.insert(channel->transport);
    const auto found = entries_.find(channel->transport);
    if (found != entries_.end())
      found->second->pool.set_connections_max(channel->options.connections_max);
  }
  std::erase_if(entries_, [&](const auto& each) {
    http::Pool& pool = each.second->pool;
    if (known.contains(each.first)) return false;
    pool.retire();
    return pool.in_use() == 0 && pool.waiting() == 0;
  });
  std::erase_if(contexts_, [](const auto& each) { return each.second.expired(); });
}

void Upstreams::close_idle() {
  for (auto& [transport, entry] : entries_) entry->pool.close_idle();
}

}  // namespace hw::edge
