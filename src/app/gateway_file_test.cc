#include "app/gateway_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/engine_file.h"
#include "app/scratch_folder.h"
#include "route/catalogue.h"

using namespace hw;
using namespace hw::app;
using namespace hw::config;

namespace {

namespace fs = std::filesystem;

const fs::path kBad = "src/app/testdata/bad";

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

std::vector<Problem> problems_of(const fs::path& path, Language language) {
  ConfigSources sources;
  sources.file = path.filename();
  sources.text = content_of(path);
  sources.language = language;
  if (path.filename().string().starts_with("engine_")) return read_engine_file(sources).problems;
  return read_gateway_file(sources).problems;
}

std::string described(const std::vector<Problem>& problems, Language language) {
  std::string out;
  for (const Problem& problem : problems) out += describe(problem, language) + "\n";
  return out;
}

ReadGatewayFile read(std::string text, Environment environment = {},
                     std::vector<OptionFlag> flags = {}) {
  ConfigSources sources;
  sources.file = "headway.toml";
  sources.text = std::move(text);
  sources.environment = std::move(environment);
  sources.flags = std::move(flags);
  return read_gateway_file(sources);
}

}  // namespace

TEST_CASE("every wrong file is refused with file, line, key and what was expected") {
  // HEADWAY_WRITE_EXPECTED=1 writes the .expected files anew, for a reviewer to read.
  const bool write = std::getenv("HEADWAY_WRITE_EXPECTED") != nullptr;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kBad)) {
    if (entry.path().extension() != ".toml") continue;
    ++count;
    CAPTURE(entry.path().string());
    const std::vector<Problem> problems = problems_of(entry.path(), Language::kEnglish);
    CHECK_FALSE(problems.empty());
    const std::string got = described(problems, Language::kEnglish);
    fs::path expected = entry.path();
    expected.replace_extension(".expected");
    if (write) std::ofstream(expected) << got;
    CHECK(got == content_of(expected));
    CHECK(got.find("{0}") == std::string::npos);
    CHECK(std::count_if(problems.begin(), problems.end(),
                        [](const Problem& p) { return p.line == 0; }) == 0);
    const std::string chinese =
        described(problems_of(entry.path(), Language::kChinese), Language::kChinese);
    CHECK(chinese != got);
    CHECK(chinese.find("{0}") == std::string::npos);
  }
  CHECK(count >= 20);
}

TEST_CASE("a whole file arrives in the structs of its modules") {
  const ReadGatewayFile got = read(R"(
[gateway]
listen = "[::1]:9000"
threads = 3
tls = { certificate = "src/net/testdata/server.pem", key = "src/net/testdata/server.key" }
client_half_close = "probe"
admin_token = "env:TOKEN"

[store]
path = "x.db"

[retry]
attempts_max = 5

[timeouts]
first_token_ms = 0

[[channels]]
name = "local"
dialect = "openai"
base_url = "http://127.0.0.1:8000/v1"
credential = "env:LOCAL"
serves = ["chat"]
models = ["b", "a"]
model_map = { "z" = "1", "a-*" = "2" }
timeouts.first_token_ms = 60000

[[channels]]
name = "claude"
dialect = "anthropic"
base_url = "https://api.example.com"
models = ["m"]

[[keys]]
name = "dev"
secret = "env:DEV"
models = ["a", "claude-*"]
)",
                                   {{"TOKEN", "t"}, {"LOCAL", "l"}, {"DEV", "d"}});
  CHECK(described(got.problems, Language::kEnglish) == "");
  const GatewayFile& config = got.config;
  CHECK(config.gateway.listen_host == "::1");
  CHECK(config.gateway.listen_port == 9000);
  CHECK(config.gateway.threads == 3);
  CHECK(config.gateway.tls.certificate == "src/net/testdata/server.pem");
  CHECK(config.gateway.client_half_close == gateway::HalfClose::kProbe);
  CHECK(config.gateway.admin_token == "t");
  CHECK(config.gateway.retry.attempts_max == 5);
  CHECK(config.gateway.timeouts.first_token_ms == 0);
  CHECK(config.gateway.timeouts.head_ms == 10'000);
  CHECK(config.store.path == "x.db");
  REQUIRE(config.channels.size() == 2);
  const route::ChannelOptions& local = config.channels[0];
  CHECK(local.base_url.host == "127.0.0.1");
  CHECK(local.base_url.port == 8000);
  CHECK(local.credential == "l");
  CHECK(local.serves.has(route::Endpoint::kChat));
  CHECK_FALSE(local.serves.has(route::Endpoint::kResponses));
  CHECK(local.model_map == TextMap{{"z", "1"}, {"a-*", "2"}});
  CHECK(local.timeouts.first_token_ms == 60'000);
  CHECK_FALSE(local.timeouts.connect_ms.has_value());
  CHECK(config.channels[1].serves == route::EndpointSet::all_of(Family::kAnthropic));
  REQUIRE(config.keys.size() == 1);
  CHECK(config.keys[0].secret == "d");
  CHECK(config.keys[0].models == std::vector<std::string>{"a", "claude-*"});
}

TEST_CASE("an empty file gives the defaults of the structs") {
  const ReadGatewayFile got = read("");
  CHECK(got.problems.empty());
  CHECK(got.config.gateway.listen_port == gateway::Options().listen_port);
  CHECK(got.config.channels.empty());
}

TEST_CASE("flags win over the environment, that over the file, that over the default") {
  const std::string file = "[gateway]\nthreads = 2\nidle_ms = 2\ndrain_s = 2\n";
  const ReadGatewayFile got =
      read(file,
           {{"HEADWAY_GATEWAY_THREADS", "3"},
            {"HEADWAY_GATEWAY_IDLE_MS", "3"},
            {"HEADWAY_GATEWAY_TLS_KEY", "src/net/testdata/server.key"},
            {"HEADWAY_GATEWAY_TLS_CERTIFICATE", "src/net/testdata/server.pem"}},
           {{"gateway.threads", "4"}});
  CHECK(described(got.problems, Language::kEnglish) == "");
  CHECK(got.config.gateway.threads == 4);
  CHECK(got.config.gateway.idle_ms == 3);
  CHECK(got.config.gateway.drain_s == 2);
  CHECK(got.config.gateway.keepalive_ms == 15'000);
  CHECK(got.config.gateway.tls.key == "src/net/testdata/server.key");
}

TEST_CASE("mistakes in variables and flags name them") {
  const ReadGatewayFile got = read("", {{"HEADWAY_GATEWAY_THREADS", "many"}},
                                   {{"gateway.listn", "x"}, {"gateway.drain_s", "-1"}});
  CHECK(described(got.problems, Language::kEnglish) ==
        "environment HEADWAY_GATEWAY_THREADS: gateway.threads: expected an integer from 0 to 1024, "
        "found the text \"many\"\n"
        "--gateway.listn: there is no such name; did you mean \"gateway.listen\"?\n"
        "--gateway.drain_s: expected an integer from 0 to 86400, found -1\n");
}

TEST_CASE("a stray variable is mentioned and does no harm") {
  const ReadGatewayFile got = read("", {{"HEADWAY_GATEWAY_SERVICE_HOST", "10.0.0.1"}});
  CHECK(got.problems.empty());
  REQUIRE(got.config.notes.size() == 1);
  CHECK(got.config.notes[0].find("HEADWAY_GATEWAY_SERVICE_HOST") != std::string::npos);
}

TEST_CASE("a base URL that is understood otherwise than written is noted") {
  const ReadGatewayFile got = read(
      "[[channels]]\nname = \"a\"\ndialect = \"anthropic\"\n"
      "base_url = \"https://api.example.com/v1/\"\nmodels = [\"m\"]\n");
  CHECK(got.problems.empty());
  CHECK(got.config.channels[0].base_url.path == "");
  REQUIRE(got.config.notes.size() == 1);
  CHECK(got.config.notes[0].starts_with("channel a: "));
}

TEST_CASE("no message shows a secret") {
  const std::string secret = "s3cr3t-value";
  const ReadGatewayFile got = read(
      "[gateway]\nadmin_token = [\"s3cr3t-value\"]\n"
      "[[keys]]\nname = \"a\"\nsecret = \"s3cr3t-value\"\n"
      "[[keys]]\nname = \"b\"\nsecret = \"s3cr3t-value\"\n"
      "[[keys]]\nname = \"c\"\nsecret = \"s3cr3t-value\\u0007\"\n");
  CHECK(got.problems.size() == 3);
  CHECK(described(got.problems, Language::kEnglish).find(secret) == std::string::npos);
}

TEST_CASE("a refused base URL is shown without its user and its query") {
  for (const char* url : {"https://u:s3cr3t@h/v1", "https://h/v1?key=s3cr3t"}) {
    const ReadGatewayFile got =
        read(std::string("[[channels]]\nname = \"a\"\ndialect = \"openai\"\nmodels = [\"m\"]\n") +
             "base_url = \"" + url + "\"\n");
    REQUIRE(got.problems.size() == 1);
    const std::string text = describe(got.problems[0], Language::kEnglish);
    CAPTURE(text);
    CHECK(text.find("s3cr3t") == std::string::npos);
    CHECK(text.find("https://") != std::string::npos);
  }
}

TEST_CASE("what takes a restart is told apart from what a reload applies") {
  const GatewayFile before = read("[gateway]\nthreads = 1\ndrain_s = 5\n").config;
  const GatewayFile after =
      read("[gateway]\nthreads = 2\ndrain_s = 6\n[store]\npath = \"o.db\"\n").config;
  CHECK(restart_needed(before, after) == std::vector<std::string>{"gateway.threads", "store.path"});
  CHECK(restart_needed(before, before).empty());
}

TEST_CASE("trusted certificates are read with the file, so that a reload sees changed ones") {
  const ScratchFolder scratch;
  const std::string path = scratch.file("ca.pem");
  const std::string text =
      "[[channels]]\nname = \"a\"\ndialect = \"openai\"\nbase_url = "
      "\"https://h/v1\"\nmodels = [\"m\"]\nca_file = \"" +
      path + "\"\n";
  const std::string one = content_of("src/net/testdata/ca.pem");
  const auto transport = [&] {
    const ReadGatewayFile got = read(text);
    CHECK(got.problems.empty());
    REQUIRE(got.config.channels.size() == 1);
    REQUIRE(got.config.channels[0].ca_pem != nullptr);
    return route::Catalogue(got.config.channels).channels()[0]->transport;
  };
  std::ofstream(path) << one;
  const std::string before = transport();
  CHECK(transport() == before);
  std::ofstream(path) << one << content_of("src/net/testdata/server.pem");
  CHECK(transport() != before);
  std::ofstream(path) << "nothing";
  CHECK(described(read(text).problems, Language::kEnglish).find(path) != std::string::npos);
}

TEST_CASE("between plain HTTP and TLS there is a restart, between certificates there is none") {
  GatewayFile plain, one, other;
  one.gateway.tls = {"a.pem", "a.key"};
  other.gateway.tls = {"b.pem", "b.key"};
  CHECK(restart_needed(plain, one) == std::vector<std::string>{"gateway.tls"});
  CHECK(restart_needed(one, other).empty());
}

TEST_CASE("listen takes host and port, and IPv6 in brackets only") {
  std::string host;
  uint16_t port = 0;
  CHECK(parse_listen("localhost:0", host, port));
  CHECK(host == "localhost");
  CHECK(parse_listen("[::]:8080", host, port));
  CHECK(host == "::");
  for (const char* bad : {"", ":", "8080", ":8080", "a:", "a:x", "a:65536", "::1:80", "[::1]",
                          "[a]:1", "[::1:80", "::1]:80", "a b:1", "a:-1", "http://a:1"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_listen(bad, host, port));
  }
}

TEST_CASE("engine.toml: the article's names, and max_num_seqs for max_batch_size") {
  ConfigSources sources;
  sources.text = R"(
[server]
host = "0.0.0.0"
port = 8001
max_concurrent_requests = 16
request_timeout_seconds = 30
[model]
model_id = "m"
kv_cache_ratio = 1
max_num_seqs = 4
max_batch_size = 4
batch_wait_ms = 0
max_tokens = 128
[scheduler]
policy = "continuous_batching"
queue_warn_ms = 500
)";
  const ReadEngineFile got = read_engine_file(sources);
  CHECK(described(got.problems, Language::kEnglish) == "");
  CHECK(got.config.server.host == "0.0.0.0");
  CHECK(got.config.server.port == 8001);
  CHECK(got.config.model.max_batch_size == 4);
  CHECK(got.config.model.kv_cache_ratio == 1.0);
  CHECK(got.config.scheduler.queue_warn_ms == 500);
}

TEST_CASE("engine.toml: a flag under one name wins over the file under the other") {
  ConfigSources sources;
  sources.text = "[model]\nmax_num_seqs = 4\n";
  sources.flags = {{"model.max_batch_size", "2"}};
  ReadEngineFile got = read_engine_file(sources);
  CHECK(got.problems.empty());
  CHECK(got.config.model.max_batch_size == 2);
  sources.text = "[model]\nmax_batch_size = 4\n";
  sources.flags = {{"model.max_num_seqs", "2"}};
  got = read_engine_file(sources);
  CHECK(got.problems.empty());
  CHECK(got.config.model.max_batch_size == 2);
}
