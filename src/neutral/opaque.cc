#include "neutral/opaque.h"

#include "base/base64.h"

namespace hw::translate {
namespace {

// hw.KIND.ITEM.CONTENT, the last two in base64url: four fields, none of which holds a dot.
constexpr std::string_view kMark = "hw.";
constexpr std::string_view kKinds = "srexu";  // in the order of OpaqueKind

}  // namespace

std::string seal(const Opaque& opaque) {
  std::string out(kMark);
  out += kKinds[static_cast<size_t>(opaque.kind)];
  out += '.';
  append_base64url(out, opaque.item_id);
  out += '.';
  append_base64url(out, opaque.content);
  return out;
}

std::optional<Opaque> unseal(const Text& envelope) {
  const std::string text = envelope.str();
  std::string_view rest = text;
  if (!rest.starts_with(kMark) || rest.size() < kMark.size() + 3) return std::nullopt;
  rest.remove_prefix(kMark.size());
  const size_t kind = kKinds.find(rest[0]);
  const size_t dot = rest.find('.', 2);
  if (kind == std::string_view::npos || rest[1] != '.' || dot == std::string_view::npos)
    return std::nullopt;
  Opaque out;
  out.kind = static_cast<OpaqueKind>(kind);
  if (!decode_base64url(rest.substr(2, dot - 2), out.item_id)) return std::nullopt;
  if (!decode_base64url(rest.substr(dot + 1), out.content)) return std::nullopt;
  return out;
}

}  // namespace hw::translate
