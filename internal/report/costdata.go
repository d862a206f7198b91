package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// messageCost is the cost of a message, for programs. Unknown figures are left out; servers
// inside plimsoll's process have no separate CPU time.
type messageCost struct {
	CPUNsPerMsg       *float64 `json:"cpu_ns_per_msg,omitempty"` // servers and plimsoll together
	ServerCPUNsPerMsg *float64 `json:"server_cpu_ns_per_msg,omitempty"`
	OwnCPUNsPerMsg    *float64 `json:"own_cpu_ns_per_msg,omitempty"`
	SyncsPerMsg       *float64 `json:"syncs_per_msg,omitempty"`        // of all nodes
	SyncsPerSPerNode  *float64 `json:"syncs_per_s_per_node,omitempty"` // a mean
	MapSyncsPerMsg    *float64 `json:"map_syncs_per_msg,omitempty"`    // of all nodes
	// bytes written by all nodes per byte acknowledged
	WriteAmplification *float64 `json:"write_amplification,omitempty"`
	// then the figures of servers include the load generator
	ServersInPlimsoll bool     `json:"servers_inside_plimsoll"`
	LimitingResource  string   `json:"limiting_resource"`        // see internal/verdict
	LimitingShare     *float64 `json:"limiting_share,omitempty"` // of its limit
}

// newMessageCost is nil when nothing was observed.
func newMessageCost(r *result.Run) *messageCost {
	c := newCost(r)
	if !c.observed() {
		return nil
	}
	perNode, okNode := c.perSecond(syncs)
	l := verdict.Limiting(r)
	out := &messageCost{
		CPUNsPerMsg: maybe(c.allCPU()), ServerCPUNsPerMsg: maybe(c.serverCPU()),
		OwnCPUNsPerMsg: maybe(c.ownCPU()), SyncsPerMsg: maybe(c.perMessage(syncs)),
		SyncsPerSPerNode:   maybe(perNode/c.nodes(), okNode),
		MapSyncsPerMsg:     maybe(c.perMessage(mapSyncs)),
		WriteAmplification: maybe(c.amplification()),
		ServersInPlimsoll:  c.embedded, LimitingResource: l.Resource,
		LimitingShare: maybe(l.Share, l.Resource != verdict.NoneSeen && l.Share > 0),
	}
	if c.embedded {
		out.ServerCPUNsPerMsg = nil
	}
	return out
}

// maybe is a figure for programs; nil when it is not known.
func maybe(v float64, ok bool) *float64 {
	if !ok || !finite(v) {
		return nil
	}
	return &v
}

// costHead are the columns of a message's cost; they follow all other columns.
var costHead = []string{
	"cpu_ns_per_msg", "server_cpu_ns_per_msg", "own_cpu_ns_per_msg", "syncs_per_msg",
	"syncs_per_s_per_node", "map_syncs_per_msg", "write_amplification", "servers_inside_plimsoll",
	"limiting_resource", "limiting_share",
}

// csvCost is a cell for each column of costHead, empty where the figure is unknown.
func csvCost(r *result.Run) []string {
	c := newMessageCost(r)
	if c == nil {
		return make([]string, len(costHead))
	}
	var out []string
	for _, v := range []*float64{c.CPUNsPerMsg, c.ServerCPUNsPerMsg, c.OwnCPUNsPerMsg,
		c.SyncsPerMsg, c.SyncsPerSPerNode, c.MapSyncsPerMsg, c.WriteAmplification} {
		out = append(out, maybeExact(v))
	}
	return append(out, strconv.FormatBool(c.ServersInPlimsoll), cell(c.LimitingResource),
		maybeExact(c.LimitingShare))
}

func maybeExact(v *float64) string {
	if v == nil {
		return ""
	}
	return exact(*v)
}

func maybeInteger(v *int64) string {
	if v == nil {
		return ""
	}
	return integer(*v)
}

// resourcesHead are the columns of ResourcesCSV.
var resourcesHead = []string{
	"run_id", "start_ns", "end_ns", "phase", "kind", "name", "pid", "server", "cpu_seconds",
	"rss_bytes", "read_bytes", "write_bytes", "syncs", "map_syncs", "net_received_bytes",
	"net_sent_bytes", "iowait_seconds", "steal_seconds", "pressure_cpu", "pressure_io",
	"pressure_memory", "page_cache_bytes", "dirty_bytes", "loopback_bytes", "reads", "writes",
	"utilization",
}

// ResourcesCSV writes one row per run, second and process, and one for the host
// and for each of its disks. A cell is empty where its kind of row has no such
// figure, or the kernel did not tell it.
func ResourcesCSV(w io.Writer, runs []*result.Saved) error {
	out := csv.NewWriter(w)
	rows := [][]string{resourcesHead}
	for _, s := range runs {
		for _, r := range s.Resources {
			about := []string{cell(s.Run.ID), integer(r.StartNs), integer(r.EndNs),
				cell(string(r.Phase))}
			for _, cells := range resourceCells(&s.Run, r) {
				row := slices.Clone(about)
				for _, column := range resourcesHead[len(about):] {
					row = append(row, cells[column])
				}
				rows = append(rows, row)
			}
		}
	}
	return out.WriteAll(rows)
}

// resourceCells returns the rows of one second, keyed by column name.
func resourceCells(run *result.Run, r result.Resources) []map[string]string {
	var out []map[string]string
	for _, p := range r.Processes {
		out = append(out, map[string]string{
			"kind": "process", "name": cell(p.Name), "pid": strconv.Itoa(p.PID),
			"server":      strconv.FormatBool(slices.Contains(run.Observation.Servers, p.Name)),
			"cpu_seconds": exact(p.CPUSeconds), "rss_bytes": integer(p.RSSBytes),
			"read_bytes": maybeInteger(p.ReadBytes), "write_bytes": maybeInteger(p.WriteBytes),
			"syncs": maybeInteger(p.Syncs), "map_syncs": maybeInteger(p.MapSyncs),
			"net_received_bytes": maybeInteger(p.NetReceivedBytes),
			"net_sent_bytes":     maybeInteger(p.NetSentBytes),
		})
	}
	h := r.Host
	out = append(out, map[string]string{
		"kind": "host", "cpu_seconds": exact(h.CPUSeconds),
		"iowait_seconds": exact(h.IOWaitSeconds), "steal_seconds": exact(h.StealSeconds),
		"pressure_cpu": maybeExact(h.PressureCPU), "pressure_io": maybeExact(h.PressureIO),
		"pressure_memory":  maybeExact(h.PressureMemory),
		"page_cache_bytes": integer(h.PageCacheBytes), "dirty_bytes": integer(h.DirtyBytes),
		"loopback_bytes": maybeInteger(h.LoopbackBytes),
	})
	for _, d := range r.Disks {
		out = append(out, map[string]string{
			"kind": "disk", "name": cell(d.Name), "read_bytes": integer(d.ReadBytes),
			"write_bytes": integer(d.WriteBytes), "reads": integer(d.Reads),
			"writes": integer(d.Writes), "utilization": exact(d.Utilization),
		})
	}
	return out
}
