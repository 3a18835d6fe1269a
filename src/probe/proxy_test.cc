#include "probe/proxy.h"

#include <doctest/doctest.h>

namespace hw::probe {
namespace {

using Kind = ProxyChoice::Kind;

ProxyChoice choose(const config::Environment& environment, std::string_view url) {
  return choose_proxy(environment, inspect_base_url(url));
}

TEST_CASE("the variable of the scheme counts, small letters first, ALL_PROXY last") {
  const config::Environment both = {{"HTTPS_PROXY", "http://a:1"},
                                    {"http_proxy", "http://b:2"},
                                    {"HTTP_PROXY", "http://c:3"},
                                    {"ALL_PROXY", "http://d:4"}};
  CHECK(choose(both, "https://x/v1").host == "a");
  const ProxyChoice plain = choose(both, "http://x/v1");
  CHECK(plain.host == "b");
  CHECK(plain.port == 2);
  CHECK(plain.variable == "http_proxy");
  CHECK(choose({{"ALL_PROXY", "d:4"}}, "http://x").port == 4);
  CHECK(choose({{"https_proxy", "http://a:1"}}, "http://x").kind == Kind::kNone);
  CHECK(choose({{"http_proxy", " "}}, "http://x").kind == Kind::kNone);
  CHECK(choose({}, "http://x").kind == Kind::kNone);
}

TEST_CASE("user and password are used and not shown") {
  const ProxyChoice proxy = choose({{"http_proxy", "http://me:secret@a:1"}}, "http://x");
  CHECK(proxy.kind == Kind::kHttp);
  CHECK(proxy.shown == "http://a:1");
  CHECK(proxy.authorization == "Basic bWU6c2VjcmV0");
}

TEST_CASE("what cannot be gone through is told apart from what is nothing") {
  CHECK(choose({{"http_proxy", "socks5://a:1"}}, "http://x").kind == Kind::kUnsupported);
  CHECK(choose({{"http_proxy", "https://a:1"}}, "http://x").kind == Kind::kUnsupported);
  CHECK(choose({{"http_proxy", "ftp://a:1"}}, "http://x").kind == Kind::kInvalid);
  CHECK(choose({{"http_proxy", "http://a:99999"}}, "http://x").kind == Kind::kInvalid);
}

TEST_CASE("no_proxy excepts hosts, suffixes, ports and networks") {
  CHECK(is_excepted("*", "a", 80));
  CHECK(is_excepted("a.com, b.com", "b.com", 80));
  CHECK(is_excepted("b.com", "x.b.com", 80));
  CHECK(is_excepted(".b.com", "x.b.com", 80));
  CHECK(is_excepted("*.b.com", "x.b.com", 80));
  CHECK(is_excepted("B.com", "b.COM", 80));
  CHECK(is_excepted("a:80", "a", 80));
  CHECK(is_excepted("127.0.0.0/8", "127.1.2.3", 80));
  CHECK(is_excepted("0.0.0.0/0", "9.9.9.9", 80));
  CHECK(!is_excepted("a:81", "a", 80));
  CHECK(!is_excepted("b.com", "bb.com", 80));
  CHECK(!is_excepted("10.0.0.0/8", "127.0.0.1", 80));
  CHECK(!is_excepted("10.0.0.0/99", "10.0.0.1", 80));
  CHECK(!is_excepted("", "a", 80));
  const ProxyChoice choice =
      choose({{"http_proxy", "http://a:1"}, {"NO_PROXY", "localhost"}}, "http://localhost:1/v1");
  CHECK(choice.kind == Kind::kExcepted);
  CHECK(choice.variable == "http_proxy");
}

}  // namespace
}  // namespace hw::probe
