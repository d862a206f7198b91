package fact

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Warnings returns the warnings of the run, its state when it is not complete, and the parts of
// it that could not be read, the gravest first.
func Warnings(s *result.Saved) []result.Warning {
	var out []result.Warning
	told := false
	for _, w := range s.Run.Warnings {
		out = append(out, result.Warning{Code: w.Code, Sentence: document.Clean(w.Sentence)})
		told = told || slices.Contains([]string{"incomplete", verdict.CodeRunning, "interrupted",
			"failed"}, w.Code)
	}
	if s.Run.State != result.Complete && !told {
		out = append(out, result.Warning{Code: string(s.Run.State),
			Sentence: "this run is " + State(&s.Run)})
	}
	out = append(out, Damage(s)...)
	verdict.BySeverity(out)
	return out
}

// Damage returns a warning for each part of the run that could not be read.
func Damage(s *result.Saved) (out []result.Warning) {
	for _, d := range s.Damage {
		out = append(out, result.Warning{Code: string(result.Incomplete),
			Sentence: "part of this run could not be read: " + document.Clean(d)})
	}
	return out
}

// Sentences are those of warnings.
func Sentences(all []result.Warning) (out []string) {
	for _, w := range all {
		out = append(out, w.Sentence)
	}
	return out
}

// WarningSentences are the sentences of Warnings.
func WarningSentences(s *result.Saved) []string { return Sentences(Warnings(s)) }
