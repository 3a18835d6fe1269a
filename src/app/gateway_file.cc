#include "app/gateway_file.h"

#include <algorithm>
#include <map>

#include "access/keys.h"
#include "base/text.h"
#include "net/tls.h"
#include "store/key_store.h"

namespace hw::app {

using namespace config;
namespace {

constexpr size_t kFileBytesMax = kDocumentBytesMax;
// The roots that systems ship have 250 KB.
constexpr size_t kTrustBytesMax = 4 << 20;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// Channel names stand in metrics, headers and `name/model`.
bool is_channel_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), is_plain);
}

bool is_pattern(std::string_view pattern) {
  const size_t star = pattern.find('*');
  return !pattern.empty() && (star == std::string_view::npos || star == pattern.size() - 1);
}

// `message` with the URL in it cut where a user, a password or a query may stand.
std::string without_secrets(std::string message, std::string_view url) {
  const size_t at = message.find(url);
  const size_t query = url.find('?');
  const size_t user = url.find('@');
  if (url.empty() || at == std::string::npos) return message;
  if (query == std::string_view::npos && user == std::string_view::npos) return message;
  const size_t scheme = url.find("://");
  const size_t keep =
      user != std::string_view::npos ? (scheme == std::string_view::npos ? 0 : scheme + 3) : query;
  return message.replace(at, url.size(), concat(url.substr(0, keep), "..."));
}

// Checks of headway.toml that need more than one option.
class Checker {
 public:
  Checker(SectionReader& reader, GatewayFile& config, Language language)
      : reader_(reader), config_(config), language_(language) {}

  void check_gateway(const SectionValues& values);
  void add_channel(WrittenChannel written, const SectionValues& values);
  void add_key(access::DeclaredKey key, const SectionValues& values);

 private:
  void check_certificate(const SectionValues& values);
  void read_trust(WrittenChannel& written, const SectionValues& values);
  void check_base_url(WrittenChannel& written, const SectionValues& values);
  void check_serves(WrittenChannel& written, const SectionValues& values);
  void check_models(const WrittenChannel& written, const SectionValues& values);
  void check_unique(std::map<std::string, int>& seen, const std::string& name, bool shown,
                    std::string_view option, const SectionValues& values);
  void expected(const SectionValues& values, std::string_view option, Words words,
                std::string_view value);

  SectionReader& reader_;
  GatewayFile& config_;
  Language language_;
  std::map<std::string, int> channel_lines_, key_lines_, secret_lines_;
};

void Checker::expected(const SectionValues& values, std::string_view option, Words words,
                       std::string_view value) {
  Value text;
  text.kind = ValueKind::kText, text.text = std::string(value);
  reader_.report(values.problem(option, ProblemKind::kExpected,
                                {std::string(words.in(language_)), found(text, language_)}));
}

void Checker::check_gateway(const SectionValues& values) {
  const gateway::Options& options = config_.gateway;
  if (options.tls.certificate.empty() != options.tls.key.empty()) {
    const bool key_missing = options.tls.key.empty();
    reader_.report(values.problem(key_missing ? "tls.certificate" : "tls.key",
                                  ProblemKind::kTogether,
                                  {key_missing ? "tls.key" : "tls.certificate"}));
  }
  if (!options.tls.certificate.empty() && !options.tls.key.empty()) check_certificate(values);
  if (options.body_memory_bytes_max < options.body_bytes_max) {
    reader_.report(values.problem("body_memory_bytes_max", ProblemKind::kBelow,
                                  {"body_bytes_max", std::to_string(options.body_bytes_max),
                                   std::to_string(options.body_memory_bytes_max)}));
  }
}

// Before anything is changed: what cannot be used stops a start and leaves a reload undone.
void Checker::check_certificate(const SectionValues& values) {
  const gateway::TlsFiles& files = config_.gateway.tls;
  const auto context = net::TlsContext::server(files.certificate, files.key);
  if (context.has_value()) return;
  reader_.report(
      values.problem("tls.certificate", ProblemKind::kBadFile, {context.error().message}));
}

// Reads the trusted certificates, so that all loops use the same and a reload sees a changed file.
void Checker::read_trust(WrittenChannel& written, const SectionValues& values) {
  const std::string& path = written.options.ca_file;
  if (path.empty()) return;
  Result<std::string> pem = read_small_file(path, kTrustBytesMax);
  Status usable;
  if (!pem.has_value()) usable = fail(pem.error());
  if (pem.has_value()) usable = net::TlsContext::check_trust(*pem);
  if (usable.has_value()) {
    written.options.ca_pem = std::make_shared<const std::string>(std::move(*pem));
    return;
  }
  reader_.report(values.problem(
      "ca_file", ProblemKind::kBadFile,
      {concat("cannot use the trusted certificates in ", path, ": ", usable.error().message)}));
}

void Checker::check_unique(std::map<std::string, int>& seen, const std::string& name, bool shown,
                           std::string_view option, const SectionValues& values) {
  const Problem at = values.problem(option, ProblemKind::kDuplicate);
  const auto [first, fresh] = seen.emplace(name, at.line);
  if (fresh) return;
  Problem problem = at;
  problem.arguments = {shown ? name : std::string("..."), std::to_string(first->second)};
  reader_.report(std::move(problem));
}

void Checker::add_channel(WrittenChannel written, const SectionValues& values) {
  if (values.has("name")) {
    if (!is_channel_name(written.options.name)) {
      expected(
          values, "name",
          {"1 to 64 letters, digits, `.`, `_` or `-`", "1 到 64 个字母、数字、`.`、`_` 或 `-`"},
          written.options.name);
    }
    check_unique(channel_lines_, written.options.name, true, "name", values);
  }
  if (values.has("base_url") && values.has("dialect")) check_base_url(written, values);
  if (values.has("dialect")) check_serves(written, values);
  check_models(written, values);
  read_trust(written, values);
  config_.channels.push_back(std::move(written.options));
}

void Checker::check_base_url(WrittenChannel& written, const SectionValues& values) {
  std::string note;
  Result<route::BaseUrl> url =
      route::parse_base_url(written.base_url, written.options.family, note);
  if (!url.has_value()) {
    reader_.report(values.problem("base_url", ProblemKind::kBadUrl,
                                  {without_secrets(url.error().message, written.base_url)}));
    return;
  }
  written.options.base_url = std::move(*url);
  if (!note.empty()) {
    config_.notes.push_back(concat("channel ", written.options.name, ": ", note));
  }
}

void Checker::check_serves(WrittenChannel& written, const SectionValues& values) {
  const Family family = written.options.family;
  std::string names;
  for (int i = 0; i < route::kEndpointCount; ++i) {
    const auto endpoint = static_cast<route::Endpoint>(i);
    if (route::endpoint_family(endpoint) != family) continue;
    names += concat(names.empty() ? "" : ", ", toml_quoted(route::endpoint_name(endpoint)));
  }
  for (const std::string& name : written.serves) {
    route::Endpoint endpoint;
    if (route::parse_endpoint(name, endpoint) && route::endpoint_family(endpoint) == family) {
      written.options.serves.add(endpoint);
      continue;
    }
    reader_.report(values.problem("serves", ProblemKind::kWrongFamily,
                                  {name, std::string(family_name(family)), names}));
  }
  if (written.serves.empty()) written.options.serves = route::EndpointSet::all_of(family);
}

void Checker::check_models(const WrittenChannel& written, const SectionValues& values) {
  const route::ChannelOptions& options = written.options;
  if (!values.has("models") && !values.has("model_map")) {
    reader_.report(values.problem("", ProblemKind::kServesNothing));
  }
  const Words name = {"the name of a model", "模型名称"};
  for (const std::string& model : options.models) {
    if (model.empty()) expected(values, "models", name, model);
    if (!is_pattern(model) && !model.empty()) {
      reader_.report(values.problem("models", ProblemKind::kStar, {model}));
    }
  }
  for (const auto& [from, to] : options.model_map) {
    if (!is_pattern(from)) reader_.report(values.problem("model_map", ProblemKind::kStar, {from}));
    if (to.empty()) expected(values, "model_map", name, to);
  }
}

void Checker::add_key(access::DeclaredKey key, const SectionValues& values) {
  if (values.has("name")) {
    if (!store::is_key_name(key.name)) {
      expected(values, "name",
               {"1 to 64 letters, digits, `.`, `_`, `-`, `+` or `@`",
                "1 到 64 个字母、数字、`.`、`_`、`-`、`+` 或 `@`"},
               key.name);
    }
    check_unique(key_lines_, key.name, true, "name", values);
  }
  if (!key.secret.empty()) {
    if (key.secret.size() > access::kSecretBytesMax) {
      reader_.report(values.problem("secret", ProblemKind::kSecretTooLong,
                                    {std::to_string(access::kSecretBytesMax)}));
    }
    check_unique(secret_lines_, key.secret, false, "secret", values);
  }
  if (key.models.empty()) {
    const Words words = {"a model at least, or no `models` for all of them",
                         "至少一个模型；若不限制则不写 `models`"};
    const Words nothing = {"an empty list", "空列表"};
    reader_.report(
        values.problem("models", ProblemKind::kExpected,
                       {std::string(words.in(language_)), std::string(nothing.in(language_))}));
  }
  for (const std::string& model : key.models) {
    if (!is_pattern(model)) reader_.report(values.problem("models", ProblemKind::kStar, {model}));
  }
  config_.keys.push_back(std::move(key));
}

}  // namespace

bool parse_listen(std::string_view text, std::string& host, uint16_t& port) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  std::string_view name = text.substr(0, colon);
  if (name.starts_with('[') != name.ends_with(']')) return false;
  if (name.starts_with('[')) {
    name = name.substr(1, name.size() - 2);
    if (name.find(':') == std::string_view::npos) return false;
  } else if (name.find(':') != std::string_view::npos) {
    return false;
  }
  if (name.find_first_of(" /[]") != std::string_view::npos) return false;
  if (!parse_number(text.substr(colon + 1), port)) return false;
  host = std::string(name);
  return true;
}

std::vector<Problem> read_text_of(ConfigSources& sources) {
  Result<std::string> text = read_small_file(sources.file, kFileBytesMax);
  if (text.has_value()) {
    sources.text = std::move(*text);
    return {};
  }
  Problem problem;
  problem.place = sources.file;
  problem.kind = ProblemKind::kUnreadable;
  problem.arguments = {text.error().message};
  return {problem};
}

ReadGatewayFile read_gateway_file(const ConfigSources& sources) {
  ReadGatewayFile out;
  SectionReader reader(gateway_options(), sources);
  Checker checker(reader, out.config, sources.language);
  const SectionValues gateway = reader.read("gateway", &out.config.gateway);
  checker.check_gateway(gateway);
  reader.read("store", &out.config.store);
  reader.read("retry", &out.config.gateway.retry);
  reader.read("timeouts", &out.config.gateway.timeouts);
  for (size_t i = 0; i < reader.count("channels"); ++i) {
    WrittenChannel channel;
    const SectionValues values = reader.read_item("channels", i, &channel);
    checker.add_channel(std::move(channel), values);
  }
  for (size_t i = 0; i < reader.count("keys"); ++i) {
    access::DeclaredKey key;
    const SectionValues values = reader.read_item("keys", i, &key);
    checker.add_key(std::move(key), values);
  }
  for (const std::string& name : reader.stray_variables()) {
    out.config.notes.push_back(concat("the environment variable ", name, " is no option"));
  }
  out.problems = reader.take_problems();
  return out;
}

std::vector<std::string> restart_needed(const GatewayFile& running, const GatewayFile& fresh) {
  std::vector<std::string> out;
  const auto compare = [&](std::string_view name, const void* before, const void* after) {
    const Section& section = *gateway_options().find(name);
    for (const Option& option : section.options) {
      if (option.applies != Applies::kOnRestart) continue;
      if (option.field.show(before) == option.field.show(after)) continue;
      out.push_back(concat(name, ".", option.name));
    }
  };
  compare("gateway", &running.gateway, &fresh.gateway);
  if (running.gateway.tls.certificate.empty() != fresh.gateway.tls.certificate.empty()) {
    out.push_back("gateway.tls");
  }
  compare("store", &running.store, &fresh.store);
  return out;
}

}  // namespace hw::app
