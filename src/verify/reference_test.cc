#include "verify/reference.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace hw::verify {
namespace {

TEST_CASE("docs/verify.md has the table that headway verify --codes prints") {
  std::ifstream file("docs/verify.md");
  std::stringstream content;
  content << file.rdbuf();
  const std::string reference = code_reference(config::Language::kEnglish);
  CHECK(content.str().find(reference) != std::string::npos);
  CHECK(reference.find('{') == std::string::npos);
}

}  // namespace
}  // namespace hw::verify
