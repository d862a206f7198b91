package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// file is a workload as a file has it. Keys with several spellings have separate fields.
type file struct {
	*Workload
	curve   string // the key of the rate curve; empty: a closed loop
	rate    quantity.PerSecond
	ramp    struct{ From, To quantity.PerSecond }
	steps   []fileStep
	closed  Closed
	backlog Backlog
	faults  []fileFault
	scaling []fileGroupSize
	classes []fileClass
}

// warmup is a length, or "auto", alone or with a limit.
type warmup struct {
	length *time.Duration
	settle *bool
}

// UnmarshalText reads 30s, auto, or auto 30s.
func (v *warmup) UnmarshalText(text []byte) (err error) {
	most, auto := strings.CutPrefix(strings.TrimSpace(string(text)), "auto")
	if !auto {
		*v.settle = false
		*v.length, err = quantity.ParseDuration(string(text))
		if err != nil {
			err = fmt.Errorf("%w, or auto", err)
		}
		return err
	}
	*v.settle, *v.length = true, DefaultSettle
	if most == "" {
		return nil
	}
	*v.length, err = quantity.ParseDuration(strings.TrimSpace(most))
	if err != nil || !strings.HasPrefix(most, " ") {
		return errors.New(
			"has no duration after auto: write auto, or auto 30s for at most half a minute")
	}
	return nil
}

func (v *warmup) String() string {
	switch {
	case !*v.settle:
		return quantity.ExactDuration(*v.length)
	case *v.length == DefaultSettle:
		return "auto"
	}
	return "auto " + quantity.ExactDuration(*v.length)
}

// fileStep is a constant rate, or a slope from one rate to another.
type fileStep struct {
	Rate quantity.PerSecond `yaml:"rate"`
	From quantity.PerSecond `yaml:"from"`
	To   quantity.PerSecond `yaml:"to"`
	For  quantity.Span      `yaml:"for"`
}

func (s fileStep) String() string {
	if s.From == s.To {
		return fmt.Sprintf("{rate: %s, for: %s}", s.Rate, s.For)
	}
	return fmt.Sprintf("{from: %s, to: %s, for: %s}", s.From, s.To, s.For)
}

// defaults returns the workload of an empty file.
func defaults() *file {
	f := &file{Workload: &Workload{}}
	f.keys().SetDefaults()
	return f
}

// Default returns the workload of an empty file ("{}"), for runs that name none. Its values are the
// defaults of the fields (fields.go).
func Default() *Workload {
	f := defaults()
	w := f.resolve(strict.Unplaced())
	w.Description = "The default: a modest steady load that any system should carry"
	return w
}

// Parse reads a workload from YAML and checks every rule. Keys that are absent
// take their defaults. The file is named in errors only. The error is a strict.Violations with all
// errors.
func Parse(fileName string, src []byte) (*Workload, error) {
	f := defaults()
	keys := f.keys()
	doc := strict.Decode(fileName, src, &keys,
		"a workload needs at least {}, which is the default one")
	if doc.Broken() {
		return nil, doc.Err()
	}
	f.checkSpelling(doc)
	f.checkExistingSpelling(doc)
	f.checkFaultSpelling(doc)
	f.checkScalingSpelling(doc)
	f.checkClassSpelling(doc)
	w := f.resolve(doc)
	w.check(doc)
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return w, nil
}

// checkSpelling checks which keys of the file go together. check has the rules of the workload.
func (f *file) checkSpelling(doc *strict.Document) {
	f.checkBacklogSpelling(doc)
	if doc.Has("load.closed") {
		f.checkClosedSpelling(doc)
		f.checkKeysSpelling(doc)
		return
	}
	var given []string
	for _, curve := range []string{"load.rate", "load.steps", "load.ramp"} {
		if doc.Has(curve) {
			given = append(given, curve)
		}
	}
	if len(given) > 1 {
		doc.Reject(given[len(given)-1],
			"cannot be combined with "+strings.Join(given[:len(given)-1],
				" and ")+": keep one of rate, steps and ramp")
	}
	if doc.Has("load.ramp") {
		require(doc, "load.ramp", "{from: 1k/s, to: 10k/s}", "from", "to")
	}
	for i := range f.steps {
		checkStepSpelling(doc, fmt.Sprintf("load.steps[%d]", i))
	}
	f.checkKeysSpelling(doc)
}

func checkStepSpelling(doc *strict.Document, step string) {
	rate, from, to := doc.Has(step+".rate"), doc.Has(step+".from"), doc.Has(step+".to")
	switch {
	case rate && (from || to):
		doc.Reject(step+".rate", "cannot be combined with from and to: keep rate, or from and to")
	case from || to:
		require(doc, step, "{from: 1k/s, to: 10k/s, for: 10s}", "from", "to", "for")
	default:
		require(doc, step, "{rate: 10k/s, for: 10s}", "rate", "for")
	}
}

func (f *file) checkKeysSpelling(doc *strict.Document) {
	keyed := []KeyKind{KeysRoundRobin, KeysRandom, KeysZipf, KeysShares}
	keyless := !slices.Contains(keyed, f.Keys.Kind) && len(f.classes) == 0 ||
		slices.ContainsFunc(f.classes, func(c fileClass) bool {
			return !slices.Contains(keyed, cmp.Or(c.Keys.Kind, f.Keys.Kind))
		})
	if !keyless && doc.Has("spread") {
		doc.Reject("spread", "is for messages without a key, and keys gives them one: "+
			"remove it, or write keys: none")
	} else if keyless {
		oneOf(doc, "spread", f.Spread, []Spread{SpreadClient, SpreadRoundRobin})
	}
	if f.Keys.Kind == KeysNone && doc.Has("keys.count") {
		doc.Reject("keys.count",
			"says how many keys there are, and keys.kind is none: give another kind or remove it")
	}
	if f.Keys.Kind == KeysShares && doc.Has("keys.count") {
		doc.Reject("keys.count", "follows from keys.shares: remove it")
	}
	// An unknown kind may be a misspelt zipf: it is rejected by itself.
	even := []KeyKind{KeysNone, KeysRoundRobin, KeysRandom, KeysShares}
	if slices.Contains(even, f.Keys.Kind) && doc.Has("keys.exponent") {
		doc.Reject("keys.exponent", "is for zipf keys only: write kind: zipf or remove it")
	}
}

// require rejects a mapping that lacks some of its keys.
func require(doc *strict.Document, in, example string, keys ...string) {
	var missing []string
	for _, key := range keys {
		if !doc.Has(in + "." + key) {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		doc.Reject(in,
			fmt.Sprintf("lacks %s: write it like %s", strings.Join(missing, " and "), example))
	}
}

// resolve returns the workload of the file. The value of an absent key may follow from other
// keys.
func (f *file) resolve(doc *strict.Document) *Workload {
	w := f.Workload
	if doc.Has(existingKey) {
		w.Topics, w.Partitions = len(w.Existing), 1
	}
	w.Load = f.load(doc)
	f.resolveClasses()
	if !w.Keyless() {
		w.Spread = "" // the key decides
	}
	if w.Keys.Kind == KeysNone && !doc.Has("keys.count") {
		w.Keys.Count = 0
	}
	if w.Keys.Kind == KeysShares && !doc.Has("keys.count") {
		w.Keys.Count = w.Keys.count()
	}
	if w.Keys.Kind != KeysZipf && !doc.Has("keys.exponent") {
		w.Keys.Exponent = 0
	}
	if w.Load.Closed == nil && doc.Has("load.steps") && !doc.Has("duration") {
		w.Duration = w.Load.length()
	}
	w.Faults, w.Scaling = f.resolveFaults(doc, w.Duration), f.resolveScaling()
	switch {
	case w.Load.Closed != nil:
		w.MaxInFlight = w.Load.Closed.messages()
	case !doc.Has("max_in_flight"):
		w.LimitInFlight()
	}
	w.setBacklog(f.backlog, doc)
	return w
}

// load returns the load model that the file asks for.
func (f *file) load(doc *strict.Document) Load {
	if doc.Has("load.closed") {
		return Load{Closed: &f.closed}
	}
	l := Load{Arrivals: f.Load.Arrivals, Burst: f.Load.Burst, Segments: f.segments(doc)}
	if l.Burst == 1 {
		l.Burst = 0
	}
	return l
}

func (f *file) segments(doc *strict.Document) []Segment {
	switch {
	case doc.Has("load.steps"):
		segments := make([]Segment, 0, len(f.steps))
		for i, step := range f.steps {
			s := Segment{float64(step.From), float64(step.To), time.Duration(step.For)}
			if doc.Has(fmt.Sprintf("load.steps[%d].rate", i)) {
				s.From, s.To = float64(step.Rate), float64(step.Rate)
			}
			segments = append(segments, s)
		}
		return segments
	case doc.Has("load.ramp"):
		return []Segment{{float64(f.ramp.From), float64(f.ramp.To), f.Duration}}
	}
	return []Segment{{float64(f.rate), float64(f.rate), f.Duration}}
}

// spell returns the workload as a file has it, with the curve in the simplest of its three
// forms.
func spell(w *Workload) *file {
	f := &file{Workload: w}
	for _, s := range w.Load.Segments {
		f.steps = append(f.steps, fileStep{
			Rate: quantity.PerSecond(s.From), From: quantity.PerSecond(
				s.From), To: quantity.PerSecond(s.To),
			For: quantity.Span(s.For),
		})
	}
	switch {
	case w.Load.Closed != nil:
		f.closed = *w.Load.Closed
	case len(f.steps) != 1:
		f.curve = "load.steps"
	case f.steps[0].From == f.steps[0].To:
		f.curve, f.rate = "load.rate", f.steps[0].Rate
	default:
		f.curve, f.ramp.From, f.ramp.To = "load.ramp", f.steps[0].From, f.steps[0].To
	}
	if w.Backlog != nil {
		f.backlog = *w.Backlog
	}
	for _, g := range w.Scaling {
		f.scaling = append(f.scaling,
			fileGroupSize{quantity.Span(g.At), quantity.Whole(g.Consumers),
				quantity.Whole(g.Subscription)})
	}
	for _, c := range w.Classes {
		f.classes = append(f.classes,
			fileClass{c.Name, quantity.Fraction(c.Share), sizeRange{c.Least, c.Most},
				classKeys(c.Keys), quantity.Whole(c.Topics), quantity.Whole(c.Partitions)})
	}
	for _, fault := range w.Faults {
		f.faults = append(f.faults, fileFault{
			Do: string(fault.Do), Target: string(fault.Target), At: quantity.Span(fault.At),
			Within: quantity.Span(fault.Within), Every: quantity.Span(fault.Every),
			For: quantity.Span(fault.For), ToVersion: fault.ToVersion,
			ToPartitions: quantity.Whole(fault.ToPartitions),
		})
	}
	return f
}

func (f *file) hasBacklog() bool { return f.Backlog != nil }

func (f *file) backlogOfMessages() bool { return f.Backlog != nil && f.Backlog.Messages > 0 }

// LimitInFlight sets MaxInFlight to the value for a file that gives none: the usual bound,
// lowered until the payload that all producers may have in flight is a modest part of a
// machine's memory.
func (w *Workload) LimitInFlight() {
	w.MaxInFlight = defaultInFlight
	if each := w.largestOfEach(); each > 0 {
		w.MaxInFlight = int(max(1, min(defaultInFlight, defaultInFlightBytes/each)))
	}
}

// product multiplies counts that may be far too large: a float cannot overflow here.
func product(counts ...int) float64 {
	p := 1.0
	for _, n := range counts {
		p *= float64(n)
	}
	return p
}

// length returns the total time of the segments. It saturates.
func (l Load) length() time.Duration {
	var total time.Duration
	for _, s := range l.Segments {
		if total += s.For; total < 0 {
			return 1<<63 - 1
		}
	}
	return total
}
