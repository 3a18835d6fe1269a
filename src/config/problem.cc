#include "config/problem.h"

#include "base/text.h"

namespace hw::config {
namespace {

Words words_of(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::kUnreadable:
      return {"cannot be read: {0}", "无法读取：{0}"};
    case ProblemKind::kSyntax:
      return {"this is not TOML: {0}", "不是有效的 TOML：{0}"};
    case ProblemKind::kUnknownSection:
      return {"there is no such section; expected one of: {0}", "没有这个小节；应为其中之一：{0}"};
    case ProblemKind::kUnknownKey:
      return {"there is no such key; expected one of: {0}", "没有这个键；应为其中之一：{0}"};
    case ProblemKind::kDidYouMean:
      return {"there is no such name; did you mean \"{0}\"?", "没有这个名称；是否想写 \"{0}\"？"};
    case ProblemKind::kNotATable:
      return {"expected a section, written {0}", "应为小节，写作 {0}"};
    case ProblemKind::kNotAList:
      return {"expected a list of sections, each written {0}", "应为小节列表，每个写作 {0}"};
    case ProblemKind::kExpected:
      return {"expected {0}, found {1}", "应为{0}，实际是{1}"};
    case ProblemKind::kMissing:
      return {"is missing; expected {0}", "缺失；应为{0}"};
    case ProblemKind::kDuplicate:
      return {"\"{0}\" is there already, in line {1}; expected a value of its own",
              "\"{0}\" 已在第 {1} 行出现；应为不重复的值"};
    case ProblemKind::kBadUrl:
      return {"{0}", "地址无效：{0}"};
    case ProblemKind::kSecretUnset:
      return {"expected a secret in the environment variable {0}, which is not set",
              "应从环境变量 {0} 读取密钥，但它没有设置"};
    case ProblemKind::kSecretUnreadable:
      return {"expected a secret in the file {0}, which cannot be read: {1}",
              "应从文件 {0} 读取密钥，但无法读取：{1}"};
    case ProblemKind::kSecretEmpty:
      return {"expected a secret, but {0} is empty", "应有密钥，但 {0} 为空"};
    case ProblemKind::kSecretTooLong:
      return {"expected a secret of at most {0} bytes without control characters",
              "应为不超过 {0} 字节且不含控制字符的密钥"};
    case ProblemKind::kStar:
      return {"expected a name, or a pattern with one * at its end, found \"{0}\"",
              "应为名称，或末尾带一个 * 的模式，实际是 \"{0}\""};
    case ProblemKind::kConflict:
      return {"expected the same value as {0}, another name of it: that is {1}, this is {2}",
              "{0} 是它的另一个名称，两者应相同：那里是 {1}，这里是 {2}"};
    case ProblemKind::kTogether:
      return {"expected {0} beside it: the two belong together", "应同时给出 {0}：两者必须成对"};
    case ProblemKind::kServesNothing:
      return {"expected `models` or `model_map`: without them the channel serves nothing",
              "应有 `models` 或 `model_map`：没有它们，该通道不提供任何模型"};
    case ProblemKind::kWrongFamily:
      return {"\"{0}\" is not of the dialect {1}; expected some of: {2}",
              "\"{0}\" 不属于方言 {1}；应为其中若干：{2}"};
    case ProblemKind::kBelow:
      return {"expected at least the value of {0}, which is {1}, found {2}",
              "应不小于 {0} 的值 {1}，实际是 {2}"};
    case ProblemKind::kBadFile:
      return {"{0}", "文件无法使用：{0}"};
  }
  return {};
}

std::string place_of(const Problem& problem, Language language) {
  switch (problem.source) {
    case SourceKind::kFile:
      return problem.line == 0 ? problem.place : concat(problem.place, ":", problem.line);
    case SourceKind::kEnvironment:
      return concat(Words{"environment ", "环境变量 "}.in(language), problem.place);
    case SourceKind::kFlag:
      return problem.place;
  }
  return {};
}

}  // namespace

std::string describe(const Problem& problem, Language language) {
  std::string out = place_of(problem, language);
  if (!problem.key.empty()) out += concat(": ", problem.key);
  out += ": ";
  out += fill(words_of(problem.kind).in(language), problem.arguments);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out;
}

}  // namespace hw::config
