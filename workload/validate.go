package workload

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Validate checks every rule that needs no system, for workloads that were
// made or changed outside a file. The error is a strict.Violations with
// everything that is wrong.
func (w *Workload) Validate() error {
	return strict.Validate(w.check)
}

// check checks every rule that needs no system. The document gives violations their places.
func (w *Workload) check(doc *strict.Document) {
	w.checkNames(doc)
	w.checkExisting(doc)
	w.checkCounts(doc)
	w.checkMessage(doc)
	w.checkClasses(doc)
	w.checkKeys(doc)
	w.checkLoad(doc)
	w.checkTimes(doc)
	w.checkGuarantees(doc)
	w.checkHandling(doc)
	w.checkScaling(doc)
	w.checkInFlight(doc)
	w.checkBacklog(doc)
	w.checkFaults(doc)
	w.checkObjectives(doc)
}

func (w *Workload) checkNames(doc *strict.Document) {
	if message := strict.CheckName(w.Name, MaxName); message != "" {
		doc.Reject("name", message)
	}
	if len(w.Description) > maxDescription {
		doc.Reject("description",
			fmt.Sprintf("is longer than %s bytes: shorten it", quantity.Count(maxDescription)))
	}
	if !strict.IsText(w.Description) {
		doc.Reject("description", "is not printable text: write it in plain characters")
	}
}

func (w *Workload) checkCounts(doc *strict.Document) {
	if w.Existing == nil && !w.OwnTopics() {
		between(doc, "topics", w.Topics, 1, MaxCount)
	}
	between(doc, "partitions", w.Partitions, 1, MaxCount)
	between(doc, "producers", w.Producers, 1, MaxCount)
	between(doc, "subscriptions", w.Subscriptions, 0, MaxSubscriptions)
	between(doc, "consumers", w.Consumers, 1, MaxCount)
	lanes, path := 0.0, "partitions"
	if w.OwnTopics() {
		path = "classes"
	}
	for k := range w.TopicKinds() {
		lanes += product(k.Topics, w.Producers, k.Partitions)
	}
	atMost(doc, path, "topics x producers x partitions", lanes, MaxTotal)
	atMost(doc, "consumers", "topics x subscriptions x consumers",
		product(w.Topics, w.Subscriptions, w.Consumers), MaxTotal)
	w.checkUnread(doc)
}

// checkUnread refuses what needs consumers in a load that has none.
func (w *Workload) checkUnread(doc *strict.Document) {
	if w.Subscriptions > 0 {
		return
	}
	for path, given := range map[string]bool{
		"backlog": w.Backlog != nil, "scaling": len(w.Scaling) > 0,
		"handling": !w.Handling.None(),
	} {
		if given {
			doc.Reject(path, "needs consumers, and subscriptions is 0: remove it, or give "+
				"subscriptions: 1")
		}
	}
}

// between rejects a number outside its bounds.
func between(doc *strict.Document, path string, n, least, most int) {
	if n < least || n > most {
		doc.Reject(path, fmt.Sprintf("must be from %s to %s, not %s",
			quantity.Count(int64(least)), quantity.Count(int64(most)), quantity.Count(int64(n))))
	}
}

// atMost rejects a product of counts that is too large, although each count is within its
// bounds.
func atMost(doc *strict.Document, path, what string, n, most float64) {
	if n > most {
		doc.Reject(path, fmt.Sprintf("is too large: %s is %s, keep it to %s or less", what,
			quantity.Count(int64(n)), quantity.Count(int64(most))))
	}
}

func (w *Workload) checkMessage(doc *strict.Document) {
	switch {
	case len(w.Classes) > 0: // checkClasses
	case w.Message.Sizes != nil:
		w.Message.Sizes.check(doc)
	default:
		checkSize(doc, "message.size", w.Message.Size)
	}
	// Written so that NaN is refused too.
	if share := w.Message.Incompressible; !(share >= 0 && share <= 1) {
		doc.Reject("message.incompressible",
			fmt.Sprintf("must be from 0%% to 100%%, not %v", share))
	}
}

func (w *Workload) checkKeys(doc *strict.Document) {
	kinds := []KeyKind{KeysNone, KeysRoundRobin, KeysRandom, KeysZipf, KeysShares}
	if !oneOf(doc, "keys.kind", w.Keys.Kind, kinds) {
		return
	}
	w.Keys.checkShares(doc)
	if w.Keys.Kind == KeysNone {
		if w.Keys.Count != 0 {
			doc.Reject("keys.count",
				"says how many keys there are, and keys.kind is none: give another kind or "+
					"remove it")
		}
		rejectExponent(doc, w.Keys)
		return
	}
	between(doc, "keys.count", w.Keys.Count, 1, MaxKeys)
	checkExponent(doc, "keys.exponent", w.Keys)
	rejectExponent(doc, w.Keys)
}

func checkExponent(doc *strict.Document, path string, k Keys) {
	if k.Kind == KeysZipf && !(k.Exponent > 1 && k.Exponent <= MaxExponent) {
		doc.Reject(path, fmt.Sprintf("must be above 1 and at most %d, not %v: 1.2 is a usual skew",
			MaxExponent, k.Exponent))
	}
}

// rejectExponent refuses an exponent for keys that have none.
func rejectExponent(doc *strict.Document, k Keys) {
	if k.Kind != KeysZipf && k.Exponent != 0 {
		doc.Reject("keys.exponent", "is for zipf keys only: write kind: zipf or remove it")
	}
}

// oneOf rejects a word that is not allowed.
func oneOf[T ~string](doc *strict.Document, path string, word T, allowed []T) bool {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if word == a {
			return true
		}
		names[i] = string(a)
	}
	message := fmt.Sprintf("must be %s, not %q", strict.List("or", names...),
		strict.Shorten(string(word)))
	if near := strict.Nearest(string(word), names); near != "" {
		message += fmt.Sprintf(": did you mean %q?", near)
	}
	doc.Reject(path, message)
	return false
}

func (w *Workload) checkLoad(doc *strict.Document) {
	if w.Load.Closed != nil {
		w.checkClosed(doc)
		return
	}
	oneOf(doc, "load.arrivals", w.Load.Arrivals, []Arrivals{ArrivalsConstant, ArrivalsPoisson})
	between(doc, "load.burst", w.Load.Burst, 0, MaxBurst)
	if len(w.Load.Segments) == 0 {
		doc.Reject(w.curvePath(doc), "offers nothing: give at least one step")
		return
	}
	if len(w.Load.Segments) > MaxSteps {
		doc.Reject("load.steps", fmt.Sprintf("must be at most %s, not %s", quantity.Count(MaxSteps),
			quantity.Count(int64(len(w.Load.Segments)))))
		return
	}
	wrong := false
	for i, s := range w.Load.Segments {
		from, to, length := w.segmentPaths(doc, i)
		wrong = w.checkRate(doc, from, s.From) || wrong
		if to != from {
			wrong = w.checkRate(doc, to, s.To) || wrong
		}
		if length != "" && s.For <= 0 {
			doc.Reject(length, "must be above 0s, not "+quantity.Duration(int64(s.For)))
			wrong = true
		}
	}
	if wrong || doc.Failed("load") || doc.Failed("duration") || w.Duration <= 0 ||
		w.Backlog != nil {
		return // further checks would repeat the error
	}
	if total := w.Load.length(); total != w.Duration {
		doc.Reject("duration",
			fmt.Sprintf("is %s and the load lasts %s: leave the duration out, or make them equal",
				quantity.ExactDuration(w.Duration), quantity.ExactDuration(total)))
	} else if w.OfferedMessages() < 1 {
		doc.Reject("duration",
			"ends before the first message is due: make it longer, or the rate higher")
	}
}

// checkRate rejects a rate that cannot be offered, and reports whether it did. A part of a curve
// may offer nothing.
func (w *Workload) checkRate(doc *strict.Document, path string, rate float64) bool {
	const constant = "load.rate"
	// Written so that NaN is refused too.
	if (rate > 0 || rate == 0 && w.curvePath(doc) != constant) && rate <= MaxRate {
		return false
	}
	least := "0/s or more"
	if w.curvePath(doc) == constant {
		least = "above 0"
	}
	doc.Reject(path, fmt.Sprintf("must be %s and at most %s, not %s", least,
		quantity.Rate(MaxRate), quantity.Rate(rate)))
	return true
}

// curvePath returns the key by which a file gives the curve.
func (w *Workload) curvePath(doc *strict.Document) string {
	if doc.Has("load.steps") || len(w.Load.Segments) != 1 {
		return "load.steps"
	}
	// Both may be no number at all, which is unequal to itself.
	only := w.Load.Segments[0]
	if doc.Has("load.ramp") || (only.From != only.To && !math.IsNaN(only.From)) {
		return "load.ramp"
	}
	return "load.rate"
}

// segmentPaths returns the paths of a segment's rates and length in a file. The length has no
// path when it follows from the duration.
func (w *Workload) segmentPaths(doc *strict.Document, i int) (from, to, length string) {
	switch curve := w.curvePath(doc); curve {
	case "load.rate":
		return curve, curve, ""
	case "load.ramp":
		return curve + ".from", curve + ".to", ""
	default:
		step := fmt.Sprintf("%s[%d]", curve, i)
		if s := w.Load.Segments[i]; !doc.Has(step+".from") && s.From == s.To {
			return step + ".rate", step + ".rate", step + ".for"
		}
		return step + ".from", step + ".to", step + ".for"
	}
}

func (w *Workload) checkTimes(doc *strict.Document) {
	checkTime(doc, "warmup", w.Warmup, 0, MaxWarmup)
	switch {
	case !w.Settle:
	case w.Warmup < MinSettle:
		doc.Reject("warmup", fmt.Sprintf(
			"is auto for at most %s: it takes at least %s to see a steady state",
			quantity.Duration(int64(w.Warmup)), quantity.Duration(int64(MinSettle))))
	case w.Warmup%time.Second != 0:
		doc.Reject("warmup", "is auto and ends at a whole second: write whole seconds")
	case w.Load.Closed == nil && w.opening() == 0:
		doc.Reject("warmup", "is auto, and the load begins with 0/s, at which no steady state "+
			"shows: write its length")
	}
	if w.Backlog == nil && (w.Load.Closed != nil || w.curvePath(doc) != "load.steps" ||
		doc.Has("duration") || w.Load.length() > MaxDuration) {
		checkTime(doc, "duration", w.Duration, 1, MaxDuration)
	}
	checkTime(doc, "drain", w.Drain, 1, MaxDrain)
}

func checkTime(doc *strict.Document, path string, d, least, most time.Duration) {
	if d >= least && d <= most {
		return
	}
	doc.Reject(path, fmt.Sprintf("must be %s and at most %s, not %s",
		cmp.Or(map[time.Duration]string{0: "0s or more", 1: "above 0s"}[least], least.String()),
		quantity.Duration(int64(most)), quantity.Duration(int64(d))))
}

func (w *Workload) checkGuarantees(doc *strict.Document) {
	if w.Isolate.CPUs != "" { // a workload that was not read from a file may leave it out
		oneOf(doc, "isolate.cpus", w.Isolate.CPUs, []CPUs{CPUsShared, CPUsSplit})
	}
	oneOf(doc, "delivery", w.Delivery, []Delivery{AtMostOnce, AtLeastOnce, ExactlyOnce})
	oneOf(doc, "clients", w.Clients.Word(), ClientWords())
	if w.Durability < SyncSync || w.Durability > AsyncAsync {
		var levels []string
		for l := SyncSync; l <= AsyncAsync; l++ {
			levels = append(levels, fmt.Sprintf("%d (%s)", l, l.Meaning()))
		}
		doc.Reject("durability", fmt.Sprintf("must be %s, not %d", strict.List("or", levels...),
			w.Durability))
	}
}

func (w *Workload) checkInFlight(doc *strict.Document) {
	if w.Load.Closed != nil {
		w.checkClosedInFlight(doc)
		return
	}
	if w.MaxInFlight < 1 || w.MaxInFlight > MaxInFlightLimit {
		between(doc, "max_in_flight", w.MaxInFlight, 1, MaxInFlightLimit)
		return
	}
	if bytes := w.BytesInFlight(); w.tooManyInFlight() {
		doc.Reject("max_in_flight", fmt.Sprintf(
			"is %s: with topics x producers x message.size that is %s under way at once, keep it "+
				"to %s or less",
			quantity.Count(int64(w.MaxInFlight)), quantity.Bytes(
				int64(min(bytes, 1<<62))), quantity.Bytes(MaxInFlightBytes)))
	}
}

// tooManyInFlight reports whether the payload in flight exceeds its bound, although it could be
// less.
func (w *Workload) tooManyInFlight() bool {
	return w.BytesInFlight() > MaxInFlightBytes && w.MaxInFlight > 1 &&
		w.Message.Largest() <= MaxMessageBytes
}

// BytesInFlight returns the payload that all producers together may have in flight, when every
// message has the largest size.
func (w *Workload) BytesInFlight() float64 {
	return float64(w.MaxInFlight) * w.largestOfEach()
}

// largestOfEach returns the bytes of one message of each producer, of the largest size that the
// producer sends.
func (w *Workload) largestOfEach() (bytes float64) {
	if len(w.Classes) == 0 {
		return product(w.Topics, w.Producers) * float64(w.Message.Largest())
	}
	for _, c := range w.Classes {
		producers := product(w.Topics, c.Producers(w.Producers))
		if w.OwnTopics() {
			producers = product(c.Topics, w.Producers)
		}
		bytes += producers * float64(c.Most)
	}
	return bytes
}
