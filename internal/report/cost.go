package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
	c := figure.NewCost(r)
	if !c.Observed() {
		return ""
	}
	var out string
	server, ok := c.ServerCPU()
	own, okOwn := c.OwnCPU()
	switch {
	case ok && c.Embedded:
		out = fmt.Sprintf("%s of CPU per message, servers and plimsoll in one process",
			nanoseconds(server))
	case ok:
		perCore, _ := c.MsgsPerCoreSecond()
		out = fmt.Sprintf("%s of server CPU per message (%s per core-second)", nanoseconds(server),
			plural(int64(math.Round(perCore)), "message", "messages"))
	default:
		out = "the servers were not observed"
	}
	if okOwn {
		out += fmt.Sprintf(", %s of plimsoll's", nanoseconds(own))
	}
	if v, ok := c.Amplification(); ok {
		out += fmt.Sprintf("; %s bytes written per byte published", rounded(v))
	}
	if s := syncSentence(c); s != "" {
		out += "; " + s
	}
	return out
}

// syncSentence says how often the servers flushed their writes to disk.
func syncSentence(c figure.Cost) string {
	perSecond, ok := c.PerSecond(figure.Syncs)
	if !ok {
		return ""
	}
	if perSecond == 0 {
		return "no fsync"
	}
	out := fmt.Sprintf("%s fsyncs per second on each node", rounded(perSecond/c.Nodes()))
	if v, ok := c.PerMessage(figure.Syncs); ok {
		out += ", " + rounded(v) + " per message over all nodes"
	}
	return out
}

// limitSentence names the resource near its limit. It is empty when nothing was observed and
// plimsoll was not the limit.
func limitSentence(r *result.Run) string {
	l := verdict.Limiting(r)
	if l.Resource == verdict.NotKnown && !figure.NewCost(r).Observed() {
		return ""
	}
	return "limiting resource: " + clean(l.Resource) + "; " + clean(l.Sentence)
}
