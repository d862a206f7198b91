package skew

import (
	"errors"
	"fmt"
	"time"
)

// Exchange is a question of the worker and the coordinator's answer. SentNs and ReturnedNs
// are read from the worker's own clock (Clock.Own), ReceivedNs and AnsweredNs from the
// coordinator's.
type Exchange struct {
	SentNs     int64 `json:"sent_ns"`     // before the worker sent the question
	ReceivedNs int64 `json:"received_ns"` // after the coordinator had received it
	AnsweredNs int64 `json:"answered_ns"` // before the coordinator sent the answer
	ReturnedNs int64 `json:"returned_ns"` // after the worker had received it
}

// Limits of a usable exchange. Times and offsets below farthestNs, 73 years, leave room for
// sums and differences of them.
const (
	farthestNs     = int64(1) << 61
	longestTripNs  = int64(time.Minute)
	clockReadingNs = 1 // a reading of a clock is rounded down to a nanosecond
)

var (
	errRange      = errors.New("an exchange of timestamps is out of range")
	errBackwards  = errors.New("an exchange of timestamps ends before it begins")
	errTooLong    = fmt.Errorf("an exchange of timestamps took longer than %s", longestTrip)
	errImpossible = errors.New("an exchange of timestamps took less time than its answer")
	errOld        = errors.New("an exchange of timestamps is not later than the last one")
	errFuture     = errors.New("an exchange of timestamps returned in the future")
	errUnknown    = errors.New("the offset to the coordinator's clock is not known: " +
		"exchange timestamps first")
)

const longestTrip = time.Duration(longestTripNs)

// RoundTripNs is the time that the exchange took, less the coordinator's part of it.
func (x Exchange) RoundTripNs() int64 {
	return (x.ReturnedNs - x.SentNs) - (x.AnsweredNs - x.ReceivedNs)
}

// mostNs and leastNs confine the coordinator's clock less the worker's own: at SentNs it
// was at most mostNs, and at ReturnedNs at least leastNs.
func (x Exchange) mostNs() int64  { return x.ReceivedNs - x.SentNs }
func (x Exchange) leastNs() int64 { return x.AnsweredNs - x.ReturnedNs }

// middleNs is the offset if both ways took the same time.
func (x Exchange) middleNs() int64 { return x.leastNs() + (x.mostNs()-x.leastNs())/2 }

// check returns an error unless the exchange can be true.
func (x Exchange) check() error {
	for _, ns := range []int64{x.SentNs, x.ReceivedNs, x.AnsweredNs, x.ReturnedNs} {
		if ns < -farthestNs || ns > farthestNs {
			return errRange
		}
	}
	took := x.ReturnedNs - x.SentNs
	switch {
	case took < 0 || x.AnsweredNs < x.ReceivedNs:
		return errBackwards
	case took > longestTripNs:
		return errTooLong
	case float64(x.RoundTripNs()) < -2*clockReadingNs-maxDrift*float64(took):
		return errImpossible
	}
	for _, ns := range []int64{x.mostNs(), x.leastNs()} {
		if ns < -farthestNs || ns > farthestNs {
			return errRange
		}
	}
	return nil
}
