package poster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Gravest is the gravest of the sentences, or that one run is not many.
func Gravest(all []result.Warning) string {
	all = slices.DeleteFunc(slices.Clone(all), func(w result.Warning) bool {
		return strings.TrimRight(w.Sentence, ".") == ""
	})
	if len(all) == 0 {
		return "Measured once: other machines, or another day, may differ."
	}
	verdict.BySeverity(all)
	sentence := strings.TrimRight(all[0].Sentence, ".")
	out := sentence + "."
	if first, _, _ := strings.Cut(sentence, " "); !strings.HasSuffix(first, ":") {
		out = phrase.Upper(out)
	}
	if left := len(all) - 1; left > 0 {
		out += " And " + phrase.Plural(left, "more warning", "more warnings") + " in the report."
	}
	return out
}

// Command is the command that made results, or the first of several and the number of others.
func Command(commands [][]string) string {
	var out []string
	for _, c := range commands {
		if words := document.Clean(portable(c)); words != "" && !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	switch len(out) {
	case 0:
		return ""
	case 1:
		return out[0]
	}
	others := phrase.Plural(len(out)-1, "other", "others")
	return fmt.Sprintf("%s   # and %s like it", out[0], others)
}

// portable is a command without the paths of this machine, that of the program and that of its
// results, and without the part of a study, which is measured part by part.
func portable(command []string) string {
	if len(command) == 0 {
		return ""
	}
	out := []string{"plimsoll"}
	for i := 1; i < len(command); i++ {
		switch name, _, whole := strings.Cut(command[i], "="); {
		case name != "--runs" && name != "--only":
			out = append(out, command[i])
		case !whole:
			i++
		}
	}
	return phrase.CommandLine(out)
}

// Source is the build that measured, and when.
func Source(b result.Build, when string) string {
	return strings.TrimSpace("plimsoll "+document.Clean(b.Version)) + ", measured " + when
}
