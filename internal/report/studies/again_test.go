package studies

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/study"
)

// A study that was measured twice: which answers changed stands first, the older one on the left,
// whatever the order of the folders.
func TestAnswersThatChanged(t *testing.T) {
	first, second := studied(t), studied(t)
	second.Plan.StartedAt = first.Plan.StartedAt.AddDate(0, 0, 3)
	turned := &second.Outcome.Claims[0]
	if turned.Published.Answer != study.Agrees || turned.Equal.Answer != study.Differs {
		t.Fatalf("the fixture's first claim: %+v", turned)
	}
	turned.Published.Answer, turned.Published.Ours = study.Differs, 0.4
	turned.Equal.Answer = study.NotDecided
	turned.Equal.Doubts = []study.Doubt{{Why: "the interval contains the bound"}}
	reworded := &second.Outcome.Claims[1]
	reworded.Says = "in other words"
	second.Outcome.Claims[3].Bound = "at least 7x" // another claim, which is not compared

	var page, screen bytes.Buffer
	r := Report([]Result{second, first})
	if err := r.Write(&page, "md", document.Layout{}); err != nil {
		t.Fatal(err)
	}
	changes, _, _ := strings.Cut(page.String(), "\n## ")
	fixture.Golden(t, "again.md", []byte(changes))
	if err := r.Write(&screen, "table", document.Layout{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fixture-2020 at scale smoke was measured 2 times",
		"1 of 2 answers are the same", "1 changed between agrees and differs"} {
		if !strings.Contains(strings.Join(strings.Fields(screen.String()), " "), want) {
			t.Errorf("the terminal lacks %q:\n%s", want, &screen)
		}
	}
}

// A page of one measurement, and of two studies, has no changes.
func TestOnlyOneStudyIsMeasuredAgain(t *testing.T) {
	one, other := studied(t), studied(t)
	s := *other.Study
	s.Name = "another"
	other.Study = &s
	elsewhere, larger, differs := studied(t), studied(t), studied(t)
	elsewhere.Plan.Own = []study.Own{{Target: "quick", File: "mine.yaml", YAML: "system: kafka"}}
	larger.Plan.Scale = study.Small
	for i := range differs.Outcome.Claims {
		differs.Outcome.Claims[i].Bound = "at least 7x"
	}
	for name, of := range map[string]Result{"of another study": other, "of other clusters": elsewhere,
		"at another scale": larger, "of other claims": differs} {
		if got := again([]Result{one, of}); len(got) != 0 {
			t.Errorf("a measurement %s: %+v", name, got)
		}
	}
	if got := again([]Result{one, one}); len(got) != 1 {
		t.Errorf("nothing changed, and it has %d blocks", len(got))
	}
}
