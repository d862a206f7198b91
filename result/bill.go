package result

import "fmt"

// Bill is what a provider charges for the requests of a run.
type Bill struct {
	EstimatedRequests int64   `json:"estimated_requests"`
	EstimatedUSD      float64 `json:"estimated_usd"`
	Requests          int64   `json:"requests"` // up to the end of the account
	USD               float64 `json:"usd"`
	MaxUSD            float64 `json:"max_usd,omitempty"` // 0: there was no limit
	Price             string  `json:"price"`             // the price, its date and its source
}

// Dollars returns an amount with its currency, to a hundredth of a cent.
func Dollars(usd float64) string { return fmt.Sprintf("$%.4f", usd) }
