// Reference kernel of TfIdfVectorizer: counts known n-grams in rows of word numbers.
#include "reference/kernels/text.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace hone::reference {
namespace {

using Gram = std::vector<int64_t>;

/// The pool of known n-grams, numbered in their order.
class Pool {
 public:
  explicit Pool(const graph::Attributes& attributes) {
    const auto& items = attributes.get_ints("pool_int64s");
    const auto& starts = attributes.get_ints("ngram_counts");
    const auto end_of_pool = static_cast<int64_t>(items.size());
    size_t number = 0;
    for (size_t i = 0; i < starts.size(); ++i) {
      const int64_t end = i + 1 < starts.size() ? starts[i + 1] : end_of_pool;
      const auto length = static_cast<int64_t>(i) + 1;
      if (starts[i] < 0 || starts[i] > end || end > end_of_pool || (end - starts[i]) % length != 0) {
        fail_bad_input("attribute 'ngram_counts' places no whole {}-grams in a pool of {}", length,
                       end_of_pool);
      }
      for (int64_t at = starts[i]; at < end; at += length) {
        numbers_.emplace(Gram(items.begin() + at, items.begin() + at + length), number++);
      }
    }
    const size_t columns = attributes.get_ints("ngram_indexes").size();
    if (number != columns)
      fail_bad_input("attribute 'ngram_indexes' has {} entries for {} n-grams", columns, number);
  }

  /// The number of the n-gram; nullopt if the pool does not have it.
  std::optional<size_t> find(const Gram& gram) const {
    const auto found = numbers_.find(gram);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<Gram, size_t> numbers_;
};

/// Calls f with every n-gram of a row, in which up to `max_skip` words are skipped between two words of the
/// n-gram; single words are visited once.
template <class F>
void for_each_gram(std::span<const int64_t> row, int64_t length, int64_t max_skip, F&& f) {
  const auto words = static_cast<int64_t>(row.size());
  // A step longer than the row gives no n-gram.
  const int64_t widest = length == 1 ? 1 : std::min(max_skip, words) + 1;
  for (int64_t step = 1; step <= widest; ++step) {
    for (int64_t first = 0; first + step * (length - 1) < words; ++first) {
      Gram gram;
      for (int64_t k = 0; k < length; ++k) gram.push_back(row[static_cast<size_t>(first + k * step)]);
      f(gram);
    }
  }
}

}  // namespace

void tf_idf_vectorizer(KernelContext& context) {
  const auto& attributes = context.attributes();
  const Tensor& x = context.input(0);
  if (x.rank() < 1 || x.rank() > 2) fail_bad_input("input has rank {}, expected 1 or 2", x.rank());
  const Pool pool(attributes);
  const auto& columns = attributes.get_ints("ngram_indexes");
  if (columns.empty() || *std::min_element(columns.begin(), columns.end()) < 0) {
    fail_bad_input("attribute 'ngram_indexes' is empty or has a negative entry");
  }
  const auto weights = attributes.get_or("weights", std::vector<float>(columns.size(), 1));
  if (weights.size() != columns.size())
    fail_bad_input("{} weights for {} n-grams", weights.size(), columns.size());
  const int64_t shortest = attributes.get_int("min_gram_length");
  const int64_t longest = attributes.get_int("max_gram_length");
  const int64_t max_skip = attributes.get_int("max_skip_count");
  if (shortest < 1 || shortest > longest || max_skip < 0) {
    fail_bad_input("n-grams of {} to {} words with at most {} skipped", shortest, longest, max_skip);
  }
  Shape shape = x.shape();
  shape.back() = *std::max_element(columns.begin(), columns.end()) + 1;
  const auto width = static_cast<size_t>(shape.back());
  Tensor& y = context.make_output(0, DType::kFloat32, std::move(shape));
  const auto out = y.mutable_values<float>();
  std::fill(out.begin(), out.end(), 0.0f);
  const std::string& mode = attributes.get_string("mode");
  const auto words = x.to_int64();
  const auto row_length = static_cast<size_t>(x.shape().back());
  for (size_t row = 0; row * width < out.size(); ++row) {
    const auto row_words = std::span(words).subspan(row * row_length, row_length);
    for (int64_t length = shortest; length <= std::min(longest, x.shape().back()); ++length) {
      for_each_gram(row_words, length, max_skip, [&](const Gram& gram) {
        const auto number = pool.find(gram);
        if (!number) return;
        float& count = out[row * width + static_cast<size_t>(columns[*number])];
        const float weight = mode == "TF" ? 1 : weights[*number];
        count = mode == "IDF" ? weight : count + weight;
      });
    }
  }
}

}  // namespace hone::reference
