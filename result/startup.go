package result

// Startup has the steps before the load: servers, topics, clients, and the proof that every
// partition takes messages and every subscription receives them.
type Startup struct {
	ConnectNs int64 `json:"connect_ns"` // ServersNs included
	// ServersNs is the time until the cluster answers, failed attempts to start it included;
	// zero: the run did not start it.
	ServersNs int64 `json:"start_servers_ns,omitempty"`
	// SharedServersNs is the same for a cluster that was started before the run and serves others
	// too. It is no part of ConnectNs.
	SharedServersNs int64 `json:"start_shared_servers_ns,omitempty"`

	TopicsNs   int64 `json:"create_topics_ns"` // until each partition can be written to
	ReadBackNs int64 `json:"read_back_ns"`     // the durability of each topic
	OpenNs     int64 `json:"open_clients_ns"`  // consumers, then producers
	ReadyNs    int64 `json:"ready_ns"`         // the proof
	Proofs     int64 `json:"proof_messages"`   // sent for it; they are in no other figure
	Goroutines int64 `json:"goroutines"`       // of this process when it was ready
	RSSBytes   int64 `json:"rss_bytes"`        // the same; embedded servers included
}

// TotalNs returns the time from the start of the run to the load.
func (s Startup) TotalNs() int64 {
	return s.ConnectNs + s.TopicsNs + s.ReadBackNs + s.OpenNs + s.ReadyNs
}
