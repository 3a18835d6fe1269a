#include <doctest/doctest.h>

#include "route/catalogue.h"
#include "route/plan.h"

namespace hw::route {
namespace {

ChannelOptions channel(std::string name, Family family = Family::kOpenai) {
  ChannelOptions out;
  out.name = std::move(name);
  out.family = family;
  out.base_url.host = "127.0.0.1";
  out.serves = EndpointSet::all_of(family);
  out.models = {"m"};
  return out;
}

std::vector<Candidate> find(const Catalogue& catalogue, std::string_view model, Endpoint endpoint,
                            NoMatch* why = nullptr) {
  Random random(1);
  std::vector<Candidate> out;
  NoMatch reason{};
  catalogue.find(model, endpoint, random, out, reason);
  if (why != nullptr) *why = reason;
  return out;
}

TEST_CASE("a base URL is taken as the dialect's SDK takes it") {
  struct Case {
    const char* text;
    Family family;
    const char* path;
    bool noted;
  };
  const Case cases[] = {
      {"http://h:8000/v1", Family::kOpenai, "/v1", false},
      {"http://h:8000", Family::kOpenai, "/v1", true},
      {"http://h:8000/", Family::kOpenai, "/v1", true},
      {"http://h:8000/v1/", Family::kOpenai, "/v1", true},
      {"https://h/api/v3", Family::kOpenai, "/api/v3", false},
      {"https://h", Family::kAnthropic, "", false},
      {"https://h/v1", Family::kAnthropic, "", true},
      {"https://h/x/v1/", Family::kAnthropic, "/x", true},
  };
  for (const Case& each : cases) {
    CAPTURE(each.text);
    std::string note;
    const Result<BaseUrl> url = parse_base_url(each.text, each.family, note);
    REQUIRE(url);
    CHECK(url->path == each.path);
    CHECK(!note.empty() == each.noted);
  }
}

TEST_CASE("a base URL that cannot be meant is refused with its fault") {
  for (const char* text : {"h:8000", "ftp://h", "http://", "http://h:", "http://h:99999",
                           "http://h:0", "http://u@h/v1", "http://h/v1?utm_source=x",
                           "http://h/#top", "http://h h/", "http://[::1/v1"}) {
    CAPTURE(text);
    std::string note;
    const Result<BaseUrl> url = parse_base_url(text, Family::kOpenai, note);
    REQUIRE(!url);
    CHECK(url.error().code == ErrorCode::kConfig);
  }
}

TEST_CASE("an IPv6 host is shown in brackets and a default port left out of Host") {
  std::string note;
  const Result<BaseUrl> url = parse_base_url("https://[::1]/v1", Family::kOpenai, note);
  REQUIRE(url);
  CHECK(url->instance() == "[::1]:443");
  CHECK(url->host_header() == "[::1]");
}

TEST_CASE("a model is found by name, map, longest wildcard and channel prefix") {
  ChannelOptions a = channel("a");
  a.model_map = {{"gpt-4o", "m"}, {"claude-*", "m"}, {"claude-haiku*", "small"}};
  const Catalogue catalogue([&] {
    std::vector<ChannelOptions> list;
    list.push_back(a);
    return list;
  }());
  CHECK(find(catalogue, "m", Endpoint::kChat).at(0).upstream_model == "m");
  CHECK(find(catalogue, "gpt-4o", Endpoint::kChat).at(0).upstream_model == "m");
  CHECK(find(catalogue, "claude-sonnet-5", Endpoint::kChat).at(0).upstream_model == "m");
  CHECK(find(catalogue, "claude-haiku-9", Endpoint::kChat).at(0).upstream_model == "small");
  CHECK(find(catalogue, "a/gpt-4o", Endpoint::kChat).at(0).upstream_model == "m");
  NoMatch why{};
  CHECK(find(catalogue, "b/m", Endpoint::kChat, &why).empty());
  CHECK(why == NoMatch::kUnknownModel);
  CHECK(find(catalogue, "m", Endpoint::kCountTokens, &why).empty());
  CHECK(why == NoMatch::kWrongEndpoint);
  CHECK(catalogue.is_configured("gpt-4o"));
  CHECK(!catalogue.is_configured("claude-sonnet-5"));
}

TEST_CASE("a channel is asked by another dialect where it does not serve the endpoint") {
  ChannelOptions a = channel("a");
  a.serves = EndpointSet();
  a.serves.add(Endpoint::kChat);
  std::vector<ChannelOptions> list{a};
  const Catalogue catalogue(list);
  for (const Endpoint asked : {Endpoint::kChat, Endpoint::kResponses, Endpoint::kMessages})
    CHECK(find(catalogue, "m", asked).at(0).endpoint == Endpoint::kChat);
  NoMatch why{};
  CHECK(find(catalogue, "m", Endpoint::kEmbeddings, &why).empty());
  CHECK(why == NoMatch::kWrongEndpoint);
}

TEST_CASE("among equals a channel that needs no translation comes first, whatever its weight") {
  ChannelOptions a = channel("a"), b = channel("b"), c = channel("c");
  a.weight = 1000;
  a.serves = EndpointSet::all_of(Family::kAnthropic);
  a.family = Family::kAnthropic;
  c.family = Family::kAnthropic;
  c.serves = a.serves;
  c.priority = 1;
  std::vector<ChannelOptions> list{a, b, c};
  const Catalogue catalogue(list);
  const std::vector<Candidate> out = find(catalogue, "m", Endpoint::kChat);
  REQUIRE(out.size() == 3);
  CHECK(out[0].channel->options.name == "c");
  CHECK(out[1].channel->options.name == "b");
  CHECK(out[2].endpoint == Endpoint::kMessages);
}

TEST_CASE("priority comes first and weight decides among equals") {
  ChannelOptions a = channel("a"), b = channel("b"), c = channel("c");
  a.weight = 3;
  c.priority = 1;
  std::vector<ChannelOptions> list{a, b, c};
  const Catalogue catalogue(list);
  Random random(7);
  int a_before_b = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<Candidate> out;
    NoMatch why{};
    catalogue.find("m", Endpoint::kChat, random, out, why);
    REQUIRE(out.size() == 3);
    REQUIRE(out[0].channel->options.name == "c");
    a_before_b += out[1].channel->options.name == "a";
  }
  CHECK(a_before_b > 2850);  // 3 of 4 expected; 4 sigma is 110
  CHECK(a_before_b < 3150);
}

TEST_CASE(
    "a plan tries each candidate once, skips cooling ones with their reason, and keeps its "
    "budget") {
  std::vector<ChannelOptions> list{channel("a"), channel("b"), channel("c")};
  const Catalogue catalogue(list);
  catalogue.channels()[0]->health->cool_down(0, 12 * kSecond, 429);
  std::vector<Candidate> order;
  for (const auto& each : catalogue.channels()) order.push_back({each.get(), Endpoint::kChat, "m"});
  Plan plan(order, 3, 0);
  CHECK(plan.next(0).candidate->channel->options.name == "b");
  CHECK(plan.next(0).candidate->channel->options.name == "c");
  CHECK(plan.next(0).candidate == nullptr);
  REQUIRE(plan.skipped().size() == 1);
  CHECK(plan.skipped()[0] == timeline::Skipped{"a", "cooling down for 12 s after 429"});

  Plan tight(order, 1, 0);
  CHECK(tight.next(13 * kSecond).candidate->channel->options.name == "a");
  CHECK(tight.next(13 * kSecond).candidate == nullptr);
}

TEST_CASE(
    "when every channel cools down the soonest is tried, and waited for where that is allowed") {
  std::vector<ChannelOptions> list{channel("a"), channel("b")};
  const Catalogue catalogue(list);
  catalogue.channels()[0]->health->cool_down(0, 9 * kSecond, 429);
  catalogue.channels()[1]->health->cool_down(0, 2 * kSecond, 503);
  std::vector<Candidate> order;
  for (const auto& each : catalogue.channels()) order.push_back({each.get(), Endpoint::kChat, "m"});
  Plan impatient(order, 3, 0);
  Next next = impatient.next(0);
  CHECK(next.candidate->channel->options.name == "b");
  CHECK(next.wait == 0);
  CHECK(impatient.next(0).candidate == nullptr);

  Plan patient(order, 3, 10 * kSecond);
  next = patient.next(0);
  CHECK(next.candidate->channel->options.name == "b");
  CHECK(next.wait == 2 * kSecond);
  next = patient.next(2 * kSecond);
  CHECK(next.candidate->channel->options.name == "a");
  CHECK(next.wait == 7 * kSecond);
}

TEST_CASE("a channel of another server or credential has a health and connections of its own") {
  const auto before = channel("a");
  Catalogue old({before});
  old.channels()[0]->health->cool_down(0, kSecond, 429);
  struct Case {
    const char* what;
    void (*change)(ChannelOptions&);
    bool same_transport, same_health;
  };
  const Case cases[] = {
      {"models", [](ChannelOptions& c) { c.models = {"other"}; }, true, true},
      {"cap", [](ChannelOptions& c) { c.connections_max = 7; }, true, true},
      {"credential", [](ChannelOptions& c) { c.credential = "new"; }, true, false},
      {"port", [](ChannelOptions& c) { c.base_url.port = 81; }, false, false},
      {"tls", [](ChannelOptions& c) { c.base_url.tls = true; }, false, false},
      {"proxy", [](ChannelOptions& c) { c.use_proxy = true; }, false, false},
      {"name", [](ChannelOptions& c) { c.name = "b"; }, false, false},
  };
  for (const Case& each : cases) {
    CAPTURE(each.what);
    ChannelOptions changed = before;
    each.change(changed);
    const Catalogue after({changed}, &old);
    CHECK((after.channels()[0]->transport == old.channels()[0]->transport) == each.same_transport);
    CHECK((after.channels()[0]->health->cooling(0) > 0) == each.same_health);
  }
}

TEST_CASE("other trusted certificates make another transport, where there is TLS") {
  ChannelOptions options = channel("a");
  options.base_url.tls = true;
  const auto transport = [&](const char* pem) {
    if (pem != nullptr) options.ca_pem = std::make_shared<const std::string>(pem);
    return Catalogue({options}).channels()[0]->transport;
  };
  const std::string system_only = transport(nullptr);
  const std::string first = transport("one");
  CHECK(first != system_only);
  CHECK(transport("one") == first);
  CHECK(transport("two") != first);
  options.base_url.tls = false;
  CHECK(transport("one") == transport("two"));
}

TEST_CASE("a channel keeps its health over a reload") {
  std::vector<ChannelOptions> list{channel("a")};
  const Catalogue before(list);
  before.channels()[0]->health->cool_down(0, kSecond, 429);
  std::vector<ChannelOptions> again{channel("a"), channel("b")};
  const Catalogue after(again, &before);
  CHECK(after.channels()[0]->health->cooling(0) == kSecond);
  CHECK(after.channels()[1]->health->cooling(0) == 0);
}

}  // namespace
}  // namespace hw::route
