// llama.cpp behind our own types: loaded with dlopen when the first model is opened, so that a
// program that does not compute neither needs nor maps it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/request.h"
#include "engine/tokenizer.h"

// Of llama.h, which llama_library.cc alone includes.
struct llama_model;
struct llama_vocab;
struct llama_context;

namespace hw::llama {

using engine::ChatMessage;
using engine::Token;

struct Functions;  // the functions that were found in the library

// What a context is made with.
struct ContextSettings {
  int64_t cells = 0;
  int sequences_max = 0;
  int step_tokens_max = 0;
  int threads = 1;
};

// One token of a step.
struct StepToken {
  Token token = 0;
  int position = 0;
  int slot = 0;
  bool wants_scores = false;
};

// The keys and values of some sequences, and the computing of steps over them. One thread, except
// interrupt().
class Context {
 public:
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Computes one step of the largest size and forgets it, so that the first request does not pay
  // for reading the weights from disk. Only while all slots are empty.
  void warm_up();
  // Empties a slot.
  void clear(int slot);
  // Takes the positions from `from` to before `to` out of a slot. Cells that another slot shares
  // stay for that one.
  void remove(int slot, int from, int to);
  // The same positions of `source` are of `target` too from now on, in the same cells: no keys and
  // values are copied. `target` has none there before.
  void copy(int source, int target, int from, int to);
  // Computes a step of 1 to step_tokens_max tokens; each slot's positions follow on from what it
  // holds. Empty: it was computed. Else why not; what the slots hold is unknown then.
  std::string decode(std::span<const StepToken> tokens);
  // The scores over the vocabulary for token `index` of the last step, which wanted them. May be
  // changed in place; valid until the next decode().
  std::span<float> scores(int index);
  // From any thread: decode() fails soon, and from now on.
  void interrupt();
  bool interrupted() const;

 private:
  friend class Weights;
  struct State;
  explicit Context(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A GGUF file's model and vocabulary. All functions may be called from any thread at once.
class Weights {
 public:
  // Loads a model. kConfig where the library is missing or another version than the program was
  // built for, or where the file cannot be read; the message says what to do.
  static Result<std::shared_ptr<const Weights>> open(const std::string& path);
  ~Weights();
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  // Room for `settings`; kConfig where there is none. The weights outlive it.
  Result<std::unique_ptr<Context>> make_context(const ContextSettings& settings) const;

  // "llama 135M Q4_0" and the like.
  std::string description() const;
  int context_len() const;  // tokens, as trained
  // Tokens that some layers look back at most; 0: all layers look back to the beginning.
  int attention_window() const;
  int vocabulary_size() const;
  // Bytes of keys and values of one token in all layers, as 16-bit numbers.
  int64_t kv_bytes_per_token() const;
  // The file's chat template; empty: none.
  std::string chat_template() const;

  // Whether "<|im_end|>" and the like become the token they name.
  enum class Specials : uint8_t { kAsText, kParsed };
  // Whether the begin token comes first where the model wants one.
  enum class Begin : uint8_t { kWithout, kAsModelWants };
  std::vector<Token> tokenize(std::string_view text, Specials specials, Begin begin) const;
  // A token's bytes; empty for special ones.
  std::string piece(Token token) const;
  // Whether the model ends its answer with it.
  bool ends(Token token) const;
  // The messages in a template that the library knows, open for the assistant. kBadRequest where
  // it does not know it.
  Result<std::string> apply_template(const std::string& chat_template,
                                     const std::vector<ChatMessage>& messages) const;

 private:
  Weights(const Functions& functions, llama_model* model);
  int64_t metadata_number(const std::string& key, int64_t otherwise) const;

  const Functions& functions_;
  llama_model* model_;
  const llama_vocab* vocab_;
};

}  // namespace hw::llama
