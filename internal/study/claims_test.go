package study

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
)

// articles are the published studies, with the letter and the number of their claims.
var articles = []struct {
	name, letter string
	claims       int
}{{"confluent-2020", "C", 31}, {"streamnative-2020", "S", 44}, {"softwaremill-2017", "M", 33},
	{"ufcg-2020", "U", 17}}

// Every claim of an article is asked by one or more ratios, or stands in the study's file with the
// reason why it is not; docs/STUDY.md counts them.
func TestEveryClaimOfAnArticleIsAskedOrNotForAReason(t *testing.T) {
	doc, err := os.ReadFile("../../docs/STUDY.md")
	if err != nil {
		t.Fatal(err)
	}
	var sum, allAsked int
	row := func(name string, claims, asked int) {
		sum, allAsked = sum+claims, allAsked+asked
		want := fmt.Sprintf("| %s | %d | %d | %d |\n", name, claims, asked, claims-asked)
		if !strings.Contains(string(doc), want) {
			t.Errorf("docs/STUDY.md lacks %s", want)
		}
	}
	for _, article := range articles {
		s, err := Find(article.name)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		left := s.Claims
		for n := 1; n <= article.claims; n++ {
			id, ratios, reasons := fmt.Sprint(article.letter, n), 0, 0
			for len(left) > 0 && left[0].ID == id {
				if left[0].NotAsked == "" {
					ratios++
				} else {
					reasons++
				}
				left = left[1:]
			}
			if ratios == 0 && reasons != 1 || ratios > 0 && reasons > 0 {
				t.Errorf("%s of %s has %d ratios and %d reasons", id, s.Name, ratios, reasons)
			}
			asked += min(ratios, 1)
		}
		if len(left) > 0 {
			t.Errorf("%s of %s is out of order, or not a claim of it", left[0].ID, s.Name)
		}
		row(s.Name, article.claims, asked)
	}
	row("together", sum, allAsked)
}

// Every claim asks what was published: at the published shares of the peaks, over the published
// range, with all its sides, of which a claim of no effect has two. At each scale the study's file
// keeps them. testdata/claims.txt lists them.
func TestEveryClaimKeepsItsLoadItsRangeAndItsSides(t *testing.T) {
	claimed := map[string]string{}
	for _, scale := range Scales() {
		var all strings.Builder
		for _, article := range articles {
			s, p := planAt(t, article.name, scale)
			for _, c := range s.Claims {
				if c.NotAsked != "" {
					fmt.Fprintf(&all, "%s: not asked\n", c.ID)
					continue
				}
				r := results{s, p, make([]Measured, len(p.Cells))}
				q := r.asks(c)
				fmt.Fprintf(&all, "%s: %s\n", c.ID, asked(t, q, scale))
			}
		}
		claimed[scale] = all.String()
	}
	golden.Compare(t, "testdata/claims.txt", claimed[Full])
	for scale, got := range claimed {
		if diff := cmp.Diff(claimed[Full], got); diff != "" {
			t.Errorf("at scale %s: %s", scale, diff)
		}
	}
}

// Kafka's and Pulsar's producers wait for a batch by default, and not equally long. So no side of a
// claim that compares systems has the default.
func TestNoSideOfAComparisonBatchesByDefault(t *testing.T) {
	delays := map[string]string{"kafka": "linger", "pulsar": "batching_max_publish_delay"}
	compared := 0
	for _, article := range articles {
		s, p := planAt(t, article.name, Full)
		for _, c := range s.Claims {
			if c.NotAsked != "" {
				continue
			}
			r := results{s, p, make([]Measured, len(p.Cells))}
			of, to := r.asks(c).sides(0)
			a, b := targetOf(t, of), targetOf(t, to)
			if a.System == b.System {
				continue
			}
			compared++
			for _, side := range []*target.Target{a, b} {
				delay, known := delays[side.System]
				if known && !slices.ContainsFunc(side.Settings, func(p strict.Pair) bool {
					return p.Name == delay
				}) {
					t.Errorf("%s %s: %s has its default %s", c.ID, c.Says, side.System, delay)
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no claim compares systems")
	}
}

func targetOf(t *testing.T, s side) *target.Target {
	t.Helper()
	_, to, err := s.rounds[0].Inputs()
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// asked is what a claim asks, in words. It is an error if the cells at a scale ask something else.
func asked(t *testing.T, q *question, scale string) string {
	t.Helper()
	c, loads, ranges := q.claim, "at the peak", "nothing"
	of, to := q.sides(0)
	if all, _ := q.loads(&of, &to); len(all) == 2 {
		loads = fmt.Sprintf("at %s and %s", percent(all[0].Theirs), percent(all[1].Theirs))
		for i, at := range []side{of, to} {
			r := q.study.rate(at.rounds[0].Rate)
			if ours := q.study.shareOf(r, all[i].Peak); !sameLoad(all[i].Theirs, ours) {
				t.Errorf("%s: %s is asked at %s of its peak", c.Says, at.at, percent(ours))
			}
		}
	} else if len(all) > 0 {
		t.Errorf("%s: only one side is at a published rate", c.Says)
	}
	var varies []string
	for _, v := range q.rangesOf(of.rounds[0].Cell, to.rounds[0].Cell) {
		varies = append(varies, v.name+" by "+times(v.theirs))
		if !near(v.theirs, v.ours) {
			t.Errorf("%s: at scale %s %s vary by %s", c.Says, scale, v.name, times(v.ours))
		}
	}
	if len(varies) > 0 {
		ranges = strings.Join(varies, ", ")
	}
	return fmt.Sprintf("%s, %s; %s; varies %s; %s", c.Table, c.Ratio(), loads, ranges, c.bound())
}
