#include "gpu_model/gguf.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "base/text.h"

namespace hw::gpu_model {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint64_t kPairsMax = 100'000;
constexpr int kDepthMax = 4;  // arrays in arrays

// Types of values, by their numbers in the format.
enum class Type : uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
};
constexpr uint32_t kTypes = 13;

// Bytes of a scalar; 0: of no fixed size.
size_t size_of(Type type) {
  switch (type) {
    case Type::kUint8:
    case Type::kInt8:
    case Type::kBool:
      return 1;
    case Type::kUint16:
    case Type::kInt16:
      return 2;
    case Type::kUint32:
    case Type::kInt32:
    case Type::kFloat32:
      return 4;
    case Type::kUint64:
    case Type::kInt64:
    case Type::kFloat64:
      return 8;
    case Type::kString:
    case Type::kArray:
      return 0;
  }
  return 0;
}

// What is kept of a value: numbers, names, and the sizes of arrays and how many are true or 0.
struct Kept {
  std::string text;
  int64_t number = 0;
  uint64_t elements = 0;  // of an array
  int64_t largest = 0;    // element of an array of integers
  uint64_t set = 0;       // elements that are not 0
};

// Reads forward; once past the end it stays `bad`.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool bad() const { return bad_; }

  template <class T>
  T number() {
    T out{};
    const std::string_view raw = take(sizeof(T));
    if (raw.size() == sizeof(T)) std::memcpy(&out, raw.data(), sizeof(T));
    return out;
  }
  std::string_view text() { return take(number<uint64_t>()); }

  Kept value(int depth) {
    const auto type = number<uint32_t>();
    if (type >= kTypes) {
      bad_ = true;
      return {};
    }
    return value_of(static_cast<Type>(type), depth);
  }

 private:
  std::string_view take(uint64_t count) {
    if (bad_ || count > bytes_.size()) {
      bad_ = true;
      return {};
    }
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return out;
  }

  Kept value_of(Type type, int depth) {
    Kept out;
    if (type == Type::kString) {
      constexpr size_t kNameBytesMax = 256;  // names are short; templates are not needed
      out.text = text().substr(0, kNameBytesMax);
    } else if (type == Type::kArray) {
      out = array(depth);
    } else {
      out.number = scalar(type);
    }
    return out;
  }

  int64_t scalar(Type type) {
    switch (type) {
      case Type::kUint8:
      case Type::kBool:
        return number<uint8_t>();
      case Type::kInt8:
        return number<int8_t>();
      case Type::kUint16:
        return number<uint16_t>();
      case Type::kInt16:
        return number<int16_t>();
      case Type::kUint32:
        return number<uint32_t>();
      case Type::kInt32:
        return number<int32_t>();
      case Type::kUint64:
      case Type::kInt64:
        return number<int64_t>();
      case Type::kFloat32:
      case Type::kFloat64:
        take(size_of(type));  // no key that is needed is one
        return 0;
      case Type::kString:
      case Type::kArray:
        break;
    }
    return 0;
  }

  Kept array(int depth) {
    Kept out;
    const auto type = number<uint32_t>();
    out.elements = number<uint64_t>();
    if (type >= kTypes || depth >= kDepthMax) bad_ = true;
    for (uint64_t i = 0; i < out.elements && !bad_; ++i) {
      const Kept element = value_of(static_cast<Type>(type), depth + 1);
      out.largest = std::max(out.largest, element.number);
      if (element.number != 0) ++out.set;
    }
    return out;
  }

  std::string_view bytes_;
  bool bad_ = false;
};

using Pairs = std::map<std::string, Kept, std::less<>>;

// Numbers of one architecture, "llama.block_count".
class Keys {
 public:
  Keys(const Pairs& pairs, std::string architecture)
      : pairs_(pairs), architecture_(std::move(architecture)) {}

  const Kept* find(std::string_view key) const {
    const auto found = pairs_.find(concat(architecture_, ".", key));
    return found == pairs_.end() ? nullptr : &found->second;
  }
  // 0: not there. Of an array (one value a layer) the largest.
  int number(std::string_view key) const {
    const Kept* kept = find(key);
    if (kept == nullptr) return 0;
    const int64_t number = kept->elements > 0 ? kept->largest : kept->number;
    return static_cast<int>(std::clamp<int64_t>(number, -1, std::numeric_limits<int>::max()));
  }

 private:
  const Pairs& pairs_;
  std::string architecture_;
};

// Which layers have a window: listed, or by the rule of the architecture.
int window_layers(const Keys& keys, std::string_view architecture, const ModelShape& shape) {
  if (const Kept* listed = keys.find("attention.sliding_window_pattern")) {
    if (listed->elements > 0) return static_cast<int>(std::min<uint64_t>(listed->set, 1 << 20));
    if (listed->number > 1) {
      return shape.layers - static_cast<int>(shape.layers / listed->number);
    }
  }
  if (architecture == "gemma3") return shape.layers - shape.layers / 6;
  if (architecture == "gpt-oss" || architecture == "gemma2") return shape.layers / 2;
  return shape.layers;
}

ModelShape shape_of(const Pairs& pairs, const std::string& architecture) {
  const Keys keys(pairs, architecture);
  ModelShape out;
  out.layers = keys.number("block_count");
  out.hidden = keys.number("embedding_length");
  out.heads = keys.number("attention.head_count");
  out.kv_heads = keys.number("attention.head_count_kv");
  if (out.kv_heads == 0) out.kv_heads = out.heads;
  out.head_dim = keys.number("attention.key_length");
  if (out.head_dim == 0 && out.heads > 0) out.head_dim = out.hidden / out.heads;
  out.value_dim = keys.number("attention.value_length");
  if (out.value_dim == 0) out.value_dim = out.head_dim;
  out.ffn = keys.number("feed_forward_length");
  out.context_max = keys.number("context_length");
  out.vocab = keys.number("vocab_size");
  const auto tokens = pairs.find("tokenizer.ggml.tokens");
  if (tokens != pairs.end()) {
    out.vocab = static_cast<int>(std::min<uint64_t>(tokens->second.elements, 1 << 24));
  }
  out.window = keys.number("attention.sliding_window");
  if (out.window > 0) out.window_layers = window_layers(keys, architecture, out);
  out.experts = keys.number("expert_count");
  out.experts_active = keys.number("expert_used_count");
  out.expert_ffn = keys.number("expert_feed_forward_length");
  if (out.experts > 0 && out.expert_ffn == 0) out.expert_ffn = out.ffn;
  out.dense_layers = keys.number("leading_dense_block_count");
  const int64_t shared = int64_t{keys.number("expert_shared_count")} * out.expert_ffn;
  out.shared_ffn = static_cast<int>(std::clamp<int64_t>(shared, 0, 1 << 24));
  out.kv_lora_rank = keys.number("attention.kv_lora_rank");
  out.q_lora_rank = keys.number("attention.q_lora_rank");
  out.rope_dim = out.latent() ? keys.number("rope.dimension_count") : 0;
  if (out.latent()) {
    const int head = keys.number("attention.key_length_mla");
    if (head > 0) out.head_dim = head;
    const int value = keys.number("attention.value_length_mla");
    if (value > 0) out.value_dim = value;
    out.nope_dim = std::max(0, out.head_dim - out.rope_dim);
  }
  return out;
}

// Whether the output matrix is the embeddings: tensors are listed, and it is not among them.
bool has_tied_embeddings(Reader& reader, uint64_t tensors) {
  constexpr uint64_t kTensorsMax = 1'000'000;
  constexpr uint32_t kDimensionsMax = 8;
  for (uint64_t i = 0; i < std::min(tensors, kTensorsMax); ++i) {
    const std::string_view name = reader.text();
    const auto dimensions = reader.number<uint32_t>();
    if (reader.bad() || dimensions > kDimensionsMax || name == "output.weight") return false;
    for (uint32_t d = 0; d < dimensions; ++d) reader.number<uint64_t>();
    reader.number<uint32_t>();  // type
    reader.number<uint64_t>();  // offset
  }
  return tensors > 0 && !reader.bad();
}

}  // namespace

Result<ModelShape> read_gguf(std::string_view head, uint64_t file_bytes, std::string_view name) {
  if (!head.starts_with(kMagic)) return fail(ErrorCode::kConfig, concat(name, ": not a GGUF file"));
  Reader reader(head.substr(kMagic.size()));
  const auto version = reader.number<uint32_t>();
  if (version != 2 && version != 3) {
    return fail(ErrorCode::kConfig,
                concat(name, ": GGUF version ", version, " is not known, 2 and 3 are"));
  }
  const auto tensors = reader.number<uint64_t>();
  const auto count = reader.number<uint64_t>();
  Pairs pairs;
  for (uint64_t i = 0; i < std::min(count, kPairsMax) && !reader.bad(); ++i) {
    const std::string key(reader.text());
    Kept value = reader.value(0);
    if (!reader.bad()) pairs.insert_or_assign(key, std::move(value));
  }
  if (reader.bad()) return fail(ErrorCode::kConfig, concat(name, ": the GGUF header is cut off"));
  const auto architecture = pairs.find("general.architecture");
  if (architecture == pairs.end()) {
    return fail(ErrorCode::kConfig, concat(name, ": general.architecture is missing"));
  }
  ModelShape shape = shape_of(pairs, architecture->second.text);
  shape.name = name;
  shape.tied_embeddings = has_tied_embeddings(reader, tensors);
  if (Status valid = validate(shape); !valid) return fail(valid.error());
  const double bytes_per_weight = static_cast<double>(file_bytes) / shape.parameters();
  constexpr double kAboveFp4 = 0.8, kAboveFp8 = 1.5;  // K-quants have 0.4 to 0.75, Q8_0 has 1.06
  shape.hold_weights_as(bytes_per_weight > kAboveFp8   ? Precision::kBf16
                        : bytes_per_weight > kAboveFp4 ? Precision::kFp8
                                                       : Precision::kFp4);
  shape.weight_bytes_told = static_cast<double>(file_bytes);
  return shape;
}

}  // namespace hw::gpu_model
