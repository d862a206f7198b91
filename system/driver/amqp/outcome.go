package amqp

import (
	"errors"
	"fmt"

	goamqp "github.com/Azure/go-amqp"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Outcome returns the result of a message from the server's answer to it. Accepted gives nil. The
// other outcomes are refusals; without an outcome the result is unknown.
func Outcome(answer goamqp.DeliveryState) error {
	switch state := answer.(type) {
	case *goamqp.StateAccepted:
		return nil
	case *goamqp.StateRejected:
		if state.Error == nil {
			return errors.New("the server rejected the message without a reason")
		}
		return fmt.Errorf("the server rejected the message: %w", state.Error)
	case *goamqp.StateReleased:
		return errors.New("the server released the message: it did not take it")
	case *goamqp.StateModified:
		return errors.New("the server did not take the message (modified)")
	}
	return fmt.Errorf("the server answered without an outcome (%T): %w", answer, system.ErrUnknown)
}

// sendOutcome returns the result of a message that the library failed to send. If the library
// itself refused the message, nothing was sent.
func sendOutcome(err error) error {
	var refusal *goamqp.Error
	var link *goamqp.LinkError
	var session *goamqp.SessionError
	var conn *goamqp.ConnError
	lost := errors.As(err, &link) || errors.As(err, &session) || errors.As(err, &conn)
	if !lost && errors.As(err, &refusal) &&
		refusal.Condition == goamqp.ErrCondMessageSizeExceeded {
		return fmt.Errorf("the message is too large for the server: %w", err)
	}
	return fmt.Errorf("the connection was lost before the server answered (%w): %w", err,
		system.ErrUnknown)
}
