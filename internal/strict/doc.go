// Package strict decodes YAML that people write, and says everything that is
// wrong with it at once: file, line, column, an excerpt, the nearest valid
// name. It knows nothing of what it decodes.
//
// It accepts one document of mappings, lists and single values. Anchors,
// aliases, merge keys, tags, directives and "?" keys are refused with a
// sentence, so that what stands in a file is what is meant, and a small file
// cannot expand into a large one. Size and depth are bounded.
//
// A decoded Document remembers where each value stood, so that rules checked
// afterwards are reported at the same places: see Document.Reject.
//
// The YAML library is used in syntax.go and nowhere else in the project.
package strict
