#include "route/catalogue.h"

#include <algorithm>

#include "base/text.h"

namespace hw::route {
namespace {

bool is_wildcard(std::string_view name) {
  return !name.empty() && name.back() == '*';
}

bool has(const std::vector<Candidate>& list, const Channel* channel) {
  return std::any_of(list.begin(), list.end(),
                     [channel](const Candidate& c) { return c.channel == channel; });
}

// Orders equals by drawing without replacement, each with its weight.
void draw_by_weight(std::span<Candidate> equals, Random& random) {
  for (size_t i = 0; i + 1 < equals.size(); ++i) {
    uint64_t total = 0;
    for (size_t k = i; k < equals.size(); ++k)
      total += static_cast<uint64_t>(equals[k].channel->options.weight);
    uint64_t drawn = random.below(total);
    size_t pick = i;
    while (drawn >= static_cast<uint64_t>(equals[pick].channel->options.weight)) {
      drawn -= static_cast<uint64_t>(equals[pick].channel->options.weight);
      ++pick;
    }
    std::swap(equals[i], equals[pick]);
  }
}

// What is tried before what: larger first. One that needs no translation loses nothing.
std::pair<int, bool> rank(const Candidate& candidate, Endpoint asked) {
  return {candidate.channel->options.priority, candidate.endpoint == asked};
}

void order(std::vector<Candidate>& list, Endpoint asked, Random& random) {
  if (list.size() < 2) return;
  std::stable_sort(list.begin(), list.end(), [asked](const Candidate& a, const Candidate& b) {
    return rank(a, asked) > rank(b, asked);
  });
  for (size_t from = 0; from < list.size();) {
    size_t to = from;
    while (to < list.size() && rank(list[to], asked) == rank(list[from], asked)) ++to;
    draw_by_weight(std::span(list).subspan(from, to - from), random);
    from = to;
  }
}

std::string transport_of(const Channel& channel) {
  const ChannelOptions& options = channel.options;
  std::string out = concat(options.name, options.base_url.tls ? " https://" : " http://",
                           channel.instance, options.use_proxy ? " proxy" : "");
  if (options.base_url.tls && options.ca_pem != nullptr) {
    append(out, " trusting ");
    append(out, std::hash<std::string>{}(*options.ca_pem));
  }
  return out;
}

std::shared_ptr<Health> health_of(const Channel& channel, const Catalogue* previous) {
  if (previous != nullptr) {
    for (const auto& old : previous->channels()) {
      if (old->transport == channel.transport &&
          old->options.credential == channel.options.credential)
        return old->health;
    }
  }
  return std::make_shared<Health>();
}

}  // namespace

Catalogue::Catalogue(std::vector<ChannelOptions> channels, const Catalogue* previous) {
  for (ChannelOptions& options : channels) {
    auto channel = std::make_unique<Channel>();
    channel->options = std::move(options);
    channel->instance = channel->options.base_url.instance();
    channel->host_header = channel->options.base_url.host_header();
    channel->transport = transport_of(*channel);
    channel->health = health_of(*channel, previous);
    for (const std::string& name : channel->options.models)
      add_name(name, Entry{channel.get(), ""});
    for (const auto& [name, sent] : channel->options.model_map)
      add_name(name, Entry{channel.get(), sent});
    channels_.push_back(std::move(channel));
  }
  std::stable_sort(wildcards_.begin(), wildcards_.end(), [](const Wildcard& a, const Wildcard& b) {
    return a.prefix.size() > b.prefix.size();
  });
  for (const auto& [name, entries] : exact_) names_.push_back(name);
  std::sort(names_.begin(), names_.end());
}

void Catalogue::add_name(const std::string& name, Entry entry) {
  if (is_wildcard(name)) {
    wildcards_.push_back({name.substr(0, name.size() - 1), std::move(entry)});
  } else {
    exact_[name].push_back(std::move(entry));
  }
}

void Catalogue::match(std::string_view model, std::vector<Candidate>& out) const {
  const auto found = exact_.find(model);
  if (found != exact_.end()) {
    for (const Entry& entry : found->second) {
      if (!has(out, entry.channel))
        out.push_back({entry.channel, {}, entry.sent.empty() ? found->first : entry.sent});
    }
  }
  // A channel that names the model outright does not need its wildcard, another may.
  for (const Wildcard& wildcard : wildcards_) {
    if (model.substr(0, wildcard.prefix.size()) != wildcard.prefix) continue;
    if (has(out, wildcard.entry.channel)) continue;
    out.push_back(
        {wildcard.entry.channel, {}, wildcard.entry.sent.empty() ? model : wildcard.entry.sent});
  }
}

// "local/smollm2" asks channel "local" for "smollm2".
void Catalogue::match_qualified(std::string_view model, std::vector<Candidate>& out) const {
  const size_t slash = model.find('/');
  if (slash == std::string_view::npos) return;
  std::vector<Candidate> rest;
  match(model.substr(slash + 1), rest);
  for (const Candidate& each : rest) {
    if (each.channel->options.name == model.substr(0, slash)) out.push_back(each);
  }
}

void Catalogue::find(std::string_view model, Endpoint endpoint, Random& random,
                     std::vector<Candidate>& out, NoMatch& why) const {
  match(model, out);
  if (out.empty()) match_qualified(model, out);
  if (out.empty()) {
    why = NoMatch::kUnknownModel;
    return;
  }
  why = NoMatch::kWrongEndpoint;
  std::erase_if(out, [endpoint](Candidate& candidate) {
    const std::optional<Endpoint> way = candidate.channel->options.serves.way_to(endpoint);
    if (way) candidate.endpoint = *way;
    return !way;
  });
  order(out, endpoint, random);
}

bool Catalogue::is_configured(std::string_view model) const {
  return exact_.find(model) != exact_.end();
}

}  // namespace hw::route
