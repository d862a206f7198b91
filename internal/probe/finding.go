package probe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Answer is the answer of a probe.
type Answer string

// The answers.
const (
	Yes         Answer = "yes"
	No          Answer = "no"
	Conditional Answer = "conditional"
	Unknown     Answer = "unknown" // the probe itself failed
)

// Finding is one answer with its evidence.
type Finding struct {
	Row    string `json:"row"`
	Answer Answer `json:"answer"`
	// Condition is the condition under which the answer is yes; set only with Conditional.
	Condition string `json:"condition,omitempty"`
	// Evidence has a sentence for each observation: the messages sent and received.
	Evidence []string `json:"evidence"`
	// Stated: it was not tried, and the evidence is what a document says.
	Stated bool `json:"stated,omitempty"`
}

// Marked returns the answer, in parentheses if it is only stated.
func (f Finding) Marked() string { return f.marked(string(f.Answer)) }

func (f Finding) marked(words string) string {
	if f.Stated {
		return "(" + words + ")"
	}
	return words
}

// Column has the findings on one system.
type Column struct {
	Name       string    `json:"name"` // the system and its variant
	System     string    `json:"system"`
	Client     string    `json:"client"`
	Servers    []string  `json:"servers"`
	Durability int       `json:"durability_level"`
	At         time.Time `json:"at"`
	Findings   []Finding `json:"findings"`
	// Warnings are failures outside the probes, such as a topic that could not be deleted.
	Warnings []string `json:"warnings,omitempty"`
}

// Finding returns the column's answer to a row; Unknown when the column has none.
func (c Column) Finding(row string) Finding {
	i := slices.IndexFunc(c.Findings, func(f Finding) bool { return f.Row == row })
	if i < 0 {
		return Finding{Row: row, Answer: Unknown, Evidence: []string{"it was not tried"}}
	}
	return c.Findings[i]
}

func yes(evidence ...string) Finding { return Finding{Answer: Yes, Evidence: evidence} }
func no(evidence ...string) Finding  { return Finding{Answer: No, Evidence: evidence} }

// either returns yes when what was asked for was seen, and else no.
func either(seen bool, evidence ...string) Finding {
	if seen {
		return yes(evidence...)
	}
	return no(evidence...)
}

// seenWhen is either under a condition.
func seenWhen(condition string, seen bool, evidence ...string) Finding {
	if seen {
		return when(condition, evidence...)
	}
	return notEven(condition, evidence...)
}

// notEven returns no, although the possible condition was met.
func notEven(condition string, evidence ...string) Finding {
	if condition != "" {
		evidence = append(evidence, "tried "+condition)
	}
	return no(evidence...)
}

// when returns yes, or conditional when there is a condition.
func when(condition string, evidence ...string) Finding {
	if condition == "" {
		return yes(evidence...)
	}
	return Finding{Answer: Conditional, Condition: condition, Evidence: evidence}
}

// findingOf returns the finding of a statement.
func findingOf(one system.Statement) Finding {
	f := Finding{Answer: No}
	if one.Has {
		f = when(one.Condition)
	}
	if one.Why != "" {
		f.Evidence = append(f.Evidence, one.Why)
	}
	f.Evidence, f.Stated = append(f.Evidence, sourceOf(one)), true
	return f
}

func sourceOf(one system.Statement) string { return "stated, and not tried: " + one.Source }

// unknown returns the finding of a probe that failed.
func unknown(format string, args ...any) Finding {
	return Finding{Answer: Unknown, Evidence: []string{fmt.Sprintf(format, args...)}}
}

// AnyUnknown reports whether a probe failed.
func AnyUnknown(all []Column) bool {
	return slices.ContainsFunc(all, func(c Column) bool {
		return slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Answer == Unknown })
	})
}

// Differ probes the rows of want, and returns what Differences does.
func Differ(ctx context.Context, s Subject, want map[string]Answer) ([]string, error) {
	s.Rows = slices.Sorted(maps.Keys(want))
	column, err := On(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	return column.Differences(want), nil
}

// Differences returns a sentence for each answer that differs from the wanted one, for each
// unknown answer, and for each warning. Rows that are not in want may have any other answer.
func (c Column) Differences(want map[string]Answer) []string {
	all := slices.Clone(c.Warnings)
	for _, f := range c.Findings {
		if wanted, certain := want[f.Row]; certain && f.Answer != wanted || f.Answer == Unknown {
			all = append(all, fmt.Sprintf("%s: %s: %s: %v", c.Name, f.Row, answered(f), f.Evidence))
		}
	}
	for row := range want {
		if !slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Row == row }) {
			all = append(all, fmt.Sprintf("%s: %s was not tried", c.Name, row))
		}
	}
	return all
}
