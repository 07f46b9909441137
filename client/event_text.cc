#include "client/event_text.h"

#include "client/values_text.h"
#include "proto/common/text_table.h"

namespace agoq {
namespace {

bool ChangesState(const v1::Event& event) {
  return event.new_state() != v1::JOB_STATE_UNSPECIFIED && event.new_state() != event.old_state();
}

std::string StatesText(const v1::Event& event, bool has_color) {
  if (!ChangesState(event)) return "-";
  const std::string state = ColoredState(event.new_state(), has_color);
  const bool had_one = event.old_state() != v1::JOB_STATE_UNSPECIFIED;
  return had_one ? StateText(event.old_state()) + " -> " + state : state;
}

std::string MessageText(const v1::Event& event) {
  const std::string reason = ReasonText(event.reason());
  if (reason.empty()) return event.message();
  return event.message().empty() ? reason : reason + ": " + event.message();
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

TableRow RowOf(const v1::Event& event, const TextOptions& options) {
  TableRow row = {std::to_string(event.sequence()),
                  TimeText(event.at()),
                  OrDash(event.actor()),
                  OrDash(event.kind()),
                  StatesText(event, options.has_color),
                  event.generation() > 0 ? std::to_string(event.generation()) : "-"};
  if (options.is_wide) {
    row.push_back(OrDash(event.job_id()));
    row.push_back(OrDash(event.worker()));
  }
  row.push_back(MessageText(event));
  return row;
}

}  // namespace

std::string EventLine(const v1::Event& event, bool has_color) {
  const std::string time = TimeText(event.at());
  TableRow row = {time.substr(time.find(' ') + 1), event.kind()};
  if (ChangesState(event)) row.push_back(StatesText(event, has_color));
  const std::string message = MessageText(event);
  if (!message.empty()) row.push_back(message);
  return AlignedText({row});
}

std::string EventTable(const std::vector<v1::Event>& events, const TextOptions& options) {
  std::vector<TableRow> rows;
  if (options.has_headers) {
    rows.push_back({"SEQ", "TIME", "ACTOR", "KIND", "STATE", "ATTEMPT"});
    if (options.is_wide) rows.back().insert(rows.back().end(), {"JOB", "WORKER"});
    rows.back().emplace_back("MESSAGE");
  }
  for (const v1::Event& event : events) rows.push_back(RowOf(event, options));
  return AlignedText(rows);
}

}  // namespace agoq
