// Golden cases for tests: folders named <dialect>.<case> with inputs, and beside each what is made
// of it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.h"

namespace hw::wire {

// One folder.
struct GoldenCase {
  std::filesystem::path folder;
  Dialect dialect = Dialect::kOpenaiChat;
};

// All of a file; empty where there is none.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The folders below `root` that have `file`, by name.
inline std::vector<GoldenCase> golden_cases(const char* root, std::string_view file) {
  std::vector<GoldenCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (!std::filesystem::exists(entry.path() / file)) continue;
    const std::string name = entry.path().filename().string();
    GoldenCase one;
    one.folder = entry.path();
    REQUIRE_MESSAGE(parse_dialect(name.substr(0, name.find('.')), one.dialect), name);
    cases.push_back(one);
  }
  std::sort(cases.begin(), cases.end(),
            [](const GoldenCase& a, const GoldenCase& b) { return a.folder < b.folder; });
  return cases;
}

// Compares with the expectation beside the input; writes it where the environment has `variable`.
inline void check_golden(const char* variable, const std::filesystem::path& expectation,
                         const std::string& actual) {
  if (std::getenv(variable) != nullptr) {
    std::ofstream(expectation, std::ios::binary) << actual;
    return;
  }
  CHECK_MESSAGE(read_file(expectation) == actual, expectation.string(), "\n", actual);
}

}  // namespace hw::wire
