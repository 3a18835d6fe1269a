// Option: one row of the table of options. Parsing, validation, the reference page, --help-options,
// completion and the sample file all come from it.
//
// A row binds a name to a field of the struct that the module owns. The default is read from that
// struct, so that it stands in one place.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/document.h"
#include "config/language.h"

namespace hw::config {

// What an option takes.
enum class OptionType : uint8_t {
  kInteger,
  kNumber,
  kBoolean,
  kText,
  kChoice,    // a text out of a list
  kSecret,    // a text, or "env:NAME", or "file:PATH"; never shown
  kTextList,  // [ "a", "b" ]
  kTextMap,   // { "a" = "b" }
};

// What a change of the option takes.
enum class Applies : uint8_t { kOnReload, kOnRestart };
enum class Presence : uint8_t { kOptional, kRequired };

// A table of texts in the order of the file.
using TextMap = std::vector<std::pair<std::string, std::string>>;

// How one option reaches its field. `set` gets a value whose type, range and choice were checked;
// it returns what was expected where the value still does not fit, else nothing.
struct Field {
  OptionType type = OptionType::kText;
  double least = 0, most = 0;        // of integers and numbers
  std::vector<std::string> choices;  // of kChoice
  std::function<std::optional<Words>(void* target, const Value& value)> set;
  std::function<std::string(const void* target)> show;  // as TOML; empty: no value
};

// One row.
struct Option {
  std::string name;  // "threads"; "tls.certificate" for a key of an inline table
  Field field;
  std::string unit;  // "ms", "bytes"; empty: none
  Applies applies = Applies::kOnReload;
  Words meaning;
  std::string_view reason;        // why the default is what it is; English, for the reference page
  std::string_view example = {};  // for the sample file, as TOML, where the default is no value
  Presence presence = Presence::kOptional;
};

// How a section stands in the file.
enum class SectionKind : uint8_t {
  kTable,  // [gateway]
  kList,   // [[channels]]
};

// Makes a row; the arguments are Option's members in their order.
Option row(std::string name, Field field, std::string unit, Applies applies, Words meaning,
           std::string_view reason, std::string_view example = {},
           Presence presence = Presence::kOptional);

// A section of a file: the rows and, to show the defaults, a maker of a fresh target.
struct Section {
  std::string name;
  SectionKind kind = SectionKind::kTable;
  Words meaning;
  std::vector<Option> options;
  std::function<std::vector<std::string>()> defaults;  // as TOML, in the order of options

  // The row of that name, or null.
  const Option* find(std::string_view option) const;
};

// A file's options.
struct OptionTable {
  std::string_view file;  // "headway.toml"
  std::vector<Section> sections;
  // The section of that name, or null.
  const Section* find(std::string_view section) const;
};

// "an integer from 0 to 1024", "one of: \"abort\", \"serve\"", ...
std::string expectation(const Field& field, Language language);
// What a value is, for "found ...": its kind and, where that helps, the value, at most 60 bytes.
std::string found(const Value& value, Language language);
// `text` as a TOML basic string.
std::string toml_quoted(std::string_view text);
std::string toml_number(double number);

// --- Bindings. A `Ref` is a pointer to a member or a lambda that gives a reference to the field.

// The field of the T at `target` that `ref` names.
template <class T, class Ref>
auto& field_of(void* target, const Ref& ref) {
  T& object = *static_cast<T*>(target);
  if constexpr (std::is_member_pointer_v<Ref>) {
    return object.*ref;
  } else {
    return ref(object);
  }
}
// For `show`, which only reads.
template <class T, class Ref>
const auto& field_of(const void* target, const Ref& ref) {
  return field_of<T>(const_cast<void*>(target), ref);
}

// The type in an optional, or the type itself.
template <class F>
struct Unwrapped {
  using Type = F;
};
// Of an optional.
template <class F>
struct Unwrapped<std::optional<F>> {
  using Type = F;
};

// Integers of any width, and optional ones.
template <class T, class Ref>
Field integer(Ref ref, int64_t least, int64_t most) {
  Field out;
  out.type = OptionType::kInteger;
  out.least = static_cast<double>(least), out.most = static_cast<double>(most);
  out.set = [ref](void* target, const Value& value) -> std::optional<Words> {
    auto& field = field_of<T>(target, ref);
    using F = typename Unwrapped<std::remove_reference_t<decltype(field)>>::Type;
    field = static_cast<F>(value.integer);
    return std::nullopt;
  };
  out.show = [ref](const void* target) -> std::string {
    const auto& field = field_of<T>(target, ref);
    if constexpr (requires { field.has_value(); }) {
      return field.has_value() ? std::to_string(*field) : std::string();
    } else {
      return std::to_string(field);
    }
  };
  return out;
}

// A double from `least` to `most`; an integer in the file will do.
template <class T, class Ref>
Field number(Ref ref, double least, double most) {
  Field out;
  out.type = OptionType::kNumber;
  out.least = least, out.most = most;
  out.set = [ref](void* target, const Value& value) -> std::optional<Words> {
    field_of<T>(target, ref) = value.number;
    return std::nullopt;
  };
  out.show = [ref](const void* target) { return toml_number(field_of<T>(target, ref)); };
  return out;
}

// A bool.
template <class T, class Ref>
Field boolean(Ref ref) {
  Field out;
  out.type = OptionType::kBoolean;
  out.set = [ref](void* target, const Value& value) -> std::optional<Words> {
    field_of<T>(target, ref) = value.boolean;
    return std::nullopt;
  };
  out.show = [ref](const void* target) -> std::string {
    return field_of<T>(target, ref) ? "true" : "false";
  };
  return out;
}

// A std::string.
template <class T, class Ref>
Field text(Ref ref) {
  Field out;
  out.set = [ref](void* target, const Value& value) -> std::optional<Words> {
    field_of<T>(target, ref) = value.text;
    return std::nullopt;
  };
  out.show = [ref](const void* target) -> std::string {
    const std::string& field = field_of<T>(target, ref);
    return field.empty() ? std::string() : toml_quoted(field);
  };
  return out;
}

// A std::string that is resolved (secret.h) and never shown.
template <class T, class Ref>
Field secret(Ref ref) {
  Field out = text<T>(ref);
  out.type = OptionType::kSecret;
  out.show = [](const void*) { return std::string(); };
  return out;
}

// An enum by the names of its values.
template <class T, class Enum, class Ref>
Field choice(Ref ref, std::vector<std::pair<std::string, Enum>> values) {
  Field out;
  out.type = OptionType::kChoice;
  for (const auto& value : values) out.choices.push_back(value.first);
  out.set = [ref, values](void* target, const Value& value) -> std::optional<Words> {
    for (const auto& [name, one] : values) {
      if (name == value.text) field_of<T>(target, ref) = one;
    }
    return std::nullopt;
  };
  out.show = [ref, values](const void* target) -> std::string {
    for (const auto& [name, one] : values) {
      if (one == field_of<T>(target, ref)) return toml_quoted(name);
    }
    return {};
  };
  return out;
}

// As TOML.
std::string show_list(const std::vector<std::string>& list);
// As TOML.
std::string show_map(const TextMap& map);

// A std::vector<std::string>.
template <class T, class Ref>
Field text_list(Ref ref) {
  Field out;
  out.type = OptionType::kTextList;
  out.set = [ref](void* target, const Value& value) -> std::optional<Words> {
    std::vector<std::string>& field = field_of<T>(target, ref);
    field.clear();
    for (const Value& item : value.items) field.push_back(item.text);
    return std::nullopt;
  };
  out.show = [ref](const void* target) { return show_list(field_of<T>(target, ref)); };
  return out;
}

// A TextMap.
template <class T, class Ref>
Field text_map(Ref ref) {
  Field out;
  out.type = OptionType::kTextMap;
  out.set = [ref](void* target, const Value& value) -> std::optional<Words> {
    TextMap& field = field_of<T>(target, ref);
    field.clear();
    for (const Entry& entry : value.entries) field.emplace_back(entry.key, entry.value.text);
    return std::nullopt;
  };
  out.show = [ref](const void* target) { return show_map(field_of<T>(target, ref)); };
  return out;
}

// The rows of all `parts`, one behind the other: a long table is written in parts.
std::vector<Option> joined(std::vector<std::vector<Option>> parts);

// A section whose options are fields of T.
template <class T>
Section make_section(std::string name, SectionKind kind, Words meaning,
                     std::vector<Option> options) {
  Section out{std::move(name), kind, meaning, std::move(options), {}};
  std::vector<std::function<std::string(const void*)>> shows;
  for (const Option& option : out.options) shows.push_back(option.field.show);
  out.defaults = [shows] {
    const T fresh{};
    std::vector<std::string> defaults;
    for (const auto& show : shows) defaults.push_back(show(&fresh));
    return defaults;
  };
  return out;
}

}  // namespace hw::config
