package result

// WarmedAuto is the value of Warming.Asked for a warm-up that ends when the servers have levelled
// off.
const WarmedAuto = "auto"

// Period is the period of work that servers do from time to time.
type Period struct {
	What string `json:"what"`
	Ns   int64  `json:"ns"`
}

// Warming says how the servers were warmed up before the run, by load to topics of its own.
type Warming struct {
	Asked   string `json:"asked"`    // WarmedAuto, alone or with its limit, or a length
	Ns      int64  `json:"ns"`       // under load
	PauseNs int64  `json:"pause_ns"` // until what the load left was done
	TookNs  int64  `json:"took_ns"`  // all of it, topics and clients included
	Acked   int64  `json:"acked_msgs"`
	// Steady is set when the servers had levelled off. Why says why not; without a reason it is not
	// known, because the length was given.
	Steady bool   `json:"steady"`
	Why    string `json:"why,omitempty"`
	// CPU time of all servers per acknowledged message, and publish p50 from the call of the
	// client, in the first second and at the end. 0: not known.
	CPUFirstNs float64 `json:"cpu_first_ns_per_msg,omitempty"`
	CPULastNs  float64 `json:"cpu_last_ns_per_msg,omitempty"`
	P50FirstNs float64 `json:"publish_p50_first_ns,omitempty"`
	P50LastNs  float64 `json:"publish_p50_last_ns,omitempty"`
	// The share of the servers' CPU time that they spent on compiling their own code, in the first
	// second and at the end. Nil: they have no compilers, or it is not known.
	CompileFirst *float64 `json:"compile_first_share,omitempty"`
	CompileLast  *float64 `json:"compile_last_share,omitempty"`
	// RateMsgsPerS is the rate of the later part of the load; 0: there was none but full load, with
	// which every warm-up begins.
	RateMsgsPerS float64 `json:"rate_msgs_per_s,omitempty"`
	// Shared is set when the warm-up was one for several runs on the same servers.
	Shared bool `json:"shared,omitempty"`
}
