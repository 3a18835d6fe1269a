#include "http/coding.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "http/fields.h"

namespace hw::http {

// One coding being undone.
class Decoder::Stage {
 public:
  // What one call did. Unless it is damaged, it used all input or filled all room.
  struct Step {
    size_t consumed = 0;
    size_t produced = 0;
    bool damaged = false;
  };

  virtual ~Stage() = default;
  // Decodes from `in` into `room` bytes at `out`. Never called again after `damaged`.
  virtual Step step(std::string_view in, char* out, size_t room) = 0;
  // Everything given so far is a whole; so is nothing.
  virtual bool complete() const = 0;
  virtual std::string_view name() const = 0;
};

namespace {

using Stage = Decoder::Stage;

// gzip, and deflate in both forms that are sent under this name.
class Inflate final : public Stage {
 public:
  enum class Form : uint8_t { kGzip, kDeflate };

  explicit Inflate(Form form) : form_(form) {
    if (form == Form::kGzip) init(16 + MAX_WBITS);
  }
  ~Inflate() override {
    if (initialized_) inflateEnd(&stream_);
  }

  Step step(std::string_view in, char* out, size_t room) override {
    Step step;
    if (!in.empty()) begun_ = true;
    if (!initialized_ && !tell_form(in, step)) return step;
    if (held_) {
      // The first byte was needed to tell the forms apart; it produces nothing yet.
      const char first = std::exchange(held_, std::nullopt).value();
      const Step inner = inflate_some({&first, 1}, out, room);
      if (inner.damaged) return inner;
    }
    const Step inner = inflate_some(in.substr(step.consumed), out, room);
    return {step.consumed + inner.consumed, inner.produced, inner.damaged};
  }

  bool complete() const override { return !begun_ || ended_; }
  std::string_view name() const override { return form_ == Form::kGzip ? "gzip" : "deflate"; }

 private:
  void init(int window_bits) {
    const int result = inflateInit2(&stream_, window_bits);
    HW_ASSERT(result == Z_OK);  // out of memory
    initialized_ = true;
  }

  // "deflate" means zlib's form (RFC 9110 §8.4.1.2), but raw deflate is sent under this name too.
  // The first two bytes tell. False while there is only one.
  bool tell_form(std::string_view in, Step& step) {
    if (in.empty()) return false;
    if (!held_ && in.size() == 1) {
      held_ = in.front();
      step.consumed = 1;
      return false;
    }
    const auto first = static_cast<unsigned char>(held_ ? *held_ : in[0]);
    const auto second = static_cast<unsigned char>(held_ ? in[0] : in[1]);
    const bool is_zlib = (first & 0x0f) == Z_DEFLATED && (first * 256 + second) % 31 == 0;
    init(is_zlib ? MAX_WBITS : -MAX_WBITS);
    return true;
  }

  Step inflate_some(std::string_view in, char* out, size_t room) {
    if (ended_) {
      if (in.empty()) return {};
      // Members may follow each other (RFC 1952 §2.2); nothing may follow deflate.
      if (form_ != Form::kGzip || inflateReset(&stream_) != Z_OK) return {0, 0, true};
      ended_ = false;
    }
    constexpr size_t kPieceMax = 1u << 30;  // zlib counts in 32 bits
    in = in.substr(0, kPieceMax);
    room = std::min(room, kPieceMax);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    ended_ = result == Z_STREAM_END;
    const bool fine = ended_ || result == Z_OK || result == Z_BUF_ERROR;
    return {in.size() - stream_.avail_in, room - stream_.avail_out, !fine};
  }

  Form form_;
  z_stream stream_ = {};
  bool initialized_ = false;
  bool begun_ = false;
  bool ended_ = false;
  std::optional<char> held_;
};

class Brotli final : public Stage {
 public:
  Brotli() : state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    HW_ASSERT(state_ != nullptr);  // out of memory
  }
  ~Brotli() override { BrotliDecoderDestroyInstance(state_); }

  Step step(std::string_view in, char* out, size_t room) override {
    begun_ = begun_ || !in.empty();
    if (ended_) return {0, 0, !in.empty()};
    size_t in_left = in.size();
    size_t out_left = room;
    auto* next_in = reinterpret_cast<const uint8_t*>(in.data());
    auto* next_out = reinterpret_cast<uint8_t*>(out);
    const BrotliDecoderResult result =
        BrotliDecoderDecompressStream(state_, &in_left, &next_in, &out_left, &next_out, nullptr);
    ended_ = result == BROTLI_DECODER_RESULT_SUCCESS;
    return {in.size() - in_left, room - out_left, result == BROTLI_DECODER_RESULT_ERROR};
  }

  bool complete() const override { return !begun_ || ended_; }
  std::string_view name() const override { return "br"; }

 private:
  BrotliDecoderState* state_;
  bool begun_ = false;
  bool ended_ = false;
};

class Zstd final : public Stage {
 public:
  Zstd() : context_(ZSTD_createDCtx()) {
    HW_ASSERT(context_ != nullptr);    // out of memory
    constexpr int kWindowLogMax = 23;  // 8 MiB: what RFC 8878 §3.1.1.1.2 asks decoders to support
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kWindowLogMax);
  }
  ~Zstd() override { ZSTD_freeDCtx(context_); }

  Step step(std::string_view in, char* out, size_t room) override {
    // Without input an ended decoder would already wait for a further frame.
    if (ended_ && in.empty()) return {};
    // A frame that lies in one piece is decoded at one go by the library, with checks that it does
    // not make piece by piece; its first byte alone leads the same way whatever the pieces are.
    if (ended_) in = in.substr(0, 1);
    ZSTD_inBuffer source = {in.data(), in.size(), 0};
    ZSTD_outBuffer target = {out, room, 0};
    const size_t result = ZSTD_decompressStream(context_, &target, &source);
    ended_ = result == 0;
    return {source.pos, target.pos, ZSTD_isError(result) != 0};
  }

  bool complete() const override { return ended_; }
  std::string_view name() const override { return "zstd"; }

 private:
  ZSTD_DCtx* context_;
  bool ended_ = true;  // between frames; they may follow each other
};

std::unique_ptr<Stage> make_stage(std::string_view coding) {
  const auto is = [&](std::string_view name) { return equal_ignoring_case(coding, name); };
  if (is("gzip") || is("x-gzip")) return std::make_unique<Inflate>(Inflate::Form::kGzip);
  if (is("deflate")) return std::make_unique<Inflate>(Inflate::Form::kDeflate);
  if (is("br")) return std::make_unique<Brotli>();
  if (is("zstd")) return std::make_unique<Zstd>();
  return nullptr;
}

// How much room a piece of input is given at once: most text shrinks to a quarter or less.
size_t room_for(size_t in_bytes) {
  constexpr size_t kMin = 1024;
  constexpr size_t kMax = 64 * 1024;
  return std::clamp(in_bytes * 4, kMin, kMax);
}

}  // namespace

Decoder::Decoder(ErrorCode blame) : blame_(blame) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Result<Decoder> Decoder::make(std::string_view coding, ErrorCode blame) {
  Decoder decoder(blame);
  for (std::string_view rest = coding; !rest.empty();) {
    const std::string_view name = take_list_element(rest);
    if (name.empty() || equal_ignoring_case(name, "identity")) continue;
    std::unique_ptr<Stage> stage = make_stage(name);
    if (stage == nullptr || decoder.second_ != nullptr) {
      return fail(
          ErrorCode::kUnsupportedCoding,
          concat("content-encoding ", coding.substr(0, 80),
                 " is not understood: gzip, deflate, br and zstd are, at most two of them"));
    }
    decoder.second_ = std::move(decoder.first_);
    decoder.first_ = std::move(stage);
  }
  return decoder;
}

bool Decoder::is_identity() const {
  return first_ == nullptr;
}

Status Decoder::decode(std::string_view in, std::string& out, size_t out_bytes_max) {
  if (in.empty()) return {};
  if (second_ != nullptr) return pump_both(in, out, out_bytes_max);
  if (first_ != nullptr) return pump(*first_, in, out, out_bytes_max);
  if (out.size() + in.size() > out_bytes_max) {
    return fail(ErrorCode::kBodyTooLarge,
                concat("the body has more than ", out_bytes_max, " bytes"));
  }
  out.append(in);
  return {};
}

// Appends to `out` all that `in` gives in one stage.
Status Decoder::pump(Stage& stage, std::string_view in, std::string& out,
                     size_t out_bytes_max) const {
  for (;;) {
    const size_t before = out.size();
    if (before > out_bytes_max) {
      return fail(ErrorCode::kBodyTooLarge, concat("the body has more than ", out_bytes_max,
                                                   " bytes after decoding ", stage.name()));
    }
    // One byte beyond the limit, to see whether there is more.
    const size_t room = std::min(room_for(in.size()), out_bytes_max - before + 1);
    out.resize(before + room);
    const Stage::Step step = stage.step(in, out.data() + before, room);
    out.resize(before + step.produced);
    if (step.damaged) {
      return fail(blame_, concat("the body is not valid ", stage.name()));
    }
    in.remove_prefix(step.consumed);
    if (in.empty() && step.produced < room) return {};
  }
}

// The first stage fills a small buffer, which the second empties: nothing grows but `out`.
Status Decoder::pump_both(std::string_view in, std::string& out, size_t out_bytes_max) {
  std::array<char, 16 * 1024> between;
  for (;;) {
    const Stage::Step step = first_->step(in, between.data(), between.size());
    if (step.damaged) return fail(blame_, concat("the body is not valid ", first_->name()));
    in.remove_prefix(step.consumed);
    // What the second stage is fed is compressed again; where it is far larger than the result may
    // be, it is there to keep us busy.
    between_bytes_ += step.produced;
    if (between_bytes_ / 2 > out_bytes_max) {
      return fail(ErrorCode::kBodyTooLarge,
                  concat("the body has more than ", out_bytes_max, " bytes after decoding"));
    }
    const Status status = pump(*second_, {between.data(), step.produced}, out, out_bytes_max);
    if (!status) return status;
    if (in.empty() && step.produced < between.size()) return {};
  }
}

Status Decoder::finish() const {
  for (const Stage* stage : {first_.get(), second_.get()}) {
    if (stage != nullptr && !stage->complete()) {
      return fail(blame_, concat("the body ends inside its ", stage->name(), " coding"));
    }
  }
  return {};
}

}  // namespace hw::http
