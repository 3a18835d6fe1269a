#include "cli/completion.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "cli/commands.h"

using namespace hw::cli;
using hw::config::Language;

namespace {

// What bash offers for the words typed so far, the last of them unfinished.
std::string offered(const std::string& words, int count) {
  const std::string path = "/tmp/headway-completion-" + std::to_string(::getpid());
  std::ofstream(path) << completion_script(Shell::kBash, commands(), Language::kEnglish)
                      << "COMP_WORDS=(" << words << ")\nCOMP_CWORD=" << count - 1
                      << "\n_headway\necho \"${COMPREPLY[*]}\"\n";
  std::string out;
  FILE* shell = ::popen(("bash " + path + " 2>&1").c_str(), "r");
  REQUIRE(shell != nullptr);
  char block[4096];
  while (const size_t size = ::fread(block, 1, sizeof block, shell)) out.append(block, size);
  ::pclose(shell);
  ::unlink(path.c_str());
  return out;
}

}  // namespace

TEST_CASE("bash completes commands, their second words, flags, options and choices") {
  CHECK(offered("headway tr", 2) == "trace\n");
  CHECK(offered("headway key ''", 3) == "create list enable disable delete\n");
  CHECK(offered("headway key create --mo", 4) == "--models\n");
  CHECK(offered("headway logs --fol", 3) == "--follow\n");
  CHECK(offered("headway logs --outcome client_", 4) == "client_error client_gone\n");
  CHECK(offered("headway up --engine ''", 4) == "llama gpu-model none\n");
  CHECK(offered("headway serve --gateway.tl", 3) ==
        "--gateway.tls.certificate --gateway.tls.key\n");
  CHECK(offered("headway completion f", 3) == "fish\n");
  CHECK(offered("headway config c", 3) == "claude-code codex cline curl\n");
  CHECK(offered("headway config codex --wr", 4) == "--write\n");
}

TEST_CASE("the scripts for zsh and fish name every command and flag") {
  const std::string zsh = completion_script(Shell::kZsh, commands(), Language::kEnglish);
  const std::string fish = completion_script(Shell::kFish, commands(), Language::kChinese);
  CHECK(zsh.starts_with("#compdef headway\n"));
  for (const Command& command : commands()) {
    for (const Flag& flag : command.flags) {
      CHECK(zsh.find("--" + std::string(flag.name)) != std::string::npos);
      CHECK(fish.find("-l " + std::string(flag.name)) != std::string::npos);
    }
  }
  CHECK(fish.find("-l gateway.listen") != std::string::npos);
  CHECK(fish.find("显示调用日志") != std::string::npos);
}
