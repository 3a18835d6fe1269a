#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/commands.h"

using namespace hw;
using namespace hw::cli;

namespace {

namespace fs = std::filesystem;

// A home folder in which `headway config` is run; it prints what it does, as it would there.
struct Home {
  fs::path path = fs::temp_directory_path() / ("headway-config-" + std::to_string(::getpid()));
  Home() { fs::create_directories(path); }
  ~Home() { fs::remove_all(path); }

  Exit run(const std::string& client, std::vector<std::string> switches,
           std::map<std::string, std::string, std::less<>> values = {}) const {
    Arguments arguments;
    arguments.operand = client;
    arguments.environment = {{"HOME", path.string()}};
    arguments.values = std::move(values);
    arguments.values.emplace("data", path / "no-data");
    for (std::string& name : switches) arguments.values.emplace(std::move(name), "true");
    return config_command().run(arguments);
  }
  std::string text(const std::string& name) const {
    std::ifstream file(path / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  unsigned mode(const std::string& name) const {
    struct stat info{};
    return ::stat((path / name).c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }
};

// Nobody listens there.
const std::map<std::string, std::string, std::less<>> kTriple = {
    {"base-url", "http://127.0.0.1:9/v1/"}, {"api-key", "hw-0123456789"}, {"model", "m"}};

}  // namespace

TEST_CASE("config --write sets each client up for its owner only, and --check finds it right") {
  const Home home;
  const std::pair<const char*, const char*> files[] = {
      {"claude-code", ".claude/settings.json"},
      {"codex", ".codex/.env"},
      {"cline", ".cline/data/settings/providers.json"}};
  for (const auto& [client, file] : files) {
    CAPTURE(client);
    CHECK(home.run(client, {"check", "offline"}, kTriple) == Exit::kNo);
    CHECK(home.run(client, {"write"}, kTriple) == Exit::kFine);
    const std::string written = home.text(file);
    CHECK(written.find("hw-0123456789") != std::string::npos);
    CHECK(home.mode(file) == 0600);
    CHECK(home.run(client, {"check", "offline"}, kTriple) == Exit::kFine);
    CHECK(home.run(client, {"write", "json"}, kTriple) == Exit::kFine);
    CHECK(home.text(file) == written);
  }
  CHECK(home.text(".codex/config.toml").find("http://127.0.0.1:9/v1\"") != std::string::npos);
}

TEST_CASE("config --check asks the gateway unless it is told not to") {
  const Home home;
  CHECK(home.run("cline", {"write"}, kTriple) == Exit::kFine);
  CHECK(home.run("cline", {"check", "json"}, kTriple) == Exit::kNo);
}

TEST_CASE("config writes nothing where it does not know enough or cannot merge") {
  const Home home;
  CHECK(home.run("claude-code", {"write"}, {{"model", "m"}}) == Exit::kUsage);
  CHECK(home.run("claude-code", {"write"}, {{"base-url", "ftp://h"}, {"api-key", "k"}}) ==
        Exit::kUsage);
  CHECK(home.run("openai", {"write"}, kTriple) == Exit::kUsage);
  CHECK(home.run("emacs", {}, kTriple) == Exit::kUsage);
  CHECK(fs::is_empty(home.path));
  fs::create_directories(home.path / ".codex");
  std::ofstream(home.path / ".codex/config.toml") << "model = \n";
  CHECK(home.run("codex", {"write"}, kTriple) == Exit::kUsage);
  CHECK(home.text(".codex/config.toml") == "model = \n");
  CHECK_FALSE(fs::exists(home.path / ".codex/.env"));
}

TEST_CASE("config prints every client with and without a known key") {
  const Home home;
  for (const char* client :
       {"claude-code", "codex", "cline", "openai", "anthropic", "curl", "env", "triple"}) {
    CHECK(home.run(client, {}, kTriple) == Exit::kFine);
    CHECK(home.run(client, {"json"}, {{"base-url", "http://h"}}) == Exit::kFine);
  }
  CHECK(fs::is_empty(home.path));
}
