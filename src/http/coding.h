// Undoes Content-Encoding as bytes arrive: gzip, deflate, br, zstd (RFC 9110 §8.4.1, RFC 8878).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hw::http {

// A streaming decoder for one message. Its window is bounded: 32 KiB for gzip and deflate, 16 MiB
// for br, 8 MiB for zstd (RFC 8878 §3.1.1.1.2).
class Decoder {
 public:
  class Stage;

  // For the value of a Content-Encoding field: gzip, x-gzip, deflate, br, zstd, identity or none,
  // in any case, or two of them with a comma, undone from the right. Anything else fails with
  // kUnsupportedCoding. `blame` is the code of faults in the data: kBadRequest for a request,
  // kUpstreamProtocol for an answer.
  static Result<Decoder> make(std::string_view coding, ErrorCode blame = ErrorCode::kBadRequest);

  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  // Nothing to undo: bytes pass as they are.
  bool is_identity() const;

  // Appends what `in` decodes to. kBodyTooLarge as soon as `out` would pass out_bytes_max, however
  // small `in` is; `blame` when `in` is not of the coding or goes on after its end. After a failure
  // the decoder is of no more use.
  Status decode(std::string_view in, std::string& out, size_t out_bytes_max);

  // To be called behind the last byte: fails when the coded data is cut short. No byte at all is
  // fine and decodes to nothing.
  Status finish() const;

 private:
  explicit Decoder(ErrorCode blame);
  Status pump(Stage& stage, std::string_view in, std::string& out, size_t out_bytes_max) const;
  Status pump_both(std::string_view in, std::string& out, size_t out_bytes_max);

  // The coding undone first comes first; the second is there only where two were listed.
  std::unique_ptr<Stage> first_;
  std::unique_ptr<Stage> second_;
  size_t between_bytes_ = 0;  // passed from the first to the second
  ErrorCode blame_;
};

}  // namespace hw::http
