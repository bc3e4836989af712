#include "tests/paged/check_tables.h"

#include "tests/harness/counted_noun.h"
#include "tests/harness/message_parts.h"
#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <utility>

namespace paged {
namespace {

/// How many failures have a likely cause, by its id; "": those for which none was found.
using Votes = std::map<std::string, int>;

bool has_vote(const Verdict& verdict) { return !verdict.cause.empty() || verdict.is_unexplained; }

Votes votes_of(std::vector<CheckResult>::const_iterator first,
               std::vector<CheckResult>::const_iterator last) {
  Votes votes;
  for (auto r = first; r != last; ++r)
    if (!r->as_expected() && has_vote(r->verdict)) ++votes[r->verdict.cause];
  return votes;
}

/// The results of one stage and invariant.
struct Group {
  std::vector<CheckResult>::const_iterator first, last;

  const std::string& stage() const { return first->stage; }
  const std::string& invariant() const { return first->invariant; }
  int tried() const { return static_cast<int>(last - first); }
  int surprises() const {
    return static_cast<int>(
        std::count_if(first, last, [](const CheckResult& r) { return !r.as_expected(); }));
  }
  /// The surprise that says most: the first with the likely cause that most of them have, or the
  /// first without where even more were looked at in vain.
  const CheckResult& shown() const {
    const CheckResult* most = nullptr;
    const CheckResult* first_surprise = nullptr;
    const Votes votes = votes_of(first, last);
    const auto weight_of = [&](const Verdict& v) {
      return std::pair(votes.at(v.cause), !v.cause.empty());
    };
    for (auto r = first; r != last; ++r) {
      if (r->as_expected()) continue;
      if (first_surprise == nullptr) first_surprise = &*r;
      if (has_vote(r->verdict) &&
          (most == nullptr || weight_of(r->verdict) > weight_of(most->verdict)))
        most = &*r;
    }
    return most != nullptr ? *most : *first_surprise;
  }
};

std::vector<Group> groups_of(const std::vector<CheckResult>& results) {
  std::vector<Group> groups;
  for (auto first = results.begin(); first != results.end();) {
    const auto last = std::find_if(first, results.end(), [&](const CheckResult& r) {
      return r.invariant != first->invariant || r.stage != first->stage;
    });
    groups.push_back({first, last});
    first = last;
  }
  return groups;
}

/// "19", or "1 of 19" where trying was stopped.
std::string tried_text(const Group& group, const std::vector<NotTried>& not_tried) {
  const std::string tried = std::to_string(group.tried());
  for (const NotTried& left_out : not_tried)
    if (left_out.invariant == group.invariant() && left_out.cases_not_reached > 0)
      return tried + " of " + std::to_string(group.tried() + left_out.cases_not_reached);
  return tried;
}

std::string message_of(const CheckResult& result) {
  return one_line(result.expected || result.verdict.faulty
                      ? result.verdict.message
                      : "held, although the stage states that it breaks this");
}

/// One case of the group with its message, and how to read it.
///
/// @param witness  a failure of another invariant, which has a likely cause where this one has none;
///                 or null
void print_whole(std::ostream& stream, const Group& group, const CheckResult* witness,
                 std::size_t columns) {
  const Invariant& invariant = find_invariant(group.invariant());
  const CheckResult& shown = group.shown();
  stream << '\n'
         << coloured(wrapped(invariant.id + ": " + invariant.statement, 0, columns, 2),
                     Colour::bad);
  const int others = group.surprises() - 1;
  stream << wrapped("On case " + one_line(shown.case_name) +
                        (others > 0 ? " (" + std::to_string(others) + " more " +
                                          (others == 1 ? "case fails" : "cases fail") + ")"
                                    : "") +
                        ":",
                    2, columns, 2)
         << wrapped_parts(message_of(shown), 4, columns);
  if (witness != nullptr)
    stream << wrapped("likely cause: " + parts_of(message_of(*witness)).cause + " (as " +
                          witness->invariant + " shows on " + one_line(witness->case_name) + ")",
                      4, columns, 2);
  const std::string& broken = shown.verdict.broken_execution;
  if (!broken.empty() && broken != invariant.id)
    stream << wrapped("It breaks " + broken + ": " + find_invariant(broken).statement, 2, columns,
                      2);
  if (shown.expected && !shown.verdict.faulty)
    stream << wrapped("How to read it: " + invariant.reading, 2, columns, 2);
}

/// What a failure in the list has to say on one line, beside that it is one; `shown_cause` was
/// told above.
std::string remark_on(const CheckResult& result, const std::string& shown_cause) {
  const std::string& cause = result.verdict.cause;
  if (!cause.empty() && cause == shown_cause) return "the same likely cause";
  const std::string text = message_of(result);
  const std::size_t access = text.find(": it ");  // of a crash: after the signal's name
  const std::string shown =
      result.verdict.faulty && access != text.npos ? text.substr(access + 2) : text;
  return shown.substr(0, shown.find("; "));
}

/// What a crash has to say without how many other findings there were.
std::string crash_of(const Group& group) {
  const std::string remark = remark_on(group.shown(), "");
  return remark.substr(0, remark.find(" (and "));
}

/// A remark without its numbers: what crashes for one reason crashes at other addresses of other
/// buffers in each case.
std::string without_numbers(const std::string& remark) {
  std::string text;
  for (const char c : remark)
    if (c < '0' || c > '9') text += c;
  return text;
}

/// Groups that crash alike.
struct AlikeCrashes {
  std::string remark;  ///< of the first
  bool same_numbers = true;
  std::vector<std::string> invariants;
};

/// Takes out of `groups` those whose crashes differ in numbers alone, where there are so many that
/// a line for each would hide the others.
std::vector<AlikeCrashes> take_alike_crashes(std::vector<Group>& groups) {
  std::map<std::string, AlikeCrashes> crashes;
  const auto key_of = [](const Group& group) {
    return group.shown().verdict.faulty ? without_numbers(crash_of(group)) : "";
  };
  for (const Group& group : groups) {
    if (key_of(group).empty()) continue;
    AlikeCrashes& alike = crashes[key_of(group)];
    const std::string remark = crash_of(group);
    if (alike.invariants.empty()) alike.remark = remark;
    alike.same_numbers &= remark == alike.remark;
    alike.invariants.push_back(group.invariant());
  }
  std::erase_if(crashes, [](const auto& one) { return one.second.invariants.size() < 3; });
  std::erase_if(groups, [&](const Group& group) { return crashes.contains(key_of(group)); });
  std::vector<AlikeCrashes> list;
  for (auto& [key, alike] : crashes) list.push_back(std::move(alike));
  return list;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// A line for each invariant: how many of its cases fail, and how its message begins; of those that
/// crash alike, one for all.
void print_list(std::ostream& stream, std::vector<Group> groups, const std::string& shown_cause,
                std::size_t columns) {
  stream << '\n'
         << wrapped(std::string(groups.size() == 1 ? "This fails too" : "These fail too") +
                        ", perhaps for the same reason; mend the one above first (--invariant ID "
                        "tells one whole):",
                    0, columns);
  const std::vector<AlikeCrashes> crashes = take_alike_crashes(groups);
  const auto count_of = [](const Group& group) {
    return std::to_string(group.surprises()) + " of " + counted(group.tried(), "case");
  };
  std::size_t id_width = 0, count_width = 0;
  for (const Group& group : groups) {
    id_width = std::max(id_width, group.invariant().size());
    count_width = std::max(count_width, count_of(group).size());
  }
  for (const Group& group : groups) {
    std::string row = "  " + group.invariant();
    row.append(2 + id_width + 2 - row.size(), ' ');
    row += count_of(group);
    row.append(2 + id_width + 2 + count_width + 2 - row.size(), ' ');
    stream << row << shortened(remark_on(group.shown(), shown_cause), columns - row.size()) << '\n';
  }
  for (const AlikeCrashes& alike : crashes)
    stream << wrapped(
        std::to_string(alike.invariants.size()) + " end alike (" + joined(alike.invariants) + ")" +
            (alike.same_numbers ? "" : ", each with other numbers") + ": " + alike.remark,
        2, columns, 2);
}

/// The first failure that has a likely cause which can be the simplest one's, too; null if that has
/// one itself, or none that is known, if it is a crash, and if more failures have none than have this
/// one.
const CheckResult* witness_of(const std::vector<Group>& failed) {
  const Verdict& simplest = failed.front().shown().verdict;
  if (has_vote(simplest) || simplest.faulty) return nullptr;
  Votes votes;
  for (const Group& group : failed)
    for (const auto& [cause, count] : votes_of(group.first, group.last)) votes[cause] += count;
  const bool is_of_one_token = failed.front().invariant() == "single-token";
  for (const Group& group : failed) {
    const CheckResult& shown = group.shown();
    if (!shown.verdict.cause.empty() && votes[shown.verdict.cause] >= votes[""] &&
        (!is_of_one_token || shown.verdict.cause_shows_in_one_token))
      return &shown;
  }
  return nullptr;
}

}  // namespace

void print_table(std::ostream& stream, const std::vector<CheckResult>& results,
                 const std::vector<NotTried>& not_tried) {
  TextTable table({"stage", "invariant", "backend", "cases", "of bound", "result"});
  for (const Group& group : groups_of(results)) {
    const CheckResult& first = *group.first;
    double used = 0;
    for (auto r = group.first; r != group.last; ++r) used = std::max(used, r->verdict.bound_used);
    const int surprises = group.surprises();
    const std::string exact =
        find_invariant(first.invariant).needs_watching ? "findings" : "bitwise";
    const std::string good = first.expected ? "held" : "broken, as stated";
    // Beside a failure, the share that the other cases used would only mislead.
    const std::string share =
        first.expected && used > 0 ? (surprises > 0 && used <= 1 ? "" : percentage(used)) : exact;
    table.add_row({first.stage, first.invariant, first.backend, tried_text(group, not_tried), share,
                   surprises == 0 ? good : std::to_string(surprises) + " FAILED"},
                  surprises == 0 ? Colour::plain : Colour::bad);
  }
  table.print(stream);
}

void print_failures(std::ostream& stream, const std::vector<CheckResult>& results, Whole whole) {
  const std::size_t columns = text_columns();
  const std::vector<Group> groups = groups_of(results);
  for (auto first = groups.begin(); first != groups.end();) {
    const auto last = std::find_if(
        first, groups.end(), [&](const Group& group) { return group.stage() != first->stage(); });
    std::vector<Group> failed;
    std::copy_if(first, last, std::back_inserter(failed),
                 [](const Group& group) { return group.surprises() > 0; });
    const auto tried = last - first;
    const bool one_whole = whole == Whole::simplest && failed.size() > 1;
    if (!failed.empty())
      stream << '\n'
             << coloured(
                    wrapped(one_line(first->stage()) + " fails " + std::to_string(failed.size()) +
                                " of " + std::to_string(tried) +
                                (tried == 1 ? " invariant" : " invariants") +
                                (one_whole ? "; the simplest of them:" : ":"),
                            0, columns),
                    Colour::bad);
    const std::size_t shown = one_whole ? 1 : failed.size();
    const CheckResult* const witness = one_whole ? witness_of(failed) : nullptr;
    for (std::size_t i = 0; i < shown; ++i) print_whole(stream, failed[i], witness, columns);
    if (one_whole)
      print_list(stream, {failed.begin() + 1, failed.end()},
                 (witness != nullptr ? *witness : failed.front().shown()).verdict.cause, columns);
    first = last;
  }
}

void print_not_tried(std::ostream& stream, const std::vector<NotTried>& not_tried,
                     const std::vector<CasesLeftOut>& cases_left_out) {
  std::vector<std::pair<std::string, std::string>> lines;  // what, its reason
  const auto add = [&](const std::string& what, const std::string& reason) {
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const auto& line) { return line.second == reason; });
    if (same == lines.end())
      lines.emplace_back(what, reason);
    else
      same->first += ", " + what;
  };
  std::map<std::string, std::vector<const NotTried*>> begun;  // by reason
  for (const NotTried& left_out : not_tried) {
    if (left_out.cases_not_reached == 0)
      add(left_out.invariant, left_out.reason);
    else
      begun[left_out.reason.substr(counted(left_out.cases_not_reached, "case").size() + 2)]
          .push_back(&left_out);
  }
  constexpr std::size_t kFew = 3;
  for (const auto& [reason, list] : begun) {
    int cases = 0;
    for (const NotTried* left_out : list) {
      cases += left_out->cases_not_reached;
      if (list.size() <= kFew)
        add(left_out->invariant + " (" + counted(left_out->cases_not_reached, "case") + ")",
            reason);
    }
    if (list.size() > kFew)
      add(counted(cases, "case") + " of " + counted(list.size(), "invariant") +
              " (the column `cases` has how many of each)",
          reason);
  }
  // Of one invariant's cases, one is left out for its type, one for its size, ...: a line for all.
  std::map<std::string, int> counts;
  std::vector<std::string> reasons;
  for (const CasesLeftOut& left_out : cases_left_out) {
    counts[left_out.invariant] += left_out.cases;
    if (std::find(reasons.begin(), reasons.end(), left_out.reason) == reasons.end())
      reasons.push_back(left_out.reason);
  }
  for (const auto& [invariant, cases] : counts)
    add(invariant + " (" + counted(cases, "case") + ")",
        "of types, sizes or options that it does not declare; the first: " + reasons.front());
  if (!lines.empty()) stream << "\nnot tried:\n";
  for (const auto& [what, reason] : lines)
    stream << wrapped(one_line(what + ": " + reason), 2, text_columns(), 2);
}

void print_left_out(std::ostream& stream, const Stage& stage,
                    const std::vector<CasesLeftOut>& cases_left_out) {
  int cases = 0;
  for (const CasesLeftOut& left_out : cases_left_out) cases += left_out.cases;
  if (cases > 0)
    stream << '\n'
           << wrapped(title_of(stage) + ": " + counted(cases, "case") +
                          " of these invariants left out, for types and sizes that it is not "
                          "built for (paged list)",
                      0, text_columns());
}

}  // namespace paged
