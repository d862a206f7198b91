package live

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Plan is what a live view needs to know before a run.
type Plan struct {
	Name          string  // of the run
	TargetRate    float64 // mean messages per second over the measured window; 0: a closed loop
	Closed        bool    // a closed loop: the answers set the offered rate
	Subscriptions int     // of each topic: received messages are divided by it
	Phases        []PlannedPhase
}

// PlannedPhase is a phase and how long it should last, in the order of the
// run. Ns is 0 for a phase that lasts until something is finished.
type PlannedPhase struct {
	Name   result.PhaseName
	Ns     int64
	AtMost bool // it ends as soon as it can, and does not count in the time left
}

// View shows a run in progress: on a terminal as a panel that is repainted in place, elsewhere
// as a line for each interval. Its methods may be called from any goroutine. Write errors are
// ignored, so that they do not end the run.
type View struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	paint    document.Paint
	width    func() int
	state    progress
	painted  []int // columns of each line of the panel on the screen
	closed   bool
	toldNs   int64 // time of the run when the last line was written
}

// Around faults a run has short intervals: a line a second is enough.
const (
	shortInterval     = 200_000_000
	leastBetweenLines = 1_000_000_000
)

// WantColor reports whether output should be coloured: on a terminal that obeys escape sequences,
// unless NO_COLOR is set in the environment.
func WantColor(isTerminal bool) bool { return obeys(isTerminal) && os.Getenv("NO_COLOR") == "" }

// obeys reports whether a terminal obeys escape sequences. One that calls itself dumb does not.
func obeys(isTerminal bool) bool { return isTerminal && os.Getenv("TERM") != "dumb" }

// New returns a live view that writes to w. On a terminal that obeys escape sequences it asks for
// the width before each painting, because windows change their size.
func New(w io.Writer, isTerminal bool, width func() int) *View {
	return &View{w: w, terminal: obeys(isTerminal), paint: document.Paint(WantColor(isTerminal)),
		width: width}
}

// Plan sets the plan of the next run, whose panel takes the place of that of the run before.
func (l *View) Plan(p Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	l.toldNs, l.state = 0, progress{plan: p}
}

// Phase announces a phase with a sentence that stays on the screen; the sentence may be
// empty.
func (l *View) Phase(name result.PhaseName, sentence string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.enter(name, l.state.now)
	if sentence != "" {
		l.say(string(name) + ": " + sentence)
		return
	}
	l.repaint("")
}

// Say writes printable lines as they are. They stay on the screen, above the panel.
func (l *View) Say(lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.terminal || l.closed {
		l.write(lines)
		return
	}
	l.repaint(strings.TrimSuffix(lines, "\n") + "\n")
}

// Warming shows how far a warm-up has come, on a terminal until the next call or phase.
func (l *View) Warming(words string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.warming = words
	l.repaint("")
}

// Interval shows the figures of the last interval.
func (l *View) Interval(i result.Interval) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.add(i)
	l.repaint("")
	if l.terminal || l.closed ||
		i.EndNs-i.StartNs < shortInterval && i.EndNs-l.toldNs < leastBetweenLines {
		return
	}
	l.toldNs = i.EndNs
	l.write(l.state.sentence() + "\n")
}

// Close ends the view. The panel goes away, the lines above it stay.
func (l *View) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	l.closed = true
}

// clear removes the panel from the screen.
func (l *View) clear() {
	if out := erase(l.painted, l.columns()+1); out != "" {
		l.write(out)
	}
	l.painted = nil
}

// say writes a line that stays on the screen, above the panel.
func (l *View) say(sentence string) {
	sentence = document.Clean(sentence)
	if !l.terminal || l.closed {
		l.write(sentence + "\n")
		return
	}
	l.repaint(strings.Join(document.Wrap(sentence, l.columns()), "\n") + "\n")
}

// columns is the width to paint in: a line that fills the last column makes
// some terminals wrap.
func (l *View) columns() int {
	width := defaultWidth
	if l.width != nil {
		if w := l.width(); w > 0 {
			width = w
		}
	}
	return max(width-1, 20)
}

// repaint replaces the panel on the screen, below a text that stays. It writes once, so that
// nothing flickers.
func (l *View) repaint(above string) {
	if !l.terminal || l.closed {
		return
	}
	width := l.columns()
	out := erase(l.painted, width+1) + above
	l.painted = l.painted[:0]
	for _, line := range l.state.panel(width) {
		out += line.text(l.paint) + "\n"
		l.painted = append(l.painted, line.columns())
	}
	l.write(out)
}

// erase moves to the top of the painted panel and clears from there. In a window that has become
// narrower, a line takes several rows.
func erase(painted []int, width int) string {
	rows := 0
	for _, columns := range painted {
		rows += max((columns+width-1)/width, 1)
	}
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", rows)
}

func (l *View) write(s string) { _, _ = io.WriteString(l.w, s) }

// Trial announces a trial of a search. The picture of the search stands above the run's own
// panel; both replace those of the trial before.
func (l *View) Trial(p Plan, s *peak.Saved, step peak.Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = progress{plan: p, search: &picture{s, step}}
	l.repaint("")
	if !l.terminal && !l.closed {
		l.write(fmt.Sprintf("%s: trial %d of at most %d: %s at %s\n", document.Clean(s.Name),
			len(s.Trials)+1, s.Plan.Most(),
			trial.Kind(step.Kind, step.Long), phrase.Rate(step.Rate)))
	}
}

// TrialEnded reports the outcome of the last trial. A terminal shows it in the picture, in place
// of the trial's own panel.
func (l *View) TrialEnded(s *peak.Saved) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(s.Trials) == 0 {
		return
	}
	if l.terminal {
		l.state = progress{search: &picture{saved: s}}
		l.repaint("")
		return
	}
	p := &s.Trials[len(s.Trials)-1]
	word, _ := trial.Outcome(p)
	why := ""
	if c, broken := p.Verdict.Broken(); broken {
		why = ": " + document.Clean(c.Sentence)
	}
	l.write(fmt.Sprintf("%s: %s was %s, %s achieved%s; bracket %s\n", document.Clean(s.Name),
		phrase.Rate(p.TargetRate), word, phrase.Rate(p.AchievedRate), why,
		trial.Bracket(s.Bracket)))
}
