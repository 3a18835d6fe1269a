// Every golden stream of the dialects, cut in two, through a gate.
#include <doctest/doctest.h>

#include "edge/event_gate.h"
#include "wire/golden_cases.h"

namespace hw::edge {
namespace {

TEST_CASE("a gate that hides nothing gives every stream back byte for byte") {
  constexpr size_t kCuts = 200;
  for (const wire::GoldenCase& one : wire::golden_cases("src/wire/testdata", "stream.sse")) {
    CAPTURE(one.folder.string());
    const std::string body = wire::read_file(one.folder / "stream.sse");
    for (size_t at = 0; at < body.size(); at += body.size() / kCuts + 1) {
      wire::StreamObserver observer(one.dialect);
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
