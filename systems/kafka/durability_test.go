package kafka

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Any broker may answer. One that does not yet know a new topic, or that it leads a partition,
// must not end a run.
func TestRetriableAnswersAreRetried(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct {
		name    string
		answers []error // the last one repeats
		want    error
		asked   int
		took    time.Duration
	}{
		{"known at once", []error{nil}, nil, 1, 0},
		{"known at the third", []error{kerr.UnknownTopicOrPartition, kerr.UnknownTopicOrPartition,
			nil}, nil, 3, 2 * settlePoll},
		{"leads at the second", []error{kerr.NotLeaderForPartition, nil}, nil, 2, settlePoll},
		{"a coordinator at the second", []error{kerr.CoordinatorNotAvailable, nil}, nil, 2,
			settlePoll},
		{"a refusal", []error{kerr.TopicAuthorizationFailed}, kerr.TopicAuthorizationFailed, 1, 0},
		{"another error", []error{kerr.UnknownTopicOrPartition, other}, other, 2, settlePoll},
		{"never known", []error{kerr.UnknownTopicOrPartition}, kerr.UnknownTopicOrPartition, 10,
			10*settlePoll - settlePoll/2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*settlePoll-settlePoll/2)
				defer cancel()
				begun, asked := time.Now(), 0
				err := untilAnswered(ctx, func() error {
					answer := c.answers[min(asked, len(c.answers)-1)]
					asked++
					if answer == nil {
						return nil
					}
					return fmt.Errorf("topic t: %w", answer)
				})
				if !errors.Is(err, c.want) || asked != c.asked || time.Since(begun) != c.took {
					t.Errorf("got %v after %d answers and %s, want %v after %d and %s", err, asked,
						time.Since(begun), c.want, c.asked, c.took)
				}
			})
		})
	}
}
