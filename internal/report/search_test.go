package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// trialOf returns a trial of a system that carries 20k/s.
func trialOf(number int, kind peak.Kind, target float64) peak.Trial {
	const capacity = 20_000
	stable, slope := target <= capacity, max(target-capacity, 0)
	p99 := int64(3e6 + 200*target)
	p := peak.Trial{
		Number: number, Dir: fmt.Sprintf("2026-11-21T1015%02d-sim-1kb",
			number), Kind: kind, Long: kind == peak.Confirm, Judged: true,
		TargetRate: target, OfferedRate: target, AchievedRate: min(target,
			capacity), ReceivedRate: min(target, capacity), WindowSeconds: 10,
		Verdict: verdict.Stability{Stable: stable, Sloped: true, SlopeRate: slope,
			SlopeLow: slope - 12, SlopeHigh: slope + 15, Clauses: []verdict.Clause{
				{Name: verdict.ClauseWhole, Outcome: result.Holds,
					Sentence: "the whole window was measured: 10s"},
				{Name: verdict.ClauseBacklog, Outcome: result.Holds,
					Sentence: "what waits is not shown to grow"},
			}},
	}
	if p.Long {
		p.WindowSeconds = 20
	}
	if !stable {
		p99 = int64(slope / capacity * 1e10)
		p.Verdict.Clauses[1].Outcome, p.Verdict.Clauses[1].Sentence = result.Broken, fmt.Sprintf(
			"what waits grows by %s", figure.PerSecond.Print(slope))
	}
	for i, s := range []result.Series{result.Publish, result.EndToEnd} {
		p.Latency = append(p.Latency, result.Latency{Series: s, Count: 100_000,
			Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: p99 * int64(10+i) / 10}}})
	}
	return p
}

// searched is a successful search with one repeated trial.
func searched(name string) *peak.Saved {
	s := &peak.Saved{
		Record: experiment.Record{
			SchemaVersion: 1, ID: "2026-11-21T101502-peak-" + name, Name: name,
			State: result.Complete, StartedAt: time.Date(2026, 11, 21, 10, 15, 2, 0, time.UTC),
			Asked: result.Asked{Workload: "name: 1kb\n", Target: "system: sim\n"},
		},
		Plan: peak.Plan{StartRate: 5_000, Tolerance: 0.03, Confirmations: 2, MaxTrials: 12,
			LeastRate: 10, MostRate: 1e8},
		Objectives: []string{
			"publish.p99<20ms"}, TrialSeconds: 10, ConfirmSeconds: 20, MaxSeconds: 1800,
		System: result.System{Name: "sim", SharesHost: true}, Load: result.Load{MessageBytes: 1024,
			Subscriptions: 1},
		Durability: result.Durability{Asked: 2, Level: 2,
			Meaning: "replicated to a majority, in memory"},
		Bracket: peak.Bracket{StableRate: 19_850, Confirmed: 2,
			UnstableRate: 20_416}, End: peak.Found,
		Reason: "at 20.42k/s: what waits grows by 416/s",
		Side: &verdict.Side{Name: verdict.SidePublish,
			Sentence: "what is due and not acknowledged grows by 416/s", Resource: "cpu",
			Use: "93% of all cores (7.44 of 8 cores) was used"},
		Trials: []peak.Trial{trialOf(1, peak.Ramp, 5_000), trialOf(2, peak.Ramp, 10_000),
			trialOf(3, peak.Repeat, 10_000), trialOf(4, peak.Ramp, 40_000),
			trialOf(5, peak.Guess, 19_850), trialOf(6, peak.Guess, 20_416), trialOf(7, peak.Confirm,
				19_850), trialOf(8, peak.Confirm, 19_850)},
	}
	again := &s.Trials[1]
	again.Repeated, again.Verdict.Stable, again.AchievedRate, again.Noise = true, false, 9_700,
		"a noisy machine"
	return s
}

// stoppedSearch ended in the middle of its second trial.
func stoppedSearch() *peak.Saved {
	s := searched("stopped")
	s.State, s.StateReason, s.End, s.Trials = result.Interrupted, "stopped on request",
		peak.Stopped, s.Trials[:2]
	s.Bracket, s.Reason, s.Side = peak.Bracket{StableRate: 5_000}, "", nil
	s.Trials[1].Judged, s.Trials[1].Repeated = false, false
	return s
}

func TestSearchGolden(t *testing.T) {
	for name, searches := range map[string][]*peak.Saved{
		"search-one": {searched("sim-20k")}, "search-two": {searched("sim-20k"),
			stoppedSearch()}, "search-none": nil,
	} {
		for _, format := range []string{"table", "html"} {
			var b bytes.Buffer
			if err := Searches(searches).Write(&b, format, document.Layout{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+"."+format, withoutParts(b.Bytes()))
		}
	}
}

func TestSearchJSONIsWhatWasSaved(t *testing.T) {
	var b bytes.Buffer
	if err := Searches([]*peak.Saved{searched("a"), stoppedSearch()}).Write(&b, "json",
		document.Layout{}); err != nil {
		t.Fatal(err)
	}
	var back []peak.Saved
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != 2 ||
		back[0].Bracket.StableRate != 19_850 || len(back[1].Trials) != 2 {
		t.Errorf("%v: %+v", err, back)
	}
}

func TestSearchRefusesOtherFormats(t *testing.T) {
	for format, says := range map[string]string{"csv": "card.png or post, not as",
		"htlm": `did you mean "html"`} {
		err := Searches(nil).Write(io.Discard, format, document.Layout{})
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
			s := searched("x")
			change(s)
			var b bytes.Buffer
			if err := Searches([]*peak.Saved{s}).Page(&b); err != nil {
				t.Fatal(err)
			}
			page := b.String()
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
			if err := Searches([]*peak.Saved{s, s}).Write(io.Discard, "table", document.Layout{Color: true}); err != nil {
				t.Error(err)
			}
		})
	}
}

// The picture of a search fits into any width, and is complete.
func TestLiveSearch(t *testing.T) {
	s, b := searched("sim-20k"), strings.Builder{}
	s.Trials, s.Bracket = s.Trials[:4], peak.Bracket{StableRate: 10_000, UnstableRate: 40_000}
	step := peak.Step{Kind: peak.Guess, Rate: 19_850}
	for _, width := range []int{119, 79, 39} {
		p := progress{plan: livePlan, search: &picture{s, step}}
		fmt.Fprintf(&b, "%d columns\n", width)
		for _, l := range p.panel(width) {
			if l.columns() > width {
				t.Errorf("a line of %d columns: %q", l.columns(), l.text(false))
			}
			b.WriteString("|" + l.text(false) + "\n")
		}
	}
	golden(t, "live.search", []byte(b.String()))
}

// On a terminal each trial replaces the one before, and the last goes away; elsewhere each is a line.
func TestLiveSearchLines(t *testing.T) {
	s := searched("sim-20k")
	for _, isTerminal := range []bool{true, false} {
		var b bytes.Buffer
		l := NewLive(&b, isTerminal, nil)
		l.Trial(livePlan, s, peak.Step{Kind: peak.Ramp, Rate: 5_000})
		l.TrialEnded(s)
		l.Trial(livePlan, s, peak.Step{Kind: peak.Ramp, Rate: 10_000})
		l.Close()
		out := b.String()
		if erased := strings.Count(out, "\x1b[J"); isTerminal && erased != 3 || !isTerminal &&
			erased != 0 {
			t.Errorf("terminal %v: erased %d times: %q", isTerminal, erased, out)
		}
		if !isTerminal && strings.Count(out, "\n") != 3 {
			t.Errorf("%q", out)
		}
	}
}

// Any search that parses can be shown, in bounded time.
func FuzzSearchPage(f *testing.F) {
	for _, s := range []*peak.Saved{searched("x"), stoppedSearch()} {
		raw, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"probes":[{"target_rate_msgs_per_s":1e-300},{"target_rate_msgs_per_s":1e308,"achieved_rate_msgs_per_s":-1}],"bracket":{"stable_msgs_per_s":1e308,"unstable_msgs_per_s":1e-300}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s peak.Saved
		if json.Unmarshal(raw, &s) != nil {
			return
		}
		var page bytes.Buffer
		if err := Searches([]*peak.Saved{&s}).Page(&page); err != nil {
			t.Fatal(err)
		}
		for _, d := range drawings.FindAllString(page.String(), -1) {
			if numbers.MatchString(d) {
				t.Errorf("a number that is none: %s", d)
			}
		}
		if err := Searches([]*peak.Saved{&s, &s}).Write(io.Discard, "table", document.Layout{}); err != nil {
			t.Fatal(err)
		}
	})
}
