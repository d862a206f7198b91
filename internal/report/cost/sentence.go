package cost

import (
	"fmt"
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Sentence gives the cost of a message. It is empty when nothing was observed.
func Sentence(r *result.Run) string {
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
			phrase.Nanoseconds(server))
	case ok:
		perCore, _ := c.MsgsPerCoreSecond()
		out = fmt.Sprintf("%s of server CPU per message (%s per core-second)",
			phrase.Nanoseconds(server), phrase.Plural(int64(math.Round(perCore)), "message",
				"messages"))
	default:
		out = "the servers were not observed"
	}
	if okOwn {
		out += fmt.Sprintf(", %s of plimsoll's", phrase.Nanoseconds(own))
	}
	if v, ok := c.Amplification(); ok {
		out += fmt.Sprintf("; %s bytes written per byte published", phrase.Rounded(v))
	}
	if s := syncSentence(c); s != "" {
		out += "; " + s
	}
	return out
}

// syncSentence says how often the servers flushed their writes to disk.
func syncSentence(c figure.Cost) string {
	each, ok := c.EachNode(figure.Syncs)
	switch {
	case !ok:
		return ""
	case each == 0:
		return "no fsync"
	}
	out := phrase.Rounded(each) + " fsyncs per second on each node"
	if v, ok := c.PerMessage(figure.Syncs); ok {
		out += ", " + phrase.Rounded(v) + " per message over all nodes"
	}
	return out
}

// Limit names the resource near its limit. It is empty when nothing was observed and
// plimsoll was not the limit.
func Limit(r *result.Run) string {
	l := verdict.Limiting(r)
	if l.Resource == verdict.NotKnown && !figure.NewCost(r).Observed() {
		return ""
	}
	return "limiting resource: " + document.Clean(l.Resource) + "; " + document.Clean(l.Sentence)
}
