// Package strict decodes YAML that people write, and reports all of its mistakes at once: file,
// line, column, an excerpt, and the nearest valid name. It knows nothing about the meaning of
// the keys.
//
// It accepts one document of mappings, lists and single values. Anchors, aliases, merge keys,
// tags, directives and "?" keys are refused with a sentence. So a file means what it says, and
// a small file cannot expand into a large one. Size and depth are bounded.
//
// A decoded Document knows the place of each value, so that rules checked afterwards report the
// same places: see Document.Reject.
//
// Table reads CSV files that people or tools write, with errors in the same words.
//
// Only syntax.go uses the YAML library; no other file of the project does.
package strict
