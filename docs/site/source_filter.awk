# Doxygen's filter for sources, which keeps every line where it is:
#   the comment that a file begins with     is about the file
#   a comment behind a member               is about the member
#   indented lines of a comment, after an empty one: formulas and tables, shown as they are written
FNR == 1 { beginning = 1 }
beginning && /^\/\// && !/^\/\/\// {
  if (FNR == 1) {
    file = FILENAME
    if (index(file, ENVIRON["PWD"] "/") == 1) file = substr(file, length(ENVIRON["PWD"]) + 2)
    sub(/^\/\//, "/// @file " file " @brief")
  } else {
    # Of a stage's head, "Adds      the page walk ..." is a table.
    sub(/^\/\//, /^\/\/ [A-Za-z]*    [ ]*[^ ]/ ? "///    " : "///")
  }
}
!/^\/\/\// { beginning = 0 }
/^ .*;  +\/\/ [^ ]/ && !/\/\/\// { sub(/;  +\/\/ /, ";  ///< ") }
/^ *\/\/\/ *$/ { after_empty = 1; print; next }
/^ *\/\/\/   +[^ ]/ && (after_empty || shown) {
  if (!shown) after_empty = 0
  shown = 1
  sub(/\/\/\/ /, "///     ")
  print
  next
}
{ after_empty = shown = 0; print }
