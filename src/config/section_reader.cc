#include "config/section_reader.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/text.h"

namespace hw::config {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 0x20);
    if (c == '.' || c == '-') c = '_';
  }
  return out;
}

std::vector<std::string> names_of(const Section& section) {
  std::vector<std::string> out;
  for (const Option& option : section.options) out.push_back(option.name);
  return out;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += concat(out.empty() ? "" : ", ", name);
  return out;
}

// True where `name` is the table that holds dotted options: "tls" of "tls.certificate".
bool is_nested_table(const Section& section, std::string_view name) {
  const std::string prefix = concat(name, ".");
  return std::any_of(section.options.begin(), section.options.end(),
                     [&](const Option& option) { return option.name.starts_with(prefix); });
}

std::vector<Value> split_list(std::string_view text) {
  std::vector<Value> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    Value item;
    item.kind = ValueKind::kText;
    item.text = std::string(trim(text.substr(0, comma)));
    if (!item.text.empty()) out.push_back(std::move(item));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

// The text of a variable or a flag as a value of the field's type; of kind kText where it is none,
// which then fails the check of types.
Value value_of_text(const Field& field, std::string_view text) {
  Value out;
  out.kind = ValueKind::kText;
  out.text = std::string(text);
  switch (field.type) {
    case OptionType::kInteger:
      if (parse_number(trim(text), out.integer)) out.kind = ValueKind::kInteger;
      break;
    case OptionType::kNumber: {
      const std::string_view digits = trim(text);
      const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), out.number);
      const bool all = end.ec == std::errc() && end.ptr == digits.data() + digits.size();
      if (all && !digits.empty()) out.kind = ValueKind::kNumber;
      break;
    }
    case OptionType::kBoolean:
      out.boolean = text == "true";
      if (text == "true" || text == "false") out.kind = ValueKind::kBoolean;
      break;
    case OptionType::kTextList:
      out.kind = ValueKind::kList;
      out.items = split_list(text);
      break;
    case OptionType::kText:
    case OptionType::kChoice:
    case OptionType::kSecret:
    case OptionType::kTextMap:
      break;
  }
  return out;
}

}  // namespace

std::string environment_name(std::string_view section, std::string_view option) {
  return concat("HEADWAY_", upper(section), "_", upper(option));
}

Problem SectionValues::problem(std::string_view option, ProblemKind kind,
                               std::vector<std::string> arguments) const {
  const auto found = origins.find(option);
  const Origin& at = found == origins.end() ? section : found->second;
  Problem out;
  out.source = at.source, out.place = at.place, out.line = at.line;
  out.key = option.empty() ? prefix : concat(prefix, ".", option);
  out.kind = kind;
  out.arguments = std::move(arguments);
  return out;
}

SectionReader::SectionReader(const OptionTable& table, const ConfigSources& sources)
    : table_(table), sources_(sources) {
  root_.kind = ValueKind::kTable;
  auto parsed = parse_document(sources.text);
  if (parsed.has_value()) {
    root_ = std::move(*parsed);
  } else {
    add({{SourceKind::kFile, sources.file, parsed.error().line}, ""}, ProblemKind::kSyntax,
        {parsed.error().what});
  }
  check_root();
  check_flags();
}

void SectionReader::check_root() {
  std::vector<std::string> names;
  for (const Section& section : table_.sections) names.push_back(section.name);
  for (const Entry& entry : root_.entries) {
    const Place place{{SourceKind::kFile, sources_.file, entry.line}, entry.key};
    const Section* section = table_.find(entry.key);
    if (section == nullptr) {
      std::string close = closest_name(entry.key, names);
      for (const Section& other : table_.sections) {
        if (close.empty() && other.find(entry.key) != nullptr) {
          close = concat(other.name, ".", entry.key);
        }
      }
      if (close.empty()) {
        add(place, ProblemKind::kUnknownSection, {list_of(names)});
      } else {
        add(place, ProblemKind::kDidYouMean, {close});
      }
    } else if (section->kind == SectionKind::kTable && entry.value.kind != ValueKind::kTable) {
      add(place, ProblemKind::kNotATable, {concat("[", entry.key, "]")});
    } else if (section->kind == SectionKind::kList) {
      const bool tables = std::all_of(entry.value.items.begin(), entry.value.items.end(),
                                      [](const Value& v) { return v.kind == ValueKind::kTable; });
      if (entry.value.kind != ValueKind::kList || !tables) {
        add(place, ProblemKind::kNotAList, {concat("[[", entry.key, "]]")});
      }
    }
  }
}

void SectionReader::check_flags() {
  std::vector<std::string> names;
  for (const Section& section : table_.sections) {
    if (section.kind != SectionKind::kTable) continue;
    for (const Option& option : section.options) {
      names.push_back(concat(section.name, ".", option.name));
    }
  }
  for (const OptionFlag& flag : sources_.flags) {
    if (std::find(names.begin(), names.end(), flag.name) != names.end()) continue;
    const Place place{{SourceKind::kFlag, concat("--", flag.name), 0}, ""};
    const std::string close = closest_name(flag.name, names);
    if (close.empty()) {
      add(place, ProblemKind::kUnknownKey, {list_of(names)});
    } else {
      add(place, ProblemKind::kDidYouMean, {close});
    }
  }
}

SectionValues SectionReader::read(std::string_view name, void* target) {
  const Section& section = *table_.find(name);
  SectionValues values;
  values.prefix = section.name;
  values.section = {SourceKind::kFile, sources_.file, 0};
  const Value* table = root_.find(name);
  if (table != nullptr && table->kind == ValueKind::kTable) {
    values.section.line = table->line;
    read_table(section, *table, "", values, target);
  }
  read_overrides(section, values, target);
  return values;
}

size_t SectionReader::count(std::string_view name) const {
  const Value* list = root_.find(name);
  return list == nullptr ? 0 : list->items.size();
}

SectionValues SectionReader::read_item(std::string_view name, size_t index, void* target) {
  const Section& section = *table_.find(name);
  SectionValues values;
  values.prefix = concat(name, "[", index, "]");
  const Value& item = root_.find(name)->items[index];
  values.section = {SourceKind::kFile, sources_.file, item.line};
  if (item.kind != ValueKind::kTable) return values;  // reported by check_root()
  read_table(section, item, "", values, target);
  for (const Option& option : section.options) {
    if (option.presence == Presence::kOptional || item.find(option.name) != nullptr) continue;
    report(values.problem(option.name, ProblemKind::kMissing,
                          {expectation(option.field, sources_.language)}));
  }
  return values;
}

void SectionReader::read_table(const Section& section, const Value& table, std::string_view nested,
                               SectionValues& values, void* target) {
  for (const Entry& entry : table.entries) {
    const std::string name = nested.empty() ? entry.key : concat(nested, ".", entry.key);
    const Place place{{SourceKind::kFile, sources_.file, entry.line},
                      concat(values.prefix, ".", name)};
    if (const Option* option = section.find(name)) {
      assign(*option, place, entry.value, values, target);
    } else if (!is_nested_table(section, name)) {
      unknown(section, place, name);
    } else if (entry.value.kind == ValueKind::kTable) {
      read_table(section, entry.value, name, values, target);
    } else {
      add(place, ProblemKind::kNotATable, {concat(entry.key, " = { ... }")});
    }
  }
}

void SectionReader::read_overrides(const Section& section, SectionValues& values, void* target) {
  for (const Option& option : section.options) {
    const std::string variable = environment_name(section.name, option.name);
    if (const auto set = sources_.environment.find(variable); set != sources_.environment.end()) {
      const Place place{{SourceKind::kEnvironment, variable, 0},
                        concat(section.name, ".", option.name)};
      read_text(option, place, set->second, values, target);
    }
    for (const OptionFlag& flag : sources_.flags) {
      if (flag.name != concat(section.name, ".", option.name)) continue;
      read_text(option, {{SourceKind::kFlag, concat("--", flag.name), 0}, ""}, flag.value, values,
                target);
    }
  }
}

void SectionReader::unknown(const Section& section, const Place& place, const std::string& name) {
  const std::vector<std::string> names = names_of(section);
  const std::string close = closest_name(name, names);
  if (close.empty()) {
    add(place, ProblemKind::kUnknownKey, {list_of(names)});
  } else {
    add(place, ProblemKind::kDidYouMean, {close});
  }
}

void SectionReader::read_text(const Option& option, const Place& place, std::string_view text,
                              SectionValues& values, void* target) {
  assign(option, place, value_of_text(option.field, text), values, target);
}

void SectionReader::assign(const Option& option, const Place& place, const Value& value,
                           SectionValues& values, void* target) {
  values.origins[option.name] = place.origin;
  Value checked = value;
  if (!fits(option.field, place, checked)) return;
  if (option.field.type == OptionType::kSecret) {
    ResolvedSecret secret = resolve_secret(checked.text, sources_.environment);
    if (secret.failed) {
      add(place, secret.problem.kind, std::move(secret.problem.arguments));
      return;
    }
    checked.text = std::move(secret.value);
  }
  const std::optional<Words> expected = option.field.set(target, checked);
  if (!expected.has_value()) return;
  add(place, ProblemKind::kExpected,
      {std::string(expected->in(sources_.language)), found(checked, sources_.language)});
}

// Checks type, range and choice; turns an integer into a number where a number is wanted.
bool SectionReader::fits(const Field& field, const Place& place, Value& value) {
  const auto all_text = [](const auto& list, auto item) {
    return std::all_of(list.begin(), list.end(),
                       [&](const auto& one) { return item(one).kind == ValueKind::kText; });
  };
  bool good = false;
  switch (field.type) {
    case OptionType::kInteger:
      good = value.kind == ValueKind::kInteger &&
             static_cast<double>(value.integer) >= field.least &&
             static_cast<double>(value.integer) <= field.most;
      break;
    case OptionType::kNumber:
      if (value.kind == ValueKind::kInteger) value.number = static_cast<double>(value.integer);
      good = (value.kind == ValueKind::kNumber || value.kind == ValueKind::kInteger) &&
             value.number >= field.least && value.number <= field.most;
      break;
    case OptionType::kBoolean:
      good = value.kind == ValueKind::kBoolean;
      break;
    case OptionType::kText:
    case OptionType::kSecret:
      good = value.kind == ValueKind::kText;
      break;
    case OptionType::kChoice:
      good = value.kind == ValueKind::kText && std::find(field.choices.begin(), field.choices.end(),
                                                         value.text) != field.choices.end();
      break;
    case OptionType::kTextList:
      good = value.kind == ValueKind::kList &&
             all_text(value.items, [](const Value& item) { return item; });
      break;
    case OptionType::kTextMap:
      good = value.kind == ValueKind::kTable &&
             all_text(value.entries, [](const Entry& entry) { return entry.value; });
      break;
  }
  if (!good) expect(field, place, value);
  return good;
}

// Of a list or a table the item that is wrong is shown, not the whole.
void SectionReader::expect(const Field& field, const Place& place, const Value& value) {
  const Value* shown = &value;
  Place at = place;
  for (const Value& item : value.items) {
    if (field.type != OptionType::kTextList || item.kind == ValueKind::kText) continue;
    shown = &item;
    break;
  }
  for (const Entry& entry : value.entries) {
    if (field.type != OptionType::kTextMap || entry.value.kind == ValueKind::kText) continue;
    shown = &entry.value;
    break;
  }
  if (shown != &value && shown->line != 0) at.origin.line = shown->line;
  Value hidden;  // a secret is never shown, even where it was written as a number
  hidden.kind = ValueKind::kText, hidden.text = "...";
  if (field.type == OptionType::kSecret && value.kind != ValueKind::kList) shown = &hidden;
  add(at, ProblemKind::kExpected,
      {expectation(field, sources_.language), found(*shown, sources_.language)});
}

void SectionReader::add(const Place& place, ProblemKind kind, std::vector<std::string> arguments) {
  Problem out;
  out.source = place.origin.source, out.place = place.origin.place, out.line = place.origin.line;
  out.key = place.key;
  out.kind = kind;
  out.arguments = std::move(arguments);
  report(std::move(out));
}

std::vector<Problem> SectionReader::take_problems() {
  std::vector<size_t> order(problems_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    return std::tuple(problems_[a].source, problems_[a].line, a) <
           std::tuple(problems_[b].source, problems_[b].line, b);
  });
  std::vector<Problem> out;
  for (const size_t at : order) out.push_back(std::move(problems_[at]));
  problems_.clear();
  return out;
}

std::vector<std::string> SectionReader::stray_variables() const {
  std::vector<std::string> out;
  for (const auto& [name, value] : sources_.environment) {
    for (const Section& section : table_.sections) {
      if (section.kind != SectionKind::kTable) continue;
      if (!name.starts_with(environment_name(section.name, ""))) continue;
      const bool known =
          std::any_of(section.options.begin(), section.options.end(), [&](const Option& option) {
            return environment_name(section.name, option.name) == name;
          });
      if (!known) out.push_back(name);
    }
  }
  return out;
}

std::string closest_name(std::string_view name, const std::vector<std::string>& names) {
  // Optimal string alignment: insert, delete, replace, and swap of neighbours cost 1.
  const auto distance = [](std::string_view a, std::string_view b) {
    std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      for (size_t j = 1; j <= b.size(); ++j) {
        const bool same = lower(a[i - 1]) == lower(b[j - 1]);
        cost[i][j] = std::min(
            {cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0u : 1u)});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
          cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
      }
    }
    return cost[a.size()][b.size()];
  };
  constexpr size_t kNameMax = 64;  // a longer one is no typing mistake
  if (name.size() > kNameMax) return {};
  size_t best = std::max<size_t>(1, name.size() / 4) + 1;
  std::string out;
  for (const std::string& candidate : names) {
    const size_t one = distance(name, candidate);
    if (one >= best) continue;
    best = one;
    out = candidate;
  }
  return out;
}

}  // namespace hw::config
