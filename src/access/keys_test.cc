#include "access/keys.h"

#include <doctest/doctest.h>

#include <string>

using namespace hw;
using namespace hw::access;

namespace {

KeyEntry entry(std::string_view secret, std::string name, std::vector<std::string> models = {"*"}) {
  KeyEntry out;
  out.digest = sha256(secret);
  out.key.name = std::move(name);
  out.key.models = std::move(models);
  return out;
}

KeySnapshot sample() {
  std::vector<KeyEntry> entries;
  entries.push_back(entry("sk-hw-alice", "alice"));
  entries.push_back(entry("sk-hw-bob", "bob", {"gpt-4o", "claude-*"}));
  entries.push_back(entry("sk-hw-off", "off"));
  entries.back().key.disabled = true;
  return KeySnapshot(std::move(entries));
}

constexpr auto kAuth = CredentialSource::kAuthorization;
constexpr auto kApi = CredentialSource::kApiKey;
constexpr auto kLite = CredentialSource::kLitellmApiKey;

std::string refusal(const KeySnapshot& keys, std::vector<Presented> presented) {
  const Result<Admission> got = authorize(keys, presented);
  REQUIRE_FALSE(got.has_value());
  CHECK(got.error().code == ErrorCode::kUnauthorized);
  return got.error().message;
}

}  // namespace

TEST_CASE("sha256 gives FIPS 180-4's digests, again and again on one thread") {
  CHECK(digest_hex(sha256("")) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest_hex(sha256("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abc") == sha256("abc"));
  CHECK(equal_in_constant_time(sha256("x"), sha256("x")));
  CHECK_FALSE(equal_in_constant_time(sha256("x"), sha256("y")));
}

TEST_CASE("a digest survives its hex form, and no other text is taken for one") {
  const Digest digest = sha256("abc");
  CHECK(parse_digest_hex(digest_hex(digest)) == digest);
  CHECK_FALSE(parse_digest_hex("").has_value());
  CHECK_FALSE(parse_digest_hex(std::string(63, 'a')).has_value());
  CHECK_FALSE(parse_digest_hex(std::string(64, 'g')).has_value());
}

TEST_CASE("a key of ours is let in by each header that may carry it") {
  const KeySnapshot keys = sample();
  struct Case {
    Presented presented;
    std::string_view name;
  };
  const Case cases[] = {
      {{kAuth, "Bearer sk-hw-alice"}, "alice"},
      {{kAuth, "bearer sk-hw-alice"}, "alice"},
      {{kAuth, "BEARER   sk-hw-bob"}, "bob"},
      {{kApi, "sk-hw-bob"}, "bob"},
      {{kLite, "sk-hw-bob"}, "bob"},
      {{kLite, "Bearer sk-hw-alice"}, "alice"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.presented.value);
    const Result<Admission> got = authorize(keys, std::span(&c.presented, 1));
    REQUIRE(got.has_value());
    CHECK(got->key->name == c.name);
    CHECK(got->source == c.presented.source);
  }
}

TEST_CASE("the first header by precedence that holds a key of ours counts, strays do no harm") {
  const KeySnapshot keys = sample();
  const Presented both[] = {{kApi, "sk-hw-bob"}, {kAuth, "Bearer sk-hw-alice"}};
  CHECK(authorize(keys, both)->key->name == "alice");
  const Presented stray_first[] = {{kAuth, "Bearer sk-ant-stray"}, {kApi, "sk-hw-bob"}};
  const Result<Admission> got = authorize(keys, stray_first);
  REQUIRE(got.has_value());
  CHECK(got->key->name == "bob");
  CHECK(got->source == kApi);
  const Presented basic[] = {{kAuth, "Basic dXNlcjpwYXNz"}, {kLite, "Bearer sk-hw-alice"}};
  CHECK(authorize(keys, basic)->source == kLite);
  const Presented twice[] = {{kAuth, "Bearer nobody"}, {kAuth, "Bearer sk-hw-alice"}};
  CHECK(authorize(keys, twice)->key->name == "alice");
}

TEST_CASE("a request without a key is told which headers to send") {
  const KeySnapshot keys = sample();
  const std::string none = refusal(keys, {});
  CHECK(none.find("carries no key") != std::string::npos);
  CHECK(none.find("x-api-key: KEY") != std::string::npos);
  CHECK(refusal(keys, {{kAuth, ""}, {kApi, "  "}}) == none);
  CHECK(refusal(KeySnapshot(), {}).find("No key exists yet") != std::string::npos);
  CHECK(refusal(KeySnapshot(), {{kApi, "x"}}).find("No key exists yet") != std::string::npos);
}

TEST_CASE("a key that is almost right is told what is wrong with it") {
  const KeySnapshot keys = sample();
  struct Case {
    Presented presented;
    std::string_view hint;
  };
  const Case cases[] = {
      {{kAuth, "sk-hw-alice"}, "lacks the word Bearer"},
      {{kApi, "Bearer sk-hw-alice"}, "Bearer does not belong"},
      {{kApi, " sk-hw-alice"}, "spaces, quotes"},
      {{kApi, "sk-hw-alice\t"}, "spaces, quotes"},
      {{kAuth, "Bearer \"sk-hw-alice\""}, "spaces, quotes"},
      {{kAuth, "Bearer Bearer sk-hw-alice"}, "spaces, quotes"},
      {{kAuth, "Basic c2stYWxpY2U="}, "must be Bearer"},
      {{kApi, "sk-ant-api03-abc"}, "key of Anthropic"},
      {{kAuth, "Bearer sk-proj-abc"}, "key of OpenAI"},
      {{kAuth, "Bearer hf_abc"}, "key of Hugging Face"},
      {{kAuth, "Bearer sk-hw-alic"}, "missing part"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.presented.value);
    const std::string message = refusal(keys, {c.presented});
    CAPTURE(message);
    CHECK(message.find(c.hint) != std::string::npos);
    CHECK(message.find(credential_source_name(c.presented.source)) != std::string::npos);
  }
}

TEST_CASE("no refusal repeats a secret or its digest") {
  const KeySnapshot keys = sample();
  for (const CredentialSource source : {kAuth, kApi, kLite}) {
    for (const std::string& secret :
         std::vector<std::string>{"sk-hw-alice", "sk-ant-0123456789", "sk-hw-off", "zzz-secret"}) {
      for (const std::string& form :
           std::vector<std::string>{secret, "Bearer '" + secret + "'", " " + secret + " "}) {
        const Presented one{source, form};
        const Result<Admission> got = authorize(keys, std::span(&one, 1));
        if (got.has_value()) continue;
        CHECK(got.error().message.find(secret) == std::string::npos);
        CHECK(got.error().message.find(digest_hex(sha256(secret)).substr(0, 8)) ==
              std::string::npos);
      }
    }
  }
}

TEST_CASE("a disabled key is named and not passed over for a second credential") {
  const KeySnapshot keys = sample();
  const std::string message = refusal(keys, {{kAuth, "Bearer sk-hw-off"}, {kApi, "sk-hw-bob"}});
  CHECK(message.find("\"off\" is disabled") != std::string::npos);
}

TEST_CASE("an overlong credential is no key, whatever it hashes to") {
  const std::string longest(kSecretBytesMax, 'k');
  const std::string longer(kSecretBytesMax + 1, 'k');
  std::vector<KeyEntry> entries;
  entries.push_back(entry(longest, "longest"));
  entries.push_back(entry(longer, "longer"));
  const KeySnapshot keys(std::move(entries));
  CHECK(keys.find_secret(longest) != nullptr);
  CHECK(keys.find_secret(longer) == nullptr);
}

TEST_CASE("of two entries with one secret the first counts") {
  std::vector<KeyEntry> entries;
  entries.push_back(entry("s", "declared"));
  entries.push_back(entry("s", "stored"));
  CHECK(KeySnapshot(std::move(entries)).find_secret("s")->name == "declared");
}

TEST_CASE("the allow-list takes names and one star at the end") {
  const KeySnapshot keys = sample();
  const Key& bob = *keys.find_secret("sk-hw-bob");
  CHECK(check_model(bob, "gpt-4o").has_value());
  CHECK(check_model(bob, "claude-sonnet-4-5").has_value());
  CHECK(check_model(bob, "claude-").has_value());
  const Status refused = check_model(bob, "gpt-4o-mini");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kForbidden);
  CHECK(refused.error().message ==
        "The key \"bob\" may not use the model \"gpt-4o-mini\". It may use: gpt-4o, claude-*.");
  CHECK(check_model(*keys.find_secret("sk-hw-alice"), "anything").has_value());
  CHECK(check_model(bob, std::string(100'000, 'm')).error().message.size() < 400);
}
