#include "neutral/tool_names.h"

#include <doctest/doctest.h>

namespace hw::translate {
namespace {

Tool tool(std::string_view name_space, std::string_view name, Tool::Kind kind) {
  Tool out;
  out.kind = kind;
  out.name_space = name_space.empty() ? Text() : Text::plain(name_space);
  out.name = Text::plain(name);
  return out;
}

TEST_CASE("a tool of a namespace is flattened, and found again by the flat name") {
  CHECK(flat_name(Text::plain("agents"), Text::plain("close")) == "agents__close");
  CHECK(flat_name(Text(), Text::escaped("a\\u0062")) == "ab");
  Request request;
  request.tools.push_back(tool("agents", "close", Tool::Kind::kFunction));
  request.tools.push_back(tool("", "patch", Tool::Kind::kCustom));
  request.tools.push_back(tool("", "plain", Tool::Kind::kFunction));
  const ToolNames names(request);
  const auto* found = names.find(Text::plain("agents__close"));
  REQUIRE(found != nullptr);
  CHECK(found->name_space == "agents");
  CHECK(found->name == "close");
  REQUIRE(names.find(Text::plain("patch")) != nullptr);
  CHECK(names.find(Text::plain("patch"))->kind == ToolKind::kCustom);
  CHECK(names.find(Text::plain("plain")) == nullptr);
  CHECK(names.find(Text::plain("unknown")) == nullptr);
}

TEST_CASE("a name of 64 bytes stays, a longer one is cut, stays unique and is found again") {
  const std::string fits(kToolNameBytesMax, 'a');
  CHECK(flat_name(Text(), Text::plain(fits)) == fits);
  const std::string longer = fits + "b", other = fits + "c";
  const std::string cut = flat_name(Text(), Text::plain(longer));
  CHECK(cut.size() == kToolNameBytesMax);
  CHECK(cut.starts_with("aaaaaaaaaaaaaaa"));
  CHECK(cut != flat_name(Text(), Text::plain(other)));
  CHECK(cut == flat_name(Text(), Text::plain(longer)));
  Request request;
  request.tools.push_back(tool("", longer, Tool::Kind::kFunction));
  request.tools.push_back(tool("", other, Tool::Kind::kFunction));
  const ToolNames names(request);
  REQUIRE(names.find(Text::plain(cut)) != nullptr);
  CHECK(names.find(Text::plain(cut))->name == longer);
  CHECK(names.find(Text::plain(flat_name(Text(), Text::plain(other))))->name == other);
}

TEST_CASE("a long name is never cut inside a character") {
  std::string name(30, 'a');
  for (int i = 0; i < 20; ++i) name += "\u00e9";
  const std::string cut = flat_name(Text(), Text::plain(name));
  CHECK(cut.size() < kToolNameBytesMax);
  CHECK(cut.find(std::string(30, 'a') + "_") == 0);
}

}  // namespace
}  // namespace hw::translate
