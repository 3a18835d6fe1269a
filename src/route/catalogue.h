// Catalogue: which channels serve which model under which name; immutable, built from the
// configuration, shared by the loops until a reload brings the next one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "route/channel.h"
#include "route/health.h"

namespace hw::route {

// A channel with what changes about it.
struct Channel {
  ChannelOptions options;
  std::shared_ptr<Health> health;
  std::string instance;     // options.base_url.instance()
  std::string host_header;  // as sent
  // All that a connection to it depends on, as one word: of two channels with the same one, before
  // and after a reload, each may use the other's connections.
  std::string transport;
};

// A channel that can serve a request, how it is asked, and the name that it knows the model by.
struct Candidate {
  const Channel* channel = nullptr;
  Endpoint endpoint = Endpoint::kChat;  // of another dialect than was asked for: a translation
  std::string_view upstream_model;      // lives as long as the catalogue and the name asked for
};

// Why nothing can serve.
enum class NoMatch : uint8_t { kUnknownModel, kWrongEndpoint };

class Catalogue {
 public:
  // A channel keeps its health over a reload where `previous` has one of the same name, transport
  // and credential: what another server or account said does not count for this one.
  explicit Catalogue(std::vector<ChannelOptions> channels, const Catalogue* previous = nullptr);
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  // Those that serve `model` at `endpoint`, appended to `out` in the order to try: by priority,
  // then those that need no translation, then drawn by weight. A name matches, in this order: a
  // channel's models, its model_map, a wildcard of either with the longest prefix, `channel/model`.
  // When nothing matches, `out` stays empty and `why` says what is missing.
  void find(std::string_view model, Endpoint endpoint, Random& random, std::vector<Candidate>& out,
            NoMatch& why) const;

  // All of them, in the order of the configuration.
  std::span<const std::unique_ptr<Channel>> channels() const { return channels_; }
  // Every name that can be asked for, wildcards apart, sorted and without doubles.
  const std::vector<std::string>& model_names() const { return names_; }
  // True where `model` is one of model_names(): what may become a metric label.
  bool is_configured(std::string_view model) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  // One way in which a channel serves a name.
  struct Entry {
    const Channel* channel;
    std::string sent;  // empty: as asked
  };
  struct Wildcard {
    std::string prefix;
    Entry entry;
  };

  void add_name(const std::string& name, Entry entry);
  void match(std::string_view model, std::vector<Candidate>& out) const;
  void match_qualified(std::string_view model, std::vector<Candidate>& out) const;

  std::vector<std::unique_ptr<Channel>> channels_;
  std::unordered_map<std::string, std::vector<Entry>, Hash, std::equal_to<>> exact_;
  std::vector<Wildcard> wildcards_;  // longest prefix first
  std::vector<std::string> names_;
};

}  // namespace hw::route
