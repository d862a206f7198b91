package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
)

// file is a workload as it is written.
type file struct {
	Name          string          `yaml:"name"`
	Description   string          `yaml:"description"`
	Topics        quantity.Number `yaml:"topics"`
	Partitions    quantity.Number `yaml:"partitions"`
	Producers     quantity.Number `yaml:"producers"`
	Subscriptions quantity.Number `yaml:"subscriptions"`
	Consumers     quantity.Number `yaml:"consumers"`
	Message       fileMessage     `yaml:"message"`
	Keys          fileKeys        `yaml:"keys" short:"kind"`
	Spread        string          `yaml:"spread"`
	Load          fileLoad        `yaml:"load"`
	Warmup        fileWarmup      `yaml:"warmup"`
	Duration      quantity.Span   `yaml:"duration"`
	Drain         quantity.Span   `yaml:"drain"`
	Delivery      string          `yaml:"delivery"`
	Durability    int             `yaml:"durability"`
	MaxInFlight   quantity.Number `yaml:"max_in_flight"`
	Seed          uint64          `yaml:"seed"`
	Isolate       fileIsolate     `yaml:"isolate"`
	Audit         bool            `yaml:"audit"`
	Backlog       fileBacklog     `yaml:"backlog"`
	Faults        []fileFault     `yaml:"faults"`
}

// fileWarmup is a length, or "auto", alone or with the longest that it may take.
type fileWarmup struct {
	length time.Duration
	settle bool
}

// UnmarshalText reads 30s, auto, or auto 30s.
func (v *fileWarmup) UnmarshalText(text []byte) (err error) {
	most, auto := strings.CutPrefix(strings.TrimSpace(string(text)), "auto")
	if !auto {
		v.length, err = quantity.ParseDuration(string(text))
		if err != nil {
			err = fmt.Errorf("%w, or auto", err)
		}
		return err
	}
	v.settle, v.length = true, DefaultSettle
	if most == "" {
		return nil
	}
	v.length, err = quantity.ParseDuration(strings.TrimSpace(most))
	if err != nil || !strings.HasPrefix(most, " ") {
		return errors.New("is auto with something behind it that is no duration: write auto, or auto 30s for at most half a minute")
	}
	return nil
}

type fileIsolate struct {
	DropPageCache bool `yaml:"drop_page_cache"`
}

type fileMessage struct {
	Size           quantity.Size     `yaml:"size"`
	Incompressible quantity.Fraction `yaml:"incompressible"`
}

type fileKeys struct {
	Kind     string          `yaml:"kind"`
	Count    quantity.Number `yaml:"count"`
	Exponent float64         `yaml:"exponent"`
}

type fileLoad struct {
	Rate     quantity.PerSecond `yaml:"rate"`
	Steps    []fileStep         `yaml:"steps"`
	Ramp     fileRamp           `yaml:"ramp"`
	Arrivals string             `yaml:"arrivals"`
	Closed   fileClosed         `yaml:"closed"`
}

// fileClosed is a closed loop.
type fileClosed struct {
	InFlight quantity.Number `yaml:"in_flight"`
	Batch    Batch           `yaml:"batch"`
}

// fileStep is a constant rate, or a slope from one rate to another.
type fileStep struct {
	Rate quantity.PerSecond `yaml:"rate"`
	From quantity.PerSecond `yaml:"from"`
	To   quantity.PerSecond `yaml:"to"`
	For  quantity.Span      `yaml:"for"`
}

type fileRamp struct {
	From quantity.PerSecond `yaml:"from"`
	To   quantity.PerSecond `yaml:"to"`
}

// defaults is what an empty file means.
func defaults() file {
	return file{
		Name:   "default",
		Topics: 1, Partitions: 4, Producers: 2, Subscriptions: 1, Consumers: 2,
		Message:    fileMessage{Size: 1024, Incompressible: 0.5},
		Keys:       fileKeys{Kind: string(KeysNone)},
		Spread:     string(SpreadClient),
		Load:       fileLoad{Rate: 10_000, Arrivals: string(ArrivalsConstant), Closed: fileClosed{InFlight: 1, Batch: Batch{1, 1}}},
		Warmup:     fileWarmup{length: 3 * time.Second},
		Duration:   quantity.Span(15 * time.Second),
		Drain:      quantity.Span(30 * time.Second),
		Delivery:   string(AtLeastOnce),
		Durability: int(SyncAsync),
		Seed:       1,
	}
}

// What a keyed workload means that says no more than its kind.
const (
	defaultKeys     = 10_000
	defaultExponent = 1.2
)

// Default is the workload of a run that names none, and what a file that says
// nothing ("{}") means: 1 topic, 10,000 messages of 1 KB a second, durability
// level 2.
func Default() *Workload {
	f := defaults()
	w := f.workload(strict.Unplaced())
	w.Description = "The default: a modest steady load that any system should carry"
	return w
}

// Parse reads a workload from YAML and checks every rule. Keys that are absent
// take their defaults. The file is named in errors only. The error is a
// strict.Violations with everything that is wrong.
func Parse(fileName string, src []byte) (*Workload, error) {
	f := defaults()
	doc := strict.Decode(fileName, src, &f)
	if doc.Broken() {
		return nil, doc.Err()
	}
	f.checkSpelling(doc)
	f.checkFaultSpelling(doc)
	w := f.workload(doc)
	w.check(doc)
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return w, nil
}

// checkSpelling checks the rules that are about the file and not about the
// workload it makes: which keys go together.
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
		doc.Reject(given[len(given)-1], "cannot stand beside "+strings.Join(given[:len(given)-1], " and ")+": keep one of rate, steps and ramp")
	}
	if doc.Has("load.ramp") {
		require(doc, "load.ramp", "{from: 1k/s, to: 10k/s}", "from", "to")
	}
	for i := range f.Load.Steps {
		checkStepSpelling(doc, fmt.Sprintf("load.steps[%d]", i))
	}
	f.checkKeysSpelling(doc)
}

func checkStepSpelling(doc *strict.Document, step string) {
	rate, from, to := doc.Has(step+".rate"), doc.Has(step+".from"), doc.Has(step+".to")
	switch {
	case rate && (from || to):
		doc.Reject(step+".rate", "cannot stand beside from and to: keep rate, or from and to")
	case from || to:
		require(doc, step, "{from: 1k/s, to: 10k/s, for: 10s}", "from", "to", "for")
	default:
		require(doc, step, "{rate: 10k/s, for: 10s}", "rate", "for")
	}
}

func (f *file) checkKeysSpelling(doc *strict.Document) {
	keyed := slices.Contains([]KeyKind{KeysRoundRobin, KeysRandom, KeysZipf}, KeyKind(f.Keys.Kind))
	if keyed && doc.Has("spread") {
		doc.Reject("spread", "is for messages without a key, and keys gives them one: remove it, or write keys: none")
	} else if !keyed {
		oneOf(doc, "spread", Spread(f.Spread), []Spread{SpreadClient, SpreadRoundRobin})
	}
	if KeyKind(f.Keys.Kind) == KeysNone && doc.Has("keys.count") {
		doc.Reject("keys.count", "says how many keys there are, and keys.kind is none: give another kind or remove it")
	}
	// An unknown kind may be a misspelt zipf: it is rejected by itself.
	even := []KeyKind{KeysNone, KeysRoundRobin, KeysRandom}
	if slices.Contains(even, KeyKind(f.Keys.Kind)) && doc.Has("keys.exponent") {
		doc.Reject("keys.exponent", "is for zipf keys only: write kind: zipf or remove it")
	}
}

// require rejects a mapping that was given without some of its keys.
func require(doc *strict.Document, in, example string, keys ...string) {
	var missing []string
	for _, key := range keys {
		if !doc.Has(in + "." + key) {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		doc.Reject(in, fmt.Sprintf("lacks %s: write it like %s", strings.Join(missing, " and "), example))
	}
}

// workload is what the file means, defaults filled in.
func (f *file) workload(doc *strict.Document) *Workload {
	w := &Workload{
		Name: f.Name, Description: f.Description,
		Topics: int(f.Topics), Partitions: int(f.Partitions), Producers: int(f.Producers),
		Subscriptions: int(f.Subscriptions), Consumers: int(f.Consumers),
		Message: Message{Size: int64(f.Message.Size), Incompressible: float64(f.Message.Incompressible)},
		Keys:    Keys{Kind: KeyKind(f.Keys.Kind), Count: int(f.Keys.Count), Exponent: f.Keys.Exponent},
		Spread:  Spread(f.Spread),
		Load:    f.load(doc),
		Warmup:  f.Warmup.length, Settle: f.Warmup.settle, Duration: time.Duration(f.Duration), Drain: time.Duration(f.Drain),
		Delivery: Delivery(f.Delivery), Durability: Level(f.Durability),
		MaxInFlight: int(f.MaxInFlight), Seed: f.Seed,
		Isolate: Isolate(f.Isolate), Audit: f.Audit,
		Faults: f.faults(doc),
	}
	if w.Keys.Kind != KeysNone {
		w.Spread = "" // the key decides
		if !doc.Has("keys.count") {
			w.Keys.Count = defaultKeys
		}
	}
	if w.Keys.Kind == KeysZipf && !doc.Has("keys.exponent") {
		w.Keys.Exponent = defaultExponent
	}
	if w.Load.Closed == nil && doc.Has("load.steps") && !doc.Has("duration") {
		w.Duration = w.Load.length()
	}
	switch {
	case w.Load.Closed != nil:
		w.MaxInFlight = w.Load.Closed.messages()
	case !doc.Has("max_in_flight"):
		w.LimitInFlight()
	}
	w.setBacklog(f.Backlog, doc)
	return w
}

// load is the model that the file asks for.
func (f *file) load(doc *strict.Document) Load {
	if doc.Has("load.closed") {
		return Load{Closed: &Closed{InFlight: int(f.Load.Closed.InFlight), Batch: f.Load.Closed.Batch}}
	}
	return Load{Arrivals: Arrivals(f.Load.Arrivals), Segments: f.segments(doc)}
}

func (f *file) segments(doc *strict.Document) []Segment {
	switch {
	case doc.Has("load.steps"):
		segments := make([]Segment, 0, len(f.Load.Steps))
		for i, step := range f.Load.Steps {
			s := Segment{float64(step.From), float64(step.To), time.Duration(step.For)}
			if doc.Has(fmt.Sprintf("load.steps[%d].rate", i)) {
				s.From, s.To = float64(step.Rate), float64(step.Rate)
			}
			segments = append(segments, s)
		}
		return segments
	case doc.Has("load.ramp"):
		return []Segment{{float64(f.Load.Ramp.From), float64(f.Load.Ramp.To), time.Duration(f.Duration)}}
	}
	return []Segment{{float64(f.Load.Rate), float64(f.Load.Rate), time.Duration(f.Duration)}}
}

// LimitInFlight sets MaxInFlight to what a file that gives none has: the usual
// bound, lowered until the payload that all producers may have under way is a
// modest part of a machine's memory.
func (w *Workload) LimitInFlight() {
	w.MaxInFlight = defaultInFlight
	if each := product(w.Topics, w.Producers) * float64(w.Message.Size); each > 0 {
		w.MaxInFlight = int(max(1, min(defaultInFlight, defaultInFlightBytes/each)))
	}
}

// product multiplies counts that may be absurd: a float cannot overflow here.
func product(counts ...int) float64 {
	p := 1.0
	for _, n := range counts {
		p *= float64(n)
	}
	return p
}

// length is the time that the segments take together, saturating.
func (l Load) length() time.Duration {
	var total time.Duration
	for _, s := range l.Segments {
		if total += s.For; total < 0 {
			return 1<<63 - 1
		}
	}
	return total
}
