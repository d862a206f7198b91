package searches

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// stoppedSearch ended in the middle of its second trial.
func stoppedSearch() *peak.Saved {
	s := fixture.Searched("stopped")
	s.State, s.StateReason, s.End, s.Trials = result.Interrupted, "stopped on request",
		peak.Stopped, s.Trials[:2]
	s.Bracket, s.Reason, s.Side = peak.Bracket{StableRate: 5_000}, "", nil
	s.Trials[1].Judged, s.Trials[1].Repeated = false, false
	return s
}

func TestSearchGolden(t *testing.T) {
	for name, searches := range map[string][]*peak.Saved{
		"search-one": {fixture.Searched("sim-20k")}, "search-two": {fixture.Searched("sim-20k"),
			stoppedSearch()}, "search-none": nil,
	} {
		for _, format := range []string{"table", "html"} {
			fixture.Golden(t, name+"."+format, fixture.Written(t, Report(searches), format))
		}
	}
}

// The answer of a search that plimsoll limited asks for more load generators, unless messages were
// lost: then more of them find no stable rate either.
func TestAnswerOfALimitOfPlimsoll(t *testing.T) {
	s := fixture.Searched("lossy")
	s.Bracket = peak.Bracket{UnstableRate: 5_000}
	s.Side = &verdict.Side{Name: verdict.SideGenerator}
	if answer := searchAnswer(s); !strings.Contains(answer, "--workers") {
		t.Error(answer)
	}
	s.Trials[0].Lost = 7
	answer := searchAnswer(s)
	if strings.Contains(answer, "--workers") || !strings.Contains(answer, "7 acknowledged") {
		t.Error(answer)
	}
}

// Only searches of other systems at the same guarantee and load are ordered by what they carry.
func TestSearchesAreOrderedWhereTheyAreAlike(t *testing.T) {
	for want, change := range map[string]func(s *peak.Saved){
		"b carries more than a": func(*peak.Saved) {},
		"their durability differs": func(s *peak.Saved) {
			s.Durability.Level++
		},
		"their objectives differ": func(s *peak.Saved) { s.Objectives = []string{"p99<1ms"} },
		"their workloads differ": func(s *peak.Saved) {
			s.Resolved.Workload = "message: {size: 2KB}\n"
		},
		"a: a rate was stable in 2 of 2 searches, at best ": func(s *peak.Saved) { s.Name = "a" },
	} {
		a, b := fixture.Searched("a"), fixture.Searched("b")
		a.Resolved.Workload = "message: {size: 1KB}\n"
		b.Resolved.Workload = a.Resolved.Workload
		b.Bracket.StableRate, b.Bracket.UnstableRate = 2*a.Bracket.UnstableRate,
			3*a.Bracket.UnstableRate
		change(b)
		answer := searchesAnswer([]*peak.Saved{a, b})
		if !strings.Contains(answer, want) ||
			strings.Contains(answer, "carries more") != strings.Contains(want, "carries more") {
			t.Errorf("%q does not say %q", answer, want)
		}
	}
}

func TestSearchJSONIsWhatWasSaved(t *testing.T) {
	raw := fixture.Written(t, Report([]*peak.Saved{fixture.Searched("a"), stoppedSearch()}), "json")
	var back []peak.Saved
	if err := json.Unmarshal(raw, &back); err != nil || len(back) != 2 ||
		back[0].Bracket.StableRate != 19_850 || len(back[1].Trials) != 2 {
		t.Errorf("%v: %+v", err, back)
	}
}

func TestSearchRefusesOtherFormats(t *testing.T) {
	for format, says := range map[string]string{"csv": "card.png or post, not as",
		"htlm": `did you mean "html"`} {
		err := Report(nil).Write(io.Discard, format, document.Layout{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

var (
	drawings = regexp.MustCompile(`(?s)<div class="drawing.*?</svg></div>`)
	numbers  = regexp.MustCompile(`NaN|Inf`)
)

// Whatever a search holds, its page is valid: the drawings are XML without NaN or infinity, and no
// text becomes markup.
func TestSearchHTMLStandsWhateverItHolds(t *testing.T) {
	const hostile = `</script><script>alert(1)</script>"'<img src=x onerror=alert(1)>` + "\x1b[2J"
	for name, change := range map[string]func(*peak.Saved){
		"as it is": func(*peak.Saved) {},
		"hostile": func(s *peak.Saved) {
			s.Name, s.Reason, s.Side.Sentence, s.Objectives[0] = hostile, hostile, hostile, hostile
			s.Trials[0].Dir = hostile
		},
		"no trials": func(s *peak.Saved) { s.Trials = nil },
		"one trial": func(s *peak.Saved) {
			s.Trials = s.Trials[:1]
			s.Bracket = peak.Bracket{StableRate: 5_000}
		},
		"only zero": func(s *peak.Saved) { *s = peak.Saved{Trials: make([]peak.Trial, 3)} },
		"nothing came": func(s *peak.Saved) {
			s.Trials[2].AchievedRate = 0
			s.Bracket.StableRate = 0
		},
		"vast": func(s *peak.Saved) {
			s.Trials[2].TargetRate, s.Trials[3].AchievedRate = 1e300, 1e308
			s.Bracket.UnstableRate = 1e300
		},
		"not finite": func(s *peak.Saved) {
			s.Trials[2].TargetRate, s.Trials[3].AchievedRate = math.NaN(), math.Inf(1)
		},
		"no width": func(s *peak.Saved) {
			s.Trials = s.Trials[4:5]
			s.Bracket.UnstableRate = s.Bracket.StableRate
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := fixture.Searched("x")
			change(s)
			page := string(fixture.Written(t, Report([]*peak.Saved{s}), "html"))
			if strings.Count(page, "<script>") != 1 || strings.Contains(page, "<img") {
				t.Error("text became markup")
			}
			for _, d := range drawings.FindAllString(page, -1) {
				if numbers.MatchString(d) {
					t.Errorf("a number that is none: %s", d)
				}
				for x := xml.NewDecoder(strings.NewReader(d)); ; {
					if _, err := x.Token(); err == io.EOF {
						break
					} else if err != nil {
						t.Fatalf("%v in %s", err, d)
					}
				}
			}
			fixture.Written(t, Report([]*peak.Saved{s, s}), "table")
		})
	}
}

// Any search that parses can be shown, in bounded time.
func FuzzSearchPage(f *testing.F) {
	for _, s := range []*peak.Saved{fixture.Searched("x"), stoppedSearch()} {
		raw, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(
		`{"probes":[{"target_rate_msgs_per_s":1e-300},{"target_rate_msgs_per_s":1e308,"achieved_rate_msgs_per_s":-1}],"bracket":{"stable_msgs_per_s":1e308,"unstable_msgs_per_s":1e-300}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s peak.Saved
		if json.Unmarshal(raw, &s) != nil {
			return
		}
		page := string(fixture.Written(t, Report([]*peak.Saved{&s}), "html"))
		for _, d := range drawings.FindAllString(page, -1) {
			if numbers.MatchString(d) {
				t.Errorf("a number that is none: %s", d)
			}
		}
		fixture.Written(t, Report([]*peak.Saved{&s, &s}), "table")
	})
}

// A trial whose p99 is a bound has an arrow in the drawing, and its messages without a
// latency are counted below the table. The search names its arrivals.
func TestSearchesMarkBounds(t *testing.T) {
	s := fixture.Searched("sim-20k")
	s.Load.Arrivals = "poisson"
	l := &s.Trials[3].Latency[0]
	l.Missing, l.Percentiles[0].Bound = result.Missing{Unsent: 700}, result.AtLeast
	for _, format := range []string{"table", "html"} {
		fixture.Says(t, format, fixture.Written(t, Report([]*peak.Saved{s}), format), "≥ 10s",
			"trial 4, publish: 700 messages never sent", "poisson arrivals")
	}
}

// The searches of peaks that are known say how well, and the last one has it as JSON.
func TestHowWellPeaksAreKnown(t *testing.T) {
	figure := figure.Figure{Name: figure.Peak, Unit: figure.PerSecond}
	judged := compare.Judge(0.1, 5, 1e9, []compare.Rounds{{Target: "a", Figure: figure,
		Values: map[int]float64{1: 1000, 2: 1010, 3: 990, 4: 1000, 5: 1005}}})
	r := ReportUntil([]*peak.Saved{fixture.Searched("a"), fixture.Searched("a")}, judged)
	fixture.Says(t, "the table", fixture.Written(t, r, "table"), "known after 5 rounds", "1.001k/s")
	var read []struct{ Known *known.JSON }
	raw := fixture.Written(t, r, "json")
	if err := json.Unmarshal(raw, &read); err != nil || len(read) != 2 ||
		read[0].Known != nil || read[1].Known == nil || !read[1].Known.Precise {
		t.Errorf("%v: %s", err, raw)
	}
}
