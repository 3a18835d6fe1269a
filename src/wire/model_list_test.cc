#include "wire/model_list.h"

#include <doctest/doctest.h>

#include <vector>

namespace hw::wire {
namespace {

std::string list_of(Family family, const std::vector<std::string>& names) {
  std::string out;
  append_model_list(out, family, names);
  return out;
}

}  // namespace

TEST_CASE("a model list has its family's shape") {
  CHECK(list_of(Family::kOpenai, {"a", "b/c"}) ==
        R"({"object":"list","data":[{"id":"a","object":"model","created":0,"owned_by":"headway"},)"
        R"({"id":"b/c","object":"model","created":0,"owned_by":"headway"}]})");
  CHECK(list_of(Family::kAnthropic, {"a", "b"}) ==
        R"({"data":[{"type":"model","id":"a","display_name":"a",)"
        R"("created_at":"1970-01-01T00:00:00Z"},{"type":"model","id":"b","display_name":"b",)"
        R"("created_at":"1970-01-01T00:00:00Z"}],"has_more":false,"first_id":"a","last_id":"b"})");
}

TEST_CASE("a list of no models is one") {
  CHECK(list_of(Family::kOpenai, {}) == R"({"object":"list","data":[]})");
  CHECK(list_of(Family::kAnthropic, {}) ==
        R"({"data":[],"has_more":false,"first_id":null,"last_id":null})");
}

TEST_CASE("one model is the list's element") {
  std::string out;
  append_model(out, Family::kOpenai, "a\"b");
  CHECK(out == R"({"id":"a\"b","object":"model","created":0,"owned_by":"headway"})");
}

}  // namespace hw::wire
