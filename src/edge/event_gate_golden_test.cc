// Every golden stream of the dialects, cut in two, through a gate.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "edge/event_gate.h"

namespace hw::edge {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST_CASE("a gate that hides nothing gives every stream back byte for byte") {
  constexpr size_t kCuts = 200;
  for (const auto& entry : fs::directory_iterator("src/wire/testdata")) {
    const std::string body = read_file(entry.path() / "stream.sse");
    const std::string name = entry.path().filename().string();
    if (body.empty()) continue;
    CAPTURE(name);
    Dialect dialect = Dialect::kOpenaiChat;
    REQUIRE(parse_dialect(name.substr(0, name.find('.')), dialect));
    for (size_t at = 0; at < body.size(); at += body.size() / kCuts + 1) {
      wire::StreamObserver observer(dialect);
      EventGate gate(Hide::kNothing);
      std::string out, scratch;
      for (const std::string_view piece :
           {std::string_view(body).substr(0, at), std::string_view(body).substr(at)}) {
        const auto events = observer.feed(piece);
        REQUIRE(events.has_value());
        out += gate.feed(piece, *events, scratch);
      }
      out += gate.held();
      CHECK(out == body);
    }
  }
}

}  // namespace
}  // namespace hw::edge
