package sqs

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// The list price in us-east-1 (US East, N. Virginia) of the first 100 billion requests of a month.
// It was taken on 23 November 2026 from third parties' pages, which quote it as of June 2026,
// because Amazon's own page could not be opened. Check it there: the setting
// price_per_million_requests_usd overrides it, and other regions and contracts have other prices.
const (
	priceStandard = 0.40 // USD for a million requests
	priceFIFO     = 0.50
	priceSource   = "list price in us-east-1 as quoted in June 2026, without the free tier: " +
		"check aws.amazon.com/sqs/pricing, and set " + setPrice + " if yours differs"
	chunk   = 64 << 10 // bytes that count as one request
	million = 1_000_000
)

// priceOf returns the price of a million requests, and its source.
func priceOf(s system.Settings) (usd float64, sentence string) {
	source := "from the setting " + setPrice
	if usd = s.Number(setPrice); usd == 0 {
		usd, source = priceStandard, priceSource
		if s.Bool(setFIFO) {
			usd = priceFIFO
		}
	}
	return usd, fmt.Sprintf("$%.2f for a million requests, %s", usd, source)
}

// chunks returns the number of requests as which a request of some bytes is counted.
func chunks(bytes int64) int64 { return max(1, (bytes+chunk-1)/chunk) }

// estimateBill adds up sends, receives, deletions and empty receives. A producer fills a batch
// with the messages that are due within linger, and a receive brings as many. In addition every
// poll is assumed to return empty once per wait_time.
func estimateBill(s system.Settings, t *target.Target, l system.Expected) (
	b system.Bill, charged bool,
) {
	if !isAmazon(t.Endpoints) || len(t.Endpoints) == 0 && s.Text(setRegion) == noRegion {
		return b, false
	}
	price, sentence := priceOf(s)
	queues := float64(l.Topics * l.Partitions)
	seconds := max(l.Length.Seconds(), 1)
	copies := float64(l.Messages) * float64(max(l.Subscriptions, 1))
	due := float64(l.Messages) / seconds / queues / float64(max(l.Producers, 1))
	fill := min(max(1, due*s.Duration(setLinger).Seconds()), batchMost)
	size := float64(l.MessageBytes) * 4 / 3
	fill = max(1, min(fill, float64(s.Bytes(setBatchBytes))/max(size, 1)))
	batches := copies / fill
	polls := queues * float64(l.Subscriptions*l.Consumers) * float64(s.Count(setPolls))
	empty := polls * seconds / s.Duration(setWait).Seconds()
	each := float64(chunks(int64(fill * size)))
	const administration = 6 // requests for a queue from its creation to its deletion
	requests := batches*(2*each+1) + empty + administration*queues*float64(l.Subscriptions+1)
	b = system.Bill{Requests: int64(math.Ceil(requests)), Price: sentence}
	b.USD = float64(b.Requests) * price / million
	return b, true
}

// meter counts the cost of requests, and refuses messages for which the limit does not pay.
type meter struct {
	charged  bool
	price    float64 // of a request
	sentence string
	most     int64 // requests that may be made; 0: any number

	mu        sync.Mutex
	requests  int64
	open      int64 // messages sent and not deleted
	exhausted bool
}

func newMeter(o system.Options, amazon bool) *meter {
	price, sentence := priceOf(o.Settings)
	m := &meter{charged: amazon, price: price / million, sentence: sentence}
	if amazon && o.MaxUSD > 0 {
		m.most = max(1, int64(o.MaxUSD/m.price))
	}
	return m
}

// Spent returns the bill so far.
func (c *cluster) Spent() (b system.Bill, charged bool) {
	m := c.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	return system.Bill{Requests: m.requests, USD: float64(m.requests) * m.price,
		Price: m.sentence, Exhausted: m.exhausted}, m.charged
}

// count adds a request.
func (m *meter) count(n int64) {
	m.mu.Lock()
	m.requests += n
	m.mu.Unlock()
}

// afford reports whether the limit pays for a request with some copies of messages, and for
// receiving and deleting each copy separately. It reserves the money; giveBack returns it.
func (m *meter) afford(copies, bytes int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.most > 0 {
		const eachCopy = 2 // one to receive it, one to delete it
		each := eachCopy + chunks(bytes/max(copies, 1)) - 1
		if m.exhausted || m.requests+chunks(bytes)+each*(m.open+copies) > m.most {
			m.exhausted = true
			return system.ErrExhausted
		}
	}
	m.open += copies
	return nil
}

// settle removes messages that were deleted or never stored.
func (m *meter) settle(copies int64) {
	m.mu.Lock()
	m.open -= copies
	m.mu.Unlock()
}

// counted is a transport whose requests a meter counts.
type counted struct {
	next  http.RoundTripper
	meter *meter
}

// RoundTrip counts a request by the larger of its body and its answer's.
func (w *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.next.RoundTrip(r)
	if err != nil {
		if !errors.Is(err, errNotConnected) {
			w.meter.count(chunks(r.ContentLength))
		}
		return nil, err
	}
	w.meter.count(chunks(max(r.ContentLength, answer.ContentLength)))
	return answer, nil
}
