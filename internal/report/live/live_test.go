package live

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

var livePlan = Plan{TargetRate: 20_000, Subscriptions: 1, Phases: []PlannedPhase{
	{Name: result.PhaseConnect}, {Name: result.PhaseWarmup, Ns: 3e9},
	{Name: result.PhaseMeasure, Ns: 8e9},
	{Name: result.PhaseDrain, Ns: 30e9, AtMost: true},
}}

// watch shows the fixture's intervals to a live view.
func watch(l *View, s *result.Saved) {
	l.Plan(livePlan)
	l.Phase(result.PhaseConnect, "three servers, level 2")
	l.Phase(result.PhaseWarmup, "20k/s for 3s")
	for k, i := range s.Intervals {
		if k == 3 {
			l.Phase(result.PhaseMeasure, "20k/s for 8s")
		}
		if k == 6 {
			l.say("node2 was paused")
			i.Failed = 1234
		}
		l.Interval(i)
	}
	l.Close()
}

// TestLivePanel compares the panel at several moments and widths with golden files.
func TestLivePanel(t *testing.T) {
	s, b := fixture.Small.Load(t), strings.Builder{}
	for _, width := range []int{79, 120, 39} {
		p := progress{plan: livePlan}
		show := func(when string) {
			fmt.Fprintf(&b, "%d columns, %s\n", width, when)
			for _, l := range p.panel(width) {
				if l.columns() > width {
					t.Errorf("a line of %d columns: %q", l.columns(), l.text(false))
				}
				b.WriteString("|" + l.text(false) + "\n")
			}
			b.WriteString("\n")
		}
		show("before anything")
		p.enter(result.PhaseWarmup, 0)
		show("at the start of the warm-up")
		for k, i := range s.Intervals {
			p.add(i)
			if k == 6 || k == len(s.Intervals)-1 {
				show(fmt.Sprintf("after interval %d", k))
			}
		}
	}
	fixture.Golden(t, "live.panel", []byte(b.String()))
}

func TestLiveLines(t *testing.T) {
	var b bytes.Buffer
	watch(New(&b, false, nil), fixture.Small.Load(t))
	fixture.Golden(t, "live.lines", b.Bytes())
	if bytes.Contains(b.Bytes(), []byte("\x1b")) {
		t.Error("there are control sequences where there is no terminal")
	}
}

// screen is as much of a terminal as the live view needs.
type screen struct {
	lines []string
	row   int
}

func (s *screen) Write(p []byte) (int, error) {
	for rest := string(p); rest != ""; {
		var rows int
		switch rest[0] {
		case '\x1b':
			if n, _ := fmt.Sscanf(rest, "\x1b[%dA", &rows); n == 1 {
				if s.row -= rows; s.row < 0 {
					return 0, fmt.Errorf("moved above the screen")
				}
				rest = rest[strings.IndexByte(rest, 'A')+1:]
				continue
			}
			if !strings.HasPrefix(rest, "\x1b[J") {
				return 0, fmt.Errorf("unknown sequence %q", rest[:min(len(rest), 8)])
			}
			s.lines, rest = s.lines[:s.row], rest[len("\x1b[J"):]
		case '\r':
			rest = rest[1:]
		default:
			line, after, _ := strings.Cut(rest, "\n")
			s.lines, s.row, rest = append(s.lines[:s.row], line), s.row+1, after
		}
	}
	return len(p), nil
}

func TestLivePaintsInPlace(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var out screen
	watch(New(&out, true, func() int { return 80 }), fixture.Small.Load(t))
	fixture.Golden(t, "live.screen", []byte(strings.Join(out.lines, "\n")+"\n"))
}

// A terminal that cannot move the cursor gets the lines of a pipe.
func TestLiveOnADumbTerminal(t *testing.T) {
	t.Setenv("TERM", "dumb")
	var dumb, pipe bytes.Buffer
	watch(New(&dumb, true, func() int { return 80 }), fixture.Small.Load(t))
	watch(New(&pipe, false, nil), fixture.Small.Load(t))
	if dumb.String() != pipe.String() || strings.Contains(dumb.String(), "\x1b") {
		t.Errorf("%q", dumb.String())
	}
}

func TestLiveErasesWrappedLines(t *testing.T) {
	if got, want := erase([]int{79, 10, 0}, 40), "\x1b[4A\r\x1b[J"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := erase(nil, 40); got != "" {
		t.Errorf("nothing was painted, yet %q", got)
	}
}

func TestLiveColour(t *testing.T) {
	for value, want := range map[string]bool{"": true, "1": false} {
		t.Setenv("NO_COLOR", value)
		var b bytes.Buffer
		watch(New(&b, true, nil), fixture.Small.Load(t))
		if got := strings.Contains(b.String(), "\x1b[1m"); got != want {
			t.Errorf("NO_COLOR=%q: coloured is %v", value, got)
		}
		if WantColor(false) {
			t.Error("colour without a terminal")
		}
	}
}

func TestLiveOfStrangeIntervals(t *testing.T) {
	var b bytes.Buffer
	l := New(&b, true, func() int { return 0 })
	l.Interval(result.Interval{})
	l.Phase("", "")
	l.say("a\x1b[2Jb")
	l.Interval(result.Interval{StartNs: 5, EndNs: 1})
	l.Close()
	l.Interval(result.Interval{})
	l.say("after the end")
	s := b.String()
	for _, bad := range []string{"NaN", "Inf", "\x1b[2J"} {
		if strings.Contains(s, bad) {
			t.Errorf("%q holds %q", s, bad)
		}
	}
	if !strings.Contains(s, "after the end") {
		t.Error("what is said after the end is lost")
	}
}

// TestLiveCountsThePhaseOnly: a long start-up before the first interval is not part of the
// warm-up.
func TestLiveCountsThePhaseOnly(t *testing.T) {
	p := progress{plan: livePlan}
	p.enter(result.PhaseWarmup, 0)
	p.add(result.Interval{Phase: result.PhaseWarmup, StartNs: 77e9, EndNs: 78e9})
	if got, want := p.sentence(), "warmup 1s, 10s left: "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLiveShowsAWarmUp: the panel says how far a warm-up has come until it is over, and what is
// said meanwhile stays above it.
func TestLiveShowsAWarmUp(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var out screen
	l := New(&out, true, func() int { return 80 })
	l.Plan(livePlan)
	l.Phase(result.PhaseConnect, "warming up")
	l.Warming("3s, at most 5m")
	l.Say("\nstopping: what was measured is kept")
	l.Warming("4s, at most 5m")
	got := strings.Join(out.lines, "\n")
	want := "connect: warming up\n\nstopping: what was measured is kept\nwarm-up "
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "4s, at most 5m") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	l.Phase(result.PhaseConnect, "at rest")
	if got := strings.Join(out.lines, "\n"); strings.Contains(got, "warm-up") {
		t.Errorf("the warm-up is over:\n%s", got)
	}
}

// The picture of a search fits into any width, and is complete.
func TestLiveSearch(t *testing.T) {
	s, b := fixture.Searched("sim-20k"), strings.Builder{}
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
	fixture.Golden(t, "live.search", []byte(b.String()))
}

// On a terminal each trial replaces the one before, and the last goes away; elsewhere each is a
// line.
func TestLiveSearchLines(t *testing.T) {
	s := fixture.Searched("sim-20k")
	for _, isTerminal := range []bool{true, false} {
		var b bytes.Buffer
		l := New(&b, isTerminal, nil)
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
