package price

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

const (
	gigabyte     = 1e9 // bytes, as clouds bill; no size is printed in this unit
	hour         = 3600.0
	month        = 30 * 24 * hour // seconds
	million      = 1e6
	unknownBytes = "%s is not known for every server"
)

// Of returns the price of a run by the list, per million acknowledged messages and per 10^9 bytes
// of acknowledged payload, at the measured rate.
func (l *List) Of(r *result.Run) *result.Price {
	p := &result.Price{Currency: string(l.Currency), Date: string(l.Date),
		Parts: []result.PricePart{}}
	u, why := newUse(r)
	if why != "" {
		p.LeftOut = []string{why}
		return p
	}
	for _, part := range []struct {
		resource, key string
		given         *float64
		price         func(*List, use) (result.PricePart, string)
	}{
		{"cpu", "core_hour", l.CoreHour, cpu},
		{"memory", "memory_gb_hour", l.MemoryGBHour, memory},
		{"disk", "disk_gb_month", l.DiskGBMonth, disk},
		{"network", "network_gb", l.NetworkGB, network},
	} {
		if part.given == nil {
			p.LeftOut = append(p.LeftOut, part.resource+": the file gives no "+part.key)
			continue
		}
		priced, why := part.price(l, u)
		if why != "" {
			p.LeftOut = append(p.LeftOut, part.resource+": "+why)
			continue
		}
		priced.Resource = part.resource
		// PerMillion holds the money of the whole window until here.
		money := priced.PerMillion
		priced.PerMillion = money / u.messages * million
		priced.PerGB = money / u.payload * gigabyte
		p.PerMillion += priced.PerMillion
		p.PerGB += priced.PerGB
		p.Parts = append(p.Parts, priced)
	}
	return p
}

// use is the servers' resource use over the observed part of the measured window.
type use struct {
	servers  []result.ProcessUse
	own      *result.ProcessUse // plimsoll, if it offered the load itself
	seconds  float64
	messages float64 // acknowledged
	payload  float64 // bytes of them
	// written is the bytes that the servers wrote to disks, if wrote says that they are known.
	written float64
	wrote   bool
}

// newUse returns the use of a run's servers, or why it cannot be priced.
func newUse(r *result.Run) (u use, why string) {
	o := r.Observation
	u.servers, _ = o.OfServers()
	u.own = r.OwnUse()
	bytes, wrote := o.Written()
	u.written, u.wrote = float64(bytes), wrote
	u.seconds = float64(o.WindowNs) / 1e9
	u.messages = r.Summary.Work() * u.seconds
	u.payload = u.messages * r.Summary.PayloadBytes(r.Load)
	switch {
	case slices.Contains(o.Servers, result.Self):
		return u, "the servers ran inside plimsoll's process: their use cannot be separated from " +
			"plimsoll's"
	case u.seconds <= 0 || len(o.Servers) == 0:
		return u, "no server was observed"
	case len(u.servers) != len(o.Servers):
		return u, "not every server was observed within the measured window"
	case !(u.payload > 0) || math.IsInf(u.payload, 0):
		return u, "no message was acknowledged within the measured window"
	}
	return u, ""
}

func cpu(l *List, u use) (part result.PricePart, why string) {
	seconds := 0.0
	for _, p := range u.servers {
		seconds += p.CPUSeconds
	}
	part.PerMillion = seconds / hour * *l.CoreHour
	part.Used = amount(seconds/u.seconds, "core") + " of the servers"
	return part, ""
}

func memory(l *List, u use) (part result.PricePart, why string) {
	bytes := 0.0
	for _, p := range u.servers {
		bytes += float64(p.RSSBytes)
	}
	part.PerMillion = bytes / gigabyte * u.seconds / hour * *l.MemoryGBHour
	part.Used = number(bytes/gigabyte) + " × 10^9 bytes of the servers at their peak"
	return part, ""
}

// disk prices the written bytes, with all copies, and with the bytes that a journal writes twice.
func disk(l *List, u use) (part result.PricePart, why string) {
	switch {
	case !u.wrote:
		return part, fmt.Sprintf(unknownBytes, "what was written")
	case u.written == 0:
		return part, "the servers wrote nothing to a disk within the measured window"
	}
	kept := l.Retention.String()
	months := float64(*l.Retention) / 1e9 / month
	part.PerMillion = u.written / gigabyte * months * *l.DiskGBMonth
	part.Used = fmt.Sprintf("%s written per byte published, over all copies, kept for %s",
		amount(u.written/u.payload, "byte"), kept)
	return part, ""
}

// network prices the traffic between zones. Servers send one another copies, which are in
// different zones; a client's server is in the client's zone by chance.
func network(l *List, u use) (part result.PricePart, why string) {
	received, ok := result.Sum(u.servers,
		func(p result.ProcessUse) *int64 { return p.NetReceivedBytes })
	if !ok || u.own == nil || u.own.NetSentBytes == nil || u.own.NetReceivedBytes == nil {
		return part, fmt.Sprintf(unknownBytes, "what it sent and received, and what plimsoll did,")
	}
	sent := float64(*u.own.NetSentBytes)
	clients := sent + float64(*u.own.NetReceivedBytes)
	copies := max(0, received-sent)
	zones := l.zones()
	crossing := clients * (zones - 1) / zones
	if zones > 1 {
		crossing += copies
	}
	part.PerMillion = crossing / gigabyte * *l.NetworkGB
	part.Used = fmt.Sprintf("%s between servers per byte published, and %s to and from "+
		"clients, over %s zones", amount(copies/u.payload, "byte"), number(clients/u.payload),
		quantity.Count(int64(zones)))
	return part, ""
}

// amount prints a figure with its noun.
func amount(v float64, one string) string {
	if n := number(v); n != "1" {
		return n + " " + one + "s"
	}
	return "1 " + one
}

// number prints a figure. The prices of a file may make it infinite.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "?"
	}
	return quantity.Decimal(v)
}
