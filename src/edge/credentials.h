// Credentials: the key headers of one request, as access looks at them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "access/keys.h"
#include "http/head.h"

namespace hw::edge {

class Credentials {
 public:
  // Takes every key header of `head`, which outlives this: however many stray ones there are, ours
  // is among them. Allocates only beyond access::kPresentedUsual.
  explicit Credentials(const http::RequestHead& head);
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // In the order of the head; access::authorize() has its own.
  std::span<const access::Presented> all() const {
    return many_.empty() ? std::span<const access::Presented>(few_.data(), count_) : many_;
  }

 private:
  void add(const access::Presented& one);

  std::array<access::Presented, access::kPresentedUsual> few_;
  std::vector<access::Presented> many_;  // all of them, once few_ is full
  size_t count_ = 0;
};

}  // namespace hw::edge
