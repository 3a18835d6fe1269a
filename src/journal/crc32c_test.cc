#include "journal/crc32c.h"

#include <doctest/doctest.h>

#include <string>

#include "base/random.h"

namespace hw::journal {
namespace {

TEST_CASE("the checksums of RFC 3720 appendix B.4 come out") {
  CHECK(crc32c("123456789", 9) == 0xe3069283);
  CHECK(crc32c(std::string(32, '\0').data(), 32) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff').data(), 32) == 0x62a8ab43);
  CHECK(crc32c("", 0) == 0);
}

TEST_CASE("with and without the instruction the sum is the same, for every length and start") {
  Random random(1);
  std::string bytes(100, ' ');
  for (char& byte : bytes) byte = static_cast<char>(random.next());
  for (size_t start = 0; start < 9; ++start) {
    for (size_t size = 0; start + size <= bytes.size(); ++size) {
      CHECK(crc32c(bytes.data() + start, size, 7) ==
            crc32c_portable(bytes.data() + start, size, 7));
    }
  }
}

TEST_CASE("a sum continues from the one before, at every split") {
  const std::string text = "a record in two pieces";
  for (size_t split = 0; split <= text.size(); ++split) {
    const uint32_t first = crc32c(text.data(), split);
    CHECK(crc32c(text.data() + split, text.size() - split, first) ==
          crc32c(text.data(), text.size()));
  }
}

}  // namespace
}  // namespace hw::journal
