package result

// Price is the cost of a run's resources at given prices. It is computed on request and not part
// of the run directory.
type Price struct {
	Currency string `json:"currency"`
	Date     string `json:"date"` // of the prices
	// The sums over Parts. With anything in LeftOut they are lower bounds.
	PerMillion float64     `json:"per_million_messages"`
	PerGB      float64     `json:"per_gb_published"` // of acknowledged payload, 1e9 bytes
	Parts      []PricePart `json:"parts"`
	LeftOut    []string    `json:"left_out,omitempty"` // what is not in it, and why
}

// PricePart is the cost of one resource.
type PricePart struct {
	Resource   string  `json:"resource"` // cpu, memory, disk, network
	PerMillion float64 `json:"per_million_messages"`
	PerGB      float64 `json:"per_gb_published"`
	Used       string  `json:"used"` // what was priced, in words
}
