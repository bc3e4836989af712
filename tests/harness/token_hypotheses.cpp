#include "tests/harness/token_hypotheses.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace paged {

namespace {

/// "0, 1, 2, 3, ... (15)"
std::string numbers_of(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(numbers.size(), 4); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return text + (numbers.size() > 4 ? ", ... (" + std::to_string(numbers.size()) + ")" : "");
}

}  // namespace

std::string list_of(const std::vector<int>& tokens) {
  return (tokens.size() == 1 ? "token " : "tokens ") + numbers_of(tokens);
}

namespace {

// ---- which tokens ------------------------------------------------------------------------------
/// Tokens of a sequence of any length.
struct TokenSet {
  std::string name;  ///< with its verb: "the first token is"
  std::function<bool(int token, int tokens)> has;
  bool is_partition = false;  ///< whole ones
};

/// Those that are just `given` in a sequence of so many tokens, as far as its tokens weigh enough
/// for that to be seen.
std::vector<TokenSet> sets_like(const Evidence& e, const std::vector<int>& given) {
  const int size = e.problem.partition_size, page = e.problem.block_size;
  const int window = e.seq_len() - 1 - given.back();
  const auto last_begin = [=](int tokens) { return (tokens - 1) / size * size; };
  std::vector<TokenSet> all = {
      {"the first token is", [](int t, int) { return t == 0; }},
      {"the last token is", [](int t, int tokens) { return t == tokens - 1; }},
      {"the last partition is",
       [=](int t, int tokens) { return tokens > size && t >= last_begin(tokens); }, true},
      {"the first token of each partition but the first is",
       [=](int t, int) { return t > 0 && t % size == 0; }},
      {"the last token of each partition but the last is",
       [=](int t, int tokens) { return (t + 1) % size == 0 && t + 1 < tokens; }},
      {"all partitions but the first are", [=](int t, int) { return t >= size; }, true},
      {"all partitions but the last are", [=](int t, int tokens) { return t < last_begin(tokens); },
       true},
      {"the first token of each page is", [=](int t, int) { return t % page == 0; }},
      {"the first token of each page but the first is",
       [=](int t, int) { return t > 0 && t % page == 0; }},
      {"the last token of each full page is", [=](int t, int) { return t % page == page - 1; }},
      {"all tokens but the last " + std::to_string(window) + " are",
       [=](int t, int tokens) { return t < tokens - window; }},
      {"the first half of each page is", [=](int t, int) { return t % page < page / 2; }},
      {"the second half of each page is", [=](int t, int) { return t % page >= page / 2; }}};
  // Warps that take pages in turn.
  for (const int warps : {2, 4, 8}) {
    std::set<int> turns;
    for (const int token : given) turns.insert(token / page % warps);
    std::vector<int> listed(turns.begin(), turns.end());
    all.push_back({"of every " + std::to_string(warps) + " pages " + numbers_of(listed) +
                       (listed.size() == 1 ? " (from 0) is" : " (from 0) are"),
                   [=](int t, int) { return turns.contains(t / page % warps); }});
  }
  std::vector<TokenSet> alike;
  for (const TokenSet& set : all) {
    bool is_alike = true;
    for (int t = 0; t < e.seq_len() && is_alike; ++t)
      is_alike = !e.is_heavy(t) ||
                 set.has(t, e.seq_len()) == std::binary_search(given.begin(), given.end(), t);
    if (is_alike) alike.push_back(set);
  }
  return alike;
}

// ---- what becomes of them ----------------------------------------------------------------------
/// The tokens of a set count so many times in the weighted sum, and in the denominator.
TokenWeights with_counts(std::function<bool(int token, int tokens)> has, double in_output,
                         double in_sum) {
  return [=](OutputRow, const HeadAttention& right) -> Eigen::VectorXd {
    const auto tokens = static_cast<int>(right.weights.size());
    Eigen::VectorXd weights = right.weights;
    double sum = 0;  // of the weights that the denominator counts
    for (int t = 0; t < tokens; ++t) {
      sum += (has(t, tokens) ? in_sum : 1) * right.weights[t];
      if (has(t, tokens)) weights[t] *= in_output;
    }
    const double all = right.weights.sum();
    if (!(sum > 1e-6 * all)) return {};
    return weights * (all / sum);
  };
}

/// Just these tokens, in every sequence that is so long.
std::function<bool(int token, int tokens)> just(const std::vector<int>& given) {
  return [=](int t, int) { return std::binary_search(given.begin(), given.end(), t); };
}

/// Whether tokens are just those heavy ones of some partitions, whole ones.
bool is_partition_lost(const Evidence& e, const std::vector<int>& tokens) {
  const int size = e.problem.partition_size;
  if (size < 64 || e.seq_len() <= size) return false;
  std::vector<int> partitions;
  for (const int token : tokens)
    if (partitions.empty() || partitions.back() != token / size) partitions.push_back(token / size);
  std::size_t heavy = 0;
  for (const int partition : partitions)
    for (int t = partition * size; t < std::min((partition + 1) * size, e.seq_len()); ++t)
      heavy += e.is_heavy(t) ? 1 : 0;
  return tokens.size() > 1 && heavy == tokens.size();
}

/// "token 512, the first of partition 1,"
std::string place_of(const Evidence& e, const std::vector<int>& tokens) {
  const int partition = e.problem.partition_size;
  if (tokens.size() == 1 && tokens[0] > 0 && tokens[0] % partition == 0)
    return list_of(tokens) + ", the first of partition " + std::to_string(tokens[0] / partition) +
           ",";
  return list_of(tokens);
}

}  // namespace

std::vector<Hypothesis> tokens_dropped(const Evidence& e) {
  std::vector<int> dropped;
  double lost = 0, left_got = 0, left = 0;
  for (int token = 0; token < e.seq_len(); ++token)
    if (e.is_heavy(token) && std::abs(e.got()[token]) <= e.reference.bound[token]) {
      dropped.push_back(token);
      lost += e.reference.weights[token];
    } else {
      left_got += e.got()[token];
      left += e.reference.weights[token];
    }
  if (dropped.empty() || left == 0 || !e.is_within_sequence()) return {};
  const double factor = left_got / left;
  for (int token = 0; token < e.seq_len(); ++token)
    if (e.is_heavy(token) && std::abs(e.got()[token]) > e.reference.bound[token] &&
        !e.has_ratio(token, factor))
      return {};
  const double total = e.reference.weights.sum();
  // The others keep their weights, or share those of the tokens that are left out.
  const bool are_counted = std::abs(factor - 1) < std::abs(factor - total / left);
  const double in_sum = are_counted ? 1 : 0;
  const std::string where = place_of(e, dropped);
  const std::string is_or_are = dropped.size() == 1 ? " is" : " are";
  std::vector<Hypothesis> all;
  const auto add = [&](LikelyCause cause, const auto& has) {
    all.push_back({std::move(cause), with_counts(has, 0, in_sum)});
  };
  if (is_partition_lost(e, dropped))
    add({"partition-lost", "a partition is not merged: " + where + is_or_are + " lost"},
        [size = e.problem.partition_size, dropped](int t, int) {
          return std::any_of(dropped.begin(), dropped.end(),
                             [&](int lost_token) { return lost_token / size == t / size; });
        });
  else if (are_counted)
    add({"value-dropped",
         dropped.size() == 1
             ? "the value of " + where + " is not added, though the denominator counts it"
             : "the values of " + where + " are not added, though the denominator counts them"},
        just(dropped));
  else
    add({"token-dropped", where + is_or_are + " left out"}, just(dropped));
  for (const TokenSet& set : sets_like(e, dropped)) {
    const std::string counted = are_counted ? ", though the denominator counts it" : "";
    if (set.is_partition)
      add({"partition-lost", set.name + " not merged where there are several" + counted}, set.has);
    else if (are_counted)
      add({"value-dropped", set.name + " not added" + counted}, set.has);
    else
      add({"token-dropped", set.name + " left out"}, set.has);
  }
  return all;
}

std::vector<Hypothesis> tokens_doubled(const Evidence& e) {
  std::vector<int> doubled, others;
  if (!e.is_within_sequence()) return {};
  for (int token = 0; token < e.seq_len(); ++token)
    if (e.is_heavy(token)) (e.ratio(token) > 1.5 ? doubled : others).push_back(token);
  if (doubled.empty() || others.empty()) return {};
  const double factor = e.ratio(others.front());
  for (int token : others)
    if (std::abs(e.ratio(token) - factor) >
        e.ratio_bound(token, factor) + e.ratio_bound(others.front(), factor))
      return {};
  double of_doubled = 0;
  for (int token : doubled) {
    if (std::abs(e.ratio(token) - 2 * factor) >
        e.ratio_bound(token, 2 * factor) + 2 * e.ratio_bound(others.front(), factor))
      return {};
    of_doubled += e.reference.weights[token];
  }
  const double sum = e.reference.weights.sum();
  const double in_sum = std::abs(factor - 1) < std::abs(factor - sum / (sum + of_doubled)) ? 1 : 2;
  std::vector<Hypothesis> all = {
      {{"token-doubled",
        list_of(doubled) + (doubled.size() == 1 ? " counts" : " count") + " twice"},
       with_counts(just(doubled), 2, in_sum)}};
  for (const TokenSet& set : sets_like(e, doubled))
    all.push_back(
        {{"token-doubled", set.name + " counted twice"}, with_counts(set.has, 2, in_sum)});
  return all;
}

bool is_explained_by_groups(const Evidence& e, int groups,
                            const std::function<int(int token)>& group_of) {
  std::vector<double> got(groups), reference(groups);
  for (int token = 0; token < e.seq_len(); ++token) {
    got[group_of(token)] += e.got()[token];
    reference[group_of(token)] += e.reference.weights[token];
  }
  Eigen::VectorXd expected = e.reference.weights;
  Eigen::VectorXd bound = e.reference.bound;
  double least = INFINITY, most = 0;
  for (int token = 0; token < e.seq_len(); ++token) {
    const int group = group_of(token);
    const double factor = reference[group] == 0 ? 0 : got[group] / reference[group];
    least = std::min(least, factor);
    most = std::max(most, factor);
    expected[token] *= factor;
    bound[token] *= 2 * std::max(1.0, std::abs(factor));  // rounding, on both sides
  }
  return most - least > 0.02 * most && e.are_explained_by(expected, bound);
}

namespace {

/// exp(logit + addition - maximum) of a row, not yet divided.
Eigen::VectorXd exponentials_of(const HeadAttention& right,
                                const std::function<double(int token, int tokens)>& addition) {
  const auto tokens = static_cast<int>(right.logits.size());
  Eigen::VectorXd weights(tokens);
  for (int t = 0; t < tokens; ++t)
    weights[t] = std::isinf(right.logits[t])
                     ? 0
                     : std::exp(right.logits[t] + addition(t, tokens) - right.maximum);
  return weights;
}

/// ALiBi positions that are counted anew in each partition.
std::vector<Hypothesis> alibi_by_partitions(const Evidence& e) {
  const int size = e.problem.partition_size;
  const auto shifted = [&](auto tokens_of) {
    return [slopes = e.problem.alibi_slopes, tokens_of](
               OutputRow row, const HeadAttention& right) -> Eigen::VectorXd {
      const Eigen::VectorXd weights = exponentials_of(
          right, [&](int t, int tokens) { return slopes[row.head] * tokens_of(t, tokens); });
      return weights / weights.sum();
    };
  };
  return {{{"alibi-position",
            "the ALiBi distance is counted from the partition's last token, not from the "
            "sequence's"},
           shifted([=](int t, int tokens) {
             return static_cast<double>(tokens - std::min((t / size + 1) * size, tokens));
           })},
          {{"alibi-position", "the ALiBi position is that in the partition, not in the sequence"},
           shifted([=](int t, int) { return -static_cast<double>(t / size * size); })}};
}

/// Greatest logit of a token's partition less that of the sequence.
double fall_of_maximum(const HeadAttention& right, int token, int size) {
  const auto tokens = static_cast<int>(right.logits.size());
  const int first = token / size * size;
  return right.logits.segment(first, std::min(size, tokens - first)).maxCoeff() - right.maximum;
}

}  // namespace

std::vector<Hypothesis> partitions_out_of_proportion(const Evidence& e) {
  const int size = e.problem.partition_size;
  if (e.seq_len() <= size || !e.is_within_sequence()) return {};
  const int partitions = (e.seq_len() + size - 1) / size;
  if (!is_explained_by_groups(e, partitions, [&](int token) { return token / size; })) return {};
  // A bias that partitions count anew changes proportions between them, too.
  if (!e.problem.alibi_slopes.empty())
    for (Hypothesis& hypothesis : alibi_by_partitions(e))
      if (e.are_explained_by_tokens(
              hypothesis.weights({e.recovered.seq, e.recovered.head}, e.attention)))
        return {std::move(hypothesis)};
  const auto unscaled = [=](const HeadAttention& right) {
    return exponentials_of(right, [&](int t, int) { return -fall_of_maximum(right, t, size); });
  };
  const std::string proportions = "within each partition of " + std::to_string(size) +
                                  " tokens the proportions are right, between them they are not: ";
  const std::vector<Hypothesis> all = {
      {{"partition-not-rescaled",
        proportions + "a partition's output and sum are merged without rescaling them"},
       [=](OutputRow, const HeadAttention& right) -> Eigen::VectorXd {
         const Eigen::VectorXd weights = unscaled(right);
         return weights / weights.sum();
       }},
      {{"partition-not-rescaled",
        proportions + "a partition's output is merged without rescaling it"},
       [=](OutputRow, const HeadAttention& right) -> Eigen::VectorXd {
         return unscaled(right) / right.sum;
       }}};
  for (const Hypothesis& hypothesis : all)
    if (e.are_explained_by_tokens(
            hypothesis.weights({e.recovered.seq, e.recovered.head}, e.attention)))
      return {hypothesis};
  if (!e.problem.alibi_slopes.empty() ||
      !e.run.is_made_of(e.got().head(e.seq_len()), {e.recovered.seq, e.recovered.head}))
    return {};
  return {{{"partition-not-rescaled", proportions + "partitions are merged with wrong weights"}}};
}

}  // namespace paged
