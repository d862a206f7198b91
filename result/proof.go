package result

import (
	"fmt"
	"time"
)

// Proof is the result of `plimsoll prove` on a machine: how many printed figures matched the
// planted truths.
type Proof struct {
	At       time.Time `json:"at"`
	Plimsoll Build     `json:"plimsoll"`
	Cores    int       `json:"cores"`
	Held     int       `json:"held"`
	// a figure was wrong by more than the allowed error, and the run did not say so
	Missed  int `json:"missed"`
	Unknown int `json:"unknown"` // the run said that plimsoll or the machine was the limit
	// MissedTruths are the names of the missed truths.
	MissedTruths []string `json:"missed_truths,omitempty"`
	// Worst is the figure that used up most of its allowed error; nil: no figure had an error.
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

// Check refuses numbers of truths that no proof has. A nil proof has none.
func (p *Proof) Check() error {
	const most = 10_000
	if p == nil || min(p.Held, p.Missed, p.Unknown) >= 0 &&
		max(p.Held, p.Missed, p.Unknown) < most {
		return nil
	}
	return fmt.Errorf("%d, %d and %d planted truths cannot be", p.Held, p.Missed, p.Unknown)
}
