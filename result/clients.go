package result

// Clients is what a workload's word for the clients set.
type Clients struct {
	Word    string `json:"word"`
	Meaning string `json:"meaning"` // the same for every system
	How     string `json:"how"`     // in the system's own words
	// Set are the values that the word set, in place of defaults.
	Set []Setting `json:"set,omitempty"`
	// Kept are the target's own values of settings that the word would have set.
	Kept []Setting `json:"kept,omitempty"`
}

// Wait is a time for which a client or a server waits on purpose, because of a setting.
type Wait struct {
	// Series is the first latency that includes it: Publish or EndToEnd, which includes the waits
	// of Publish; empty: no latency includes it.
	Series   Series `json:"series,omitempty"`
	MostNs   int64  `json:"most_ns"`
	Setting  string `json:"setting"`
	Sentence string `json:"sentence"` // with the longest time and the setting
}
