package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Record returns the workload as the figures that verdicts and reports use.
func (w *Workload) Record() result.Load {
	l := result.Load{
		Workload: w.Name, Model: result.OpenLoop, Arrivals: string(w.Load.Arrivals),
		Burst:        w.Load.Burst,
		TargetRate:   float64(w.OfferedMessages()) / w.Duration.Seconds(),
		MessageBytes: int64(math.Round(w.Message.Mean())),
		Topics:       w.Topics, Partitions: w.Partitions, Existing: w.Existing,
		Producers: w.Producers, Subscriptions: w.Subscriptions, Consumers: w.Consumers,
		Keys:  string(w.Keys.Kind),
		Audit: w.Audit, Delivery: string(w.Delivery), Clients: string(w.Clients.Word()),
		MaxInFlight:   w.MaxInFlight,
		WarmupSeconds: w.Warmup.Seconds(), WindowSeconds: w.Duration.Seconds(),
		IncompressiblePct: w.Message.Incompressible * 100, DropPageCache: w.Isolate.DropPageCache,
	}
	if w.Message.Sizes != nil {
		l.MessageSizes = w.Message.Sizes.String()
	}
	if w.OwnTopics() {
		l.Partitions = 0
		for k := range w.TopicKinds() {
			l.Partitions = max(l.Partitions, k.Partitions)
			l.TopicKinds = append(l.TopicKinds, result.TopicKind{Class: w.Classes[k.Class].Name,
				Topics: k.Topics, Partitions: k.Partitions})
		}
	}
	if !w.Handling.None() {
		l.Handling = &result.Handling{Time: w.Handling.Time.String(), Fails: w.Handling.Fails}
	}
	switch w.Keys.Kind {
	case KeysNone:
		l.Spread = string(w.Spread)
	case KeysZipf:
		l.KeyCount, l.KeyExponent = w.Keys.Count, w.Keys.Exponent
	default:
		l.KeyCount, l.KeyShares = w.Keys.Count, (&keyShares{&w.Keys}).String()
	}
	if c := w.Load.Closed; c != nil {
		l.Model = result.ClosedLoop
		l.Closed = &result.Closed{InFlight: c.InFlight, BatchLeast: c.Batch.Least,
			BatchMost: c.Batch.Most}
	}
	if w.Backlog != nil {
		l.Backlog = w.Backlog.String()
	}
	for _, s := range w.Load.Segments {
		l.Segments = append(l.Segments,
			result.Segment{From: s.From, To: s.To, Seconds: s.For.Seconds()})
	}
	return l
}

// Recorded returns the values of the workload of a run: those of the resolved workload or, in
// an older run without it, those that follow from its figures.
func Recorded(r *result.Run) Values {
	if r.Resolved.Workload != "" {
		// A workload of a later plimsoll may be unreadable; its figures are still readable.
		if w, err := Parse(result.RunFile, []byte(r.Resolved.Workload)); err == nil {
			return w.Values()
		}
	}
	out := recordedBy(r).Values()
	for _, path := range []string{"description", "drain", "faults", "isolate.cpus", "scaling",
		"classes"} {
		delete(out, path)
	}
	if sizes := r.Load.MessageSizes; sizes != "" {
		out["message.size"] = sizes
	}
	if kinds := r.Load.TopicKinds; len(kinds) > 0 {
		var all []string
		for _, k := range kinds {
			all = append(all, fmt.Sprintf("{name: %s, topics: %d, partitions: %d}",
				strict.Quote(k.Class), k.Topics, k.Partitions))
		}
		out["classes"] = "[" + strings.Join(all, ", ") + "]"
	}
	if shares := r.Load.KeyShares; shares != "" {
		out["keys.shares"] = shares
	}
	if h := r.Load.Handling; h != nil {
		out["handling.time"] = h.Time
	}
	if b := r.Load.Backlog; b != "" {
		out["duration"] = "" // it lasts as long as the readers take
		for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(b, "{"), "}"),
			", ") {
			key, value, _ := strings.Cut(part, ": ")
			out["backlog."+key] = value
		}
	}
	if r.Lacks() {
		for _, path := range []string{"keys.count", "keys.exponent", "audit"} {
			delete(out, path)
		}
		if r.Load.Keys == string(KeysNone) {
			out["spread"] = string(SpreadRoundRobin) // messages without a key went in turn
		}
	}
	if r.Imported != nil {
		none := (&Workload{Load: Load{Segments: []Segment{{}}}}).Values()
		for path, value := range out {
			if value == none[path] {
				delete(out, path) // not known
			}
		}
	}
	return out
}

// recordedBy returns the workload that follows from the figures of a run.
func recordedBy(r *result.Run) *Workload {
	l := r.Load
	w := &Workload{
		Name: l.Workload, Topics: l.Topics, Partitions: l.Partitions, Existing: l.Existing,
		Producers:     l.Producers,
		Subscriptions: l.Subscriptions, Consumers: l.Consumers,
		Message: Message{Size: l.MessageBytes, Incompressible: share(l.IncompressiblePct)},
		Keys: Keys{Kind: KeyKind(l.Keys), Count: l.KeyCount,
			Exponent: l.KeyExponent}, Spread: Spread(l.Spread),
		Load:   Load{Arrivals: Arrivals(l.Arrivals), Burst: l.Burst},
		Warmup: length(l.WarmupSeconds), Duration: length(l.WindowSeconds),
		Delivery: Delivery(l.Delivery), Durability: Level(
			r.Durability.Asked), MaxInFlight: l.MaxInFlight,
		Clients: Clients(l.Clients),
		Seed:    r.Seed, Isolate: Isolate{DropPageCache: l.DropPageCache}, Audit: l.Audit,
	}
	if r.Settling != nil {
		w.Settle, w.Warmup = true, time.Duration(r.Settling.MostNs)
	}
	for _, s := range l.Segments {
		w.Load.Segments = append(w.Load.Segments,
			Segment{From: s.From, To: s.To, For: length(s.Seconds)})
	}
	if h := l.Handling; h != nil {
		w.Handling.Fails = h.Fails
	}
	if c := l.Closed; c != nil {
		w.Load.Closed = &Closed{InFlight: c.InFlight,
			Batch: Batch{Least: c.BatchLeast, Most: c.BatchMost}}
	} else if len(l.Segments) == 0 {
		w.SetRate(l.TargetRate)
	}
	return w
}

func length(seconds float64) time.Duration { return time.Duration(math.Round(seconds * 1e9)) }

// share removes the rounding error of a share that was multiplied by 100.
func share(percent float64) float64 {
	exact, _ := strconv.ParseFloat(strconv.FormatFloat(percent, 'g', 14, 64), 64)
	return exact / 100
}
