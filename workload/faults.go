package workload

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// fileFault is a fault as a file has it.
type fileFault struct {
	Do     string        `yaml:"do"`
	Target string        `yaml:"target" was:"whom"`
	At     quantity.Span `yaml:"at"`
	Within quantity.Span `yaml:"within"`
	Every  quantity.Span `yaml:"every"`
	For    quantity.Span `yaml:"for"`

	ToVersion    string         `yaml:"to_version"`
	ToPartitions quantity.Whole `yaml:"to_partitions"`
}

func (f fileFault) String() string {
	out := fmt.Sprintf("{do: %s, target: %s, at: %s", f.Do, strict.Quote(f.Target), f.At)
	if f.Within > 0 {
		out += ", within: " + f.Within.String()
	}
	if f.Every > 0 {
		out += ", every: " + f.Every.String()
	}
	out += ", for: " + f.For.String()
	if f.ToVersion != "" {
		out += ", to_version: " + strict.Quote(f.ToVersion)
	}
	if f.ToPartitions > 0 {
		out += ", to_partitions: " + f.ToPartitions.String()
	}
	return out + "}"
}

// DefaultFaultFor is the length of a fault that gives none.
const DefaultFaultFor = 10 * time.Second

// Strike is one occurrence of a fault.
type Strike struct {
	Fault Fault
	// At is the time of the strike since the measured window began.
	At time.Duration
}

// checkFaultSpelling checks which keys go together in the file's faults.
func (f *file) checkFaultSpelling(doc *strict.Document) {
	for i := range f.faults {
		require(doc, fmt.Sprintf("faults[%d]", i), "{do: kill, target: leader, at: 20s, for: 10s}",
			"do", "at")
	}
}

// resolveFaults returns the faults of the file with their defaults, in a window of that duration.
func (f *file) resolveFaults(doc *strict.Document, window time.Duration) []Fault {
	var all []Fault
	for i, given := range f.faults {
		path := fmt.Sprintf("faults[%d]", i)
		fault := Fault{
			Do: FaultKind(given.Do), Target: FaultTarget(given.Target), At: time.Duration(given.At),
			Within: time.Duration(given.Within), Every: time.Duration(given.Every),
			For: time.Duration(given.For), ToVersion: given.ToVersion,
			ToPartitions: int(given.ToPartitions),
		}
		if !doc.Has(path + ".target") {
			fault.Target = fault.Do.defaultTarget()
		}
		if !doc.Has(path + ".for") {
			fault.For = fault.DefaultFor(window)
		}
		all = append(all, fault)
	}
	return all
}

// checkFaults checks the rules of faults: each ends within the window, and faults do not
// overlap.
func (w *Workload) checkFaults(doc *strict.Document) {
	for i, f := range w.Faults {
		w.checkFault(doc, fmt.Sprintf("faults[%d]", i), f)
	}
	if len(w.Faults) > 0 && w.Backlog != nil {
		doc.Reject("faults",
			"cannot be combined with backlog, whose window ends when it has been read: leave one "+
				"of "+
				"them out")
	}
	if doc.Failed("faults") || doc.Failed("duration") {
		return
	}
	type span struct {
		fault    int
		from, to time.Duration
	}
	var spans []span
	for i, f := range w.Faults {
		for _, from := range w.times(f) {
			spans = append(spans, span{i, from, from + f.Within + f.For})
		}
	}
	if len(spans) > MaxStrikes {
		doc.Reject("faults", fmt.Sprintf("happen %s times: keep them to %d or fewer",
			quantity.Count(int64(len(spans))), MaxStrikes))
		return
	}
	if why := cmp.Or(w.refuseResize(), w.refuseAdding()); why != "" {
		doc.Reject("faults", why)
		return
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	for i := 1; i < len(spans); i++ {
		if before, after := spans[i-1], spans[i]; after.from < before.to {
			doc.Reject(fmt.Sprintf("faults[%d]", max(before.fault, after.fault)),
				fmt.Sprintf("may begin at %s, when the fault before it may last until %s: one at "+
					"a time, leave more time between them",
					quantity.ExactDuration(after.from), quantity.ExactDuration(before.to)))
			return
		}
	}
}

// refuseResize says why the servers that join and leave cannot be had together with the other
// faults; "": they can.
func (w *Workload) refuseResize() string {
	var joins, upgrades bool
	for _, f := range w.Faults {
		joins, upgrades = joins || f.Do == FaultScaleOut, upgrades || f.ToVersion != ""
	}
	extra, _ := w.Extra()
	switch {
	case joins && upgrades:
		return fmt.Sprintf("have an upgrade and %s, whose server has the first version: leave one "+
			"of them out", FaultScaleOut)
	case extra > MaxExtra:
		return fmt.Sprintf("need %d servers beside the target's nodes: keep %s and %s to %d or "+
			"fewer", extra, FaultScaleOut, FaultScaleIn, MaxExtra)
	}
	return ""
}

// refuseAdding says why partitions cannot be added with this load; "": they can, or none are.
func (w *Workload) refuseAdding() string {
	at := slices.IndexFunc(w.Faults, func(f Fault) bool { return f.Do == FaultAddPartitions })
	switch {
	case at < 0:
		return ""
	case len(w.times(w.Faults[at])) > 1 || slices.ContainsFunc(w.Faults[at+1:],
		func(f Fault) bool { return f.Do == FaultAddPartitions }):
		return fmt.Sprintf("add partitions more than once: keep one %s", FaultAddPartitions)
	case w.Existing != nil:
		return fmt.Sprintf("would change topics that exist already: leave %s or existing_topics "+
			"out", FaultAddPartitions)
	case len(w.Scaling) > 0:
		return fmt.Sprintf("add partitions while the number of consumers changes: leave %s or "+
			"scaling out", FaultAddPartitions)
	}
	return ""
}

func (w *Workload) checkFault(doc *strict.Document, path string, f Fault) {
	oneOf(doc, path+".do", f.Do, slices.Concat(FaultKinds(), scenarios()))
	switch only := f.Do.defaultTarget(); {
	case f.Do.Resizes() && f.Target != only:
		doc.Reject(path+".target", fmt.Sprintf("must be %s, the server that %s needs beside the "+
			"target's nodes: leave it out", only, f.Do))
	case f.Do == FaultAddPartitions && f.Target != only:
		doc.Reject(path+".target", fmt.Sprintf("is for faults of servers: leave it out, and write "+
			"the number of partitions like '%s to 12'", FaultAddPartitions))
	case f.Do.IsScenario() && f.Target != only:
		doc.Reject(path+".target", fmt.Sprintf("must be %s, because %s concerns every node: "+
			"write %s, or do: %s for some of them", only, f.Do, only, FaultRestart))
	case f.Target == TargetExtra && !f.Do.Resizes():
		doc.Reject(path+".target", fmt.Sprintf("is for %s and %s only: name a node",
			FaultScaleOut, FaultScaleIn))
	}
	if message := strict.CheckName(string(f.Target), MaxName); message != "" {
		doc.Reject(path+".target", message)
	}
	f.checkVersion(doc, path+".to_version")
	w.checkAdding(doc, path, f)
	for _, t := range []struct {
		key  string
		d    time.Duration
		wish bool
	}{{"at", f.At, f.At >= 0}, {"within", f.Within, f.Within >= 0},
		{"every", f.Every, f.Every >= 0}, {"for", f.For, f.For > 0}} {
		if !t.wish || t.d > MaxDuration {
			least := map[bool]string{true: "above 0s", false: "0s or more"}[t.key == "for"]
			doc.Reject(path+"."+t.key, fmt.Sprintf("must be %s and at most %s, not %s", least,
				quantity.Duration(int64(MaxDuration)), quantity.Duration(int64(t.d))))
		}
	}
	if doc.Failed(path) || doc.Failed("duration") {
		return
	}
	if end := f.At + f.Within + f.For; end > w.Duration {
		doc.Reject(path,
			fmt.Sprintf("may last until %s of the measured window, which ends at %s: let it "+
				"begin earlier or be shorter, or make the duration longer",
				quantity.ExactDuration(end), quantity.ExactDuration(w.Duration)))
	}
	if f.Every > 0 && f.Every < f.Within+f.For {
		doc.Reject(path+".every", fmt.Sprintf(
			"is %s, and the fault may take %s: one at a time, leave more time between them",
			quantity.ExactDuration(f.Every), quantity.ExactDuration(f.Within+f.For)))
	}
}

// checkVersion checks that only a rolling restart has another version.
func (f Fault) checkVersion(doc *strict.Document, path string) {
	if f.ToVersion == "" {
		return
	}
	if f.Do != FaultRollingRestart {
		doc.Reject(path, fmt.Sprintf("is for do: %s only: remove it", FaultRollingRestart))
	}
	if message := strict.CheckName(f.ToVersion, MaxName); message != "" {
		doc.Reject(path, message)
	}
}

// checkAdding checks the number of partitions after some were added.
func (w *Workload) checkAdding(doc *strict.Document, path string, f Fault) {
	number := path + ".to_partitions"
	switch adds := f.Do == FaultAddPartitions; {
	case !adds && f.ToPartitions != 0:
		doc.Reject(number, fmt.Sprintf("is for do: %s only: remove it", FaultAddPartitions))
	case !adds || doc.Failed("partitions"):
	case slices.ContainsFunc(w.Classes, func(c Class) bool { return c.Partitions > 0 }):
		doc.Reject(path, fmt.Sprintf("is do: %s, and classes have partitions of their own: leave "+
			"one of them out", FaultAddPartitions))
	case f.ToPartitions == 0:
		doc.Reject(number, fmt.Sprintf("is missing: say how many partitions each topic has then, "+
			"such as 'add-partitions to %d at %s'", 2*w.Partitions, quantity.ExactDuration(f.At)))
	case f.ToPartitions <= w.Partitions || f.ToPartitions > MaxCount:
		doc.Reject(number, fmt.Sprintf("must be more than the %s partitions that a topic has, and "+
			"at most %s, not %s", quantity.Count(int64(w.Partitions)), quantity.Count(MaxCount),
			quantity.Count(int64(f.ToPartitions))))
	default:
		atMost(doc, number, "topics x producers x partitions",
			product(w.Topics, w.Producers, f.ToPartitions), MaxTotal)
	}
}

// times returns the earliest moments of the strikes of a fault that end within the window. It
// gives up above MaxStrikes.
func (w *Workload) times(f Fault) []time.Duration {
	out := []time.Duration{f.At}
	for f.Every > 0 && len(out) <= MaxStrikes {
		next := out[len(out)-1] + f.Every
		if next+f.Within+f.For > w.Duration {
			break
		}
		out = append(out, next)
	}
	return out
}

// Strikes returns all strikes of the faults of a valid workload, in order. They are a pure
// function of faults, window and seed.
func (w *Workload) Strikes() []Strike {
	var all []Strike
	for i, f := range w.Faults {
		for n, at := range w.times(f) {
			draw := rand.New(rand.NewPCG(w.Seed, uint64(i)<<32|uint64(n)))
			all = append(all,
				Strike{Fault: f, At: at + time.Duration(draw.Int64N(int64(f.Within)+1))})
		}
	}
	slices.SortFunc(all, func(a, b Strike) int { return int(a.At - b.At) })
	return all
}

// String returns the fault as ParseFault reads it.
func (f Fault) String() string {
	out := string(f.Do)
	if f.Do != FaultAddPartitions { // which has no other target than all topics
		out += " " + string(f.Target)
	}
	out += " at " + quantity.ExactDuration(f.At)
	for _, t := range []struct {
		word string
		d    time.Duration
	}{{"within", f.Within}, {"every", f.Every}, {"for", f.For}} {
		if t.d > 0 {
			out += " " + t.word + " " + quantity.ExactDuration(t.d)
		}
	}
	switch {
	case f.ToVersion != "":
		out += " " + toWord + " " + f.ToVersion
	case f.ToPartitions != 0:
		out += " " + toWord + " " + strconv.Itoa(f.ToPartitions)
	}
	return out
}

// toWord comes before the version of a rolling restart, and the number of partitions.
const toWord = "to"

// Given says which times a fault in words gives.
type Given struct{ At, Within, For bool }

// ParseFault reads a fault in words, such as
//
//	kill leader at 20s within 5s for 10s
//	rolling-restart at 20s to 4.3.1
//	add-partitions to 12 at 20s
//
// FaultTarget may be left out, and so may each of the times; they have defaults, which Given tells
// from given times. The default of For does not depend on a window, as DefaultFor does. The error
// is one sentence.
func ParseFault(text string) (f Fault, given Given, err error) {
	words := strings.Fields(text)
	var kinds []string
	for _, k := range slices.Concat(FaultKinds(), scenarios()) {
		kinds = append(kinds, string(k))
	}
	if len(words) == 0 || !slices.Contains(kinds, words[0]) {
		first := ""
		if len(words) > 0 {
			first = words[0]
		}
		return f, given, fmt.Errorf("%q: %s: write it like 'kill leader at 20s for 10s'", text,
			strict.Unknown("fault", first, kinds))
	}
	f = Fault{Do: FaultKind(words[0])}
	f.Target, f.For = f.Do.defaultTarget(), DefaultFaultFor
	times := map[string]struct {
		into *time.Duration
		told *bool
	}{"at": {&f.At, &given.At}, "within": {&f.Within, &given.Within},
		"for": {&f.For, &given.For}, "every": {&f.Every, new(bool)},
		toWord: {new(time.Duration), new(bool)}}
	words = words[1:]
	if len(words) > 0 && times[words[0]].into == nil {
		f.Target, words = FaultTarget(words[0]), words[1:]
		if message := strict.CheckName(string(f.Target), MaxName); message != "" {
			return f, given, fmt.Errorf("%q: its target %s", text, message)
		}
	}
	for ; len(words) > 0; words = words[2:] {
		t := times[words[0]]
		switch {
		case t.into == nil:
			return f, given, fmt.Errorf(
				"%q: %q is neither at, within, every, for nor to: write it like 'kill leader at "+
					"20s for 10s'", text, strict.Shorten(words[0]))
		case *t.told:
			return f, given, fmt.Errorf("%q: %s is given twice", text, words[0])
		case len(words) == 1:
			return f, given, fmt.Errorf(
				"%q: there is nothing after %q: write it like 'kill leader at 20s for 10s'", text,
				words[0])
		}
		*t.told = true
		if words[0] == toWord {
			if err := f.to(words[1]); err != nil {
				return f, given, fmt.Errorf("%q: %w", text, err)
			}
			continue
		}
		d, err := quantity.ParseDuration(words[1])
		if err != nil {
			return f, given, fmt.Errorf("%q: %w", text, err)
		}
		*t.into = d
	}
	return f, given, nil
}

// to sets what a fault changes the cluster to.
func (f *Fault) to(word string) error {
	if f.Do != FaultAddPartitions {
		f.ToVersion = word
		return nil
	}
	number := quantity.Whole(0)
	if err := number.UnmarshalText([]byte(word)); err != nil {
		return err
	}
	f.ToPartitions = int(number)
	return nil
}
