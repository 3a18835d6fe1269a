#include "setup/docs_page.h"

#include <doctest/doctest.h>

#include <vector>

using namespace hw;
using namespace hw::setup;

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

DocsFacts facts() {
  return {"https://ai.example.com/llm", {"smollm2-135m", "gpt-4o"}};
}

// The first tag that is closed out of turn; empty where all are in order.
std::string first_unbalanced(std::string_view page) {
  std::vector<std::string> open;
  for (size_t at = page.find("<body>"); at < page.find("<script>"); at = page.find('<', at + 1)) {
    const size_t end = page.find_first_of(" >\n", at + 1);
    const std::string name(page.substr(at + 1, end - at - 1));
    if (name == "input") continue;
    if (name[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return name;
    } else {
      open.pop_back();
    }
  }
  return open == std::vector<std::string>{"body"} ? "" : open.back();
}

}  // namespace

TEST_CASE("the page shows every set-up for the gateway's own address, without a key") {
  const std::string page = render_docs_page(facts());
  CHECK(has(page, "<code>https://ai.example.com/llm/v1</code>"));
  CHECK(has(page, "&quot;ANTHROPIC_BASE_URL&quot;: &quot;https://ai.example.com/llm&quot;"));
  CHECK(has(page, "base_url = &quot;https://ai.example.com/llm/v1&quot;"));
  CHECK(has(page, "&quot;baseUrl&quot;: &quot;https://ai.example.com/llm/v1&quot;"));
  CHECK(has(page, "export OPENAI_BASE_URL=https://ai.example.com/llm/v1"));
  CHECK(has(page, "curl -N https://ai.example.com/llm/v1/messages"));
  CHECK(has(page, "~/.claude/settings.json"));
  CHECK(has(page, "~/.codex/config.toml"));
  CHECK(has(page, "YOUR_KEY"));
  CHECK(has(page, "&quot;ANTHROPIC_MODEL&quot;: &quot;smollm2-135m&quot;"));
  CHECK(has(page, "<code>gpt-4o</code>"));
  CHECK(has(render_docs_page({"http://h", {}}), "YOUR_MODEL"));
}

TEST_CASE("the page is whole, in two languages, light and dark, and loads nothing") {
  const std::string page = render_docs_page(facts());
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(first_unbalanced(page) == "");
  CHECK(has(page, "客户端配置"));
  CHECK(has(page, "Client set-ups"));
  CHECK(has(page, "prefers-color-scheme: dark"));
  for (const char* loading : {" src=", "<link", "@import", "url(", "href=\"http", "fetch("}) {
    CAPTURE(loading);
    CHECK_FALSE(has(page, loading));
  }
}

TEST_CASE("an address or a name from outside stays text") {
  const std::string page =
      render_docs_page({"http://h\"><script>alert(1)</script>", {"</pre><img onerror='x'>"}});
  CHECK_FALSE(has(page, "<script>alert"));
  CHECK_FALSE(has(page, "<img"));
  CHECK(first_unbalanced(page) == "");
}

TEST_CASE("a long list of models is cut") {
  const std::string page = render_docs_page({"http://h", std::vector<std::string>(1000, "model")});
  CHECK(page.size() < 40'000);
}
