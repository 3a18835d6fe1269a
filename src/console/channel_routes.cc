#include "console/channel_routes.h"

#include "base/text.h"
#include "console/answer.h"
#include "json/writer.h"

namespace hw::console {
namespace {

void write_serves(json::Writer& writer, const route::EndpointSet& serves) {
  writer.key("serves");
  writer.begin_array();
  for (int i = 0; i < route::kEndpointCount; ++i) {
    const auto endpoint = static_cast<route::Endpoint>(i);
    if (serves.has(endpoint)) writer.value(route::endpoint_name(endpoint));
  }
  writer.end_array();
}

void write_models(json::Writer& writer, const route::ChannelOptions& options) {
  writer.key("models");
  writer.begin_array();
  for (const std::string& model : options.models) writer.value(model);
  writer.end_array();
  writer.key("model_map");
  writer.begin_object();
  for (const auto& [asked, sent] : options.model_map) writer.field(asked, sent);
  writer.end_object();
}

// "ready", "cooling_down" or "credential_refused", with the reason in words.
void write_health(json::Writer& writer, const route::Health& health, Nanos now) {
  const Nanos cooling = health.cooling(now);
  writer.key("health");
  writer.begin_object();
  writer.field("state", health.credential_refused() ? "credential_refused"
                        : cooling > 0               ? "cooling_down"
                                                    : "ready");
  if (cooling > 0) {
    writer.field("reason", health.reason(now));
  } else {
    writer.field_null("reason");
  }
  writer.field("cooling_ms", cooling / kMillisecond);
  writer.end_object();
}

void write_channel(json::Writer& writer, const route::Channel& channel, Nanos now) {
  const route::ChannelOptions& options = channel.options;
  writer.begin_object();
  writer.field("name", options.name);
  writer.field("dialect", family_name(options.family));
  writer.field("base_url", concat(options.base_url.tls ? "https://" : "http://",
                                  options.base_url.host_header(), options.base_url.path));
  writer.field("instance", channel.instance);
  writer.field("credential", options.credential.empty() ? "none" : "set");
  writer.field("priority", options.priority);
  writer.field("weight", options.weight);
  writer.field("connections_max", options.connections_max);
  writer.field("inject_usage", options.inject_usage);
  write_serves(writer, options.serves);
  write_models(writer, options);
  write_health(writer, *channel.health, now);
  writer.end_object();
}

}  // namespace

ApiResponse list_channels(const ApiSources& sources) {
  const std::shared_ptr<const route::Catalogue> catalogue = sources.catalogue();
  const Nanos now = sources.clock->monotonic();
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  writer.key("channels");
  writer.begin_array();
  for (const auto& channel : catalogue->channels()) write_channel(writer, *channel, now);
  writer.end_array();
  writer.end_object();
  return json_answer(std::move(body));
}

}  // namespace hw::console
