#include "sampler/mixed_prompts.h"

#include <array>
#include <string_view>

#include "base/ids.h"
#include "base/text.h"
#include "runs/content_hash.h"

namespace hw::sampler {
namespace {

constexpr std::array<std::string_view, 12> kQuestions = {
    "Explain in a few sentences why the sky is dark at night.",
    "Write a short note that moves a meeting from Tuesday to Thursday and says why.",
    "List five things to check before a bicycle tour in the mountains.",
    "What is the difference between a queue and a stack? Give an example of each.",
    "Describe the taste of an orange to somebody who has never eaten one.",
    "How does a lock on a canal lift a ship? Go through it step by step.",
    "Give three reasons for and three against working at night.",
    "Tell the story of a lighthouse keeper who finds a letter.",
    "请用几句话说明彩虹是怎样形成的。",
    "写一段简短的通知，告诉大家周五下午图书馆闭馆。",
    "列出搬家前需要确认的五件事，并各用一句话说明。",
    "解释一下为什么冬天的河面结冰而河底不结冰。",
};

constexpr std::array<std::string_view, 10> kSentences = {
    "The harbour had been quiet since the ferry left, and only the cranes still moved against the "
    "evening light. ",
    "Every barrel in the yard carried a number in white paint, and the numbers went into a book "
    "that "
    "nobody had opened for years. ",
    "When the river rose in spring, the people of the lower streets took their chairs upstairs and "
    "waited, as their parents had. ",
    "A map on the wall of the office showed a coast that was no longer there. ",
    "The train stops for four minutes, long enough to buy bread and too short to drink the "
    "coffee. ",
    "She wrote down what the instrument said at eight, at twelve and at four, also on the days "
    "when "
    "nothing changed. ",
    "Of the three bridges the oldest one carries the most weight, since the others were built for "
    "carts. ",
    "The instructions were clear as long as one did not read the second page. ",
    "旧仓库的门在风里轻轻响着，守夜人已经习惯了这个声音。",
    "他们沿着河岸走了一整天，到傍晚才看见第一座村庄的灯光。",
};

}  // namespace

MixedPrompts::MixedPrompts(uint64_t seed, uint64_t nonce, int max_tokens)
    : choice_(seed), unique_(nonce), max_tokens_(max_tokens) {}

std::string MixedPrompts::head() {
  const uint64_t number = unique_.next();
  std::string out = "(";
  append_hex(out, &number, sizeof number);
  return out + ") ";
}

Prompt MixedPrompts::next() {
  const bool is_short = short_ahead_ != 0 ? short_ahead_ > 0 : choice_.below(2) == 0;
  short_ahead_ = short_ahead_ != 0 ? 0 : (is_short ? -1 : 1);
  Prompt out;
  out.max_tokens = max_tokens_;
  out.bucket = is_short ? "short" : "long";
  out.text = head();
  if (!is_short) {
    while (out.text.size() < kLongBytes) out.text += kSentences[choice_.below(kSentences.size())];
    out.text += "\n\nThe text above is only a setting. ";
  }
  out.text += kQuestions[choice_.below(kQuestions.size())];
  return out;
}

std::string MixedPrompts::mix() const {
  return "short=0.5;long=0.5";
}

std::string MixedPrompts::digest() const {
  runs::ContentHash hash;
  for (const std::string_view text : kQuestions) hash.add(text);
  for (const std::string_view text : kSentences) hash.add(text);
  hash.add(concat(kLongBytes, ";", max_tokens_));
  return hash.finish();
}

}  // namespace hw::sampler
