// What a lecturer reads while a course is graded: one entry a submission.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace paged::labs {

/// The name of a submission: that of its folder.
std::string name_of_submission(const std::string& folder);

/// Names for a list of submissions: those of their folders, and where two are equal as much of what
/// stands before as tells them apart.
std::vector<std::string> listed_names(const std::vector<std::string>& folders);

/// "  0 of 100  name  what is wrong", wrapped. `name`: as it is listed; `width`: columns of the
/// names.
std::string entry_of(const nlohmann::json& trial, const std::string& name, std::size_t width);

/// Columns for all names.
std::size_t width_of(const std::vector<std::string>& names);

/// Names the submissions (results of grade()) whose lab.txt is of another lab than they were graded
/// as: what is wrong is likely the command. `all`: how many there are.
std::string warning_about(const std::vector<nlohmann::json>& others, std::size_t all);

}  // namespace paged::labs
