// SHA-256 of what a run recorded, so that an edited baseline is noticed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace hw::runs {

// Takes bytes as they come. FIPS 180-4.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;

  // The next bytes.
  void add(std::string_view bytes);
  // 64 lower-case hex digits. Call once; nothing may be added after it.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hw::runs
