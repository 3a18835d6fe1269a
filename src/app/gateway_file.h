// GatewayFile: all that headway.toml says, checked, with secrets resolved.
#pragma once

#include <string>
#include <vector>

#include "access/declared_key.h"
#include "config/option.h"
#include "config/problem.h"
#include "config/section_reader.h"
#include "gateway/options.h"
#include "route/channel.h"
#include "store/options.h"

namespace hw::app {

// The whole file, in the structs of the modules.
struct GatewayFile {
  gateway::Options gateway;
  store::StoreOptions store;
  std::vector<route::ChannelOptions> channels;
  std::vector<access::DeclaredKey> keys;
  std::vector<std::string> notes;  // what was understood otherwise than written; for the log
};

// A [[channels]] entry as written, before its parts are seen together.
struct WrittenChannel {
  route::ChannelOptions options;
  std::string base_url;
  std::vector<std::string> serves;  // empty: all that the dialect has
};

// What reading gave: with problems the file must not be used.
struct ReadGatewayFile {
  GatewayFile config;
  std::vector<config::Problem> problems;
};

// The rows of headway.toml.
const config::OptionTable& gateway_options();

// Reads and checks everything; every mistake is in `problems`.
ReadGatewayFile read_gateway_file(const config::ConfigSources& sources);

// Options that differ between the two and take a restart: "gateway.listen", ...
std::vector<std::string> restart_needed(const GatewayFile& running, const GatewayFile& fresh);

// Fills `sources.text` from `sources.file`; a problem where that fails.
std::vector<config::Problem> read_text_of(config::ConfigSources& sources);

// "host:port" or "[v6]:port" taken apart; false for anything else, a missing host or port included.
bool parse_listen(std::string_view text, std::string& host, uint16_t& port);

}  // namespace hw::app
