package result

import "time"

// Proof is what `plimsoll prove` found on a machine: how many planted truths the
// printed figures held.
type Proof struct {
	At       time.Time `json:"at"`
	Plimsoll Build     `json:"plimsoll"`
	Cores    int       `json:"cores"`
	Held     int       `json:"held"`
	// a figure was wrong by more than allowed, and the run did not say so
	Missed  int `json:"missed"`
	Unknown int `json:"unknown"` // the run said that plimsoll or the machine was the limit
	// MissedTruths are the names of those missed.
	MissedTruths []string `json:"missed_truths,omitempty"`
	// Worst is the figure that used up most of the error that it was allowed; nil:
	// no figure had an error.
	Worst *ProofError `json:"worst,omitempty"`
}

// ProofError is the error of one printed figure.
type ProofError struct {
	Truth   string  `json:"truth"`
	Figure  string  `json:"figure"`
	Unit    string  `json:"unit"` // ns, messages or per_s
	Planted float64 `json:"planted"`
	Error   float64 `json:"signed_error"` // printed less planted
	Allowed float64 `json:"allowed_error"`
}
