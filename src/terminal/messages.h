// Every text that a command writes for people, in both languages, in one table.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "config/language.h"
#include "timeline/gaps.h"
#include "timeline/stages.h"

namespace hw::terminal {

// A text; what its `{0}` and so on stand for is clear from the English words in messages.cc.
enum class Text : uint8_t {
  // Help and the command line.
  kProgram,
  kUsage,
  kCommandWord,
  kFlagsWord,
  kExamples,
  kOptionFlags,
  kUnexpectedWord,
  kMissingOperand,
  kMissingValue,
  kUnexpectedValue,
  kNotAChoice,
  kUnknownFlag,
  kUnknownFlagClose,
  kUnknownCommand,
  kIncompleteCommand,
  kUnknownCommandClose,
  kBadFlagValue,
  kMissingFlag,
  kSeeHelp,
  // Talking to a gateway.
  kUnreachable,
  kBadBaseUrl,
  kRefused,
  kRefusedHint,
  kNoTokenHint,
  kUnknownThere,
  // A key that cannot be read.
  kKeyVariableUnset,
  kKeyFileUnreadable,
  // A gateway that cannot be started.
  kAlreadyRunning,
  kStoreTaken,
  kPortTaken,
  // The answer of a gateway.
  kBrokenAnswer,
  // trace
  kComma,
  kStreamed,
  kNotStreamed,
  kKey,
  kTrace,
  kModel,
  kChannel,
  kClientId,
  kError,
  kTotal,
  kEngineSays,
  kEngineInconsistent,
  kNetworkAndApi,
  kEngineQueue,
  kPrefill,
  kKvTransfer,
  kEngineDecode,
  kAttempts,
  kSkipped,
  kReused,
  kNewConnection,
  kRtt,
  kRetransmits,
  kTokens,
  kTokenCounts,
  kTokensNone,
  kTokensEstimated,
  kPace,
  kPaceTpot,
  kPaceNotStreamed,
  kEngineFirstToken,
  kNoTokenSeen,
  kBodyNeverRead,
  kGaps,
  kGapSummary,
  kGapCauses,
  kGapLongest,
  kGateway,
  kGatewayShare,
  kClient,
  kClamped,
  kMostOf,
  kMostOfPrefill,
  kMostOfQueue,
  kMostOfDecode,
  kNothingHappened,
  // logs
  kLogsTime,
  kLogsOutcome,
  kLogsKey,
  kLogsModel,
  kLogsChannel,
  kLogsTtft,
  kLogsTotal,
  kLogsTokens,
  kNoCalls,
  // keys and channels
  kKeyCreated,
  kKeyShownOnce,
  kNoModelNamed,
  kKeyChanged,
  kKeyDeleted,
  kNoKeys,
  kNoChannels,
  kName,
  kState,
  kOrigin,
  kPrefix,
  kCreated,
  kModels,
  kDialect,
  kBaseUrl,
  kPriority,
  kHealth,
  kReady,
  kCoolingDown,
  kCredentialRefused,
  kActive,
  kDisabled,
  kDeclared,
  kStored,
  // config
  kConfigNoFile,
  kConfigBadUrl,
  kConfigWhere,
  kConfigCodexKey,
  kConfigNoKey,
  kConfigNoModel,
  kConfigNeedsKey,
  kConfigNeedsModel,
  kConfigCodexChat,
  kConfigOneDialect,
  kConfigCannotMerge,
  kConfigUnchanged,
  kConfigMade,
  kConfigChanged,
  kConfigFine,
  kConfigWrong,
  kConfigRisk,
  kConfigNote,
  kConfigEnvironment,
  kConfigChange,
  // serve, engine, up
  kConfigBad,
  kConfigGood,
  kNoConfig,
  kServing,
  kInstanceServing,
  kUpLoading,
  kUpWaiting,
  kUpReady,
  kUpKey,
  kUpModel,
  kUpInstance,
  kUpTryIt,
  kUpTrace,
  kUpDocs,
  kUpPath,
  kUpStop,
  kUpNoEngine,
};
inline constexpr int kTextCount = static_cast<int>(Text::kUpNoEngine) + 1;

// The text in `language`, its placeholders filled.
std::string say(config::Language language, Text text, std::span<const std::string> arguments);
inline std::string say(config::Language language, Text text,
                       std::initializer_list<std::string> arguments = {}) {
  return say(language, text, std::span(arguments.begin(), arguments.size()));
}
// The text with its placeholders, for tests.
config::Words words_of(Text text);

// What a stage is called.
std::string_view stage_label(config::Language language, timeline::StageKind kind);
// What goes on in a stage, as the second half of a sentence.
std::string_view stage_explained(config::Language language, timeline::StageKind kind);
// An outcome: in English the record's own word.
std::string_view outcome_label(config::Language language, Outcome outcome);
// Who made the reader wait.
std::string_view gap_cause_label(config::Language language, timeline::GapCause cause);

}  // namespace hw::terminal
