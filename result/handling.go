package result

// Handling is what consumers do with each message before they acknowledge it.
type Handling struct {
	Time  string  `json:"time,omitempty"`        // as a workload writes it; empty: none
	Fails float64 `json:"fails_share,omitempty"` // of the messages, given back
}

// Sharing says how evenly a subscription's consumers shared its messages.
type Sharing struct {
	Consumers int `json:"consumers"`
	// Fairness is Jain's index over the consumers' messages, 1/Consumers to 1 (Jain, Chiu and
	// Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation in
	// Shared Computer Systems", 1984). With several topics it is that of the least fair one.
	Fairness float64 `json:"fairness"`
	// Idle consumers of that topic received nothing.
	Idle int `json:"idle_consumers,omitempty"`
	// Least and Most are the messages of the consumers of that topic with the fewest and the most.
	Least int64 `json:"least_msgs"`
	Most  int64 `json:"most_msgs"`
}
