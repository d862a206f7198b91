package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// cost is the resource use of a run over the observed part of the measured window. A sum over
// processes is unknown when the kernel does not report the figure of one of them.
type cost struct {
	run     *result.Run
	servers []result.ProcessUse
	// complete is set when each server was observed.
	complete bool
	own      *result.ProcessUse // plimsoll, unless the servers live inside it
	// embedded is set when the servers live inside plimsoll's process, whose
	// cost cannot be divided between the two.
	embedded bool
	seconds  float64
	messages float64 // acknowledged while observed
}

// newCost sorts the processes of a run into the system's and plimsoll.
func newCost(r *result.Run) cost {
	o := r.Observation
	c := cost{run: r, embedded: embedded(o), seconds: float64(max(o.WindowNs, 0)) / 1e9}
	if rate := r.Summary.Work(); finite(rate) && rate > 0 {
		c.messages = rate * c.seconds
	}
	c.servers, c.complete = o.OfServers()
	c.own = o.Own()
	return c
}

// embedded reports whether the servers live inside plimsoll.
func embedded(o result.Observation) bool {
	return len(o.Servers) == 1 && o.Servers[0] == result.Self
}

// observed reports whether any resource use is known.
func (c cost) observed() bool { return c.seconds > 0 }

// nodes is the number of servers among which the cost is divided.
func (c cost) nodes() float64 {
	if c.embedded {
		return float64(max(len(c.run.System.Nodes), 1))
	}
	return float64(max(len(c.servers), 1))
}

// whole reports whether each server was observed in the window.
func (c cost) whole() bool { return c.seconds > 0 && c.complete }

// sum adds a figure up over all servers.
func (c cost) sum(of func(result.ProcessUse) *int64) (float64, bool) {
	total, known := result.Sum(c.servers, of)
	return total, known && c.whole()
}

func written(p result.ProcessUse) *int64  { return p.WriteBytes }
func read(p result.ProcessUse) *int64     { return p.ReadBytes }
func syncs(p result.ProcessUse) *int64    { return p.Syncs }
func mapSyncs(p result.ProcessUse) *int64 { return p.MapSyncs }

// perSecond is a figure of all servers together, per second.
func (c cost) perSecond(of func(result.ProcessUse) *int64) (float64, bool) {
	v, ok := c.sum(of)
	return v / max(c.seconds, 1e-9), ok
}

// perMessage is a figure of all servers together, per acknowledged message.
func (c cost) perMessage(of func(result.ProcessUse) *int64) (float64, bool) {
	v, ok := c.sum(of)
	return v / max(c.messages, 1e-9), ok && c.messages > 0
}

func (c cost) serverCPUSeconds() (float64, bool) {
	total := 0.0
	for _, p := range c.servers {
		total += p.CPUSeconds
	}
	return total, c.whole()
}

// serverCPU is nanoseconds of the servers' CPU time per acknowledged message.
func (c cost) serverCPU() (float64, bool) {
	if v := c.run.Observation.MsgsPerCoreSecond; v > 0 && finite(v) {
		return 1e9 / v, true
	}
	total, ok := c.serverCPUSeconds()
	return total * 1e9 / max(c.messages, 1e-9), ok && c.messages > 0
}

// msgsPerCoreSecond is the reciprocal of serverCPU, in messages per second of CPU time.
func (c cost) msgsPerCoreSecond() (float64, bool) {
	ns, ok := c.serverCPU()
	return 1e9 / max(ns, 1e-9), ok && ns > 0
}

// ownCPU is nanoseconds of plimsoll's CPU time per acknowledged message. It is unknown when
// the servers run inside plimsoll's process.
func (c cost) ownCPU() (float64, bool) {
	if c.own == nil || c.messages <= 0 {
		return 0, false
	}
	return c.own.CPUSeconds * 1e9 / c.messages, true
}

// allCPU is the CPU time of servers and plimsoll together: the only figure by which a system
// inside plimsoll's process can be compared with one outside.
func (c cost) allCPU() (float64, bool) {
	servers, ok := c.serverCPU()
	if c.embedded || !ok {
		return servers, ok
	}
	own, ok := c.ownCPU()
	return servers + own, ok
}

// amplification is bytes written to disks by all servers per acknowledged byte of payload.
func (c cost) amplification() (float64, bool) {
	if v := c.run.Observation.WriteAmplification; v > 0 && finite(v) {
		return v, true
	}
	bytes, ok := c.sum(written)
	payload := c.messages * c.run.Summary.PayloadBytes(c.run.Load)
	return bytes / max(payload, 1e-9), ok && payload > 0
}

// memory is the servers' greatest memory use.
func (c cost) memory() (float64, bool) {
	total := 0.0
	for _, p := range c.servers {
		total += float64(p.RSSBytes)
	}
	return total, c.whole()
}

// rounded prints a figure with three significant digits and no unit.
func rounded(v float64) string {
	if !finite(v) {
		return none
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	if err != nil {
		return none
	}
	if math.Abs(short) >= 1000 {
		return quantity.Count(int64(math.Round(short)))
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// known prints a figure, or none if it is unknown.
func known(v float64, ok bool, printed func(float64) string) string {
	if !ok || !finite(v) {
		return none
	}
	return printed(v)
}

func nanoseconds(v float64) string {
	if v < 0 || v > math.MaxInt64/2 {
		return none
	}
	return quantity.Duration(int64(math.Round(v)))
}

func size(v float64) string {
	if v < 0 || v > math.MaxInt64/2 {
		return none
	}
	return quantity.Bytes(int64(v))
}

// costSentence gives the cost of a message. It is empty when nothing was observed.
func costSentence(r *result.Run) string {
	c := newCost(r)
	if !c.observed() {
		return ""
	}
	var out string
	server, ok := c.serverCPU()
	own, okOwn := c.ownCPU()
	switch {
	case ok && c.embedded:
		out = fmt.Sprintf("%s of CPU per message, servers and plimsoll in one process",
			nanoseconds(server))
	case ok:
		perCore, _ := c.msgsPerCoreSecond()
		out = fmt.Sprintf("%s of server CPU per message (%s per core-second)", nanoseconds(server),
			plural(int64(math.Round(perCore)), "message", "messages"))
	default:
		out = "the servers were not observed"
	}
	if okOwn {
		out += fmt.Sprintf(", %s of plimsoll's", nanoseconds(own))
	}
	if v, ok := c.amplification(); ok {
		out += fmt.Sprintf("; %s bytes written per byte published", rounded(v))
	}
	if s := syncSentence(c); s != "" {
		out += "; " + s
	}
	return out
}

// syncSentence says how often the servers flushed their writes to disk.
func syncSentence(c cost) string {
	perSecond, ok := c.perSecond(syncs)
	if !ok {
		return ""
	}
	if perSecond == 0 {
		return "no fsync"
	}
	out := fmt.Sprintf("%s fsyncs per second on each node", rounded(perSecond/c.nodes()))
	if v, ok := c.perMessage(syncs); ok {
		out += ", " + rounded(v) + " per message over all nodes"
	}
	return out
}

// limitSentence names the resource near its limit. It is empty when nothing was observed and
// plimsoll was not the limit.
func limitSentence(r *result.Run) string {
	l := verdict.Limiting(r)
	if l.Resource == verdict.NotKnown && !newCost(r).observed() {
		return ""
	}
	return "limiting resource: " + clean(l.Resource) + "; " + clean(l.Sentence)
}
